package progress_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"zmqbench/internal/progress"
)

// A lines is a file in memory that tells of each line.
type lines struct {
	text strings.Builder
	got  chan struct{}
}

func (l *lines) Write(p []byte) (int, error) {
	l.text.Write(p)
	select {
	case l.got <- struct{}{}:
	default: // nobody waits any more
	}
	return len(p), nil
}

var form = regexp.MustCompile(`^\[([0-9.]+)s\] window=([0-9]+) msgs  rate=([0-9]+) msgs/s  total=([0-9]+)$`)

// The name is followed by a line for each window and one for the rest; windows
// add up to the total, which is what was counted.
func TestWatch(t *testing.T) {
	const every = 20 * time.Millisecond
	l := &lines{got: make(chan struct{}, 100)}
	var n atomic.Int64
	n.Store(7)
	start := time.Now()
	stop := progress.New(l, every).Watch("BenchmarkX/size=1", n.Load)
	for range 4 { // the name and three windows
		n.Add(1000)
		<-l.got
	}
	n.Add(5)
	stop()
	took := time.Since(start).Seconds()
	text := strings.Split(strings.TrimSuffix(l.text.String(), "\n"), "\n")
	if len(text) < 5 || text[0] != "BenchmarkX/size=1" {
		t.Fatalf("lines %q, want the name, three windows and the rest", text)
	}
	sum, before, total := 0, 0.0, 0
	for _, line := range text[1:] {
		m := form.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("line %q is not of the form %v", line, form)
		}
		at, _ := strconv.ParseFloat(m[1], 64)
		window, _ := strconv.Atoi(m[2])
		total, _ = strconv.Atoi(m[4])
		if sum += window; sum != total || at < before || at > took+0.02 {
			t.Errorf("line %q: windows so far make %d, the time before was %v, the whole run took %v", line, sum, before, took)
		}
		before = at
	}
	if int64(total) != n.Load() {
		t.Errorf("the last total is %d, want all %d", total, n.Load())
	}
}

// The rate of a window is what came in it, by the time that it took.
func TestRate(t *testing.T) {
	l := &lines{got: make(chan struct{}, 100)}
	var n atomic.Int64
	stop := progress.New(l, 50*time.Millisecond).Watch("BenchmarkX", func() int64 { return n.Add(1000) })
	<-l.got
	<-l.got
	stop()
	text := strings.Split(l.text.String(), "\n")
	m := form.FindStringSubmatch(text[1])
	if m == nil || m[2] != "1000" {
		t.Fatalf("line %q, want a window of 1000", text[1])
	}
	if rate, _ := strconv.Atoi(m[3]); rate < 1 || rate > 20100 {
		t.Errorf("line %q: 1000 in 50 ms or more are at most 20000 a second", text[1])
	}
}

// A run that is shorter than a window leaves no line, and a nil Log none of any.
func TestWatchNothing(t *testing.T) {
	var l lines
	progress.New(&l, time.Hour).Watch("BenchmarkX", func() int64 { return 1 })()
	if l.text.Len() > 0 {
		t.Errorf("a short run wrote %q", l.text.String())
	}
	var none *progress.Log
	none.Watch("BenchmarkX", nil)()
	if err := none.Err(); err != nil {
		t.Error(err)
	}
}

// A file keeps what it holds.
func TestOpenAppends(t *testing.T) {
	name := filepath.Join(t.TempDir(), "progress")
	if err := os.WriteFile(name, []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := progress.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	log.Print("a line\n")
	if text, err := os.ReadFile(name); err != nil || string(text) != "mine\na line\n" {
		t.Errorf("the file holds %q, %v, want what it held and a line", text, err)
	}
	if err := log.Err(); err != nil {
		t.Error(err)
	}
}

func TestOpenRefused(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"":                            `"" cannot be written: no such file or directory [name a file, or /dev/tty]`,
		dir:                           "cannot be written: is a directory [",
		filepath.Join(dir, "no", "x"): "cannot be written: no such file or directory [",
		pipe:                          "cannot be written: no such device or address [", // nobody reads it
		"/dev/stdout":                 `"/dev/stdout" is where results go`,
		"/dev/stderr":                 `"/dev/stderr" is where results go`,
	} {
		if _, err := progress.Open(name); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), fmt.Sprintf("%q", name)) {
			t.Errorf("Open(%q): %v, want an error with the name and %q", name, err, want)
		}
	}
}

// Whoever reads slowly or no more costs lines and stops nobody. The loss is told.
func TestReaderGone(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	log, err := progress.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	full := strings.Repeat("x", 1<<20) // more than a pipe takes
	log.Print(full)
	if err := log.Err(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Err() = %v with a reader that does not read, want %v", err, os.ErrDeadlineExceeded)
	}
	reader.Close()
	if log, err = progress.Open(pipe); err == nil {
		t.Error("a pipe without a reader is opened")
	}
}
