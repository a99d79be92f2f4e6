//go:build cgo

package cloop

/*
#cgo LDFLAGS: -lpthread
#cgo nocallback cloop_stream_new
#cgo nocallback cloop_stream_free
#cgo nocallback cloop_stream_request
#cgo nocallback cloop_stream_reply
#cgo nocallback cloop_stream_flood
#cgo nocallback cloop_stream_receive
#cgo nocallback cloop_queue_new
#cgo nocallback cloop_queue_end
#cgo nocallback cloop_queue_free
#cgo nocallback cloop_queue_request
#cgo nocallback cloop_queue_reply
#cgo nocallback cloop_queue_flood
#cgo nocallback cloop_queue_receive
#include "kernel.h"
*/
import "C"

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"zmqbench/internal/latency"
)

// An End is one of the two ends of a bare transport: what libzmq itself works
// on, without libzmq. It is the floor that ZeroMQ stands on.
//
// Over tcp (with TCP_NODELAY) and ipc (a Unix socket) a message is a frame with
// its length in front. Round trips use one write and mostly one read a message.
// Streams use what libzmq uses, batches of 8192 bytes, since a write for each
// message would be slower than libzmq and no floor.
//
// Over inproc it is a ring of slots between two threads, which yield the CPU to
// each other before they sleep. A stream is written to and read from the slots;
// a round trip passes its message by reference, as libzmq does.
//
// One role uses an End. Its Loop is that of the role.
type End struct {
	*Loop
	stream  *C.cloop_stream
	out, in *C.cloop_queue // queues that the pair shares
	fd      int
	where   string
	free    func() // of what the pair shares, by the End that is closed last

	mu     sync.Mutex
	closed bool
}

const (
	// maxSlots is how many messages a ring holds: as many as an inproc
	// connection of libzmq whose sockets have the default HWM.
	maxSlots = 2000

	// maxRing is the memory of a ring in bytes, for which it has fewer slots of
	// large messages: more would be a walk through cold memory.
	maxRing = 1 << 20
)

// NewPair returns the two connected ends of the transport (inproc, ipc or tcp)
// for messages of size bytes. Each must be closed.
func NewPair(transport string, size int) (near, far *End, err error) {
	switch transport {
	case "ipc", "tcp":
	default:
		return nil, nil, fmt.Errorf("cloop: transport %q is not one of inproc, ipc, tcp", transport)
	case "inproc":
		return queues(min(maxSlots, max(2, maxRing/(size+1))), size)
	}
	a, b, where, err := sockets(transport)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot connect a bare %s pair: %w", transport, err)
	}
	near, err = newStream(a, size, where)
	if err == nil {
		if far, err = newStream(b, size, where); err != nil {
			C.cloop_stream_free(near.stream)
		}
	}
	if err != nil {
		syscall.Close(a)
		syscall.Close(b)
		return nil, nil, err
	}
	return near, far, nil
}

// newStream returns an End over a connected stream socket, which it owns.
func newStream(fd, size int, where string) (*End, error) {
	s, err := C.cloop_stream_new(C.int(fd), C.uint64_t(size))
	if s == nil {
		return nil, err
	}
	return &End{Loop: NewLoop(size, 0, 1), stream: s, fd: fd, where: where}, nil
}

// queues returns the ends of a pair of rings.
func queues(slots, size int) (near, far *End, err error) {
	there, err := C.cloop_queue_new(C.uint64_t(slots), C.uint64_t(size))
	if there == nil {
		return nil, nil, err
	}
	back, err := C.cloop_queue_new(C.uint64_t(slots), C.uint64_t(size))
	if back == nil {
		C.cloop_queue_free(there)
		return nil, nil, err
	}
	ends := 2
	var mu sync.Mutex
	free := func() {
		mu.Lock()
		defer mu.Unlock()
		if ends--; ends == 0 {
			C.cloop_queue_free(there)
			C.cloop_queue_free(back)
		}
	}
	near = &End{Loop: NewLoop(size, 0, 1), out: there, in: back, where: "a ring in memory", free: free}
	far = &End{Loop: NewLoop(size, 0, 1), out: back, in: there, where: "a ring in memory", free: free}
	return near, far, nil
}

