//go:build cgo && linux

package cloop_test

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"zmqbench/internal/cloop"
)

// A dying is a loop, what its peer does before it goes away, and how many
// messages the loop receives from that.
type dying struct {
	name     string
	loop     func(*cloop.End) error
	peer     func(far, near *cloop.End) error
	received int64
}

var dyings = []dying{
	{"receive", func(e *cloop.End) error { return e.Receive(forever) }, func(far, _ *cloop.End) error { return far.Flood(5000) }, 5000},
	{"flood", func(e *cloop.End) error { return e.Flood(forever) }, func(far, _ *cloop.End) error { return far.Receive(5000) }, 0},
	{"request", func(e *cloop.End) error { return e.Request(forever, nil) }, awaitRequest, 0},
	{"reply", (*cloop.End).Reply, func(far, _ *cloop.End) error { return far.Request(500, nil) }, 500},
}

// awaitRequest is a peer that does not reply to the first request.
func awaitRequest(_, near *cloop.End) error {
	for {
		if sent, _ := near.Counts(); sent > 0 {
			return nil
		}
		runtime.Gosched()
	}
}

// wantReset fails t unless the loop ends with ECONNRESET within a second.
func wantReset(t *testing.T, what string, done <-chan error, ends ...*cloop.End) {
	t.Helper()
	start := time.Now()
	if err := wait(t, what, done, ends...); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%s: %v, want %v", what, err, syscall.ECONNRESET)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("%s took %v to end", what, took)
	}
}

// The peer works and then closes its end, while the loop is busy.
func TestPeerDiesBusy(t *testing.T) {
	footprint(t)
	for _, transport := range transports {
		for _, d := range dyings {
			t.Run(transport+"/"+d.name, func(t *testing.T) {
				near, far := pair(t, transport, 100)
				loop := run(func() error { return d.loop(near) })
				if err := wait(t, "the peer", run(func() error { return d.peer(far, near) }), near, far); err != nil {
					t.Fatal(err)
				}
				far.Close()
				wantReset(t, d.name, loop, near)
				if _, received := near.Counts(); received != d.received {
					t.Errorf("%d messages received, want the %d that the peer sent", received, d.received)
				}
			})
		}
	}
}

// The peer does nothing and then closes its end, while the loop waits for it;
// or the loop's own end is released by another goroutine.
func TestPeerDiesBlocked(t *testing.T) {
	footprint(t)
	for _, transport := range transports {
		for _, d := range dyings {
			for _, released := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/released=%v", transport, d.name, released), func(t *testing.T) {
					near, far := pair(t, transport, 100)
					loop := onThread(func() error { return d.loop(near) })
					until(t, d.name+" waits", loop.asleep)
					if released {
						near.Release()
					} else {
						far.Close()
					}
					wantReset(t, d.name, loop.done, near)
				})
			}
		}
	}
}

// Both sides are at work, with no end to it, and one end is released.
func TestReleaseBusy(t *testing.T) {
	footprint(t)
	for _, transport := range transports {
		for _, roles := range [][2]dying{{dyings[0], dyings[1]}, {dyings[2], dyings[3]}} {
			for i := range 2 {
				t.Run(fmt.Sprintf("%s/%s/%d", transport, roles[0].name, i), func(t *testing.T) {
					near, far := pair(t, transport, 100)
					here := run(func() error { return roles[0].loop(near) })
					there := run(func() error { return roles[1].loop(far) })
					until(t, "100 messages", func() bool { _, received := near.Counts(); return received > 100 })
					[]*cloop.End{near, far}[i].Release()
					wantReset(t, roles[0].name, here, near, far)
					wantReset(t, roles[1].name, there, near, far)
				})
			}
		}
	}
}

// A storm of signals loses nothing. With a timeout, of an hour, a signal ends a
// call on a socket with EINTR or in its middle, which without one it does not.
func TestInterrupted(t *testing.T) {
	footprint(t)
	for _, transport := range transports {
		for _, size := range []int{8, 100, 65536, 1 << 20} {
			t.Run(fmt.Sprintf("%s/%d", transport, size), func(t *testing.T) {
				near, far := pair(t, transport, size)
				if transport != "inproc" {
					shrink(t, transport, near, far)
					interruptible(t, near, far)
				}
				n := amount(size)
				flood := onThread(func() error { return far.Flood(n) })
				receive := onThread(func() error { return near.Receive(n) })
				storm(t, flood, receive)
				if err := errors.Join(wait(t, "receive", receive.done, near, far), wait(t, "flood", flood.done, near, far)); err != nil {
					t.Error(err)
				}
				near.Share(size, 1)
				far.Share(size, 1)
				reply := onThread(far.Reply)
				request := onThread(func() error { return near.Request(n/10, nil) })
				storm(t, request, reply)
				if err := wait(t, "request", request.done, near, far); err != nil {
					t.Error(err)
				}
				near.Close()
				wantReset(t, "reply", reply.done, far)
			})
		}
	}
}

func interruptible(t *testing.T, ends ...*cloop.End) {
	t.Helper()
	for _, e := range ends {
		for _, option := range []int{syscall.SO_SNDTIMEO, syscall.SO_RCVTIMEO} {
			if err := syscall.SetsockoptTimeval(e.Descriptor(), syscall.SOL_SOCKET, option, &syscall.Timeval{Sec: 3600}); err != nil {
				t.Fatal(err)
			}
		}
	}
}
