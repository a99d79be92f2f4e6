package payload

import (
	"math"
	"strings"
	"testing"
)

// TestText: each message of a burst passes where it is due, and nothing else does.
func TestText(t *testing.T) {
	var buf [MaxText]byte
	for _, n := range []int{0, 1, 9, 10, 99_999, 1_000_000, math.MaxInt} {
		msg := AppendText(nil, n)
		if len(msg) > MaxText {
			t.Errorf("message %d has %d bytes, want at most %d", n, len(msg), MaxText)
		}
		if err := CheckText(msg, n, buf[:]); err != nil {
			t.Errorf("message %d: %v", n, err)
		}
	}
	if got := string(AppendText(nil, 12)); got != "Message #12" {
		t.Errorf("message 12 is %q", got)
	}
	for _, test := range []struct{ msg, want string }{
		{"Message #51", "message 50 of sender 0 is lost: number 51 came"},
		{"Message #49", "message 49 of sender 0 is repeated"},
		{"Message #500", "message 50 of sender 0 is lost: number 500 came"},
		{"Message #5", "message 5 of sender 0 is repeated"},
		{"Message #5O", "message 50 is damaged: byte 10 is 0x4f, want 0x30"},
		{"message #50", "message 50 is damaged: byte 0 is 0x6d, want 0x4d"},
		{"Message #050", "message 50 has the wrong size: got 12 bytes, want 11"},
		{"Message #+50", "message 50 has the wrong size"},
		{"Message #-1", "message 50 is damaged: byte 9 is 0x2d, want 0x35"},
		{"Message #", "message 50 has the wrong size"},
		{"", "message 50 has the wrong size: got 0 bytes, want 11"},
		{"Message #99999999999999999999", "message 50 has the wrong size"},
	} {
		if err := CheckText([]byte(test.msg), 50, buf[:]); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q where message 50 is due: %v, want %q", test.msg, err, test.want)
		}
	}
}
