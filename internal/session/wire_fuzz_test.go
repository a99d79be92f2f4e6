//go:build cgo

package session

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	zmq "github.com/pebbe/zmq4"
)

// longest is how much of its input FuzzWire uses: no more messages than the queue
// of a bound socket takes that does not receive.
const longest = 2000

// fixed is a mechanism whose secrets are the same in every process, so that what
// was recorded in one means the same in another. They are for this test only.
func fixed(tb testing.TB, name string) Mechanism {
	switch name {
	case "plain":
		return Mechanism{name: name, server: []Option{PlainServer()}, client: []Option{PlainClient("admin", "password")},
			allow: func(q Request) bool { return len(q.Credentials) == 2 && string(q.Credentials[1]) == "password" }}
	case "curve":
		if !zmq.HasCurve() {
			tb.Skip("this libzmq was built without CURVE")
		}
		return Mechanism{name: name, server: []Option{CurveServer(secret)}, client: []Option{CurveClient(public, public, secret)}}
	}
	return Mechanism{}
}

// FuzzWire says its input to bound sockets: each of the kinds that the suite
// binds, with each mechanism. The socket hangs up at the latest when the stranger
// does, and its good peer then exchanges a message with it. Those with CURVE
// never receive anything of a stranger's. Left out is what flaws has: a stranger
// who joins takes a share of what is dealt out, and may cost a REP a reply.
func FuzzWire(f *testing.F) {
	var targets []*arena
	var victims []*victim
	var at []*arena
	for _, name := range []string{"null", "plain", "curve"} {
		a := &arena{t: f, transport: "tcp", mechanism: name}
		a.s = Open(f, Config{Transport: "tcp", Mechanism: fixed(f, name), Wait: time.Hour}) // inputs may be long in coming
		for _, role := range roles {
			v := a.bind(role.kind, role.peer, role.fits)
			if name == "curve" || !v.shares() && v.kind != zmq.REP {
				victims, at = append(victims, v), append(at, a)
			}
		}
		recorded := a.relayed()
		for i, v := range victims {
			if at[i] == a {
				said := recorded[v].record()
				f.Add(uint8(i), said[:min(len(said), longest)])
			}
		}
		targets = append(targets, a)
	}
	for i, v := range victims {
		for _, data := range seeds(at[i], v) {
			f.Add(uint8(i), data)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		i := int(which) % len(victims)
		a, v := at[i], victims[i]
		s, err := call(v.at.peer)
		if err == nil {
			err = s.say(data[:min(len(data), longest)])
		}
		if err == nil {
			err = s.leave()
		}
		if err != nil {
			t.Fatalf("bound %v, %s: %v", v.kind, a.mechanism, err)
		}
		if err := a.exchangeN(v, theGood, 1); err != nil {
			t.Fatalf("bound %v, %s: %v", v.kind, a.mechanism, err)
		}
		if n := v.foreign.Load(); n != 0 && a.mechanism == "curve" {
			t.Fatalf("bound %v: %d messages of strangers came past CURVE", v.kind, n)
		}
	})
	for _, a := range slices.Backward(targets) {
		a.s.Run("end", func(*Role) error { return nil })
	}
}

// seeds are what the strangers of TestHostile say to v.
func seeds(a *arena, v *victim) (all [][]byte) {
	c := &crowd{victim: v, mechanism: a.mechanism, rnd: rand.New(rand.NewPCG(1, 2))}
	whole := slices.Concat(greeting(3, 1, c.mech(), 0), c.opening())
	kind := c.kindNumber()
	for _, data := range [][]byte{
		nil,
		whole[:10], whole[:11], whole[:64], whole,
		slices.Concat(whole, frame(more, nil), frame(0, []byte("message"))),
		slices.Concat(whole, announce(0, 1<<63)),
		slices.Concat(whole, zmtpCommand("PING", 0, 0, 'x'), zmtpCommand("SUBSCRIBE", 'x'), zmtpCommand("CANCEL", 'x'), frame(0, []byte{1, 'x'}), frame(0, []byte{0, 'x'})),
		slices.Concat(whole, zmtpCommand("ERROR", 4, 'f', 'u', 'l', 'l')),
		slices.Concat(greeting(3, 0, c.mech(), 1), c.opening()),
		slices.Concat(frame1(0, nil), frame1(more, nil), frame1(0, []byte("old"))),
		slices.Concat(frame1(0, nil), announce1(0, 1<<63)),
		slices.Concat(greeting2(0, kind), frame1(0, nil), frame1(more, nil), frame1(0, []byte("old"))),
		slices.Concat(greeting2(1, kind), frame(0, nil), frame(more, nil), frame(0, []byte("old"))),
		bytes.Repeat([]byte{0xff}, 100),
	} {
		all = append(all, data)
	}
	return all
}
