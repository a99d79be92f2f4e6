//go:build cgo

package cloop_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"zmqbench/internal/cloop"
)

var transports = []string{"inproc", "ipc", "tcp"}

// sizes are where something changes: no bytes, no header, header alone, one
// window of the check and more, one batch less its frame header and more.
var sizes = []int{0, 1, 7, 8, 9, 100, 4096, 4104, 8188, 8192, 65536, 1 << 20}

// forever is more messages than any test waits for.
const forever = 1 << 62

// limit is how long a loop may take that ought to end.
const limit = 20 * time.Second

// amount is how many messages of a size are enough, and not too much work.
func amount(size int) int { return min(20_000, 20<<20/(size+1)) }

// pair returns the ends of a pair, which t closes.
func pair(t *testing.T, transport string, size int) (near, far *cloop.End) {
	t.Helper()
	near, far, err := cloop.NewPair(transport, size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(near.Close)
	t.Cleanup(far.Close)
	return near, far
}

// run runs a loop on a goroutine of its own.
func run(loop func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- loop() }()
	return done
}

// wait returns what a loop returned. One that hangs fails the test with what
// each end had moved by then.
func wait(t *testing.T, what string, done <-chan error, ends ...*cloop.End) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(limit):
		counts := moved(ends)
		for _, e := range ends {
			e.Release()
		}
		select { // the ends are closed next, which no loop may use then
		case <-done:
		case <-time.After(limit):
			panic(what + " cannot be released")
		}
		t.Fatalf("%s hangs:%s", what, counts)
		return nil
	}
}

// moved says what each end has sent and received.
func moved(ends []*cloop.End) string {
	var text strings.Builder
	for i, e := range ends {
		sent, received := e.Counts()
		fmt.Fprintf(&text, " end %d %d sent, %d received;", i, sent, received)
	}
	return text.String()
}

// until fails the test if condition does not become true.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !condition(); {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, limit)
		}
	}
}

// footprint fails t if it leaves a goroutine, and with it the thread that its
// loop in C runs on, or a descriptor.
func footprint(t *testing.T) {
	t.Helper()
	descriptors(t) // the first reading opens what the runtime needs for it
	before, known := descriptors(t), goleak.IgnoreCurrent()
	t.Cleanup(func() {
		if err := goleak.Find(known); err != nil {
			t.Error(err)
		}
		if after := descriptors(t); after != before {
			t.Errorf("descriptors %s, want %s as before", after, before)
		}
	})
}

// descriptors is the numbers of those that are open, less the one it takes.
func descriptors(t *testing.T) string {
	t.Helper()
	var list []string
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, err := os.Readlink("/dev/fd/" + e.Name()); err == nil {
			list = append(list, e.Name())
		}
	}
	return strings.Join(list, " ")
}
