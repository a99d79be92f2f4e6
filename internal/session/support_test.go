//go:build cgo

package session

import (
	"net"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// closedPort returns a tcp port of 127.0.0.1 on which nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// signals sends this process SIGURG, the signal of the Go scheduler, every
// 50 µs until the function that it returns is called.
func signals(t *testing.T) (stop func()) {
	t.Helper()
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
			}
		}
	}()
	return func() { close(quit); <-gone }
}
