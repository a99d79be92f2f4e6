//go:build cgo

package session

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	zmq "github.com/pebbe/zmq4"
)

// handshakeFailed are the events that end a handshake badly; see
// zmq_socket_monitor(3).
const handshakeFailed = zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL |
	zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq.EVENT_HANDSHAKE_FAILED_AUTH

// handshake reads events until the handshake has succeeded or can not succeed.
func (s *Socket) handshake(events *zmq.Socket) error {
	last := "nobody listens there"
	for {
		event, _, value, err := events.RecvEvent(0)
		switch {
		case err != nil:
			return s.fault("connect", err, "last seen: "+last)
		case event == zmq.EVENT_HANDSHAKE_SUCCEEDED:
			return nil
		case event == zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL, event == zmq.EVENT_HANDSHAKE_FAILED_AUTH:
			return s.fault("connect", handshakeError(event, value))
		case event == zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL:
			last = handshakeError(event, value).Error() // libzmq tries again
		case event == zmq.EVENT_CONNECTED:
			last = "connected, and no handshake"
		case event == zmq.EVENT_DISCONNECTED:
			last = "disconnected during the handshake"
		}
	}
}

// drain reads events up to the last.
func (s *Socket) drain(events *zmq.Socket) error {
	for {
		event, _, _, err := events.RecvEvent(0)
		if err != nil {
			return s.fault("connect", err)
		}
		if event == zmq.EVENT_MONITOR_STOPPED {
			return nil
		}
	}
}

// monitor starts a monitor of the socket and returns the socket to read it.
func (s *Socket) monitor(which zmq.Event) (*zmq.Socket, error) {
	name := fmt.Sprintf("inproc://monitor-%d", names.Add(1))
	if err := s.z.Monitor(name, which); err != nil {
		return nil, fmt.Errorf("cannot monitor: %w", err)
	}
	events, err := s.c.socket(zmq.PAIR)
	if err != nil {
		return nil, fmt.Errorf("cannot monitor: %w", err)
	}
	if err := s.c.connect(events, name); err != nil {
		s.c.close(events)
		return nil, fmt.Errorf("cannot monitor: %w", err)
	}
	return events, nil
}

// watchHandshakes watches the handshakes of a bound socket that has a security
// mechanism or a ZAP domain. Only the bound side learns why a client's keys do
// not fit: the client just waits. So the first handshake ends the session at
// once if it fails, and the reason is told. Once a peer is in, and from the start
// where the user chose the endpoint, strangers may come that have no business
// there; a failure is then kept for the case that a role misses its peer.
func (s *Socket) watchHandshakes(chosen bool) error {
	watch, err := s.watched()
	if err != nil || !watch || s.watching != nil {
		return err
	}
	s.handshakes = &handshakes{changed: make(chan struct{})}
	name := fmt.Sprintf("inproc://monitor-%d", names.Add(1))
	ready := make(chan error)
	s.watching = make(chan struct{})
	go func() {
		defer close(s.watching)
		s.watchUntilStopped(name, chosen, ready)
	}()
	if err := <-ready; err != nil {
		return err
	}
	return s.z.Monitor(name, zmq.EVENT_HANDSHAKE_SUCCEEDED|handshakeFailed|zmq.EVENT_MONITOR_STOPPED)
}

// watchUntilStopped reads the events of the monitor of that name. It connects
// first, and says that it is ready, since libzmq's I/O thread would wait for a
// reader that is late. Open says that strangers may be among the peers.
func (s *Socket) watchUntilStopped(name string, open bool, ready chan<- error) {
	events, err := s.c.socket(zmq.PAIR)
	if err != nil {
		ready <- err
		return
	}
	defer s.c.close(events)
	if err := s.c.connect(events, name); err != nil {
		ready <- err
		return
	}
	ready <- nil
	for {
		event, _, value, err := events.RecvEvent(0)
		switch {
		case err != nil || event == zmq.EVENT_MONITOR_STOPPED:
			return
		case event == zmq.EVENT_HANDSHAKE_SUCCEEDED:
			s.handshakes.add()
			open = true
		case event == zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL && zmq.Errno(value) != zmq.Errno(syscall.EFAULT):
			// a peer that went away
		default:
			s.role.session.refuse(s.role, handshakeError(event, value), open)
		}
	}
}

// stopWatch ends the watch on handshakes before the socket is closed.
func (s *Socket) stopWatch() {
	if s.watching == nil {
		return
	}
	s.z.Monitor("", 0) // ETERM when the context has ended; then so has the watch
	select {
	case <-s.watching:
	case <-time.After(grace): // the session's end reports the socket
	}
}

// refuse ends the session because role has refused a peer, unless Config says
// what else to do, or it may have been a stranger.
func (s *Session) refuse(role *Role, why error, stranger bool) {
	switch {
	case s.conf.Refused != nil:
		s.conf.Refused(fmt.Errorf("%s: %w", role.name, why))
	case stranger:
		role.refused.Store(&why)
	default:
		s.stop(fmt.Errorf("%s: %w", role.name, why))
	}
}

// ErrHandshake is wrapped by the errors of handshakes that failed.
var ErrHandshake = errors.New("handshake failed")

// protocolErrors are the values of HANDSHAKE_FAILED_PROTOCOL that people meet,
// as zmq.h has them.
var protocolErrors = map[int]string{
	0x10000001: "unexpected command",
	0x10000002: "invalid sequence",
	0x10000003: "key exchange",
	0x10000011: "malformed command",
	0x10000012: "malformed MESSAGE",
	0x10000013: "malformed HELLO",
	0x10000014: "malformed INITIATE",
	0x10000015: "malformed ERROR",
	0x10000016: "malformed READY",
	0x10000017: "malformed WELCOME",
	0x10000018: "invalid metadata",
	0x11000001: "cryptographic: a key is wrong",
	0x11000002: "the mechanisms differ",
	0x20000000: "malformed reply of the ZAP handler",
	0x20000001: "wrong number of frames from the ZAP handler",
	0x20000002: "another request's reply from the ZAP handler",
	0x20000003: "wrong version from the ZAP handler",
	0x20000004: "invalid status from the ZAP handler",
	0x20000005: "invalid metadata from the ZAP handler",
}

// handshakeError says how a handshake failed.
func handshakeError(event zmq.Event, value int) error {
	switch event {
	case zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL:
		what, ok := protocolErrors[value]
		if !ok {
			what = "see zmq_socket_monitor(3)"
		}
		return fmt.Errorf("%w: protocol error %#x (%s)", ErrHandshake, value, what)
	case zmq.EVENT_HANDSHAKE_FAILED_AUTH:
		if value == 300 {
			return fmt.Errorf("%w: the ZAP handler could not tell, ZAP status 300", ErrHandshake)
		}
		return fmt.Errorf("%w: not authenticated, ZAP status %d", ErrHandshake, value)
	}
	if zmq.Errno(value) == zmq.Errno(syscall.EFAULT) {
		return fmt.Errorf("%w: no ZAP handler is there to authenticate the client", ErrHandshake)
	}
	return fmt.Errorf("%w: %v", ErrHandshake, zmq.Errno(value))
}

// ErrNoCurve is the error of [NewMechanism] where libzmq was built without
// CURVE.
var ErrNoCurve = errors.New("this libzmq was built without CURVE")
