//go:build cgo

package session

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	zmq "github.com/pebbe/zmq4"
)

var transports = []string{"inproc", "ipc", "tcp"}

// A recorder is a TB that keeps what a session reports, so that a test can
// look at the failures that it brings about.
type recorder struct {
	text     strings.Builder
	cleanups []func()
}

func (r *recorder) Helper()           {}
func (r *recorder) Cleanup(f func())  { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Error(args ...any) { fmt.Fprintln(&r.text, args...) }
func (r *recorder) Fatal(args ...any) { r.Error(args...); runtime.Goexit() }

// record runs body as a benchmark would, and returns what was reported.
func record(body func(tb TB)) string {
	r := &recorder{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for i := len(r.cleanups) - 1; i >= 0; i-- {
				r.cleanups[i]()
			}
		}()
		body(r)
	}()
	<-done
	return r.text.String()
}

// short is the limit in tests that wait for it to strike.
const short = 200 * time.Millisecond

// replier binds a REP and echoes.
func replier(at *Address) func(*Role) error {
	return func(r *Role) error {
		rep, err := r.Bind(zmq.REP, at)
		if err != nil {
			return err
		}
		for {
			msg, err := rep.Recv()
			if err != nil {
				return err
			}
			if err := rep.Send(msg); err != nil {
				return err
			}
		}
	}
}

// requester connects a REQ and makes n round trips.
func requester(at *Address, n int) func(*Role) error {
	return func(r *Role) error {
		req, err := r.Connect(zmq.REQ, at)
		if err != nil {
			return err
		}
		for i := range n {
			if err := req.Send(fmt.Appendf(nil, "request %d", i)); err != nil {
				return err
			}
			reply, err := req.Recv()
			if err != nil {
				return err
			}
			if want := fmt.Sprintf("request %d", i); string(reply) != want {
				return req.Fault(fmt.Errorf("got %q, want %q", reply, want))
			}
		}
		return nil
	}
}

func TestRoundTrips(t *testing.T) {
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) {
			s := Open(t, Config{Transport: transport})
			at := s.Address()
			s.Go("replier", replier(at))
			s.Run("requester", requester(at, 100))
		})
	}
}

// TestRoleAlone leaves one role without its peer, on either side (Z01, Z04,
// Z68): it fails within its limit and a second, and says who, where and what.
func TestRoleAlone(t *testing.T) {
	far := map[string]string{
		"inproc": "inproc://nobody-is-here",
		"ipc":    "ipc://" + t.TempDir() + "/nobody",
		"tcp":    "tcp://127.0.0.1:" + closedPort(t),
	}
	for _, transport := range transports {
		for _, role := range []struct {
			name string
			run  func(*Session) func(*Role) error
			want []string
		}{
			{"binding", func(s *Session) func(*Role) error { return replier(s.Address()) },
				[]string{"binding: recv " + transport + "://", "no message for 200ms", "0 sent, 0 received"}},
			{"connecting", func(s *Session) func(*Role) error {
				at, err := s.Far(far[transport])
				if err != nil {
					t.Fatal(err)
				}
				return requester(at, 1)
			}, []string{"connecting: ", far[transport], "for 200ms", "0 received"}},
			{"unmet", func(s *Session) func(*Role) error { return requester(s.Address(), 1) },
				[]string{"unmet: await", "no progress for 200ms", "waiting for a role that binds"}},
		} {
			t.Run(transport+"/"+role.name, func(t *testing.T) {
				start := time.Now()
				text := record(func(tb TB) {
					s := Open(tb, Config{Transport: transport, Wait: short})
					s.Run(role.name, role.run(s))
				})
				for _, want := range role.want {
					if !strings.Contains(text, want) {
						t.Errorf("report %q, want %q in it", text, want)
					}
				}
				if strings.Contains(text, "did not end") || strings.Contains(text, "left behind") {
					t.Errorf("report %q, want no trouble at the end", text)
				}
				within(t, short, start)
			})
		}
	}
}

// TestPeerDies lets the replier go away in the middle, with and without an
// error: the requester is released either way. It cannot know, and its limit
// strikes, unless its peer goes in the middle of a send over inproc.
func TestPeerDies(t *testing.T) {
	const after = 5
	dying := func(at *Address, with error) func(*Role) error {
		return func(r *Role) error {
			rep, err := r.Bind(zmq.REP, at)
			if err != nil {
				return err
			}
			for range after {
				msg, err := rep.Recv()
				if err != nil {
					return err
				}
				if err := rep.Send(msg); err != nil {
					return err
				}
			}
			return with
		}
	}
	for _, transport := range transports {
		for _, test := range []struct {
			name string
			with error
			want []string
		}{
			{"silent", nil, []string{"requester: ", ": its peer ", "sent, 5 received", "replier: REP " + transport, "5 sent, 5 received; returned"}},
			{"loud", errors.New("replier: out of paper"), []string{"replier: out of paper\n", "requester: REQ " + transport}},
		} {
			t.Run(transport+"/"+test.name, func(t *testing.T) {
				text := record(func(tb TB) {
					s := Open(tb, Config{Transport: transport, Wait: short})
					at := s.Address()
					s.Go("replier", dying(at, test.with))
					s.Run("requester", requester(at, 10))
				})
				for _, want := range test.want {
					if !strings.Contains(text, want) {
						t.Errorf("report %q, want %q in it", text, want)
					}
				}
				// The next measurement is not disturbed.
				s := Open(t, Config{Transport: transport})
				at := s.Address()
				s.Go("replier", replier(at))
				s.Run("requester", requester(at, 3))
			})
		}
	}
}

