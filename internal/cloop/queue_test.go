//go:build cgo && linux

package cloop_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"zmqbench/internal/cloop"
)

// rings returns the ends of two rings, which t closes.
func rings(t *testing.T, slots, size int) (near, far *cloop.End) {
	t.Helper()
	near, far, err := cloop.NewRings(slots, size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(near.Close)
	t.Cleanup(far.Close)
	return near, far
}

// onOneCPU makes all that loop does run on CPU 0, or where it may if it must not.
func onOneCPU(loop func() error) func() error {
	return func() error {
		runtime.LockOSThread() // and not unlocked: no other goroutine gets this thread
		var set [128]byte
		set[0] = 1
		syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, uintptr(len(set)), uintptr(unsafe.Pointer(&set)))
		return loop()
	}
}

// atOnce is n messages by loop, in one call.
func atOnce(_ uint64, n int, loop func(n int) error) func() error {
	return func() error { return loop(n) }
}

// haltingly is n messages by loop, a few in each call, with pauses between them
// that are now too short and now long enough for the other side to wait.
func haltingly(seed uint64, n int, loop func(n int) error) func() error {
	r := rand.New(rand.NewPCG(seed, 0))
	return func() error {
		for n > 0 {
			some := min(n, 1+r.IntN(40))
			if err := loop(some); err != nil {
				return err
			}
			n -= some
			pause := time.Duration(r.IntN(60)) * time.Microsecond
			for start := time.Now(); time.Since(start) < pause; {
			}
		}
		return nil
	}
}

// A turn is a way to make two loops take turns. n is how many messages are
// enough of it.
type turn struct {
	name  string
	n     int
	procs int
	role  func(seed uint64, n int, loop func(n int) error) func() error
}

var turns = []turn{
	{"free", 1_000_000, 2, atOnce},
	{"one proc", 200_000, 1, atOnce},
	{"one cpu", 200_000, 2, func(_ uint64, n int, loop func(n int) error) func() error {
		return onOneCPU(atOnce(0, n, loop))
	}},
	{"halting", 20_000, 2, haltingly},
	{"halting on one cpu", 5_000, 2, func(seed uint64, n int, loop func(n int) error) func() error {
		return onOneCPU(haltingly(seed, n, loop))
	}},
}

// No message and no wake-up is lost, however the two sides take turns.
func TestQueue(t *testing.T) {
	footprint(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, slots := range []int{2, 2000} {
		for _, turn := range turns {
			t.Run(fmt.Sprintf("slots=%d/%s", slots, turn.name), func(t *testing.T) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(turn.procs))
				near, far := rings(t, slots, 8)
				flood := run(turn.role(seed, turn.n, far.Flood))
				receive := run(turn.role(seed+1, turn.n, near.Receive))
				err := wait(t, "receive", receive, near, far)
				if err := errors.Join(err, wait(t, "flood", flood, near, far)); err != nil {
					t.Error(err)
				}
				near.Share(8, 1)
				far.Share(8, 1)
				reply := run(far.Reply)
				request := run(turn.role(seed, turn.n/20, func(n int) error { return near.Request(n, nil) }))
				if err := wait(t, "request", request, near, far); err != nil {
					t.Error(err)
				}
				near.Close()
				wantReset(t, "reply", reply, far)
			})
		}
	}
}

// The end of a ring comes to both sides, whatever they are doing at the moment.
// No more is lost than what a sender that has not seen it yet puts in the ring.
func TestQueueEnd(t *testing.T) {
	footprint(t)
	for i := range 3000 {
		slots := 2 + i%5
		near, far := rings(t, slots, 8)
		receive := run(func() error { return near.Receive(forever) })
		flood := run(func() error { return far.Flood(forever) })
		for range rand.IntN(2000) {
			near.Counts()
		}
		far.Release()
		wantReset(t, "flood", flood, near, far)
		wantReset(t, "receive", receive, near, far)
		sent, _ := far.Counts()
		if _, received := near.Counts(); received > sent || received < sent-int64(slots) {
			t.Fatalf("%d sent, %d received, with %d slots", sent, received, slots)
		}
	}
}
