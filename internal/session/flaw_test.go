//go:build cgo

package session

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	zmq "github.com/pebbe/zmq4"

	"zmqbench/internal/payload"
)

// flaws is what versions of libzmq get wrong when strangers speak to a bound
// socket. Nothing of it makes a figure wrong: a measurement that it strikes
// fails. Each run reports whether the fault shows.
var flaws = []struct {
	name     string
	versions []string // that have it; of others it is known that they have not
	upstream string
	run      func(t *testing.T) bool
}{
	{"a stranger ends the process", []string{"4.3.4", "4.3.5"},
		"https://github.com/zeromq/libzmq/issues/4364 and 4841: out_event asserts that there was no I/O error", flawAbort},
	{"a reply to another is lost", []string{"4.3.4", "4.3.5"},
		"not reported: rollback in src/router.cpp forgets _more_out if the pipe is gone", flawReply},
	{"one byte makes a peer", []string{"4.3.4", "4.3.5"},
		"by RFC 13: who does not begin with 0xff is a peer of ZMTP 1.0, whose greeting does not say what it is", flawByte},
	{"PONG tells what was in memory", []string{"4.3.4", "4.3.5"},
		"not reported: process_heartbeat_message in src/zmtp_engine.cpp takes the length of a PING without a time for a negative one", flawPong},
	{"a peer of ZMTP 2.0 is cut off", []string{"4.3.4"},
		"https://github.com/zeromq/libzmq/issues/4106, fixed by pull 4456 in 4.3.5", flawTimer},
}

// TestFlaws holds the version of libzmq that is loaded against the table.
func TestFlaws(t *testing.T) {
	major, minor, patch := zmq.Version()
	version := fmt.Sprintf("%d.%d.%d", major, minor, patch)
	for _, flaw := range flaws {
		t.Run(flaw.name, func(t *testing.T) {
			got, want := flaw.run(t), slices.Contains(flaw.versions, version)
			if got != want {
				t.Errorf("libzmq %s: it shows: %v, the table says %v [%s]", version, got, want, flaw.upstream)
			}
		})
	}
}

// prompt makes sure that the I/O thread of a bound socket has looked at all that
// came before: it takes events in the order in which they come, and now answers
// another connection.
func prompt(to string) error {
	s, err := call(to)
	if err != nil {
		return err
	}
	if _, err := s.hear(len(signature)); err != nil {
		return err
	}
	return s.leave()
}

// flawAbort fills the queue of a PULL, so that libzmq stops to read in the
// middle of what has come, with a PING after it, and resets the connection. When
// the PULL goes on to receive, libzmq wants to answer the PING.
func flawAbort(t *testing.T) bool {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux's /proc to see that libzmq has seen the reset")
	}
	if os.Getenv(childKey) == "" {
		out, code := child(t, "abort")
		const survived, assertion = "the process lives\n", "Assertion failed: !_io_error"
		if alive, died := code == 0 && strings.Contains(out, survived), strings.Contains(out, assertion); alive == died {
			t.Errorf("status %d, output %q; want 0 and %q, or %q", code, out, survived, assertion)
		}
		return code != 0
	}
	s := Open(t, Config{Transport: "tcp"})
	at := s.Address()
	gone := make(chan struct{})
	s.Go("receiver", func(r *Role) error {
		pull, err := r.Bind(zmq.PULL, at, HWM(1))
		if err == nil {
			err = pull.Await(gone, "the stranger's end")
		}
		for msg := []byte(nil); err == nil && string(msg) != "second"; {
			msg, err = pull.Recv()
		}
		if err == nil {
			r.AwaitEnd()
		}
		return err
	})
	<-at.bound
	if err := prompt(at.peer); err != nil {
		t.Fatal(err)
	}
	before := polled()
	stranger, err := call(at.peer)
	if err == nil {
		err = stranger.join("PUSH")
	}
	ping := zmtpCommand("PING", 0, 0)
	if err == nil {
		err = stranger.say(frame(0, []byte("first")), ping, frame(0, []byte("second")), ping)
	}
	if err == nil {
		_, err = stranger.command() // the first PONG: all has been read
	}
	if err != nil {
		t.Fatal(err)
	}
	stranger.reset()
	for limit := time.Now().Add(patience); polled() > before && time.Now().Before(limit); {
		runtime.Gosched() // until libzmq has seen it
	}
	close(gone)
	s.Run("sender", func(r *Role) error { // another peer is served
		push, err := r.Connect(zmq.PUSH, at)
		if err == nil {
			err = push.Send([]byte("third"))
		}
		return err
	})
	fmt.Print("the process lives\n")
	os.Exit(0)
	return false
}

// polled is how many descriptors the process waits for with epoll.
func polled() (n int) {
	names, _ := filepath.Glob("/proc/self/fdinfo/*")
	for _, name := range names {
		text, _ := os.ReadFile(name)
		n += bytes.Count(text, []byte("tfd:"))
	}
	return n
}

