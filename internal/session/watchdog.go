//go:build cgo

package session

import (
	"fmt"
	"time"
)

// A watchdog strikes when a role has made no socket call for the session's
// Wait. It counts its own ticks and not the clock's time, so that a process
// which was stopped and goes on does not find all its roles overdue.
//
// A receive timeout could not do this: the binding takes up an interrupted
// call with the whole timeout again, and under the profiler's 100 signals a
// second that never runs out.
type watchdog struct {
	session *Session
	age     map[*Role]int // ticks since the role was asked
	quit    chan struct{}
	gone    chan struct{}
}

// tick is how often the watchdog looks, for a limit of wait: it strikes at
// most one tick and a bit late.
func tick(wait time.Duration) time.Duration {
	return min(max(wait/20, time.Millisecond), 100*time.Millisecond)
}

// startWatchdog watches over s until it is stopped.
func startWatchdog(s *Session) *watchdog {
	w := &watchdog{session: s, age: map[*Role]int{}, quit: make(chan struct{}), gone: make(chan struct{})}
	go w.run()
	return w
}

// stop ends the watch. After it no role is struck.
func (w *watchdog) stop() {
	close(w.quit)
	<-w.gone
}

func (w *watchdog) run() {
	defer close(w.gone)
	every := tick(w.session.conf.Wait)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	limit := int((w.session.conf.Wait + every - 1) / every)
	for {
		select {
		case <-w.quit:
			return
		case <-w.session.over:
			<-w.quit
			return
		case <-ticker.C:
			if r := w.overdue(limit); r != nil {
				w.session.strike(r)
			}
		}
	}
}

// overdue asks every role and returns one that has not answered for limit
// ticks, or nil.
func (w *watchdog) overdue(limit int) *Role {
	s := w.session
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.roles {
		switch {
		case r.parked.Load() || r.done.Load():
			continue
		case !r.asked.Load():
			r.asked.Store(true)
			w.age[r] = 0
		default:
			w.age[r]++
			if w.age[r] >= limit {
				return r
			}
		}
	}
	return nil
}

// strike ends the session because of r, which stands still. The error is the
// one that r's call will return.
func (s *Session) strike(r *Role) {
	r.struck.Store(true)
	s.blame(r)
}

// reason says why a call of r ended with ETERM.
func (s *Session) reason(r *Role, op string) string {
	if !r.struck.Load() {
		return "ended with the session"
	}
	what, ok := map[string]string{
		"recv":    "no message",
		"send":    "no room to send",
		"connect": "no connection",
	}[op]
	if !ok {
		what = "no progress"
	}
	return fmt.Sprintf("%s for %v: its peer is missing, dead or slow [-wait sets the limit]", what, s.conf.Wait)
}
