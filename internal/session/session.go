//go:build cgo

// Package session holds the sockets of one measurement: it opens them, connects
// them, watches over them and ends them. It knows nothing of what is measured.
//
// A session has roles. A role is a function on a goroutine of its own (the one
// under the clock: on the caller's) that opens its sockets through its [Role],
// uses them, and returns an error or nil; it never fails the benchmark itself.
// Where roles meet, one binds an [Address] and the others connect to it.
//
//	s := session.Open(b, session.Config{Transport: "tcp", Wait: 10 * time.Second})
//	at := s.Address()
//	s.Go("replier", func(r *session.Role) error { … r.Bind(zmq.REP, at) … })
//	s.Run("requester", func(r *session.Role) error { … r.Connect(zmq.REQ, at) … })
//
// Nothing waits without a limit. A watchdog looks at every role. When one has
// stood still for Config.Wait, or any role fails, the contexts of the session
// are terminated: every blocked call of every role returns ETERM, each role
// closes its own sockets, and the first error is reported together with what
// each role had sent and received by then.
package session

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"zmqbench/internal/endpoint"
)

// TB is what a session needs of a *testing.T or *testing.B. Fatal must not
// return.
type TB interface {
	Helper()
	Cleanup(func())
	Error(args ...any)
	Fatal(args ...any)
}

// Config says how the sockets of a session are made.
type Config struct {
	Transport string        // inproc, ipc or tcp
	Wait      time.Duration // how long a role waits for another before it fails; 0 means 10 s
	IOThreads int           // of each context; 0 means 1
	Mechanism Mechanism     // of all connections; not over inproc

	// Refused is called with each handshake that failed at a bound socket with
	// security, which is then nothing to fail for, on a goroutine of the session. If
	// it is nil, such a handshake ends the session, unless it may be a stranger's:
	// a peer is in already, or the user chose the endpoint.
	Refused func(error)

	// CPUs, if not nil, are that of the role under the clock and that of its
	// peers: each role is locked to a thread which runs there and nowhere else,
	// see pin.go.
	CPUs *[2]int
}

// grace is how much longer than its sockets may linger a session takes to end
// before it reports what is in the way. Only a fault of the suite gets there,
// or a test, which sets it.
var grace = 5 * time.Second

// A Session is the contexts, sockets and roles of one measurement. Its methods
// are for the goroutine that opened it.
type Session struct {
	tb     TB
	conf   Config
	before footprint
	watch  *watchdog
	over   chan struct{}  // closed when roles must come to an end
	peers  sync.WaitGroup // those on goroutines of their own
	ended  bool

	cleanups []func() // of what the roles use beside sockets

	mu       sync.Mutex
	dir      string   // of the ipc sockets, made at the first need
	files    []string // ipc endpoints bound where the user wanted them
	roles    []*Role  // in the order they began
	first    *Role    // the one whose error is shown
	stopped  error    // why the session was stopped from outside, if it was
	contexts []*context
}

// Open begins a session that ends with tb at the latest. A transport that is
// none fails tb, and so does security over inproc.
func Open(tb TB, conf Config) *Session {
	tb.Helper()
	switch conf.Transport {
	case "inproc", "ipc", "tcp":
	default:
		tb.Fatal(fmt.Sprintf("session: transport %q is not one of inproc, ipc, tcp", conf.Transport))
	}
	if conf.Transport == "inproc" && conf.Mechanism.secures() {
		tb.Fatal("session: " + insecure(strings.ToUpper(conf.Mechanism.name)).Error())
	}
	if conf.Wait == 0 {
		conf.Wait = 10 * time.Second
	}
	conf.IOThreads = max(conf.IOThreads, 1)
	s := &Session{tb: tb, conf: conf, over: make(chan struct{})}
	tb.Cleanup(func() {
		if err := s.end(); err != nil {
			tb.Error(err)
		}
	})
	enlist(s)
	s.before = takeFootprint()
	s.watch = startWatchdog(s)
	return s
}

