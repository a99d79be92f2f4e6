//go:build cgo

package session

import (
	"errors"
	"runtime"
	"testing"
	"time"

	zmq "github.com/pebbe/zmq4"

	"zmqbench/internal/cloop"
)

// bare returns the ends of a bare transport, which s closes.
func bare(t *testing.T, s *Session, transport string) (near, far *cloop.End) {
	t.Helper()
	near, far, err := cloop.NewPair(transport, 100)
	if err != nil {
		t.Fatal(err)
	}
	s.Cleanup(near.Close)
	s.Cleanup(far.Close)
	return near, far
}

// outside is the role that runs body on e.
func outside(op string, e *cloop.End, body func() error) func(*Role) error {
	return func(r *Role) error { return r.Outside(op, e.Where(), e, e.Release, body) }
}

// wheres are what ends are ends of.
var wheres = map[string]string{"inproc": "a ring in memory", "ipc": "a Unix socket", "tcp": "tcp 127.0.0.1:"}

// A loop over a bare transport without its peer is struck, and one whose peer
// goes away fails at once; each says who, what, where and how far it got.
func TestBareLoop(t *testing.T) {
	for _, transport := range transports {
		for _, test := range []struct {
			name string
			run  func(s *Session, near, far *cloop.End)
			want []string
		}{
			{"receiver alone", func(s *Session, near, _ *cloop.End) {
				s.Run("receiver", outside("recv", near, func() error { return near.Receive(1) }))
			}, []string{"receiver: recv ", "no message for 200ms", "(0 sent, 0 received)"}},
			{"requester alone", func(s *Session, near, _ *cloop.End) {
				s.Run("requester", outside("recv", near, func() error { return near.Request(1, nil) }))
			}, []string{"requester: recv ", "no message for 200ms", "(1 sent, 0 received)"}},
			{"sender alone", func(s *Session, near, _ *cloop.End) {
				s.Run("sender", outside("send", near, func() error { return near.Flood(1 << 62) }))
			}, []string{"sender: send ", "no room to send for 200ms", " sent, 0 received)"}},
			{"peer stands still", func(s *Session, near, far *cloop.End) {
				s.Go("sender", outside("send", far, func() error { return far.Flood(50) }))
				s.Run("receiver", outside("recv", near, func() error { return near.Receive(51) }))
			}, []string{"receiver: recv ", "no message for 200ms", "(0 sent, 50 received)"}},
			{"peer dies", func(s *Session, near, far *cloop.End) {
				s.Go("sender", func(r *Role) error {
					defer far.Close()
					return outside("send", far, func() error { return far.Flood(50) })(r)
				})
				s.Run("receiver", outside("recv", near, func() error { return near.Receive(51) }))
			}, []string{"receiver: recv ", ": connection reset by peer (0 sent, 50 received)"}},
			{"peer fails", func(s *Session, near, far *cloop.End) {
				s.Go("replier", func(r *Role) error {
					for sent := int64(0); sent == 0; sent, _ = near.Counts() {
						runtime.Gosched()
					}
					return errors.New("replier: out of paper")
				})
				s.Run("requester", outside("recv", near, func() error { return near.Request(1, nil) }))
			}, []string{"replier: out of paper\n", "requester: recv ", "ended with the session (1 sent, 0 received)"}},
		} {
			t.Run(transport+"/"+test.name, func(t *testing.T) {
				start := time.Now()
				text := record(func(tb TB) {
					s := Open(tb, Config{Transport: transport, Wait: short})
					near, far := bare(t, s, transport)
					test.run(s, near, far)
				})
				wantReport(t, text, append(test.want, wheres[transport])...)
				within(t, short, start)
			})
		}
	}
}

// A loop that makes progress, if slowly, is not struck: four messages come, with
// a third of the limit between them.
func TestSlowLoop(t *testing.T) {
	const limit, count = 750 * time.Millisecond, 4
	t.Run("libzmq", func(t *testing.T) {
		s := Open(t, Config{Transport: "tcp", Wait: limit})
		at := s.Address()
		s.Go("sender", pushing(at, func(push *Socket) error {
			return paced(limit/3, count, func() error { return floodC(0, 1)(push) })
		}))
		s.Run("receiver", pulling(at, receiveC(0, count)))
	})
	t.Run("bare", func(t *testing.T) {
		s := Open(t, Config{Transport: "inproc", Wait: limit})
		near, far := bare(t, s, "inproc")
		s.Go("sender", func(r *Role) error {
			return paced(limit/3, count, func() error {
				return r.Outside("send", far.Where(), far, far.Release, func() error { return far.Flood(1) })
			})
		})
		s.Run("receiver", outside("recv", near, func() error { return near.Receive(count) }))
	})
}

// paced calls f count times, each an interval after the last.
func paced(interval time.Duration, count int, f func() error) error {
	pace := time.NewTicker(interval)
	defer pace.Stop()
	for range count {
		<-pace.C
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// Calls of a role on several loops do not add up: a silence counts from the
// beginning of the call that is under way.
func TestSilenceIsOfOneCall(t *testing.T) {
	const limit = 600 * time.Millisecond
	s := Open(t, Config{Transport: "inproc", Wait: limit})
	near, _ := bare(t, s, "inproc")
	s.Run("receiver", func(r *Role) error {
		for range 3 {
			silence := func() error { <-time.After(limit / 2); return nil }
			if err := r.Outside("recv", near.Where(), near, near.Release, silence); err != nil {
				return err
			}
		}
		return nil
	})
}

// What a loop returns at the end of its session is no failure of its own.
func TestReleasedLoop(t *testing.T) {
	for _, transport := range transports {
		s := Open(t, Config{Transport: transport})
		near, far := bare(t, s, transport)
		ended := make(chan error, 1)
		s.Go("replier", func(r *Role) error {
			err := outside("recv", far, far.Reply)(r)
			ended <- err
			return err
		})
		s.Run("requester", outside("recv", near, func() error { return near.Request(10, nil) }))
		if err := <-ended; !errors.Is(err, zmq.ETERM) {
			t.Errorf("the replier ended with %v, want ETERM in it", err)
		}
	}
}
