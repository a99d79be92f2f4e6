//go:build cgo

package session

import (
	"sync"

	zmq "github.com/pebbe/zmq4"
)

// watched reports whether a bound socket is watched: because its session says so,
// or because a client must do something to be let in.
func (s *Socket) watched() (bool, error) {
	if s.role.session.conf.Mechanism.name != "" {
		return true, nil
	}
	mechanism, err := s.z.GetMechanism()
	if err != nil || mechanism != zmq.NULL {
		return err == nil, err
	}
	domain, err := s.z.GetZapDomain()
	return domain != "", err
}

// Handshakes are those that have succeeded at a bound socket.
type handshakes struct {
	mu       sync.Mutex
	seen     int
	expected int           // by roles of the session, which have seen theirs
	changed  chan struct{} // closed at the next one, and made anew
}

// add counts one.
func (h *handshakes) add() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen++
	close(h.changed)
	h.changed = make(chan struct{})
}

// expect counts one that the other side has seen, and returns which it is.
func (h *handshakes) expect() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.expected++
	return h.expected
}

// have reports whether n have been seen; if not, changed tells when to ask again.
func (h *handshakes) have(n int) (ok bool, changed <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seen >= n, h.changed
}

// awaitHandshake waits until the bound side has seen the handshake, too, that
// this socket has just made.
func (s *Socket) awaitHandshake(h *handshakes) error {
	n := h.expect()
	for {
		ok, changed := h.have(n)
		if ok {
			return nil
		}
		if err := s.Await(changed, "the handshake at the bound side"); err != nil {
			return err
		}
	}
}
