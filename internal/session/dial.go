//go:build cgo

package session

import (
	"errors"
	"strings"

	zmq "github.com/pebbe/zmq4"
)

// A Dial is a connection in the making. [Socket.Connect] is all of it in one; the
// parts are for who times them, or sends before the connection is up. Dials of one
// socket come one after the other.
type Dial struct {
	s      *Socket
	at     *Address
	events *zmq.Socket // of the socket's monitor; nil over inproc, which has no handshake
}

// Dial waits until the address is bound and prepares a connection to it. The
// caller calls Start, and in any case Finish.
func (s *Socket) Dial(at *Address) (*Dial, error) {
	if err := s.Await(at.bound, "a role that binds the other end"); err != nil {
		return nil, err
	}
	s.at = append(s.at, at.peer)
	d := &Dial{s: s, at: at}
	if err := d.prepare(); err != nil {
		return nil, s.fault("connect", err)
	}
	return d, nil
}

// prepare does what comes before the connection itself.
func (d *Dial) prepare() (err error) {
	s, to := d.s, d.at.peer
	if err := s.set(s.role.session.conf.Mechanism.client); err != nil {
		return err
	}
	if err := s.checkSecurity(to); err != nil {
		return err
	}
	if strings.HasPrefix(to, "tcp://[") {
		if err := s.z.SetIpv6(true); err != nil {
			return err
		}
	}
	if strings.HasPrefix(to, "inproc:") {
		return nil
	}
	d.events, err = s.monitor(zmq.EVENT_CONNECTED | zmq.EVENT_DISCONNECTED |
		zmq.EVENT_HANDSHAKE_SUCCEEDED | handshakeFailed | zmq.EVENT_MONITOR_STOPPED)
	return err
}

// Start begins to connect and returns at once.
func (d *Dial) Start() error {
	connect := d.s.z.Connect
	if d.events == nil {
		connect = func(to string) error { return d.s.c.connect(d.s.z, to) }
	}
	if err := connect(d.at.peer); err != nil {
		return d.s.fault("connect", err)
	}
	return nil
}

// Finish returns when the connection is up: over ipc and tcp when the handshake
// has succeeded, where the bound socket has security on both sides; over inproc at
// once. If something has gone wrong already, it cleans up and returns that.
//
// The monitor is stopped before the clock of any measurement starts, in the
// only order that is safe: stop it, read its events to the last, close the
// reading socket.
func (d *Dial) Finish(err error) error {
	if d.events == nil {
		return err
	}
	s := d.s
	defer s.c.close(d.events)
	if err == nil {
		err = s.handshake(d.events)
	}
	if err == nil && d.at.seen != nil {
		err = s.awaitHandshake(d.at.seen)
	}
	if stopped := s.z.Monitor("", 0); stopped != nil { // the context has ended, and with it the monitor
		return errors.Join(err, s.fault("connect", stopped))
	}
	return errors.Join(err, s.drain(d.events))
}

// Connect connects the socket to the address and returns when the connection
// is up: over ipc and tcp when the handshake has succeeded, if the connection is
// secured at the bound socket too, over inproc when the other end has been bound.
func (s *Socket) Connect(at *Address) error {
	d, err := s.Dial(at)
	if err != nil {
		return err
	}
	return d.Finish(d.Start())
}
