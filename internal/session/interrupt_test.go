//go:build cgo

package session

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	zmq "github.com/pebbe/zmq4"
)

// Z15: an interrupt ends a session whose roles are blocked inside libzmq
// within 2 s, with the counts so far, and leaves no socket file behind. The
// process has status 130, or 1 if its tests are over sooner. In a child, since
// there is no way back.
func TestInterrupt(t *testing.T) {
	if say := os.Getenv(childKey); say != "" {
		still := make(chan struct{}) // closed when the session stands still
		if say == "signal" {
			EndOnSignal()
		}
		go func() {
			<-still
			if say == "signal" {
				syscall.Kill(syscall.Getpid(), syscall.SIGINT)
				return
			}
			interrupt()
		}()
		t.Run("session", func(t *testing.T) { interrupted(t, still) })
		if say == "signal" {
			Open(t, Config{Transport: "ipc"}) // the next waits for the exit
			t.Error("another session was opened")
		}
		return
	}
	for say, want := range map[string]int{"call": 1, "signal": 130} {
		dir := t.TempDir()
		start := time.Now()
		out, code := child(t, say, "TMPDIR="+dir)
		within(t, 2*time.Second, start)
		if code != want {
			t.Errorf("%s: exit %d, want %d", say, code, want)
		}
		for _, w := range []string{"interrupted by a signal\n", "receiver: PULL ipc://" + dir, "0 sent, 3 received"} {
			if !strings.Contains(out, w) {
				t.Errorf("%s: %q, want %q in it", say, out, w)
			}
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
			t.Errorf("%s: left in TMPDIR: %v, %v", say, files, err)
		}
	}
}

// interrupted runs a session that stands still after three messages, and
// closes still then.
func interrupted(t *testing.T, still chan<- struct{}) {
	s := Open(t, Config{Transport: "ipc"})
	at := s.Address()
	s.Go("sender", func(r *Role) error {
		push, err := r.Connect(zmq.PUSH, at)
		for i := 0; i < 3 && err == nil; i++ {
			err = push.Send([]byte("message"))
		}
		if err == nil {
			r.AwaitEnd()
		}
		return err
	})
	s.Run("receiver", func(r *Role) error {
		pull, err := r.Bind(zmq.PULL, at)
		for i := 0; err == nil; i++ {
			if i == 3 {
				close(still)
			}
			_, err = pull.Recv()
		}
		return err
	})
}
