//go:build cgo

package session

import (
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	zmq "github.com/pebbe/zmq4"
)

// leaveFree lowers the limit of this process until n descriptors are free.
func leaveFree(t *testing.T, n int) {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	limit.Cur = uint64(len(descriptors()) + n)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
}

// isChild reports whether this is the child of the test, in which the limit may be
// lowered. If not, it runs that, and fails t if it fails.
func isChild(t *testing.T) bool {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("what is free is seen through /proc, which is Linux's")
	}
	if os.Getenv(childKey) != "" {
		return true
	}
	if out, code := child(t, "go"); code != 0 {
		t.Errorf("exit %d: %s", code, out)
	}
	return false
}

// Z24, Z86: with too few descriptors a session fails with an error, and so does
// Usable, which the suite asks first. Without the look at what is free, libzmq
// 4.3.4 ends the process for about half of these numbers, with an assertion of
// epoll.cpp, ip_resolver.cpp or ipc_listener.cpp; a pair of roles takes 18.
func TestFewDescriptors(t *testing.T) {
	if !isChild(t) {
		return
	}
	takeFootprint() // the Go runtime opens its poller, without which it ends the process too
	const want = " file descriptors are free, want 34 for a context [raise the limit: ulimit -n]"
	for _, transport := range transports {
		for _, free := range []int{0, 1, 2, 3, 5, 9, 13, 17, 18, 28, room + 1, room + 20} {
			leaveFree(t, free)
			usable := Usable(1)
			text := record(func(tb TB) {
				s := Open(tb, Config{Transport: transport, Wait: short})
				at := s.Address()
				s.Go("replier", replier(at))
				s.Run("requester", requester(at, 1))
			})
			if free >= room+2 {
				if usable != nil || text != "" {
					t.Errorf("%s, %d free: usable %v, report %q, want no trouble", transport, free, usable, text)
				}
				continue
			}
			if usable == nil || !strings.Contains(usable.Error(), want) {
				t.Errorf("%d free: usable %v, want %q in it", free, usable, want)
			}
			wantReport(t, text, "er: open (no endpoint): ", want)
		}
	}
}

// Z24: a series of sessions has enough with what two contexts must find free:
// no session keeps one.
func TestFewDescriptorsForLong(t *testing.T) {
	if os.Getenv(childKey) != "" {
		leaveFree(t, 2*(room+2))
		shortSessions(t, 100)
		return
	}
	if out, code := child(t, "go"); code != 0 {
		t.Errorf("exit %d: %s", code, out)
	}
}

// Z24: a socket waits for the descriptors of those that were closed before, which
// libzmq gives back when it gets to it.
func TestSpareDescriptors(t *testing.T) {
	if !isChild(t) {
		return
	}
	c, err := newContext("test", 1) // it has closed a socket
	if err != nil {
		t.Fatal(err)
	}
	late := make([]*os.File, 20) // in place of what libzmq holds for sockets that were closed
	for i := range late {
		if late[i], err = os.Open(os.DevNull); err != nil {
			t.Fatal(err)
		}
	}
	leaveFree(t, 0)
	waited := 0
	noneSpare = func() {
		waited++
		for _, f := range late {
			f.Close()
		}
	}
	z, err := c.socket(zmq.PAIR)
	if err != nil || waited != 1 {
		t.Fatalf("waited %d times, %v, want 1 and no error", waited, err)
	}
	c.close(z)
	c.terminate()
	<-c.ended
}

// Z24: contexts with many I/O threads take two descriptors for each. A role that
// looks for free ones must find those of the others taken, or libzmq ends the
// process.
func TestFewDescriptorsManyThreads(t *testing.T) {
	if !isChild(t) {
		return
	}
	takeFootprint()
	for free := 20; free <= 400; free += 20 {
		leaveFree(t, free)
		text := record(func(tb TB) {
			s := Open(tb, Config{Transport: "tcp", IOThreads: 64})
			at := s.Address()
			s.Go("replier", replier(at))
			s.Run("requester", requester(at, 1))
		})
		const refused = " file descriptors are free, want 160 for a context"
		switch { // in between, it depends on what the first of the two contexts took
		case text == "" && free < 160, text != "" && free >= 340, text != "" && !strings.Contains(text, refused):
			t.Errorf("%d free: report %q, want %q below 160 and none from 340", free, text, refused)
		}
	}
}
