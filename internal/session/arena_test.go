//go:build cgo

package session

import (
	"crypto/rand"
	"errors"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	zmq "github.com/pebbe/zmq4"
)

// An arena is a session with a victim of each role, at endpoints that others
// reach, too.
type arena struct {
	t         testing.TB
	s         *Session
	transport string
	mechanism string
	victims   []*victim
	quiet     int // descriptors that are open when no stranger is there
}

// newArena opens an arena. No good peer is there yet.
func newArena(t *testing.T, transport, name string) *arena {
	t.Helper()
	return openArena(t, t, transport, name)
}

// openArena opens an arena that reports to tb what goes wrong in its session.
func openArena(t *testing.T, tb TB, transport, name string) *arena {
	t.Helper()
	a := &arena{t: t, transport: transport, mechanism: name}
	// A bound socket has nothing to do while strangers are at another.
	a.s = Open(tb, Config{Transport: transport, Mechanism: mechanism(t, name), Wait: 3 * patience})
	for _, role := range roles {
		a.bind(role.kind, role.peer, role.fits)
	}
	return a
}

// bind binds a socket of a kind at an address that others reach.
func (a *arena) bind(kind, peer zmq.Type, fits string) *victim {
	a.t.Helper()
	v := &victim{kind: kind, peer: peer, fits: fits, tag: make([]byte, 16),
		orders: make(chan order), asks: make(chan ask, 1), got: make(chan struct{}, 1000)}
	rand.Read(v.tag)
	text := "tcp://127.0.0.1:*"
	if a.transport == "ipc" {
		text = "ipc://" + filepath.Join(a.t.TempDir(), "v")
	}
	var err error
	if v.at, err = a.s.AddressAt(text); err != nil {
		a.t.Fatal(err)
	}
	a.s.Go("bound "+kind.String(), v.bound)
	a.await(v.at.bound)
	a.victims = append(a.victims, v)
	return v
}

// welcome lets the good peers connect while there are strangers who say
// nothing and were there first, and notes what is open without them.
func (a *arena) welcome() {
	early := map[*victim]*stranger{}
	for _, v := range a.victims {
		var err error
		if early[v], err = call(v.at.peer); err != nil {
			a.t.Fatal(err)
		}
		if v.via == nil {
			v.via = v.at
		}
		a.s.Go("peer of "+v.kind.String(), v.good)
	}
	a.each(func(v *victim) error {
		return errors.Join(a.exchange(v, theGood), a.exchange(v, newcomer), early[v].leave())
	})
	a.quiet = a.settle(0)
}

// await waits for a step of the session, which fails the test if it ends first.
func (a *arena) await(step <-chan struct{}) {
	select {
	case <-step:
	case <-a.s.over:
		a.t.Fatal("the session is over: ", a.s.end())
	}
}

// each does something with all victims at once.
func (a *arena) each(do func(v *victim) error) {
	a.t.Helper()
	var wg sync.WaitGroup
	for _, v := range a.victims {
		wg.Go(func() {
			if err := do(v); err != nil {
				a.t.Errorf("bound %v: %v", v.kind, err)
			}
		})
	}
	wg.Wait()
	if a.s.isOver() {
		a.t.Fatal("the session is over: ", a.s.end())
	}
}

// some is how many messages are exchanged at a time. More than the queues hold
// would tell no more.
const some = 50

// exchange has a good peer of v exchange some messages, all of which must come.
// A newcomer at a socket that shares would take a part of what is the good's.
func (a *arena) exchange(v *victim, sender int) error {
	if sender == newcomer && v.shares() {
		return nil
	}
	return a.exchangeN(v, sender, some)
}

// exchangeN has a good peer of v exchange n messages.
func (a *arena) exchangeN(v *victim, sender, n int) error {
	done := make(chan struct{}, 1)
	limit := time.After(patience)
	for orders := v.orders; ; {
		select {
		case orders <- order{n, sender, done}:
			orders = nil
		case <-done:
			v.ordered += n
			return nil
		case <-a.s.over:
			return errors.New("the session is over")
		case <-limit:
			return errors.New("a good peer waits for its messages")
		}
	}
}

// settle waits until no more than n descriptors are open, and returns how many
// are. With n = 0 it waits until their number stays.
func (a *arena) settle(n int) int {
	before := len(descriptors())
	for limit := time.Now().Add(patience); time.Now().Before(limit); {
		runtime.Gosched()
		now := len(descriptors())
		if n > 0 && now <= n || n == 0 && now == before {
			return now
		}
		before = now
	}
	return before
}

// attack has strangers do their worst at all victims at once, while the good
// peers exchange messages, and newcomers come as long as strangers stay.
func (a *arena) attack(what attack, seed uint64) {
	a.t.Helper()
	a.each(func(v *victim) error {
		if a.mechanism == "null" && (what.joins && v.shares() || what.malformed && v.kind == zmq.REP) {
			return nil
		}
		alone := make(chan error, 1)
		go func() { alone <- a.exchange(v, theGood) }()
		c := newCrowd(a, v, seed)
		err := what.run(c)
		err = errors.Join(err, <-alone, a.exchange(v, newcomer), a.exchange(v, theGood), c.disperse())
		return errors.Join(err, a.exchange(v, theGood))
	})
	if now := a.settle(a.quiet); now > a.quiet {
		a.t.Errorf("%d descriptors are open after the strangers have gone, %d before they came", now, a.quiet)
	}
}

// close ends the arena, and looks whether all went well.
func (a *arena) close() {
	a.t.Helper()
	a.s.Run("end", func(*Role) error { return nil })
	for _, v := range a.victims {
		if got := v.verified.Load(); got != int64(v.ordered) || len(v.got) != 0 {
			a.t.Errorf("bound %v: %d messages of good peers came, want %d", v.kind, got, v.ordered)
		}
		if n := v.foreign.Load(); n != 0 && a.mechanism != "null" {
			a.t.Errorf("bound %v: %d messages of strangers came past %s", v.kind, n, a.mechanism)
		}
	}
}
