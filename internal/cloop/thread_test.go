//go:build cgo && linux

package cloop_test

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// A thread is a loop on a thread of its own, which ends with it.
type thread struct {
	id   int
	done <-chan error
}

// onThread runs a loop on a thread of its own.
func onThread(loop func() error) thread {
	id := make(chan int, 1)
	done := run(func() error {
		runtime.LockOSThread() // and not unlocked: the thread ends with the loop
		id <- syscall.Gettid()
		return loop()
	})
	return thread{<-id, done}
}

// asleep reports whether the thread waits in the kernel.
func (th thread) asleep() bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/stat", th.id))
	_, state, found := bytes.Cut(stat, []byte(") "))
	return err == nil && found && state[0] == 'S'
}

// storm sends SIGURG, the signal of the Go scheduler, every 50 µs to the
// process and to each of the threads, until t ends.
func storm(t *testing.T, threads ...thread) {
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		ticker := time.NewTicker(50 * time.Microsecond)
		defer ticker.Stop()
		for {
			select {
			case <-quit:
				return
			case <-ticker.C:
				syscall.Kill(syscall.Getpid(), syscall.SIGURG)
				for _, th := range threads {
					syscall.Tgkill(syscall.Getpid(), th.id, syscall.SIGURG)
				}
			}
		}
	}()
	t.Cleanup(func() { close(quit); <-gone })
}
