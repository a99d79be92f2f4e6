//go:build cgo

package session

import (
	"fmt"
	"time"
)

// A watchdog strikes when a role has made no socket call for the session's
// Wait. It adds up the time between its own looks, and of a long pause counts
// a part only, so that a process which was stopped and goes on does not find
// all its roles overdue.
//
// A receive timeout could not do this: the binding takes up an interrupted
// call with the whole timeout again, and under the profiler's 100 signals a
// second that never runs out.
type watchdog struct {
	session *Session
	age     map[*Role]time.Duration // since the role was asked
	seen    map[*Role]int64         // messages of its loop outside of Go
	quit    chan struct{}
	gone    chan struct{}
}

// tick is how often the watchdog looks, for a limit of wait: it strikes at
// most two ticks and a bit late.
func tick(wait time.Duration) time.Duration {
	return min(max(wait/20, time.Millisecond), 100*time.Millisecond)
}

// pause is how many ticks the time between two looks counts for at most. On a
// busy machine the watchdog looks late and ticks are lost; counting ticks
// alone, it would strike late by as much as the machine is slow.
const pause = 4

// standstill is how long the watchdog may be kept from looking before the
// session fails: a process that was stopped, or a machine that was suspended or
// is far too busy, has measured that and not ZeroMQ.
const standstill = 2 * time.Second

// startWatchdog watches over s until it is stopped.
func startWatchdog(s *Session) *watchdog {
	w := &watchdog{session: s, age: map[*Role]time.Duration{}, seen: map[*Role]int64{}, quit: make(chan struct{}), gone: make(chan struct{})}
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
	last := time.Now()
	for {
		select {
		case <-w.quit:
			return
		case <-w.session.over:
			<-w.quit
			return
		case <-ticker.C:
			now := time.Now()
			if stood := now.Sub(last); stood > standstill {
				w.session.stop(fmt.Errorf("the process stood still for %v: what it measured meanwhile is no figure", stood.Round(time.Millisecond)))
			}
			if r := w.overdue(min(now.Sub(last), pause*every)); r != nil {
				w.session.blame(r)
			}
			last = now
		}
	}
}

// overdue asks every role again after a time has passed. A role that has not
// answered for the session's Wait is struck and returned: the error to show is
// the one that its call will return.
func (w *watchdog) overdue(passed time.Duration) *Role {
	s := w.session
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.roles {
		switch {
		case r.parked.Load() || r.done.Load():
			continue
		case w.moved(r):
			w.age[r] = 0
		case !r.asked.Load():
			r.asked.Store(true)
			w.age[r] = 0
		default:
			w.age[r] += passed
			if w.age[r] >= s.conf.Wait {
				r.struck.Store(true)
				return r
			}
		}
	}
	return nil
}

// moved reports whether r is in a loop outside of Go that has sent or received
// something since the last look.
func (w *watchdog) moved(r *Role) bool {
	loop := r.loop.Load()
	if loop == nil {
		return false
	}
	sent, received := (*loop).Counts()
	before := w.seen[r]
	w.seen[r] = sent + received
	return sent+received != before
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
