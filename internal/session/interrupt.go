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
	interrupted chan struct{}              // made by interrupt; closed when there is no more to print
}

// enlist adds an open session. When the process has been told to stop there is
// nothing left to open one for: the failures of those before it have been
// printed, and it waits for the exit.
func enlist(s *Session) {
	live.Lock()
	if live.interrupted != nil {
		select {
		case <-live.interrupted:
		default:
			close(live.interrupted)
		}
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
	endLimit   = time.Second            // for the sessions to end
	printLimit = 900 * time.Millisecond // for testing to print their failures
)

// EndOnSignal makes SIGINT and SIGTERM end the open sessions, each with an
// error that has its counts, and then the process, all within 2 s. The status is
// 130, or 1 if the failed benchmark was the last. Without it a role that is blocked in libzmq would not stop: the binding
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
	printed := make(chan struct{})
	live.interrupted = printed
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
	if len(open) == 0 {
		return
	}
	// Package testing prints a failure after the session has ended, before it
	// goes on to what opens the next or to its end. What opens none tells
	// nothing, and has the limit.
	select {
	case <-printed:
	case <-time.After(printLimit):
	}
}