// TestWatchdogUnderSignals interrupts every call far more often than the limit
// comes: a receive timeout would never strike (Z14, and the CPU profiler).
func TestWatchdogUnderSignals(t *testing.T) {
	defer signals(t)()
	start := time.Now()
	text := record(func(tb TB) {
		s := Open(tb, Config{Transport: "tcp", Wait: short})
		s.Run("receiver", replier(s.Address()))
	})
	if !strings.Contains(text, "no message for 200ms") {
		t.Errorf("report %q, want the limit in it", text)
	}
	within(t, short, start)
}

// TestManyShortSessions opens and ends sessions one after the other (Z11,
// Z18, Z24, Z59): the session's own check of what is left is the test.
func TestManyShortSessions(t *testing.T) {
	for i := range 300 {
		s := Open(t, Config{Transport: transports[i%3]})
		at := s.Address()
		s.Go("replier", replier(at))
		s.Run("requester", requester(at, 1))
	}
}

// TestForgottenSocket fails between opening a socket and closing it (Z19): the
// session still ends, since it closes what it opened.
func TestForgottenSocket(t *testing.T) {
	text := record(func(tb TB) {
		s := Open(tb, Config{Transport: "tcp"})
		s.Run("receiver", func(r *Role) error {
			if _, err := r.Bind(zmq.PULL, s.Address()); err != nil {
				return err
			}
			return errors.New("changed my mind")
		})
	})
	if want := "changed my mind\nreceiver: PULL tcp://"; !strings.HasPrefix(text, want) {
		t.Errorf("report %q, want it to begin with %q", text, want)
	}
	if strings.Contains(text, "did not end") || strings.Contains(text, "left behind") {
		t.Errorf("report %q, want no trouble at the end", text)
	}
}

// TestGoexit ends a role by other means than a return.
func TestGoexit(t *testing.T) {
	text := record(func(tb TB) {
		s := Open(tb, Config{Transport: "inproc"})
		at := s.Address()
		s.Go("replier", replier(at))
		s.Run("requester", func(r *Role) error {
			if _, err := r.Connect(zmq.REQ, at); err != nil {
				return err
			}
			tb.Fatal("out of here")
			return nil
		})
	})
	if want := "out of here\n"; !strings.HasPrefix(text, want) {
		t.Errorf("report %q, want it to begin with %q", text, want)
	}
}

// TestFootprint leaves one of each kind behind on purpose: the guard that every
// session ends with must see it.
func TestFootprint(t *testing.T) {
	quit := make(chan struct{})
	defer close(quit)
	for _, test := range []struct {
		name, want string
		leave      func(t *testing.T)
	}{
		{"nothing", "", func(*testing.T) {}},
		{"goroutine", "left behind: found unexpected goroutines", func(*testing.T) {
			go func() { <-quit }()
		}},
		{"descriptor", "left behind: descriptor ", func(t *testing.T) {
			f, err := os.Open(os.DevNull)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
		}},
		{"threads", "left behind: 2 threads of libzmq", func(t *testing.T) {
			before := threads()
			c, err := newContext("test", 1)
			if err != nil {
				t.Fatal(err)
			}
			z, err := c.socket(zmq.PAIR)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.close(z); c.terminate(); <-c.ended })
			for threads() < before+2 { // a thread is one of libzmq's when it has given itself its name
				runtime.Gosched()
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if runtime.GOOS != "linux" && test.name != "nothing" && test.name != "goroutine" {
				t.Skip("descriptors and threads are seen through /proc, which is Linux's")
			}
			text := record(func(tb TB) {
				s := Open(tb, Config{Transport: "inproc"})
				s.Run("role", func(*Role) error { test.leave(t); return nil })
			})
			if !strings.Contains(text, test.want) || (test.want == "") != (text == "") {
				t.Errorf("report %q, want %q in it", text, test.want)
			}
		})
	}
}

// TestSocketFiles looks at the directory of the socket files while the session
// is on and after it, good or bad (Z64), with a TMPDIR in which a path would
// be too long (Z62).
func TestSocketFiles(t *testing.T) {
	long := t.TempDir() + "/" + strings.Repeat("x", 100)
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, base := range []string{t.TempDir(), long} {
		for _, fail := range []bool{false, true} {
			t.Setenv("TMPDIR", base)
			var dir string
			text := record(func(tb TB) {
				s := Open(tb, Config{Transport: "ipc"})
				at := s.Address()
				s.Run("receiver", func(r *Role) error {
					if _, err := r.Bind(zmq.PULL, at); err != nil {
						return err
					}
					dir = s.dir
					if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
						t.Errorf("%d files in %s (%v), want 1", len(files), dir, err)
					}
					if fail {
						return errors.New("forced")
					}
					return nil
				})
			})
			if fail != strings.Contains(text, "forced") {
				t.Errorf("report %q", text)
			}
			if _, err := os.Stat(dir); dir == "" || !errors.Is(err, os.ErrNotExist) {
				t.Errorf("directory %q after the session: %v, want none", dir, err)
			}
			if base == long && strings.HasPrefix(dir, long) {
				t.Errorf("sockets in %s, want them where paths are short", dir)
			}
		}
	}
}
