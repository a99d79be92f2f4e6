//go:build cgo

package session

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	zmq "github.com/pebbe/zmq4"
)

// Z09: a message of several parts is refused at its first.
func TestSingle(t *testing.T) {
	text := record(func(tb TB) {
		s := Open(tb, Config{Transport: "tcp"})
		at := s.Address()
		s.Go("sender", func(r *Role) error {
			push, err := r.Connect(zmq.PUSH, at)
			if err != nil {
				return err
			}
			if err := push.Send([]byte("one")); err != nil {
				return err
			}
			if _, err := push.z.SendBytes([]byte("first"), zmq.SNDMORE); err != nil {
				return err
			}
			if err := push.Send([]byte("second")); err != nil {
				return err
			}
			r.AwaitEnd()
			return nil
		})
		s.Run("receiver", func(r *Role) error {
			pull, err := r.Bind(zmq.PULL, at)
			if err != nil {
				return err
			}
			for _, want := range []string{"one", "first"} {
				msg, err := pull.Recv()
				if err != nil {
					return err
				}
				if string(msg) != want {
					return pull.Fault(fmt.Errorf("got %q, want %q", msg, want))
				}
				if err := pull.Single(); err != nil {
					return err
				}
			}
			return nil
		})
	})
	wantReport(t, text, "receiver: recv tcp://127.0.0.1:", "the message has several parts, want one (0 sent, 2 received)")
}

// Z14: signals that interrupt every kind of call lose no message, repeat none
// and are nobody's error.
func TestRoundTripsUnderSignals(t *testing.T) {
	for transport, n := range map[string]int{"inproc": 200_000, "tcp": 10_000} {
		t.Run(transport, func(t *testing.T) {
			defer signals(t)()
			n := n / slowdown
			s := Open(t, Config{Transport: transport})
			at := s.Address()
			var rep, req *Socket
			s.Go("replier", func(r *Role) (err error) {
				rep, err = r.Bind(zmq.REP, at)
				for err == nil {
					var msg []byte
					if msg, err = rep.Recv(); err == nil {
						err = rep.Send(msg)
					}
				}
				return err
			})
			s.Run("requester", func(r *Role) (err error) {
				req, err = r.Connect(zmq.REQ, at)
				msg := make([]byte, 8)
				for i := 0; i < n && err == nil; i++ {
					binary.LittleEndian.PutUint64(msg, uint64(i))
					if err = req.Send(msg); err != nil {
						break
					}
					var reply []byte
					if reply, err = req.Recv(); err == nil && !bytes.Equal(reply, msg) {
						err = req.Fault(fmt.Errorf("got %x, want %x", reply, msg))
					}
				}
				return err
			})
			for name, s := range map[string]*Socket{"replier": rep, "requester": req} {
				if s.sent != int64(n) || s.received != int64(n) {
					t.Errorf("%s: %s, want %d each", name, s.counts(), n)
				}
			}
		})
	}
}

// Z22: a call that failed has an error, and one that did not has none. A good
// bind over ipc leaves errno set, since libzmq deletes the file of an earlier
// bind first, which is not there.
func TestErrno(t *testing.T) {
	s := Open(t, Config{Transport: "ipc"})
	at := s.Address()
	s.Run("receiver", func(r *Role) error {
		pull, err := r.Bind(zmq.PULL, at)
		if err != nil {
			return err
		}
		parts, err := pull.z.RecvMessage(zmq.DONTWAIT)
		if err == nil || zmq.AsErrno(err) != zmq.Errno(syscall.EAGAIN) || len(parts) != 0 {
			t.Errorf("RecvMessage(DONTWAIT) = %q, %v (%d), want nothing and EAGAIN", parts, err, zmq.AsErrno(err))
		}
		return nil
	})
}

