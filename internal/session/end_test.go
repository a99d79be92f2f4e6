//go:build cgo

package session

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	zmq "github.com/pebbe/zmq4"
)

// setGrace makes sessions that do not end say so after d more than their Wait.
func setGrace(t *testing.T, d time.Duration) {
	t.Helper()
	was := grace
	grace = d
	t.Cleanup(func() { grace = was })
}

// Z16, Z18: 1000 short sessions, with one, two and four threads to run on.
func TestManyShortSessionsOnFewProcs(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 4} {
		runtime.GOMAXPROCS(procs)
		shortSessions(t, 1000/3/min(slowdown, 4))
	}
}

// shortSessions opens and ends n sessions of one round trip.
func shortSessions(t *testing.T, n int) {
	for i := range n {
		s := Open(t, Config{Transport: transports[i%3]})
		at := s.Address()
		s.Go("replier", replier(at))
		s.Run("requester", requester(at, 1))
	}
}

// Z18, Z19: a context that does not end within the limit is reported with the
// number of its open sockets, next to the error that came before it.
func TestContextDoesNotEnd(t *testing.T) {
	setGrace(t, 50*time.Millisecond)
	for _, fail := range []error{nil, errors.New("receiver: out of paper")} {
		before := takeFootprint()
		var forgotten *zmq.Socket
		var c *context
		start := time.Now()
		text := record(func(tb TB) {
			s := Open(tb, Config{Transport: "ipc", Wait: short})
			s.Run("receiver", func(r *Role) (err error) {
				if _, err = r.Bind(zmq.PULL, s.Address()); err != nil {
					return err
				}
				c = r.own
				if forgotten, err = c.socket(zmq.PUSH); err != nil { // the session does not know that it must close it
					return err
				}
				return fail
			})
		})
		want := "session did not end within 250ms: the context of receiver has 1 open sockets\n"
		if fail != nil {
			want = "receiver: out of paper\nreceiver: PULL ipc:"
		}
		if !strings.HasPrefix(text, want) || !strings.Contains(text, "did not end") {
			t.Errorf("report %q, want it to begin with %q and to say what did not end", text, want)
		}
		within(t, short+grace, start)
		c.close(forgotten)
		<-c.ended
		if err := before.compare(); err != nil {
			t.Error(err)
		}
	}
}

// Z18: a role that does not return is named, and hides no error of another.
func TestRoleDoesNotReturn(t *testing.T) {
	setGrace(t, 50*time.Millisecond)
	before := takeFootprint()
	stuck, gone := make(chan struct{}), make(chan struct{})
	text := record(func(tb TB) {
		s := Open(tb, Config{Transport: "inproc", Wait: short})
		began := make(chan struct{})
		s.Go("stuck", func(r *Role) error {
			defer close(gone)
			if _, err := r.Bind(zmq.PULL, s.Address()); err != nil {
				return err
			}
			close(began)
			<-stuck
			return nil
		})
		s.Run("receiver", func(*Role) error { <-began; return errors.New("receiver: out of paper") })
	})
	for _, want := range []string{
		"receiver: out of paper\nstuck: has not returned\nreceiver: receiver: out of paper\n",
		"session did not end within 250ms: stuck has not returned",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("report %q, want %q in it", text, want)
		}
	}
	close(stuck)
	<-gone
	if err := before.compare(); err != nil {
		t.Error(err)
	}
}

// Z04: a sender with a message that nobody will ever take returns at once, and
// the end of its context waits no longer than the limit, whichever role it is.
func TestSenderAlone(t *testing.T) {
	for _, peer := range []bool{true, false} {
		to := "tcp://127.0.0.1:" + closedPort(t)
		start := time.Now()
		s := Open(t, Config{Transport: "tcp", Wait: short})
		sent := make(chan struct{})
		sender := func(r *Role) error {
			defer close(sent)
			push, err := r.Socket(zmq.PUSH)
			if err != nil {
				return err
			}
			// Not Connect, which would wait for the handshake.
			if err := push.z.Connect(to); err != nil {
				return err
			}
			return push.Send([]byte("is anybody there"))
		}
		if peer {
			s.Go("sender", sender)
			s.Run("other", func(*Role) error { <-sent; return nil })
		} else {
			s.Run("sender", sender)
		}
		within(t, short, start)
	}
}
