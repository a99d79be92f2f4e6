package z85

import (
	"fmt"
	"strings"
)

const (
	keyBytes = 32 // a Curve25519 key, public or secret
	keyChars = keyBytes / 4 * 5
)

// DecodeKey returns the 32 bytes of the CURVE key that text, which must be
// exactly 40 characters, stands for. The name, such as "server key", begins
// every error. Of the text itself an error shows the length and a position
// but no character, since the key may be a secret one.
//
// libzmq itself tells a raw key from a text by the length alone
// (zmq_setsockopt(3), ZMQ_CURVE_SERVERKEY), and so takes a text that was cut
// to 32 characters for a raw key; nothing connects with it. Here such a text
// is an error.
func DecodeKey(name, text string) ([]byte, error) {
	if len(text) != keyChars {
		return nil, fmt.Errorf("%s: %d characters, want %d%s", name, len(text), keyChars, lengthHint(text))
	}
	key, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return key, nil
}

// lengthHint returns, in brackets, the likely cause of a wrong length, or
// nothing.
func lengthHint(text string) string {
	switch {
	case len(text) == keyBytes:
		return " (raw keys are not text: give the 40 characters of the Z85 form)"
	case len(strings.TrimSpace(text)) == keyChars:
		return " (there is white space around the key)"
	}
	return ""
}
