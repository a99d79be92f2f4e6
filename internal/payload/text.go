package payload

import (
	"bytes"
	"strconv"
)

// text is what a message of a burst begins with. Its number follows.
const text = "Message #"

// MaxText is the most bytes that a message of a burst has.
const MaxText = len(text) + len("9223372036854775807")

// AppendText appends message number n of a burst to dst: "Message #0" and so on.
// The text is its sequence.
func AppendText(dst []byte, n int) []byte {
	return strconv.AppendInt(append(dst, text...), int64(n), 10)
}

// CheckText reports what is wrong with msg where message n of a burst is due, as a
// [*Fault], or nil. It does not keep msg. buf is room for MaxText bytes.
func CheckText(msg []byte, n int, buf []byte) error {
	want := AppendText(buf[:0], n)
	if bytes.Equal(msg, want) {
		return nil
	}
	if digits, ok := bytes.CutPrefix(msg, []byte(text)); ok {
		got, err := strconv.Atoi(string(digits))
		if err == nil && got >= 0 && bytes.Equal(msg, AppendText(nil, got)) {
			return displaced(0, uint64(n), uint64(got), uint64(n))
		}
	}
	if len(msg) != len(want) {
		return &Fault{Kind: WrongSize, Index: uint64(n), Want: uint64(len(want)), Got: uint64(len(msg))}
	}
	at := 0
	for msg[at] == want[at] {
		at++
	}
	return &Fault{Kind: Damaged, Index: uint64(n), Byte: at, Want: uint64(want[at]), Got: uint64(msg[at])}
}
