// Package progress writes, while a long run goes on, how far it has come: a
// line a second with what came in that second, the rate of it, and all that has
// come.
//
//	BenchmarkSenders/transport=tcp/senders=4
//	[1s] window=1227692 msgs  rate=1227695 msgs/s  total=1227693
//	[2s] window=1219203 msgs  rate=1219240 msgs/s  total=2446896
//	[2.1s] window=120313 msgs  rate=1203130 msgs/s  total=2567209
//
// The line with the name comes before the first, and none of them if the run is
// shorter than a second. The last, of a part of a second, makes the total whole.
//
// What is measured pays for a counter and nothing else: a goroutine of its own
// reads that once a second and writes the line.
package progress

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

// A Log takes the lines of one run after another. A nil Log takes none. Its
// methods may be called from any goroutine.
type Log struct {
	w     io.Writer
	every time.Duration

	mu  sync.Mutex
	err error // the first
}

// New returns a Log that writes to w, and a line each time that every has
// passed.
func New(w io.Writer, every time.Duration) *Log { return &Log{w: w, every: every} }

// Open returns a Log that writes to the file of that name, a line a second. What
// the file holds is kept: lines are added at its end. An error says what is
// wrong with the file; one is that it is stdout or stderr, where results go.
func Open(name string) (*Log, error) {
	// A pipe that nobody reads would else be waited for.
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NONBLOCK, 0o666)
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return nil, fmt.Errorf("%q cannot be written: %w [name a file, or /dev/tty]", name, err)
	}
	for _, results := range []*os.File{os.Stdout, os.Stderr} {
		if same(f, results) {
			f.Close()
			return nil, fmt.Errorf("%q is where results go, which the lines would split [name a file, or /dev/tty]", name)
		}
	}
	return New(limited{f}, time.Second), nil
}

// same reports whether a and b are the same file.
func same(a, b *os.File) bool {
	x, err := a.Stat()
	if err != nil {
		return false
	}
	y, err := b.Stat()
	return err == nil && os.SameFile(x, y)
}

// A limited file drops what a terminal or a pipe does not take for a moment, for
// nothing waits for whoever reads progress.
type limited struct{ *os.File }

func (l limited) Write(p []byte) (int, error) {
	l.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)) // a plain file has none and needs none
	return l.File.Write(p)
}

// Watch follows a run of that name until the function that it returns is called.
// Count, which Watch calls from a goroutine of its own, is how many messages have
// come. The returned function waits for that goroutine, and may be called once.
func (l *Log) Watch(name string, count func() int64) (stop func()) {
	if l == nil {
		return func() {}
	}
	quit, gone := make(chan struct{}), make(chan struct{})
	start := time.Now()
	go func() {
		defer close(gone)
		l.follow(name, start, count, quit)
	}()
	return func() { close(quit); <-gone }
}

// follow writes the lines of one run.
func (l *Log) follow(name string, start time.Time, count func() int64, quit <-chan struct{}) {
	ticker := time.NewTicker(l.every)
	defer ticker.Stop()
	last, total := start, int64(0)
	window := func(unit time.Duration) {
		now, n := time.Now(), count()
		l.printf("[%gs] window=%d msgs  rate=%.0f msgs/s  total=%d\n", now.Sub(start).Round(unit).Seconds(),
			n-total, float64(n-total)/now.Sub(last).Seconds(), n)
		last, total = now, n
	}
	for named := false; ; {
		select {
		case <-ticker.C:
			if !named {
				l.printf("%s\n", name)
				named = true
			}
			window(l.every)
		case <-quit:
			if named {
				window(l.every / 10)
			}
			return
		}
	}
}

func (l *Log) printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := fmt.Fprintf(l.w, format, args...)
	if l.err == nil {
		l.err = err
	}
}

// Err returns the first error of writing, for the end of all runs: the lines are
// then not complete.
func (l *Log) Err() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return fmt.Errorf("lines are missing: %w", l.err)
	}
	return nil
}