// Z53: options are set while the socket has no endpoint yet, and have their
// value then. That there is no way to set one later is a matter of what the
// type Socket does not have.
func TestOptionsBeforeBind(t *testing.T) {
	s := Open(t, Config{Transport: "tcp"})
	at := s.Address()
	values := func(want string) Option {
		return func(z *zmq.Socket) error {
			snd, err1 := z.GetSndhwm()
			rcv, err2 := z.GetRcvhwm()
			linger, err3 := z.GetLinger()
			last, err4 := z.GetLastEndpoint()
			if got := fmt.Sprint(snd, rcv, linger); got != want {
				t.Errorf("SNDHWM, RCVHWM, linger = %s, want %s", got, want)
			}
			if last != "" {
				t.Errorf("there is an endpoint already: %q", last)
			}
			return errors.Join(err1, err2, err3, err4)
		}
	}
	s.Go("sender", func(r *Role) error {
		_, err := r.Connect(zmq.PUSH, at, values("1000 1000 0s"), HWM(0), values("0 0 0s"))
		return err
	})
	s.Run("receiver", func(r *Role) error {
		pull, err := r.Bind(zmq.PULL, at, HWM(7), values("7 7 0s"))
		if err != nil {
			return err
		}
		if n, err := pull.z.GetRcvhwm(); err != nil || n != 7 {
			t.Errorf("RCVHWM = %d, %v after the bind, want 7", n, err)
		}
		return nil
	})
}

// Z86: a socket that cannot be opened is an error of its role, and a second one
// closes nothing that the first has.
func TestSocketRefused(t *testing.T) {
	text := record(func(tb TB) {
		s := Open(tb, Config{Transport: "tcp"})
		s.Run("receiver", func(r *Role) error {
			z, err := zmq.NewContext()
			if err == nil {
				err = z.SetMaxSockets(1) // which only a context without sockets takes
			}
			if err != nil {
				return err
			}
			c := &context{name: "receiver", z: z, ended: make(chan struct{})}
			s.contexts, r.own = append(s.contexts, c), c
			if _, err := r.Bind(zmq.PULL, s.Address()); err != nil {
				return err
			}
			_, err = r.Socket(zmq.PULL)
			if n := c.sockets(); n != 1 {
				t.Errorf("%d open sockets, want 1", n)
			}
			return err
		})
	})
	wantReport(t, text, "receiver: open (no endpoint): too many open files (0 sent, 0 received)\nreceiver: PULL tcp://127.0.0.1:")
}

// An option that fails is an error that names the socket's role; the socket is
// closed with the session.
func TestOptionRefused(t *testing.T) {
	text := record(func(tb TB) {
		s := Open(tb, Config{Transport: "tcp"})
		at := s.Address()
		s.Run("receiver", func(r *Role) error {
			_, err := r.Bind(zmq.PULL, at, HWM(-1))
			return err
		})
	})
	wantReport(t, text, "receiver: set option of (no endpoint): invalid argument (0 sent, 0 received)")
}

// A role that stands still has failed, also when it returns nil in the end: a
// sender may take the ETERM that released it for a good end.
func TestStruckWithoutError(t *testing.T) {
	for _, test := range []struct {
		name  string
		still func(*Role, *Socket) error
	}{
		{"between calls", func(r *Role, _ *Socket) error { <-r.session.over; return nil }},
		{"in a call", func(_ *Role, pull *Socket) error { pull.Recv(); return nil }},
		{"waits for itself", func(r *Role, _ *Socket) error { r.AwaitEnd(); return nil }},
	} {
		t.Run(test.name, func(t *testing.T) {
			start := time.Now()
			text := record(func(tb TB) {
				s := Open(tb, Config{Transport: "tcp", Wait: short})
				at := s.Address()
				s.Run("receiver", func(r *Role) error {
					pull, err := r.Bind(zmq.PULL, at)
					if err != nil {
						return err
					}
					return test.still(r, pull)
				})
			})
			wantReport(t, text, "receiver: no progress for 200ms: ", "\nreceiver: PULL tcp://127.0.0.1:")
			within(t, short, start)
		})
	}
}

// A message as Recv returns it is the caller's: the next one does not change it.
func TestRecvOwnership(t *testing.T) {
	s := Open(t, Config{Transport: "inproc"})
	at := s.Address()
	s.Go("replier", replier(at))
	s.Run("requester", func(r *Role) error {
		req, err := r.Connect(zmq.REQ, at)
		if err != nil {
			return err
		}
		var kept []string
		var replies [][]byte
		for _, text := range []string{"first", "other", strings.Repeat("long", 100)} {
			msg := []byte(text)
			if err := req.Send(msg); err != nil {
				return err
			}
			clear(msg)
			reply, err := req.Recv()
			if err != nil {
				return err
			}
			kept, replies = append(kept, text), append(replies, reply)
		}
		for i, reply := range replies {
			if string(reply) != kept[i] {
				return req.Fault(fmt.Errorf("reply %d is now %q, want %q", i, reply, kept[i]))
			}
		}
		return nil
	})
}
