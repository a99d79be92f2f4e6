//go:build cgo

package session

import (
	"testing"

	zmq "github.com/pebbe/zmq4"
)

// Z23: both sides have a monitor while the connection is made, again and
// again: nothing crashes, hangs or stays.
func TestMonitorBothSides(t *testing.T) {
	if !zmq.HasCurve() {
		t.Skip("this libzmq was built without CURVE, and without a mechanism the bound side has no monitor")
	}
	public, secret, err := zmq.NewCurveKeypair()
	if err != nil {
		t.Fatal(err)
	}
	server, client := CurveServer(secret), CurveClient(public, public, secret)
	for i := range 200 / min(slowdown, 4) {
		s := Open(t, Config{Transport: []string{"ipc", "tcp"}[i%2]})
		at := s.Address()
		s.Go("receiver", func(r *Role) error {
			pull, err := r.Bind(zmq.PULL, at, server)
			if err != nil {
				return err
			}
			if pull.watching == nil {
				t.Error("the bound side has no monitor")
			}
			_, err = pull.Recv()
			return err
		})
		s.Run("sender", func(r *Role) error {
			_, err := r.Connect(zmq.PUSH, at, client)
			return err
		})
	}
}

// Z23: a monitor is stopped, read to its end and closed before its socket is,
// on both sides; the socket is of use in between, and can be watched again.
func TestMonitorTeardown(t *testing.T) {
	if !zmq.HasCurve() {
		t.Skip("this libzmq was built without CURVE, and without a mechanism the bound side has no monitor")
	}
	public, secret, err := zmq.NewCurveKeypair()
	if err != nil {
		t.Fatal(err)
	}
	s := Open(t, Config{Transport: "tcp"})
	at, other := s.Address(), s.Address()
	s.Go("sender", func(r *Role) error {
		push, err := r.Connect(zmq.PUSH, at, CurveClient(public, public, secret))
		if err != nil {
			return err
		}
		if n := r.own.sockets(); n != 1 {
			t.Errorf("%d open sockets on the connecting side, want 1: its monitor has done its work", n)
		}
		if err := push.Connect(other); err != nil { // with a second monitor
			return err
		}
		for range 2 {
			if err := push.Send([]byte("one each")); err != nil {
				return err
			}
		}
		r.AwaitEnd()
		return nil
	})
	s.Run("receiver", func(r *Role) error {
		for _, at := range []*Address{at, other} {
			if _, err := r.Bind(zmq.PULL, at, CurveServer(secret)); err != nil {
				return err
			}
		}
		for i, pull := range r.sockets {
			if _, err := pull.Recv(); err != nil {
				return err
			}
			pull.stopWatch()
			select {
			case <-pull.watching:
			default:
				t.Error("the monitor of the bound side is not stopped")
			}
			if n, want := r.own.sockets(), 4-i-1; n != want {
				t.Errorf("%d open sockets on the bound side, want %d", n, want)
			}
		}
		return nil
	})
}

// Z23: a reader of events that is blocked when its context ends returns, and
// so does one that comes later.
func TestMonitorAfterTerm(t *testing.T) {
	before := takeFootprint()
	c, err := newContext("test", 1)
	if err != nil {
		t.Fatal(err)
	}
	z, err := c.socket(zmq.REQ)
	if err != nil {
		t.Fatal(err)
	}
	s := &Socket{z: z, c: c}
	blocked := make(chan struct{})
	go func() {
		defer close(blocked)
		events, err := s.monitor(zmq.EVENT_ALL)
		if err != nil {
			t.Errorf("monitor: %v", err)
			c.terminate()
			return
		}
		go c.terminate()
		for range 2 {
			event, _, _, err := events.RecvEvent(0)
			if err != zmq.ETERM {
				t.Errorf("RecvEvent = %v, %v, want ETERM", event, err)
			}
		}
		c.close(events)
	}()
	<-blocked
	c.close(z)
	<-c.ended
	if err := before.compare(); err != nil {
		t.Error(err)
	}
}
