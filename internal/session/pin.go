//go:build cgo

package session

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"zmqbench/internal/affinity"
)

// A pinned role has a thread to itself that runs on one CPU until the role
// returns; then the thread is as free as before. The threads of a context
// inherit the CPU of the thread that makes it. Over ipc and tcp that is its
// role's; over inproc, where roles share one context and any of them may be the
// first to need it, it is that of the role under the clock. That libzmq's
// threads are there is not taken for granted but read from /proc.

// pinned runs role on its CPU, if it is to have one.
func (r *Role) pinned(role func(*Role) error) (err error) {
	cpus := r.session.conf.CPUs
	if cpus == nil {
		return role(r)
	}
	restore, err := affinity.Pin(cpus[r.side()])
	if err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	defer func() {
		if failed := restore(); failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", r.name, failed))
		}
	}()
	return role(r)
}

// side is which of Config.CPUs is the role's.
func (r *Role) side() int {
	if r.peer {
		return 1
	}
	return 0
}

// newContext makes a context for a role, whose thread it is called on.
func (s *Session) newContext(r *Role) (*context, error) {
	if s.conf.CPUs == nil {
		return newContext(r.name, s.conf.IOThreads)
	}
	side := r.side()
	if s.conf.Transport == "inproc" {
		side = 0
	}
	c, _, err := newContextOn(s.conf.CPUs[side], r.name, s.conf.IOThreads)
	return c, err
}

// newContextOn makes a context whose threads run on a CPU and no other, and
// returns where the kernel says that they may.
func newContextOn(cpu int, name string, ioThreads int) (*context, string, error) {
	restore, err := affinity.Pin(cpu)
	if err != nil {
		return nil, "", err
	}
	before, err := background()
	if err != nil {
		return nil, "", errors.Join(err, restore())
	}
	c, err := newContext(name, ioThreads)
	if err = errors.Join(err, restore()); c == nil {
		return nil, "", err
	}
	var where string
	if err == nil {
		where, err = readBack(before, cpu, ioThreads+1, settle) // the reaper is one more
	}
	if err != nil {
		c.z.Term()
		return nil, "", err
	}
	return c, where, nil
}

// background returns the threads of libzmq.
func background() ([]affinity.Thread, error) {
	threads, err := affinity.Threads()
	return slices.DeleteFunc(threads, func(t affinity.Thread) bool { return !strings.HasPrefix(t.Name, "ZMQbg") }), err
}

// readBack waits until n threads of libzmq are there that are not among before,
// and returns the CPU on which they may run: an error if that is not the one
// wanted. A thread names itself, so it may be there for a moment without its name.
func readBack(before []affinity.Thread, cpu, n int, wait time.Duration) (string, error) {
	known := func(t affinity.Thread) bool {
		return slices.ContainsFunc(before, func(b affinity.Thread) bool { return b.ID == t.ID })
	}
	want := affinity.Text([]int{cpu})
	for limit := time.Now().Add(wait); ; runtime.Gosched() {
		threads, err := background()
		if err != nil {
			return "", err
		}
		threads = slices.DeleteFunc(threads, known)
		if len(threads) < n {
			if time.Now().After(limit) {
				return "", fmt.Errorf("found %d of %d threads of a context: where they run is not known", len(threads), n)
			}
			continue
		}
		for _, t := range threads {
			if t.CPUs != want {
				return "", fmt.Errorf("thread %s of libzmq may run on CPU %s, want %s", t.Name, t.CPUs, want)
			}
		}
		return want, nil
	}
}

// Placement makes a context on each of two CPUs, as the sessions of a pinned
// measurement do, and says in words where threads run: those of roles, and
// those of libzmq by what the kernel says of them.
func Placement(cpus [2]int, ioThreads int) (string, error) {
	var where [2]string
	for side, cpu := range cpus {
		c, read, err := newContextOn(cpu, "zmqbench", ioThreads)
		if err != nil {
			return "", err
		}
		where[side] = read
		if err := c.z.Term(); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("the role under the clock is on CPU %d, its peers on CPU %d; libzmq's threads are on CPU %s and %s with their roles, over inproc all on CPU %s",
		cpus[0], cpus[1], where[0], where[1], where[0]), nil
}
