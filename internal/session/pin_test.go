//go:build cgo && linux

package session

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	zmq "github.com/pebbe/zmq4"
	"golang.org/x/sys/unix"

	"zmqbench/internal/affinity"
)

// twoCPUs returns the first two CPUs that are allowed, or skips the test.
func twoCPUs(t *testing.T) [2]int {
	t.Helper()
	cpus, err := affinity.Allowed()
	if len(cpus) < 2 {
		t.Skip("want two CPUs to tell pinned threads from others: ", cpus, err)
	}
	return [2]int(cpus)
}

// masks lists the different sets of CPUs that threads of this process have.
func masks(t *testing.T) []string {
	t.Helper()
	threads, err := affinity.Threads()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, thread := range threads {
		list = append(list, thread.CPUs)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Roles and libzmq's threads are where the session was told, by what the kernel
// says while they exchange messages; afterwards every thread is as before (Z27).
func TestPinned(t *testing.T) {
	cpus := twoCPUs(t)
	first, second := affinity.Text(cpus[:1]), affinity.Text(cpus[1:])
	before := masks(t)
	for _, transport := range transports {
		for _, ioThreads := range []int{1, 3} {
			s := Open(t, Config{Transport: transport, CPUs: &cpus, IOThreads: ioThreads})
			at := s.Address()
			var ours, peers int // the threads of the roles
			var during []affinity.Thread
			s.Go("replier", func(r *Role) error {
				peers = unix.Gettid()
				return replier(at)(r)
			})
			s.Run("requester", func(r *Role) (err error) {
				ours = unix.Gettid()
				if err := requester(at, 10)(r); err != nil {
					return err
				}
				during, err = affinity.Threads()
				return err
			})
			background := map[string]int{}
			roles := map[int]string{}
			for _, t := range during {
				roles[t.ID] = t.CPUs
				if strings.HasPrefix(t.Name, "ZMQbg") {
					background[t.CPUs]++
				}
			}
			if a, b := roles[ours], roles[peers]; a != first || b != second {
				t.Errorf("%s: the requester's thread has CPU %s and the replier's %s, want %s and %s", transport, a, b, first, second)
			}
			want := map[string]int{first: ioThreads + 1, second: ioThreads + 1}
			if transport == "inproc" {
				want = map[string]int{first: ioThreads + 1}
			}
			if len(background) != len(want) || background[first] != want[first] || background[second] != want[second] {
				t.Errorf("%s, %d I/O threads: threads of libzmq by CPU %v, want %v", transport, ioThreads, background, want)
			}
			if after := masks(t); !slices.Equal(after, before) {
				t.Errorf("%s: threads have the CPUs %q afterwards, want %q as before", transport, after, before)
			}
		}
	}
}

// However a role ends, its thread is given back.
func TestPinnedRoleEnds(t *testing.T) {
	cpus := twoCPUs(t)
	before := masks(t)
	for name, end := range map[string]func() error{
		"error":  func() error { return errors.New("receiver: out of paper") },
		"goexit": func() error { runtime.Goexit(); return nil },
		"panic":  func() error { panic("paper jam") },
	} {
		text := record(func(tb TB) {
			defer func() { recover() }()
			s := Open(tb, Config{Transport: "tcp", CPUs: &cpus})
			s.Go("sender", func(r *Role) error { r.AwaitEnd(); return nil })
			s.Run("receiver", func(r *Role) error {
				if _, err := r.Bind(zmq.PULL, s.Address()); err != nil {
					return err
				}
				return end()
			})
		})
		wantReport(t, text, "receiver")
		if after := masks(t); !slices.Equal(after, before) {
			t.Errorf("%s: threads have the CPUs %q afterwards, want %q as before", name, after, before)
		}
	}
}

// A CPU that is not allowed fails the role that should run there.
func TestPinnedRefused(t *testing.T) {
	cpus := twoCPUs(t)
	cpus[1] = affinity.Limit - 1
	text := record(func(tb TB) {
		s := Open(tb, Config{Transport: "tcp", CPUs: &cpus})
		s.Go("sender", func(r *Role) error { t.Error("the role runs"); return nil })
		s.Run("receiver", func(r *Role) error { r.AwaitEnd(); return nil })
	})
	wantReport(t, text, "sender: cannot pin to CPU 1023: ")
}

// Threads that are not where they should be are an error, and so are some that
// cannot be found.
func TestReadBack(t *testing.T) {
	cpus := twoCPUs(t)
	c, err := newContext("free", 1) // which may run anywhere
	if err != nil {
		t.Fatal(err)
	}
	defer c.z.Term()
	if _, err := readBack(nil, cpus[0], 2, settle); err == nil || !strings.Contains(err.Error(), "of libzmq may run on CPU ") {
		t.Errorf("threads that are not pinned: %v, want an error", err)
	}
	if _, err := readBack(nil, cpus[0], 3, time.Millisecond); err == nil || !strings.Contains(err.Error(), "found 2 of 3 threads") {
		t.Errorf("a thread that is not there: %v, want an error", err)
	}
}

func TestPlacement(t *testing.T) {
	cpus := twoCPUs(t)
	before := takeFootprint()
	text, err := Placement(cpus, 2)
	if err != nil {
		t.Fatal(err)
	}
	a, b := affinity.Text(cpus[:1]), affinity.Text(cpus[1:])
	want := "the role under the clock is on CPU " + a + ", its peers on CPU " + b +
		"; libzmq's threads are on CPU " + a + " and " + b + " with their roles, over inproc all on CPU " + a
	if text != want {
		t.Errorf("Placement() = %q, want %q", text, want)
	}
	if err := before.compare(); err != nil {
		t.Error(err)
	}
	if text, err := Placement([2]int{cpus[0], affinity.Limit - 1}, 1); err == nil {
		t.Errorf("Placement() = %q on a CPU that is not allowed, want an error", text)
	}
}
