//go:build cgo

package cloop

/*
#cgo nocallback cloop_batch_send
#cgo nocallback cloop_batch_receive
#cgo noescape cloop_batch_send
#cgo noescape cloop_batch_receive
#include "batch.h"
*/
import "C"

import (
	"errors"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// BatchLen is how many messages a stream moves in one call.
const BatchLen = 16

// A Batch moves a number of messages in one call into or out of the memory of
// Go, each with a slice of its own in one arena that is used again and again. It
// is what a Go program could do in place of the binding, which makes several
// calls and two allocations for each message.
type Batch struct {
	size           int
	arena          []byte
	lengths        []C.uint64_t
	sent, received atomic.Int64
}

// NewBatch returns a Batch of n messages of up to size bytes.
func NewBatch(n, size int) *Batch {
	return &Batch{size: size, arena: make([]byte, n*size+1), lengths: make([]C.uint64_t, n)}
}

// Counts returns how many messages the Batch has sent and received. Any
// goroutine may ask at any time.
func (b *Batch) Counts() (sent, received int64) { return b.sent.Load(), b.received.Load() }

// Message returns place i, where Send takes its message i from.
func (b *Batch) Message(i int) []byte { return b.arena[i*b.size : (i+1)*b.size : (i+1)*b.size] }

// Received returns message i of the last Receive. It stays until the next. Its
// length is the message's own, up to a byte more than the Batch has room for,
// so that a message that is too long is not taken for one that fits.
func (b *Batch) Received(i int) []byte {
	length := int(b.lengths[i])
	if length > b.size {
		return b.arena[:b.size+1]
	}
	return b.Message(i)[:length]
}

// Send sends the first n messages.
func (b *Batch) Send(socket unsafe.Pointer, n int) error {
	sent, err := C.cloop_batch_send(socket, (*C.uint8_t)(&b.arena[0]), C.uint64_t(b.size), C.int(n))
	b.sent.Add(int64(sent))
	if int(sent) == n {
		return nil
	}
	return err
}

// Receive receives n messages, and waits until it has all of them.
func (b *Batch) Receive(socket unsafe.Pointer, n int) error {
	_, err := b.receive(socket, n, true)
	return err
}

// TryReceive receives the messages that have come, n at most, and returns how
// many that is.
func (b *Batch) TryReceive(socket unsafe.Pointer, n int) (int, error) {
	received, err := b.receive(socket, n, false)
	if errors.Is(err, syscall.EAGAIN) {
		err = nil
	}
	return received, err
}

// receive receives n messages, or as many as it can.
func (b *Batch) receive(socket unsafe.Pointer, n int, wait bool) (int, error) {
	received, err := C.cloop_batch_receive(socket, (*C.uint8_t)(&b.arena[0]), C.uint64_t(b.size), &b.lengths[0], C.int(n), C.bool(wait))
	b.received.Add(int64(received))
	if int(received) == n {
		return n, nil
	}
	return int(received), err
}
