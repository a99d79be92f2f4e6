//go:build cgo

package session

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	zmq "github.com/pebbe/zmq4"

	"zmqbench/internal/endpoint"
)

// An Address is where roles of a session meet. One role binds it, once; any
// number connect to it, and wait for the bind first: a connection that is
// tried too early is tried again only 100 ms later.
type Address struct {
	fixed bool // the user wrote the endpoint; it may be in use
	bind  endpoint.Endpoint
	bound chan struct{} // closed when peer is set
	peer  string        // what a role on this host connects to
	seen  *handshakes   // at the bound socket, or nil if nobody watches them there
}

// names makes inproc names and ipc paths unique in this process.
var names atomic.Int64

// Address returns a new address on the session's transport: an ephemeral tcp
// port of 127.0.0.1, a socket file in a short directory of the session's own,
// or an inproc name that was never used before. It fails tb if the file
// system has no room for a socket file.
func (s *Session) Address() *Address {
	s.tb.Helper()
	text := "tcp://127.0.0.1:*"
	switch s.conf.Transport {
	case "inproc":
		text = fmt.Sprintf("inproc://zmqbench-%d", names.Add(1))
	case "ipc":
		dir, err := s.socketDir()
		if err != nil {
			s.tb.Fatal(err)
		}
		text = fmt.Sprintf("ipc://%s/%d", dir, names.Add(1))
	}
	at, err := s.AddressAt(text)
	if err != nil {
		s.tb.Fatal(err)
	}
	at.fixed = false
	return at
}

// AddressAt returns the address of an endpoint to bind that a user wrote, or
// an error that says what is wrong with it. A port that is still in use is
// tried again until the session's Wait is nearly over.
func (s *Session) AddressAt(text string) (*Address, error) {
	e, err := endpoint.ParseBind(text)
	if err != nil {
		return nil, err
	}
	return &Address{fixed: true, bind: e, bound: make(chan struct{})}, nil
}

// Far returns the address of an endpoint that somebody outside of the session
// has bound or will bind, or an error that says what is wrong with it.
func (s *Session) Far(text string) (*Address, error) {
	e, err := endpoint.ParseConnect(text)
	if err != nil {
		return nil, err
	}
	at := &Address{fixed: true, bound: make(chan struct{}), peer: e.String()}
	close(at.bound)
	return at, nil
}

// Bound is closed when a role has bound the address. From then on Endpoint is what
// anybody on this host connects to.
func (a *Address) Bound() <-chan struct{} { return a.bound }

// Endpoint is the endpoint of an address that is bound.
func (a *Address) Endpoint() string { return a.peer }

// socketDir makes the directory of the session's socket files, in TMPDIR or, if
// paths would be too long there for a socket or none can be made, in /tmp.
func (s *Session) socketDir() (string, error) {
	if s.dir != "" {
		return s.dir, nil
	}
	const longest = "/0123456789"
	dir, err := os.MkdirTemp("", "zb")
	if err == nil {
		if _, err := endpoint.ParseBind("ipc://" + dir + longest); err != nil {
			os.Remove(dir)
			dir = ""
		}
	}
	if dir == "" {
		dir, err = os.MkdirTemp("/tmp", "zb")
	}
	if err != nil {
		return "", fmt.Errorf("no place for ipc sockets: %w [set TMPDIR to a directory that can be written]", err)
	}
	s.dir = dir
	return dir, nil
}

// Bind binds the socket to the address, which connecting roles then find.
func (s *Socket) Bind(at *Address) error {
	s.check()
	text := at.bind.String()
	s.at = append(s.at, text)
	if err := s.serve(); err != nil {
		return s.fault("bind", err)
	}
	if err := s.checkSecurity(text); err != nil {
		return s.fault("bind", err)
	}
	if at.bind.IPv6() {
		if err := s.z.SetIpv6(true); err != nil {
			return s.fault("bind", err)
		}
	}
	if err := s.watchHandshakes(at.fixed); err != nil {
		return s.fault("bind", err)
	}
	if err := s.bind(at); err != nil {
		return s.fault("bind", explainBind(err))
	}
	last, err := s.z.GetLastEndpoint()
	if err != nil {
		return s.fault("bind", err)
	}
	peer, err := at.bind.Peer(last)
	if err != nil {
		return s.fault("bind", err)
	}
	s.at[len(s.at)-1] = peer
	if at.fixed && at.bind.Transport == "ipc" {
		s.role.session.leaves(peer)
	}
	at.peer = peer
	at.seen = s.handshakes
	close(at.bound)
	return nil
}

// bind binds the socket. What the user wants is looked at once more, since a
// bind deletes the file at an ipc path, and tried again if it is in use. That
// ends before the Wait does: a role that waits for this one would else be the
// first to fail, and know less.
func (s *Socket) bind(at *Address) error {
	text := at.bind.String()
	if !at.fixed {
		return s.z.Bind(text)
	}
	if err := at.bind.CheckBind(); err != nil {
		return err
	}
	wait := s.role.session.conf.Wait
	limit := time.After(wait - wait/4)
	for {
		err := s.z.Bind(text)
		if !errors.Is(err, zmq.EADDRINUSE) || !s.again(limit) {
			return err
		}
	}
}

// leaves notes an ipc endpoint whose file the session's end must remove.
func (s *Session) leaves(ipc string) {
	s.mu.Lock()
	s.files = append(s.files, ipc)
	s.mu.Unlock()
}

// retry is how long a bind waits for a port that is in use. There is no event
// to wait for: the kernel frees ports and libzmq closes sockets on their own
// time.
const retry = 10 * time.Millisecond

// again waits a moment before another try and reports whether there is still
// time for it.
func (s *Socket) again(limit <-chan time.Time) bool {
	select {
	case <-s.role.session.over:
		return false
	case <-limit:
		return false
	case <-time.After(retry):
		return true
	}
}

// explainBind adds the remedy to errors that people meet.
func explainBind(err error) error {
	switch zmq.AsErrno(err) {
	case zmq.EADDRINUSE:
		return fmt.Errorf("%w [another program listens there; choose another port, or *]", err)
	case zmq.Errno(syscall.EACCES):
		return fmt.Errorf("%w [ports below 1024 need privileges; choose another]", err)
	}
	return err
}
