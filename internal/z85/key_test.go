package z85_test

import (
	"bytes"
	"crypto/ecdh"
	"strings"
	"testing"

	"zmqbench/internal/z85"
)

// The pair of the seed document (A7). It is for documents and tests only.
const (
	public = "mQdmh1=JuKj]rb$@:jrs:Efo:L$H3g+-FE{M$n#1"
	secret = "[>}]%6&a(#Wmh9&wEHG*(Chd[m&Ra(=]EL-m/k*D"
)

func TestDecodeKey(t *testing.T) {
	want, err := z85.DecodeKey("public key", public)
	if err != nil || len(want) != 32 {
		t.Fatalf("DecodeKey(%q) = %x, %v, want 32 bytes", public, want, err)
	}
	raw, err := z85.DecodeKey("secret key", secret)
	if err != nil {
		t.Fatal(err)
	}
	// An independent X25519 finds the public half from the secret one, so
	// all 64 bytes are right.
	key, err := ecdh.X25519().NewPrivateKey(raw)
	if err != nil {
		t.Fatal(err)
	}
	if got := key.PublicKey().Bytes(); !bytes.Equal(got, want) {
		t.Errorf("public half of the secret key = %x, want %x", got, want)
	}
}

func TestDecodeKeyErrors(t *testing.T) {
	for _, c := range []struct {
		name, text, err string
		reason          string
	}{
		{"server key", public[:32],
			"server key: 32 characters, want 40 (raw keys are not text: give the 40 characters of the Z85 form)",
			"libzmq takes it for a raw key (Z35)"},
		{"server key", strings.Repeat("\x86", 32),
			"server key: 32 characters, want 40 (raw keys are not text: give the 40 characters of the Z85 form)",
			"a raw key (Z35)"},
		{"client secret key", secret[:39], "client secret key: 39 characters, want 40",
			"the convenience call of the binding swallows it (Z34)"},
		{"server key", public + "\n", "server key: 41 characters, want 40 (there is white space around the key)",
			"read from a file"},
		{"server key", public + "\x00", "server key: 41 characters, want 40", "the NUL of a C string is not part of a text"},
		{"server key", "", "server key: 0 characters, want 40", "empty is legal for Decode, never for a key (Z31)"},
		{"server key", public + public, "server key: 80 characters, want 40", "public and secret key in one"},
		{"secret key", secret[:20] + "~" + secret[21:], "secret key: illegal character at position 20",
			"the character is not shown (Z29)"},
		{"secret key", secret[:35] + "#####", "secret key: group of five at position 35 exceeds 2^32-1", "overflow"},
	} {
		key, err := z85.DecodeKey(c.name, c.text)
		if key != nil || err == nil || err.Error() != c.err {
			t.Errorf("DecodeKey(%q, %q) = %x, %v, want no bytes, %q (%s)", c.name, c.text, key, err, c.err, c.reason)
		}
	}
}
