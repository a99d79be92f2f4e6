//go:build cgo

package session

import (
	"errors"
	"reflect"
	"syscall"
	"unsafe"

	zmq "github.com/pebbe/zmq4"
)

// A Counter tells how far a loop outside of Go has come. Any goroutine may ask
// it at any time.
type Counter interface {
	Counts() (sent, received int64)
}

// Outside runs body on libzmq's own socket: a loop in C that makes many calls
// and comes back once. The socket is the role's as before, opened, connected and
// ended like any other, so that a loop in C and one in Go differ in nothing but
// their language. The watchdog asks the counter how the loop comes on. Op names
// what the loop does in the error.
func (s *Socket) Outside(op string, loop Counter, body func(socket unsafe.Pointer) error) error {
	s.check()
	sent, received := loop.Counts()
	err := s.role.watched(loop, func() error { return body(s.handle) })
	nowSent, nowReceived := loop.Counts()
	s.sent += nowSent - sent
	s.received += nowReceived - received
	if err != nil {
		return s.fault(op, binding(err))
	}
	return nil
}

// Outside runs body, a loop that uses no socket of the session. Release makes
// its calls fail when the session ends; any goroutine may call it. Op and where
// name what the loop does and with what in the error.
func (r *Role) Outside(op, where string, loop Counter, release func(), body func() error) error {
	r.asked.Store(false) // it is a call like one on a socket
	gone := make(chan struct{})
	returned := make(chan struct{})
	go func() {
		defer close(gone)
		select {
		case <-r.session.over:
			release()
		case <-returned:
		}
	}()
	err := r.watched(loop, body)
	close(returned)
	<-gone
	s := &Socket{role: r, at: []string{where}}
	s.sent, s.received = loop.Counts()
	switch {
	case err == nil:
		return nil
	case r.session.isOver() && errors.Is(err, syscall.ECONNRESET):
		err = zmq.ETERM // it was released
	}
	return s.fault(op, err)
}

// watched runs body while the watchdog asks loop for its progress.
func (r *Role) watched(loop Counter, body func() error) error {
	r.loop.Store(&loop)
	defer r.loop.Store(nil)
	return body()
}

// binding turns an errno of C into the binding's type, which the rest of the
// session knows.
func binding(err error) error {
	if e, ok := err.(syscall.Errno); ok {
		return zmq.Errno(e)
	}
	return err
}

// handle is libzmq's socket inside of the binding's. The binding has no method
// for it; reading the field is what keeps every other part of a measurement
// the same in all layers.
func handle(z *zmq.Socket) unsafe.Pointer {
	return reflect.ValueOf(z).Elem().FieldByName("soc").UnsafePointer()
}