// flawReply has a stranger send a REP a request without an envelope and go.
// Where the REP learns of both at once, the reply to a good request is lost.
func flawReply(t *testing.T) bool {
	gone := make(chan struct{})
	report := record(func(tb TB) {
		s := Open(tb, Config{Transport: "tcp", Wait: short})
		at := s.Address()
		s.Go("replier", func(r *Role) error {
			rep, err := r.Bind(zmq.REP, at)
			if err == nil {
				err = rep.Await(gone, "the stranger's end")
			}
			if err == nil { // the end takes the REP and its I/O thread two turns; the request is not looked at yet
				_, err = rep.z.GetEvents()
			}
			if err == nil {
				err = prompt(at.peer)
			}
			if err == nil {
				_, err = rep.z.GetEvents()
			}
			for err == nil {
				var msg []byte
				if msg, err = rep.Recv(); err == nil {
					err = rep.Send(msg)
				}
			}
			return err
		})
		<-at.bound
		stranger, err := call(at.peer)
		if err == nil {
			err = stranger.join("REQ")
		}
		if err == nil {
			err = stranger.say(frame(0, []byte("no envelope")))
		}
		if err == nil {
			err = stranger.leave()
		}
		if err != nil {
			t.Error(err)
		}
		close(gone)
		s.Run("requester", requester(at, 3))
	})
	if report != "" && !strings.Contains(report, "no message for 200ms") {
		t.Errorf("report %q, want that the limit struck, or none", report)
	}
	return report != ""
}

// flawByte has a stranger say one byte to a PUSH, which then deals out messages
// to it. The receiver notices.
func flawByte(t *testing.T) bool {
	const enough = 20000
	report := record(func(tb TB) {
		s := Open(tb, Config{Transport: "tcp"})
		at := s.Address()
		s.Go("sender", func(r *Role) error {
			push, err := r.Bind(zmq.PUSH, at)
			for w := payload.NewWriter(100, 0); err == nil; {
				err = push.Send(w.Next())
			}
			return err
		})
		s.Run("receiver", func(r *Role) error {
			pull, err := r.Connect(zmq.PULL, at)
			c := payload.NewChecker(100, 1)
			for i := 0; err == nil && i < enough; i++ {
				var msg []byte
				if i == 100 {
					stranger, e := call(at.peer)
					if e != nil {
						return e
					}
					defer stranger.reset()
					if err := errors.Join(stranger.say([]byte{1}), prompt(at.peer)); err != nil {
						return err
					}
				}
				if msg, err = pull.Recv(); err == nil {
					err = c.Check(msg)
				}
			}
			return err
		})
	})
	if report != "" && !strings.Contains(report, "is lost") {
		t.Errorf("report %q, want that a message is lost, or none", report)
	}
	return report != ""
}

// flawPong sends a PING without the time that belongs to it, after a message.
// In the PONG comes what was left of the message.
func flawPong(t *testing.T) bool {
	s := Open(t, Config{Transport: "tcp"})
	at := s.Address()
	s.Go("receiver", func(r *Role) error {
		if _, err := r.Bind(zmq.PULL, at); err != nil {
			return err
		}
		r.AwaitEnd()
		return nil
	})
	<-at.bound
	stranger, err := call(at.peer)
	if err == nil {
		err = stranger.join("PUSH")
	}
	if err == nil {
		err = stranger.say(frame(0, []byte("what was said in the message")), zmtpCommand("PING"))
	}
	var pong []byte
	if err == nil {
		pong, err = stranger.command()
	}
	shows := bytes.Contains(pong, []byte("said in"))
	if !shows && string(pong) != "\x04PONG" && !hungUp(err) {
		t.Errorf("PONG %q, %v, want an empty one, that of a message, or an end", pong, err)
	}
	if err == nil {
		err = stranger.leave()
	}
	if err != nil {
		t.Error(err)
	}
	s.Run("end", func(*Role) error { return nil })
	return shows
}

// flawTimer connects a peer of ZMTP 2.0 and lets the time for handshakes pass,
// until a silent stranger who came later is cut off.
func flawTimer(t *testing.T) (cut bool) {
	s := Open(t, Config{Transport: "tcp"})
	at := s.Address()
	interval := func(z *zmq.Socket) error { return z.SetHandshakeIvl(50 * time.Millisecond) }
	old := make(chan *stranger)
	s.Go("old peer", func(r *Role) error {
		<-at.bound
		peer, err := call(at.peer)
		if err == nil {
			err = peer.say(greeting2(1, 8), frame(0, nil), frame(0, []byte("old")))
		}
		if err != nil {
			return err
		}
		silent, err := call(at.peer)
		if err == nil {
			_, err = silent.hear(len(signature)) // its time begins
		}
		if err == nil {
			err = silent.hungUpOn()
		}
		if err == nil {
			err = peer.say(frame(0, []byte("still here")))
		}
		old <- peer
		return err
	})
	s.Run("receiver", func(r *Role) error {
		pull, err := r.Bind(zmq.PULL, at, interval)
		if err != nil {
			return err
		}
		if msg, err := pull.Recv(); err != nil || string(msg) != "old" {
			return fmt.Errorf("got %q, %v, want old", msg, err)
		}
		peer := <-old
		if err := peer.leave(); err != nil {
			return err
		}
		msg, ok, err := pull.TryRecv()
		if ok && string(msg) != "still here" {
			return fmt.Errorf("got %q, want what the old peer said", msg)
		}
		cut = !ok
		return err
	})
	return cut
}