// sockets returns two descriptors of a connection over the transport.
func sockets(transport string) (a, b int, where string, err error) {
	family, address := syscall.AF_INET, syscall.Sockaddr(&syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	if transport == "ipc" {
		base := os.TempDir()
		if len(base) > 80 { // no room for a socket's name behind it
			base = "/tmp"
		}
		dir, err := os.MkdirTemp(base, "zb")
		if err != nil {
			return 0, 0, "", err
		}
		defer os.RemoveAll(dir)
		family, address = syscall.AF_UNIX, &syscall.SockaddrUnix{Name: dir + "/kernel"}
	}
	listener, err := stream(family)
	if err != nil {
		return 0, 0, "", err
	}
	defer syscall.Close(listener)
	if err = syscall.Bind(listener, address); err == nil {
		err = syscall.Listen(listener, 1)
	}
	if err != nil {
		return 0, 0, "", err
	}
	if address, err = syscall.Getsockname(listener); err != nil {
		return 0, 0, "", err
	}
	if a, err = stream(family); err != nil {
		return 0, 0, "", err
	}
	if err = syscall.Connect(a, address); err == nil {
		b, err = accept(listener)
	}
	if err == nil && family == syscall.AF_INET {
		where = fmt.Sprintf("tcp 127.0.0.1:%d", address.(*syscall.SockaddrInet4).Port)
		err = syscall.SetsockoptInt(b, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
	} else if err == nil {
		where = "a Unix socket"
	}
	if err != nil {
		syscall.Close(a)
		if b > 0 {
			syscall.Close(b)
		}
		return 0, 0, "", err
	}
	return a, b, where, nil
}

// stream returns a stream socket of the family, as libzmq would set it.
func stream(family int) (int, error) {
	syscall.ForkLock.RLock()
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err == nil && family == syscall.AF_INET {
		err = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
		if err != nil {
			syscall.Close(fd)
		}
	}
	return fd, err
}

// accept takes the connection that waits at the listener. No child process
// inherits it: one that did would keep the connection open after its Close.
func accept(listener int) (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, _, err := syscall.Accept(listener)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	return fd, err
}

// Where says what the End is an end of, for errors.
func (e *End) Where() string { return e.where }

// Request makes n round trips to an End that replies, and records each in h
// unless it is nil.
func (e *End) Request(n int, h *latency.Histogram) error {
	hist := (*C.cloop_histogram)(unsafe.Pointer(h))
	if e.stream != nil {
		rc, err := C.cloop_stream_request(e.stream, &e.c, C.int64_t(n), hist)
		return e.result(rc, err)
	}
	rc, err := C.cloop_queue_request(e.out, e.in, &e.c, C.int64_t(n), hist)
	return e.result(rc, err)
}

// Reply sends back what comes until the other End is gone or Release is called,
// which is ECONNRESET.
func (e *End) Reply() error {
	if e.stream != nil {
		rc, err := C.cloop_stream_reply(e.stream, &e.c)
		return e.result(rc, err)
	}
	rc, err := C.cloop_queue_reply(e.in, e.out, &e.c)
	return e.result(rc, err)
}

// Flood sends n messages.
func (e *End) Flood(n int) error {
	if e.stream != nil {
		rc, err := C.cloop_stream_flood(e.stream, &e.c, C.int64_t(n))
		return e.result(rc, err)
	}
	rc, err := C.cloop_queue_flood(e.out, &e.c, C.int64_t(n))
	return e.result(rc, err)
}

// Receive receives n messages.
func (e *End) Receive(n int) error {
	if e.stream != nil {
		rc, err := C.cloop_stream_receive(e.stream, &e.c, C.int64_t(n))
		return e.result(rc, err)
	}
	rc, err := C.cloop_queue_receive(e.in, &e.c, C.int64_t(n))
	return e.result(rc, err)
}

// Release makes calls on both ends fail. Any goroutine may call it.
func (e *End) Release() {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
	case e.stream != nil:
		syscall.Shutdown(e.fd, syscall.SHUT_RDWR)
	default:
		C.cloop_queue_end(e.in)
		C.cloop_queue_end(e.out)
	}
}

// Close closes the End. No call on it may be under way.
func (e *End) Close() {
	e.Release()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	e.closed = true
	if e.stream != nil {
		C.cloop_stream_free(e.stream)
		syscall.Close(e.fd)
	} else {
		e.free()
	}
}
