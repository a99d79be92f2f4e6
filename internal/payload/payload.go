// Package payload writes and checks the bytes of the messages that a
// measurement sends, so that the receiver can prove that nothing was lost,
// repeated, reordered or changed on the way.
//
// A message of size bytes looks like this:
//
//	size ≥ 8    | number, 7 bytes | sender, 1 byte | pattern, size-8 bytes |
//	size < 8    | pattern, size bytes                                     |
//
// The number counts the sender's messages from 0, little-endian, so that
// several senders that share a receiver each have a sequence of their own.
// The pattern is the same in every message. Below 8 bytes there is no room
// for a number: there the receiver compares counts with the sender instead.
package payload

import "encoding/binary"

const (
	header     = 8                 // bytes of number and sender
	numberBits = 56                // of the header, the rest is the sender
	numberMask = 1<<numberBits - 1 // 2⁵⁶ messages last 228 years at 10⁷ a second
)

// MaxSenders is how many senders one receiver can tell apart.
const MaxSenders = 256

// fill writes the pattern that bytes of a message have at their position.
// Neighbours differ, and so do bytes 256 apart, so that a shifted, cut or
// zeroed piece of a message does not look whole.
func fill(msg []byte) {
	for i := range msg {
		msg[i] = byte(i) ^ byte(i>>8)*31 ^ 0xA5
	}
}

// A Writer makes the messages of one sender, one after the other, in one
// buffer. It is not safe for concurrent use.
type Writer struct {
	msg  []byte
	next uint64 // number of the next message, with the sender above it
}

// NewWriter returns a Writer of messages of size bytes. sender, below
// [MaxSenders], tells the senders of one receiver apart.
func NewWriter(size, sender int) *Writer {
	w := &Writer{msg: make([]byte, size), next: uint64(sender) << numberBits}
	fill(w.msg)
	return w
}

// Next returns the next message. The bytes belong to the Writer and change
// with the following call.
func (w *Writer) Next() []byte {
	if len(w.msg) >= header {
		binary.LittleEndian.PutUint64(w.msg, w.next)
	}
	w.next++
	return w.msg
}

// Put writes the next message to msg, which must have the Writer's size.
func (w *Writer) Put(msg []byte) { copy(msg, w.Next()) }
