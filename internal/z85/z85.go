// Package z85 writes binary data as text and reads it back, in the encoding
// that CURVE keys are printed in: ZeroMQ RFC 32,
// https://rfc.zeromq.org/spec/32/.
//
// Four bytes are a big-endian number below 2^32, written as five digits to
// the base 85, the most significant one first:
//
//	86 4F D2 6F  =  'H'·85⁴ + 'e'·85³ + 'l'·85² + 'l'·85 + 'o'  =  "Hello"
//
// Nothing at all is written as the empty text, and the empty text is read as
// nothing, without an error in either direction: zero is a multiple of four
// and of five. A caller that needs a key uses [DecodeKey], which refuses it.
//
// The binding's own functions are not used, since they panic on a wrong
// length and return zeros for a text that is not Z85.
package z85

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// alphabet holds the digits in the order of their values, 0 to 84.
const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz" +
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

// Encode returns data as text, five characters for every four bytes. It
// fails if the length of data is not a multiple of four, as the RFC defines
// no padding.
func Encode(data []byte) (string, error) {
	if len(data)%4 != 0 {
		return "", fmt.Errorf("z85: %d bytes, want a multiple of 4", len(data))
	}
	text := make([]byte, 0, len(data)/4*5)
	for ; len(data) > 0; data = data[4:] {
		n := binary.BigEndian.Uint32(data)
		for _, place := range []uint32{85 * 85 * 85 * 85, 85 * 85 * 85, 85 * 85, 85, 1} {
			text = append(text, alphabet[n/place%85])
		}
	}
	return string(text), nil
}

// Decode returns the bytes that text stands for, four for every five
// characters. On an error it returns no bytes. The error names, in this
// order of precedence, the first character that is not a Z85 digit; a length
// that is not a multiple of five; the first group of five that is above
// 2^32-1. Positions are byte offsets and count from 0.
func Decode(text string) ([]byte, error) {
	data, err := decode(text)
	if e, ok := errors.AsType[*digitError](err); ok {
		return nil, fmt.Errorf("z85: %w: %q", err, e.char)
	}
	if err != nil {
		return nil, fmt.Errorf("z85: %w", err)
	}
	return data, nil
}

// A digitError is the first character of a text that is not a Z85 digit. Its
// message leaves the character out, as the text may be a secret.
type digitError struct {
	offset int
	char   string // one character of UTF-8, or one byte if it is not UTF-8
}

func (e *digitError) Error() string {
	return fmt.Sprintf("illegal character at position %d", e.offset)
}

// decode is Decode with errors that show nothing of text.
func decode(text string) ([]byte, error) {
	for i := range len(text) {
		if strings.IndexByte(alphabet, text[i]) < 0 {
			_, size := utf8.DecodeRuneInString(text[i:])
			return nil, &digitError{i, text[i : i+size]}
		}
	}
	if len(text)%5 != 0 {
		return nil, fmt.Errorf("%d characters, want a multiple of 5", len(text))
	}
	data := make([]byte, 0, len(text)/5*4)
	for i := 0; i < len(text); i += 5 {
		var n uint64 // five digits reach 85^5-1, which is more than 32 bits
		for j := range 5 {
			n = n*85 + uint64(strings.IndexByte(alphabet, text[i+j]))
		}
		if n > math.MaxUint32 {
			return nil, fmt.Errorf("group of five at position %d exceeds 2^32-1", i)
		}
		data = binary.BigEndian.AppendUint32(data, uint32(n))
	}
	return data, nil
}
