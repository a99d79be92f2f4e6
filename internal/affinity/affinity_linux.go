package affinity

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Allowed returns the CPUs that the calling thread may run on, in order. If
// nothing is pinned these are the process's.
func Allowed() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("cannot ask which CPUs are allowed: %w", err)
	}
	var cpus []int
	for cpu := range Limit {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// Pin locks the calling goroutine to its thread and the thread to a CPU. The
// threads of C that it starts inherit that; those of the Go runtime do not,
// which starts them from elsewhere meanwhile.
//
// Restore ends both, on the same goroutine. Pins nest: the last is restored
// first. A thread that cannot have its CPUs back stays locked to the goroutine,
// and ends with it, so that no other goroutine finds itself pinned.
func Pin(cpu int) (restore func() error, err error) {
	runtime.LockOSThread()
	var before, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		runtime.UnlockOSThread()
		return nil, fmt.Errorf("cannot pin to CPU %d: %w", cpu, err)
	}
	one.Set(cpu)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		runtime.UnlockOSThread()
		return nil, fmt.Errorf("cannot pin to CPU %d: %w", cpu, err)
	}
	return func() error {
		if err := unix.SchedSetaffinity(0, &before); err != nil {
			return fmt.Errorf("cannot unpin from CPU %d: %w", cpu, err)
		}
		runtime.UnlockOSThread()
		return nil
	}, nil
}

// Threads returns the threads of this process, by what /proc says of each. A
// thread that ends meanwhile may be missing.
func Threads() ([]Thread, error) { return ThreadsOf(os.Getpid()) }

// ThreadsOf is Threads of another process.
func ThreadsOf(pid int) ([]Thread, error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil {
		return nil, err
	}
	var threads []Thread
	for _, file := range files {
		status, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		id, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		t := Thread{ID: id}
		for line := range strings.Lines(string(status)) {
			switch key, value, _ := strings.Cut(strings.TrimSpace(line), ":\t"); key {
			case "Name":
				t.Name = value
			case "Cpus_allowed_list":
				t.CPUs = value
			}
		}
		threads = append(threads, t)
	}
	if !slices.ContainsFunc(threads, func(t Thread) bool { return t.CPUs != "" }) {
		return nil, fmt.Errorf("/proc/%d/task does not say on which CPUs threads may run", pid)
	}
	return threads, nil
}