// Go starts role under the given name on a goroutine of its own and returns.
// The sockets that role opens are closed when it returns. If it returns nil
// before the session ends, what they have sent may take Config.Wait to leave.
func (s *Session) Go(name string, role func(*Role) error) {
	r := s.newRole(name, true)
	s.peers.Go(func() { r.run(role) })
}

// Cleanup has f run at the end of the session, when the roles have returned and
// before it looks at what is left behind. The last f runs first.
func (s *Session) Cleanup(f func()) { s.cleanups = append(s.cleanups, f) }

// Run runs role under the given name on the caller's goroutine and then ends
// the session. It fails tb with the first error of any role, and with whatever
// the session left behind; otherwise it returns.
func (s *Session) Run(name string, role func(*Role) error) {
	s.tb.Helper()
	s.newRole(name, false).run(role)
	if err := s.end(); err != nil {
		s.tb.Fatal(err)
	}
}

// release makes every role come to an end: waits in Go and in socket calls
// return. It may be called from any goroutine, more than once.
func (s *Session) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isOver() {
		close(s.over)
	}
	for _, c := range s.contexts {
		c.terminate()
	}
}

// isOver reports whether the session has been released.
func (s *Session) isOver() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

// blame makes r the role whose error is shown, if it is the first, and
// releases all roles. It may be called from any goroutine.
func (s *Session) blame(r *Role) {
	s.mu.Lock()
	if s.first == nil {
		s.first = r
	}
	s.mu.Unlock()
	s.release()
}

// stop releases all roles for a reason that lies outside of them.
func (s *Session) stop(why error) {
	s.mu.Lock()
	if s.stopped == nil {
		s.stopped = why
	}
	s.mu.Unlock()
	s.release()
}

// end releases all roles, waits until they are gone and returns what went
// wrong. Only its first call has something to return.
func (s *Session) end() error {
	if s.ended {
		return nil
	}
	s.ended = true
	s.watch.stop()
	s.release()
	defer delist(s)
	late := s.gone()
	err := errors.Join(s.failure(), late, s.removeFiles())
	if late != nil {
		return err // what is left behind is known: it is what did not end
	}
	for i := len(s.cleanups) - 1; i >= 0; i-- {
		s.cleanups[i]()
	}
	return errors.Join(err, s.before.compare())
}

// gone waits for the roles and their contexts to end, within a limit.
func (s *Session) gone() error {
	limit := time.NewTimer(s.conf.Wait + grace)
	defer limit.Stop()
	roles := make(chan struct{})
	go func() {
		s.peers.Wait()
		close(roles)
	}()
	select {
	case <-roles:
	case <-limit.C:
		return fmt.Errorf("session did not end within %v: %s", s.conf.Wait+grace, s.busy())
	}
	for _, c := range s.contexts {
		select {
		case <-c.ended:
		case <-limit.C:
			return fmt.Errorf("session did not end within %v: the context of %s has %d open sockets",
				s.conf.Wait+grace, c.name, c.sockets())
		}
	}
	return nil
}

// busy names the roles that have not returned.
func (s *Session) busy() string {
	var names []string
	for _, r := range s.roles {
		if !r.done.Load() {
			names = append(names, r.name)
		}
	}
	return strings.Join(names, ", ") + " has not returned"
}

// failure is the first error with a line for each role, or nil.
func (s *Session) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var text strings.Builder
	switch {
	case s.stopped != nil:
		text.WriteString(s.stopped.Error())
	case s.first != nil:
		text.WriteString(s.first.trouble())
	default:
		return nil
	}
	for _, r := range s.roles {
		fmt.Fprintf(&text, "\n%s", r.state())
	}
	return errors.New(text.String())
}

// removeFiles removes the files of the ipc sockets, which libzmq leaves where
// they are. Where the user wanted one, it goes only if it is still a socket
// on which nobody listens.
func (s *Session) removeFiles() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, text := range s.files {
		if e, err := endpoint.ParseBind(text); err == nil {
			errs = append(errs, os.RemoveAll(e.Path))
		}
	}
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}
