//go:build cgo

package session

import (
	stdcontext "context"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// closedPort returns a tcp port of 127.0.0.1 on which nobody listens, nor can
// until the test ends: a socket is bound to it that never does.
func closedPort(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	at, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(at.(*syscall.SockaddrInet4).Port)
}

// freePort returns a tcp port of 127.0.0.1 that can be bound.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// wantReport fails the test unless the session reported all of the given, and
// nothing that was left behind.
func wantReport(t *testing.T, report string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(report, w) {
			t.Errorf("report %q, want %q in it", report, w)
		}
	}
	if strings.Contains(report, "did not end") || strings.Contains(report, "left behind") {
		t.Errorf("report %q, want no trouble at the end", report)
	}
}

// within fails the test if it runs when more than limit and a second have
// passed since start, not counting what the machine did not give this process.
func within(t *testing.T, limit time.Duration, start time.Time) {
	t.Helper()
	denied := starved.since(start)
	if took := time.Since(start); took > limit+time.Second+denied {
		t.Errorf("it took %v, want at most the limit of %v and 1 s; the machine denied %v", took, limit, denied)
	}
}

// A starvation knows by how much a timer of 10 ms was late, again and again: on
// a machine that has more to do than this, every wait is longer by as much.
type starvation struct {
	mu   sync.Mutex
	at   []time.Time
	late []time.Duration
}

var starved starvation

func init() {
	go func() {
		const tick = 10 * time.Millisecond
		for {
			before := time.Now()
			<-time.After(tick)
			late := time.Since(before) - tick
			starved.mu.Lock()
			starved.at, starved.late = append(starved.at, before), append(starved.late, late)
			starved.mu.Unlock()
		}
	}()
}

// since is the sum of what timers were late since start.
func (s *starvation) since(start time.Time) (sum time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.at) - 1; i >= 0 && s.at[i].After(start); i-- {
		sum += s.late[i]
	}
	return sum
}

// childKey is in the environment of a child; its value is what the test that
// started it has to tell.
const childKey = "ZMQBENCH_SESSION_TEST_CHILD"

// child runs the calling test again in a process of its own, where
// os.Getenv(childKey) is say, and returns what it wrote and its exit code. A
// child that hangs is killed after a minute: its code is then -1.
func child(t *testing.T, say string, env ...string) (out string, code int) {
	t.Helper()
	limit, cancel := stdcontext.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(limit, os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	c.Env = append(append(os.Environ(), childKey+"="+say), env...)
	text, err := c.CombinedOutput()
	if c.ProcessState == nil {
		t.Fatal(err)
	}
	return string(text), c.ProcessState.ExitCode()
}

// signals sends this process SIGURG, the signal of the Go scheduler, every
// 50 µs until the function that it returns is called.
func signals(t *testing.T) (stop func()) {
	t.Helper()
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		ticker := time.NewTicker(50 * time.Microsecond)
		defer ticker.Stop()
		for {
			select {
			case <-quit:
				return
			case <-ticker.C:
				syscall.Kill(syscall.Getpid(), syscall.SIGURG)
			}
		}
	}()
	return func() { close(quit); <-gone }
}
