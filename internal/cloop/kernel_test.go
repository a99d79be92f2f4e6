//go:build cgo

package cloop_test

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"zmqbench/internal/cloop"
	"zmqbench/internal/latency"
)

func TestRoundTrips(t *testing.T) {
	footprint(t)
	for _, transport := range transports {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s/%d", transport, size), func(t *testing.T) {
				near, far := pair(t, transport, size)
				n := min(1000, amount(size))
				var tail latency.Histogram
				replied := run(far.Reply)
				if err := wait(t, "request", run(func() error { return near.Request(n, &tail) }), near, far); err != nil {
					t.Fatal(err)
				}
				if err := near.Request(1, nil); err != nil { // the pair goes on
					t.Fatal(err)
				}
				if tail.N != uint64(n) || tail.Under != 0 || tail.Max == 0 {
					t.Errorf("N, Under, Max of the durations = %d, %d, %d, want %d, 0, more", tail.N, tail.Under, tail.Max, n)
				}
				near.Close()
				if err := wait(t, "reply", replied, far); !errors.Is(err, syscall.ECONNRESET) {
					t.Errorf("reply after the end: %v, want %v", err, syscall.ECONNRESET)
				}
				if got, want := moved([]*cloop.End{near, far}), moved([]*cloop.End{far, near}); got != want {
					t.Errorf("the requester has%s the replier%s", got, want)
				}
			})
		}
	}
}

func TestStreams(t *testing.T) {
	footprint(t)
	for _, transport := range transports {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s/%d", transport, size), func(t *testing.T) {
				near, far := pair(t, transport, size)
				throughput(t, near, far, amount(size))
			})
		}
	}
}

// throughput sends n messages from far to near, in two parts as the benchmark.
func throughput(t *testing.T, near, far *cloop.End, n int) {
	t.Helper()
	flooded := run(func() error { return far.Flood(n) })
	received := run(func() error { return errors.Join(near.Receive(1), near.Receive(n-1)) })
	if err := wait(t, "receive", received, near, far); err != nil {
		t.Error(err)
	}
	if err := wait(t, "flood", flooded, near, far); err != nil {
		t.Error(err)
	}
	sent, _ := far.Counts()
	if _, received := near.Counts(); sent != int64(n) || received != int64(n) {
		t.Errorf("%d sent, %d received, want %d", sent, received, n)
	}
}

// Small buffers of the sockets make one message many writes and reads.
func TestSmallBuffers(t *testing.T) {
	for _, transport := range []string{"ipc", "tcp"} {
		for _, size := range []int{100, 8192, 65536, 1 << 20} {
			t.Run(fmt.Sprintf("%s/%d", transport, size), func(t *testing.T) {
				near, far := pair(t, transport, size)
				shrink(t, transport, near, far)
				throughput(t, near, far, amount(size))
			})
		}
	}
}

// shrink gives sockets the smallest send buffers with which they do well: with
// less than two segments, of 64 KiB here, tcp waits for its timers.
func shrink(t *testing.T, transport string, ends ...*cloop.End) {
	t.Helper()
	size := map[string]int{"ipc": 1, "tcp": 128 << 10}[transport]
	for _, e := range ends {
		if err := syscall.SetsockoptInt(e.Descriptor(), syscall.SOL_SOCKET, syscall.SO_SNDBUF, size); err != nil {
			t.Fatal(err)
		}
	}
}

// Stop ends a flood, and whatever it has sent arrives before the end.
func TestStop(t *testing.T) {
	footprint(t)
	for _, transport := range transports {
		for _, size := range []int{0, 100, 65536} {
			t.Run(fmt.Sprintf("%s/%d", transport, size), func(t *testing.T) {
				near, far := pair(t, transport, size)
				flooded := run(func() error { return far.Flood(forever) })
				received := run(func() error { return near.Receive(forever) })
				until(t, "1000 messages", func() bool { _, received := near.Counts(); return received > 1000 })
				far.Stop()
				if err := wait(t, "flood", flooded, near, far); err != nil {
					t.Error(err)
				}
				far.Close()
				if err := wait(t, "receive", received, near); !errors.Is(err, syscall.ECONNRESET) {
					t.Errorf("receive after the end: %v, want %v", err, syscall.ECONNRESET)
				}
				sent, _ := far.Counts()
				if _, received := near.Counts(); received != sent {
					t.Errorf("%d sent, %d received", sent, received)
				}
			})
		}
	}
}

// An End may be released and closed more than once, and what is called after
// that fails.
func TestClosed(t *testing.T) {
	footprint(t)
	for _, transport := range transports {
		near, far := pair(t, transport, 100)
		for name, loop := range map[string]func(*cloop.End) error{
			"request": func(e *cloop.End) error { return e.Request(1, nil) },
			"reply":   (*cloop.End).Reply,
			"receive": func(e *cloop.End) error { return e.Receive(1) },
			"flood":   func(e *cloop.End) error { return e.Flood(forever) },
		} {
			released, _ := pair(t, transport, 100)
			released.Release()
			released.Release()
			if err := wait(t, name, run(func() error { return loop(released) }), released); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("%s over %s after the end: %v, want %v", name, transport, err, syscall.ECONNRESET)
			}
		}
		near.Close()
		near.Close()
		near.Release()
		far.Release()
	}
	if near, far, err := cloop.NewPair("ftp", 1); err == nil {
		t.Errorf("NewPair(ftp) = %v, %v, want an error", near, far)
	}
}
