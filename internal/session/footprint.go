//go:build cgo

package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"go.uber.org/goleak"
)

// A footprint is what a process holds at one moment: its goroutines and, where
// /proc tells, its descriptors and the threads of libzmq. (Threads of the Go
// runtime stay for the next user and say nothing.) The ipc files of a session
// lie in a directory that it removes.
type footprint struct {
	goroutines  goleak.Option
	descriptors map[string]string // by number, what it leads to
	threads     int
}

// takeFootprint looks at the process as it is.
func takeFootprint() footprint {
	n := threads() // first: it opens files, and with the first file the Go runtime opens two descriptors for its poller
	return footprint{
		goroutines:  goleak.IgnoreCurrent(),
		descriptors: descriptors(),
		threads:     n,
	}
}

// settle is how long what is on its way out may take.
const settle = time.Second

// compare reports what the process holds now beyond the footprint.
func (f footprint) compare() error {
	var errs []error
	if err := goleak.Find(f.goroutines); err != nil {
		errs = append(errs, fmt.Errorf("left behind: %w", err))
	}
	for number, target := range descriptors() {
		if f.descriptors[number] != target {
			errs = append(errs, fmt.Errorf("left behind: descriptor %s, %s", number, target))
		}
	}
	// A thread that has been joined may stand in /proc a moment longer.
	for limit := time.Now().Add(settle); threads() > f.threads && time.Now().Before(limit); {
		runtime.Gosched()
	}
	if n := threads(); n > f.threads {
		errs = append(errs, fmt.Errorf("left behind: %d threads of libzmq", n-f.threads))
	}
	return errors.Join(errs...)
}

// descriptors lists the open descriptors and what they lead to. Where there is
// no /proc it is empty.
func descriptors() map[string]string {
	const dir = "/proc/self/fd"
	entries, _ := os.ReadDir(dir)
	open := make(map[string]string, len(entries))
	for _, e := range entries {
		target, err := os.Readlink(filepath.Join(dir, e.Name()))
		if err == nil { // else it is the one that the directory was read with
			open[e.Name()] = target
		}
	}
	return open
}

// free is how many descriptors the process may still open. It is 0 where /proc
// cannot be read for want of one, and unknown where there is no /proc.
func free() (n int, ok bool) {
	limits, err := os.ReadFile("/proc/self/limits")
	if err != nil {
		return 0, errors.Is(err, syscall.EMFILE)
	}
	_, line, _ := strings.Cut(string(limits), "Max open files")
	if _, err := fmt.Sscan(line, &n); err != nil {
		return 0, false // unlimited
	}
	return n - len(descriptors()), true
}

// threads counts the threads that libzmq started, by the names it gives them.
func threads() int {
	names, _ := filepath.Glob("/proc/self/task/*/comm")
	n := 0
	for _, name := range names {
		comm, _ := os.ReadFile(name)
		if strings.HasPrefix(string(comm), "ZMQbg") {
			n++
		}
	}
	return n
}
