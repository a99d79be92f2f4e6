//go:build cgo

package session

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	zmq "github.com/pebbe/zmq4"
)

// A Role is one part of a measurement, such as its requester or its sender.
// Its methods are for the goroutine that the role runs on.
type Role struct {
	session *Session
	name    string
	peer    bool // it is not the one under the clock, with which the session ends
	own     *context
	sockets []*Socket
	err     error
	asks    bool // it has a ZAP handler

	// The watchdog asks, and a role that is alive answers with its next socket
	// call. A flag that is only read costs a role 0.3 ns a call; counting calls
	// for the watchdog would cost ten times that.
	asked  atomic.Bool
	parked atomic.Bool // the role waits for the end, which has no limit
	done   atomic.Bool // the role has returned; set under the session's lock
	struck atomic.Bool // the watchdog ended the session because of it; likewise

	loop    atomic.Pointer[Counter] // the loop outside of Go that it is in, or nil
	refused atomic.Pointer[error]   // the last handshake that failed at a socket that it has bound, or nil
}

// newRole adds a role to the session.
func (s *Session) newRole(name string, peer bool) *Role {
	r := &Role{session: s, name: name, peer: peer}
	s.mu.Lock()
	s.roles = append(s.roles, r)
	s.mu.Unlock()
	return r
}

// run runs role and closes its sockets, also when it panics or calls Goexit.
func (r *Role) run(role func(*Role) error) {
	r.err = errors.New(r.name + " did not return")
	defer func() {
		r.finish()
		r.close()
		if r.err != nil && !(errors.Is(r.err, zmq.ETERM) && r.session.isOver()) {
			r.session.blame(r)
		}
	}()
	r.err = r.pinned(role)
}

// finish makes the role one that has returned, which the watchdog leaves
// alone. If it was struck before, it has an error also where it returned nil:
// a sender takes the ETERM with which its last call ended for a good end.
func (r *Role) finish() {
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	r.done.Store(true)
	if r.struck.Load() && r.err == nil {
		r.err = fmt.Errorf("%s: %s", r.name, r.session.reason(r, ""))
	}
}

// close closes the role's sockets, youngest first. What they have sent lingers
// only if the role did well and its receivers go on: at the end of a session
// its receivers have all they want, and libzmq may wait out the whole linger
// for one that is gone.
func (r *Role) close() {
	linger := r.err == nil && r.peer && !r.session.isOver()
	for i := len(r.sockets) - 1; i >= 0; i-- {
		r.sockets[i].close(linger)
	}
}

// Close closes a socket of the role before the role returns, for roles that open
// many. What it has sent and nobody has received is lost.
func (r *Role) Close(s *Socket) {
	s.check()
	r.sockets = slices.DeleteFunc(r.sockets, func(other *Socket) bool { return other == s })
	s.close(false)
}

// context is the one that the role's sockets live in: its own over ipc and tcp,
// where a role would be a process with an I/O thread of its own; the session's
// only one over inproc, which does not reach further.
func (r *Role) context() (*context, error) {
	if r.own != nil {
		return r.own, nil
	}
	s := r.session
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.isOver():
		return nil, zmq.ETERM
	case s.conf.Transport == "inproc" && len(s.contexts) > 0:
		r.own = s.contexts[0]
		return r.own, nil
	}
	c, err := s.newContext(r)
	if err != nil {
		return nil, err
	}
	s.contexts = append(s.contexts, c)
	r.own = c
	return c, nil
}

// AwaitEnd waits until the session ends. It is how a sender learns that its
// receiver has all it wants: a sender that closed its socket earlier could
// lose messages over ipc (libzmq issue 4660). The role under the clock, with
// which the session ends, would wait for itself: its limit strikes.
func (r *Role) AwaitEnd() {
	r.parked.Store(r.peer)
	<-r.session.over
}

// Proxy forwards between two sockets of the role with zmq_proxy until the
// session ends, which is the only end without an error.
func (r *Role) Proxy(front, back *Socket) error {
	front.check()
	back.check()
	r.parked.Store(true)
	return front.fault("proxy", zmq.Proxy(front.z, back.z, nil))
}

// trouble is the role's error, which its own goroutine writes until it is done.
func (r *Role) trouble() string {
	if !r.done.Load() {
		return r.name + ": " + r.session.reason(r, "")
	}
	return r.err.Error()
}

// state is a line about the role for a failure's text.
func (r *Role) state() string {
	text := r.name + ":"
	if !r.done.Load() {
		return text + " has not returned"
	}
	for _, s := range r.sockets {
		text += fmt.Sprintf(" %v %s, %s;", s.kind, s.where(), s.counts())
	}
	if why := r.refused.Load(); why != nil {
		text += fmt.Sprintf(" refused a peer: %v;", *why)
	}
	if r.err == nil {
		return text + " returned"
	}
	return text + " " + r.err.Error()
}
