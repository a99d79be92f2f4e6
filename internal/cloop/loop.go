//go:build cgo

package cloop

/*
#cgo nocallback cloop_request
#cgo nocallback cloop_reply
#cgo nocallback cloop_flood
#cgo nocallback cloop_receive
#include "loop.h"
*/
import "C"

import (
	"errors"
	"math"
	"sync/atomic"
	"syscall"
	"unsafe"

	"zmqbench/internal/latency"
	"zmqbench/internal/payload"
)

// A Loop is one role's exchange of messages in C. Each method that takes a
// socket is one call into C for the whole exchange, so that what the call
// itself costs is divided by the number of messages.
//
// The socket is libzmq's, not the binding's; its owner hands it over for the
// call. The messages are those of package payload, with the same checks. An
// error is a [*payload.Fault] for a message that failed them, and else the
// errno of the call.
type Loop struct {
	c C.cloop_loop
}

// NewLoop returns a Loop over messages of size bytes. sender is the number of
// the one that floods, senders how many share the receiver.
func NewLoop(size, sender, senders int) *Loop {
	return &Loop{C.cloop_loop{size: C.uint64_t(size), sender: C.uint64_t(sender), senders: C.uint64_t(senders)}}
}

// Fill makes a flood write that to its messages, and a receiver expect it.
func (l *Loop) Fill(f payload.Fill) { l.c.fill = C.int64_t(f) }

// From returns how many messages from a sender passed the check. It is for the
// goroutine of the loop.
func (l *Loop) From(sender int) int64 { return int64(l.c.next[sender]) }

// Counts returns how many messages the loop has sent and received. Any
// goroutine may ask at any time.
func (l *Loop) Counts() (sent, received int64) {
	return atomic.LoadInt64((*int64)(&l.c.sent)), atomic.LoadInt64((*int64)(&l.c.received))
}

// Stop ends a flood. Any goroutine may call it.
func (l *Loop) Stop() { atomic.StoreInt64((*int64)(&l.c.stop), 1) }

// Request makes n round trips over a REQ, as libzmq's remote_lat does, and
// records each in h unless it is nil.
func (l *Loop) Request(socket unsafe.Pointer, n int, h *latency.Histogram) error {
	rc, err := C.cloop_request(socket, &l.c, C.int64_t(n), (*C.cloop_histogram)(unsafe.Pointer(h)))
	return l.result(rc, err)
}

// Reply sends back what a REP receives, as local_lat does, until the context
// is terminated, which is ETERM.
func (l *Loop) Reply(socket unsafe.Pointer) error {
	rc, err := C.cloop_reply(socket, &l.c)
	return l.result(rc, err)
}

// Flood sends n messages, as remote_thr does, or fewer after Stop.
func (l *Loop) Flood(socket unsafe.Pointer, n int) error {
	rc, err := C.cloop_flood(socket, &l.c, C.int64_t(n))
	return l.result(rc, err)
}

// Receive receives n messages, as local_thr does.
func (l *Loop) Receive(socket unsafe.Pointer, n int) error {
	rc, err := C.cloop_receive(socket, &l.c, C.int64_t(n), 0)
	return l.result(rc, err)
}

// Rest receives messages until that many marks have come: empty messages, or,
// in a stream of empty messages, messages of one byte.
func (l *Loop) Rest(socket unsafe.Pointer, marks int) error {
	rc, err := C.cloop_receive(socket, &l.c, math.MaxInt64, C.int(marks))
	return l.result(rc, err)
}

// result turns what C returned into an error.
func (l *Loop) result(rc C.int, err error) error {
	switch {
	case rc == 0:
		return nil
	case errors.Is(err, syscall.EBADMSG):
		f := l.c.fault
		return &payload.Fault{Kind: payload.Kind(f.kind), Sender: int(f.sender), Index: uint64(f.index),
			Byte: int(f.byte), Want: uint64(f.want), Got: uint64(f.got)}
	}
	return err
}
