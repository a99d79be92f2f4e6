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

// FuzzDecodeKey holds DecodeKey to this: it takes 40 characters that Decode
// takes, and nothing else, and its errors are the same whatever illegal
// character the text has: they show nothing of it.
func FuzzDecodeKey(f *testing.F) {
	for _, text := range []string{public, secret, public[:32], public + "\n", "", secret[:20] + "~" + secret[21:], secret[:35] + "#####"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		key, err := z85.DecodeKey("key", text)
		data, want := z85.Decode(text)
		switch {
		case err == nil && (len(text) != 40 || len(key) != 32 || !bytes.Equal(key, data)):
			t.Errorf("DecodeKey(%q) = %x, want %x, %v", text, key, data, want)
		case err != nil && want == nil && len(text) == 40:
			t.Errorf("DecodeKey(%q): %v, Decode takes it", text, err)
		case err != nil && key != nil:
			t.Errorf("DecodeKey(%q) = %x with %v, want no bytes", text, key, err)
		}
		if err == nil {
			return
		}
		other := []byte(text)
		for i, c := range other {
			if !isDigit(c) && c < 0x80 && c > ' ' {
				other[i] = '~' // another illegal one
			}
		}
		if _, again := z85.DecodeKey("key", string(other)); again == nil || again.Error() != err.Error() {
			t.Errorf("DecodeKey(%q): %v, and with other illegal characters %v", text, err, again)
		}
	})
}
