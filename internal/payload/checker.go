package payload

import (
	"bytes"
	"encoding/binary"
)

// window is how many bytes of a message are compared with the pattern.
// Messages up to this size are compared whole. Of a larger one, this much is
// compared, at a place that moves on with each message: comparing 64 KiB
// whole would cost a tenth of what receiving them through zmq4 does.
const window = 4096

// A Checker checks the messages that one receiver gets. It is not safe for
// concurrent use.
type Checker struct {
	fill Fill
	want []byte   // a whole message; its header is not used
	next []uint64 // number expected next, by sender
	from int      // where the next window begins
}

// NewChecker returns a Checker of messages with the pattern, see [Fill].
func NewChecker(size, senders int) *Checker { return Pattern.NewChecker(size, senders) }

// Check reports what is wrong with msg, the next message received, as a
// [*Fault], or nil. It does not keep msg.
func (c *Checker) Check(msg []byte) error {
	if len(msg) != len(c.want) {
		return &Fault{Kind: WrongSize, Want: uint64(len(c.want)), Got: uint64(len(msg)), Index: c.count()}
	}
	number := c.next[0]
	if len(msg) >= header {
		sender, got := split(msg)
		if sender >= len(c.next) {
			return &Fault{Kind: Damaged, Sender: sender, Got: got, Index: c.count()}
		}
		if want := c.next[sender]; got != want {
			return c.misplaced(sender, want, got)
		}
		c.next[sender]++
		number = got
	} else {
		c.next[0]++
	}
	if !c.fill.compares(number) {
		return nil
	}
	return c.pattern(msg)
}

// Received is the count of messages from all senders that passed the check.
func (c *Checker) Received() int64 { return int64(c.count()) }

func (c *Checker) count() uint64 {
	var n uint64
	for _, next := range c.next {
		n += next
	}
	return n
}

// split reads the header of msg, which has one.
func split(msg []byte) (sender int, number uint64) {
	head := binary.LittleEndian.Uint64(msg)
	return int(head >> numberBits), head & numberMask
}

// From is the count of messages from a sender that passed the check.
func (c *Checker) From(sender int) int64 { return int64(c.next[sender]) }

// pattern compares msg, whose length is right, with what was written.
func (c *Checker) pattern(msg []byte) error {
	lo, hi := min(header, len(msg)), len(msg)
	if len(msg) < header {
		lo = 0
	}
	if hi-lo > window {
		if c.from < lo || c.from >= hi {
			c.from = lo
		}
		lo = c.from
		hi = min(lo+window, len(msg))
		c.from = hi
	}
	if bytes.Equal(msg[lo:hi], c.want[lo:hi]) {
		return nil
	}
	for i := lo; ; i++ {
		if msg[i] != c.want[i] {
			return &Fault{Kind: Damaged, Index: c.count() - 1, Byte: i,
				Want: uint64(c.want[i]), Got: uint64(msg[i])}
		}
	}
}
