package z85_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"zmqbench/internal/z85"
)

// vectors are pairs of bytes, in hex, and their text.
var vectors = []struct {
	hex, text string
	reason    string
}{
	{"864fd26fb559f75b", "HelloWorld", "the test case of RFC 32"},
	{"", "", "the empty rule is the same both ways (Z31)"},
	{"00000000", "00000", "the smallest group"},
	{"ffffffff", "%nSc0", "the largest group"},
	{"00000001", "00001", "leading zeros are kept"},
	{"8e0bdd697628b91d8f245587ee95c5b04d48963f79259877b49cd9063aead3b7",
		"JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6", "a CURVE key, of zmq_curve(7)"},
}

func TestVectors(t *testing.T) {
	for _, v := range vectors {
		data, err := hex.DecodeString(v.hex)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := z85.Encode(data); text != v.text || err != nil {
			t.Errorf("Encode(%x) = %q, %v, want %q (%s)", data, text, err, v.text, v.reason)
		}
		if got, err := z85.Decode(v.text); !bytes.Equal(got, data) || err != nil {
			t.Errorf("Decode(%q) = %x, %v, want %x (%s)", v.text, got, err, data, v.reason)
		}
	}
}

func TestEncodeErrors(t *testing.T) {
	for n, want := range map[int]string{
		1:  "z85: 1 bytes, want a multiple of 4",
		3:  "z85: 3 bytes, want a multiple of 4", // Z31
		33: "z85: 33 bytes, want a multiple of 4",
	} {
		text, err := z85.Encode(make([]byte, n))
		if text != "" || err == nil || err.Error() != want {
			t.Errorf("Encode of %d bytes = %q, %v, want no text, %q", n, text, err, want)
		}
	}
}

// illegal are the texts that Decode refuses; they seed the fuzzer too.
var illegal = []struct {
	text, err string
	reason    string
}{
	{"~~~~~", `z85: illegal character at position 0: "~"`, "zeros, by the binding (Z29)"},
	{"Hello~~~~~", `z85: illegal character at position 5: "~"`, "half zeros, by the binding (Z29)"},
	{"Hel\x00oWorld", `z85: illegal character at position 3: "\x00"`, "a NUL ends a C string (Z29)"},
	{"1234567", "z85: 7 characters, want a multiple of 5", "a panic, in the binding (Z31)"},
	{"Hello1", "z85: 6 characters, want a multiple of 5", "one group and a bit (Z31)"},
	{"HelloWorld\n", `z85: illegal character at position 10: "\n"`, "the line end tells more than the length"},
	{"Hellö", `z85: illegal character at position 4: "ö"`, "a whole character, not half of it"},
	{"Hell\xff", `z85: illegal character at position 4: "\xff"`, "not UTF-8"},
	{"Hello,orld", `z85: illegal character at position 5: ","`, "one of the printable ones left out"},
	{"%nSc1", "z85: group of five at position 0 exceeds 2^32-1", "2^32"},
	{"Hello#####", "z85: group of five at position 5 exceeds 2^32-1", "85^5-1"},
}

func TestDecodeErrors(t *testing.T) {
	for _, c := range illegal {
		data, err := z85.Decode(c.text)
		if data != nil || err == nil || err.Error() != c.err {
			t.Errorf("Decode(%q) = %x, %v, want no bytes, %q (%s)", c.text, data, err, c.err, c.reason)
		}
	}
}

// Every byte but the 85 digits is refused, in every position.
func TestAlphabet(t *testing.T) {
	digits := 0
	for c := range 256 {
		for at := range 5 {
			text := []byte("00000")
			text[at] = byte(c)
			_, err := z85.Decode(string(text))
			if err == nil && at == 4 {
				digits++
			}
			if legal := err == nil || strings.Contains(err.Error(), "exceeds"); legal != (isDigit(byte(c))) {
				t.Errorf("Decode(%q): %v", text, err)
			}
		}
	}
	if digits != 85 {
		t.Errorf("%d bytes are digits, want 85", digits)
	}
}

// isDigit repeats the RFC's list, which is ordered otherwise than ASCII.
func isDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' ||
		strings.IndexByte(".-:+=^!/*?&<>()[]{}@%$#", c) >= 0
}

// Keys of random bytes come back, and are 40 characters whatever they hold
// (Z32).
func TestRandomKeys(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %#x", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 1000 {
		var key []byte
		for range 4 {
			key = binary.NativeEndian.AppendUint64(key, rnd.Uint64())
		}
		text, err := z85.Encode(key)
		if err != nil || len(text) != 40 {
			t.Fatalf("Encode(%x) = %q, %v, want 40 characters", key, text, err)
		}
		if got, err := z85.Decode(text); err != nil || !bytes.Equal(got, key) {
			t.Fatalf("Decode(%q) = %x, %v, want %x", text, got, err, key)
		}
	}
}

// Whatever is read is written the same again, and an error comes without
// bytes.
func FuzzDecode(f *testing.F) {
	for _, v := range vectors {
		f.Add(v.text)
	}
	for _, c := range illegal {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		data, err := z85.Decode(text)
		if err != nil {
			if data != nil {
				t.Errorf("Decode(%q) = %x with %v, want no bytes", text, data, err)
			}
			return
		}
		if again, err := z85.Encode(data); err != nil || again != text {
			t.Errorf("Encode(Decode(%q)) = Encode(%x) = %q, %v, want the same text", text, data, again, err)
		}
	})
}
