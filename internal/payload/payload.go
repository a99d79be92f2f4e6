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

// A Fill is what a sender writes to each message beside its number. Nothing but
// Pattern lets the receiver see whether every byte of a message arrived.
type Fill int

const (
	// Pattern is the bytes of the layout above.
	Pattern Fill = iota

	// None is nothing: the bytes are what the memory of the message held. The
	// receiver checks the length and the number, and can check no more.
	None

	// Zero is zeros, written anew to every message. The receiver checks the length
	// and the number, and the zeros of one message in 1024: looking at all of
	// them would cost it as much as writing costs the sender, which is what a
	// comparison with None is to show.
	Zero
)

// String returns the value of fill= in a benchmark's name.
func (f Fill) String() string { return [...]string{"pattern", "none", "zero"}[f] }

// zeroEvery is how many messages come for each whose zeros are compared.
const zeroEvery = 1024

// compares reports whether the bytes of the message of that number are compared.
func (f Fill) compares(number uint64) bool {
	return f == Pattern || f == Zero && number%zeroEvery == 0
}

// whole returns a message without its number.
func (f Fill) whole(size int) []byte {
	msg := make([]byte, size)
	if f == Pattern {
		fill(msg)
	}
	return msg
}

// NewWriter returns a Writer of messages of size bytes that are filled so.
// sender, below [MaxSenders], tells the senders of one receiver apart.
func (f Fill) NewWriter(size, sender int) *Writer {
	return &Writer{msg: f.whole(size), zero: f == Zero, next: uint64(sender) << numberBits}
}

// NewChecker returns a Checker of messages of size bytes that are filled so and
// come from senders 0 to senders-1.
func (f Fill) NewChecker(size, senders int) *Checker {
	return &Checker{fill: f, want: f.whole(size), next: make([]uint64, senders)}
}

// A Writer makes the messages of one sender, one after the other, in one
// buffer. It is not safe for concurrent use.
type Writer struct {
	msg  []byte
	zero bool   // it is zeroed for each message
	next uint64 // number of the next message, with the sender above it
}

// NewWriter returns a Writer of messages with the pattern, see [Fill].
func NewWriter(size, sender int) *Writer { return Pattern.NewWriter(size, sender) }

// Next returns the next message. The bytes belong to the Writer and change
// with the following call.
func (w *Writer) Next() []byte {
	if w.zero {
		clear(w.msg)
	}
	if len(w.msg) >= header {
		binary.LittleEndian.PutUint64(w.msg, w.next)
	}
	w.next++
	return w.msg
}

// Put writes the next message to msg, which must have the Writer's size.
func (w *Writer) Put(msg []byte) { copy(msg, w.Next()) }
