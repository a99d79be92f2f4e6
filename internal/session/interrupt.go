//go:build cgo

package session

import (
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// ErrInterrupted ends the sessions that are open when the process is told to
// stop.
var ErrInterrupted = errors.New("interrupted by a signal")

// live are the sessions that are open.
var live struct {
	sync.Mutex
	sessions    map[*Session]chan struct{} // closed when it has ended
	interrupted bool
}

// enlist adds an open session. When the process has been told to stop there is
// nothing left to open one for: it waits for the exit.
func enlist(s *Session) {
	live.Lock()
	if live.interrupted {
		live.Unlock()
		select {}
	}
	defer live.Unlock()
	if live.sessions == nil {
		live.sessions = map[*Session]chan struct{}{}
	}
	live.sessions[s] = make(chan struct{})
}

// delist removes a session that has ended.
func delist(s *Session) {
	live.Lock()
	defer live.Unlock()
	close(live.sessions[s])
	delete(live.sessions, s)
}

const (
	endLimit   = 1500 * time.Millisecond // for the sessions to end
	printLimit = 300 * time.Millisecond  // for testing to print their failures
)

// EndOnSignal makes SIGINT and SIGTERM end the open sessions, each with an
// error that has its counts, and then the process with status 130, within 2 s.
// Without it a role that is blocked in libzmq would not stop: the binding
// takes up the interrupted call again. A second signal ends the process at once.
func EndOnSignal() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Reset()
		interrupt()
		os.Exit(130)
	}()
}

// interrupt stops the open sessions and waits until their failures are out.
func interrupt() {
	live.Lock()
	live.interrupted = true
	open := make(map[*Session]chan struct{}, len(live.sessions))
	for s, ended := range live.sessions {
		open[s] = ended
	}
	live.Unlock()
	limit := time.After(endLimit)
	for s, ended := range open {
		s.stop(ErrInterrupted)
		select {
		case <-ended:
		case <-limit:
			return
		}
	}
	if len(open) > 0 {
		// The failure is printed by testing after the session has ended, and
		// nothing tells when.
		<-time.After(printLimit)
	}
}
