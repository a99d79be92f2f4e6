//go:build cgo

package session

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"unsafe"

	zmq "github.com/pebbe/zmq4"
)

// A Socket is a ZeroMQ socket of a role. Its methods are for the role's
// goroutine; a build with the race detector panics when another one calls.
// The session closes it.
type Socket struct {
	owner
	role     *Role
	z        *zmq.Socket
	handle   unsafe.Pointer // of libzmq, for loops outside of Go
	c        *context
	kind     zmq.Type
	at       []string // endpoints bound or connected to
	sent     int64
	received int64
	watching chan struct{} // closed when the watch on handshakes has ended
	waiter   *waiter

	handshakes *handshakes // that were seen at the socket; nil if nobody watches
}

// Socket opens a socket with the given options, which is the only time they
// can be set: options set after bind or connect do nothing to what is there.
func (r *Role) Socket(kind zmq.Type, options ...Option) (*Socket, error) {
	s := &Socket{owner: newOwner(), role: r, kind: kind}
	c, err := r.context()
	if err == nil {
		s.z, err = c.socket(kind)
	}
	if err != nil {
		return nil, s.fault("open", err)
	}
	s.c, s.handle = c, handle(s.z)
	r.sockets = append(r.sockets, s)
	if err := s.set(options); err != nil {
		return nil, s.fault("set option of", err)
	}
	return s, nil
}

// Bind opens a socket with the given options and binds it to the address.
func (r *Role) Bind(kind zmq.Type, at *Address, options ...Option) (*Socket, error) {
	s, err := r.Socket(kind, options...)
	if err != nil {
		return nil, err
	}
	return s, s.Bind(at)
}

// Connect opens a socket with the given options, connects it to the address
// and returns when the connection is up.
func (r *Role) Connect(kind zmq.Type, at *Address, options ...Option) (*Socket, error) {
	s, err := r.Socket(kind, options...)
	if err != nil {
		return nil, err
	}
	return s, s.Connect(at)
}

// Send sends msg as one message of one part. It does not keep msg.
func (s *Socket) Send(msg []byte) error {
	s.check()
	if _, err := s.z.SendBytes(msg, 0); err != nil {
		return s.fault("send", err)
	}
	s.sent++
	return nil
}

// Recv receives the next message. The bytes are the caller's.
func (s *Socket) Recv() ([]byte, error) {
	s.check()
	msg, err := s.z.RecvBytes(0)
	if err != nil {
		return nil, s.fault("recv", s.explainRecv(err))
	}
	s.received++
	return msg, nil
}

// TryRecv receives the next message if there is one, and reports whether there
// was. The bytes are the caller's.
func (s *Socket) TryRecv() (msg []byte, ok bool, err error) {
	s.check()
	msg, err = s.z.RecvBytes(zmq.DONTWAIT)
	switch {
	case zmq.AsErrno(err) == zmq.Errno(syscall.EAGAIN):
		return nil, false, nil
	case err != nil:
		return nil, false, s.fault("recv", err)
	}
	s.received++
	return msg, true, nil
}

// RecvPart receives a part of a message that is not its last, such as the
// routing id at a ROUTER. It does not count as a message.
func (s *Socket) RecvPart() ([]byte, error) {
	s.check()
	part, err := s.z.RecvBytes(0)
	if err != nil {
		return nil, s.fault("recv", err)
	}
	return part, nil
}

// SendPart sends a part of a message, which Send completes.
func (s *Socket) SendPart(part []byte) error {
	s.check()
	if _, err := s.z.SendBytes(part, zmq.SNDMORE); err != nil {
		return s.fault("send", err)
	}
	return nil
}

// explainRecv says what it means when a requester that has sent its request
// must not wait for the reply: a REQ whose peer goes away in the middle of a
// send drops the message, reports success and is in the state that it was in
// before (lb.cpp of libzmq 4.3.4, where it returns -2).
func (s *Socket) explainRecv(err error) error {
	if s.kind == zmq.REQ && s.sent > s.received && errors.Is(err, zmq.EFSM) {
		return fmt.Errorf("%w: its peer went away while the request was sent", err)
	}
	return err
}

// Single returns an error if the message that Recv has just returned was a
// part of a message of several parts, which no role here sends. It costs a
// call into libzmq, so roles ask it of their first and last message only.
func (s *Socket) Single() error {
	s.check()
	more, err := s.z.GetRcvmore()
	if err != nil {
		return s.fault("recv", err)
	}
	if more {
		return s.fault("recv", errors.New("the message has several parts, want one"))
	}
	return nil
}

// Await waits for a value from ready, or for its close, before the socket can
// be of use. It is watched like a call on the socket: what names the thing in
// the error.
func (s *Socket) Await(ready <-chan struct{}, what string) error {
	s.check()
	select {
	case <-ready:
		return nil
	case <-s.role.session.over:
		return s.fault("await", zmq.ETERM, "waiting for "+what)
	}
}

// check answers the watchdog, and sees that the caller owns the socket.
func (s *Socket) check() {
	s.owner.check()
	if s.role.asked.Load() {
		s.role.asked.Store(false)
	}
}

// close closes the socket. If linger, it may take Config.Wait to send what it
// has; the context's end waits for that.
func (s *Socket) close(linger bool) {
	if linger {
		s.z.SetLinger(s.role.session.conf.Wait) // ETERM when the session has failed: then 0 stays
	}
	s.stopWatch()
	s.c.close(s.z)
}

// where is the socket's endpoints.
func (s *Socket) where() string {
	if len(s.at) == 0 {
		return "(no endpoint)"
	}
	return strings.Join(s.at, " ")
}

// counts is what the socket has sent and received.
func (s *Socket) counts() string {
	return fmt.Sprintf("%d sent, %d received", s.sent, s.received)
}

// An Error is a socket call of a role that failed.
type Error struct {
	Role     string
	Op       string // open, set option of, bind, connect, await, send, recv, proxy
	Endpoint string
	Counts   string // what the socket had sent and received
	Err      error  // the cause; ETERM when the session ended
	why      string // the cause in words
}

// Error names the role, the operation, the endpoint, the cause and the counts.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s %s: %s (%s)", e.Role, e.Op, e.Endpoint, e.why, e.Counts)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Fault is the error of what was found wrong with a message after the socket
// received it.
func (s *Socket) Fault(err error) error { return s.fault("recv", err) }

// fault is the error of an operation on the socket. Notes say more about it.
func (s *Socket) fault(op string, err error, notes ...string) error {
	why := err.Error()
	if errors.Is(err, zmq.ETERM) {
		why = s.role.session.reason(s.role, op)
	}
	why = strings.Join(append([]string{why}, notes...), "; ")
	return &Error{Role: s.role.name, Op: op, Endpoint: s.where(), Counts: s.counts(), Err: err, why: why}
}
