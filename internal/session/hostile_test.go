//go:build cgo

package session

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	zmq "github.com/pebbe/zmq4"

	"zmqbench/internal/cloop"
	"zmqbench/internal/payload"
)

var (
	hostileSeed = flag.Uint64("hostile-seed", 0, "seed of what strangers say at random; 0 is a new one")
	hostileAll  = flag.Bool("hostile-all", false, "strangers at each transport with each mechanism, and all that can come")
)

// many is n, or a part of it where not all that can come is to come.
func many(n int) int {
	if *hostileAll {
		return n
	}
	return n / 5
}

// An attack is something that strangers do to a bound socket.
type attack struct {
	name      string
	mechanism string // of the socket, if it is about one
	joins     bool   // with NULL, they are taken for peers; nobody can join the others
	malformed bool   // with NULL, they send a REP requests without an envelope
	run       func(c *crowd) error
}

// A crowd is strangers at one bound socket.
type crowd struct {
	*victim
	mechanism string
	rnd       *rand.Rand
	stay      []*stranger
}

func newCrowd(a *arena, v *victim, seed uint64) *crowd {
	return &crowd{victim: v, mechanism: a.mechanism, rnd: rand.New(rand.NewPCG(seed, uint64(v.kind)))}
}

// come connects a stranger, says something and stays.
func (c *crowd) come(data ...[]byte) (*stranger, error) {
	s, err := call(c.at.peer)
	if err != nil {
		return nil, err
	}
	c.stay = append(c.stay, s)
	return s, s.say(data...)
}

// disperse has all strangers leave who are still there.
func (c *crowd) disperse() (err error) {
	for _, s := range c.stay {
		if s.rude {
			s.reset()
		} else {
			err = errors.Join(err, s.leave())
		}
	}
	c.stay = nil
	return err
}

// pass connects a stranger, says something and leaves.
func (c *crowd) pass(data ...[]byte) error {
	s, err := call(c.at.peer)
	if err != nil {
		return err
	}
	return errors.Join(s.say(data...), s.leave())
}

// mech is the mechanism as greetings have it.
func (c *crowd) mech() string {
	return map[string]string{"null": "NULL", "plain": "PLAIN", "curve": "CURVE"}[c.mechanism]
}

// opening is the first command of a client, which ends its part of the
// handshake with NULL. With the others it is as it should be, but for the
// secrets.
func (c *crowd) opening() []byte {
	switch c.mechanism {
	case "plain":
		return zmtpCommand("HELLO", []byte("\x05admin\x08password")...)
	case "curve":
		hello := append([]byte{1, 0}, make([]byte, 192)...)
		for i := 74; i < len(hello); i++ {
			hello[i] = byte(c.rnd.Uint32())
		}
		return zmtpCommand("HELLO", hello...)
	}
	return ready(c.fits)
}

// kindNumber is the number in zmq.h of the socket type that strangers claim.
func (c *crowd) kindNumber() byte {
	return byte(slices.Index([]string{"PAIR", "PUB", "SUB", "REQ", "REP", "DEALER", "ROUTER", "PULL", "PUSH"}, c.fits))
}

// attacks are what strangers do.
var attacks = []attack{
	{name: "silent", run: func(c *crowd) error { // CVE-2020-15166
		_, err := c.come()
		return err
	}},
	{name: "half-open", run: func(c *crowd) error {
		whole := slices.Concat(greeting(3, 1, c.mech(), 0), c.opening())
		for i := range many(200) {
			s, err := c.come(whole[:i%70])
			if err == nil {
				_, err = s.hear(len(signature)) // else the kernel makes those wait who are too many at a time
			}
			if err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "random", joins: true, malformed: true, run: func(c *crowd) error {
		for i := range many(50) {
			data := make([]byte, 1+c.rnd.IntN(1<<(1+i%14)))
			for j := range data {
				data[j] = byte(c.rnd.Uint32())
			}
			if err := c.pass(data); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "random after the greeting", joins: true, malformed: true, run: func(c *crowd) error {
		for i := range many(50) {
			data := make([]byte, 1+c.rnd.IntN(1<<(1+i%14)))
			for j := range data {
				data[j] = byte(c.rnd.Uint32())
			}
			start := [][]byte{signature, greeting(3, 0, c.mech(), 0), slices.Concat(greeting(3, 1, c.mech(), 0), c.opening())}[i%3]
			if err := c.pass(start, data); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "cut at every byte", joins: true, run: func(c *crowd) error {
		whole := slices.Concat(greeting(3, 1, c.mech(), 0), c.opening())
		for i := range len(whole) + 1 {
			if i > 100 && i%5 != 0 && !*hostileAll { // within the randomness of CURVE's HELLO
				continue
			}
			if err := c.pass(whole[:i]); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "byte by byte", joins: true, run: func(c *crowd) error {
		s, err := c.come()
		if err != nil {
			return err
		}
		for _, b := range slices.Concat(greeting(3, 1, c.mech(), 0), c.opening()) {
			err = errors.Join(err, s.say([]byte{b}))
		}
		return err
	}},
	{name: "versions", joins: true, run: func(c *crowd) error {
		kind := c.kindNumber()
		for _, old := range [][][]byte{
			{frame1(0, nil), frame1(more, nil), frame1(0, []byte("old"))}, // 1.0 of libzmq 2
			{frame1(0, []byte("identity")), frame1(more, nil), frame1(0, []byte("old"))},
			{announce1(0, 5), []byte("name"), frame1(more, nil), frame1(0, []byte("old"))}, // in the long form, which could be a signature
			{greeting2(0, kind), frame(0, nil), frame(more, nil), frame(0, []byte("old"))}, // 1.0 of libzmq 3
			{greeting2(1, kind), frame(0, nil), frame(more, nil), frame(0, []byte("old"))}, // 2.0
			{greeting2(1, 0xff), frame(0, []byte("name")), frame(more, nil), frame(0, []byte("old"))},
			{greeting(3, 0, c.mech(), 0), c.opening()},
			{greeting(3, 1, c.mech(), 1), c.opening()},
			{greeting(3, 9, c.mech(), 0), c.opening()},
			{greeting(4, 0, c.mech(), 0), c.opening()},
			{greeting(255, 255, c.mech(), 255), c.opening()},
			{greeting(3, 1, "", 0), c.opening()},
			{greeting(3, 1, "GSSAPI", 0), c.opening()},
			{greeting(3, 1, "NULLNULLNULLNULLNULL", 0), c.opening()},
			{greeting(3, 1, "null", 0), c.opening()},
			{greeting(3, 1, "NULL", 0), ready(c.fits), frame(more, nil), frame(0, []byte("in clear"))},
			{[]byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")},
			{{22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3}}, // TLS
			{{0}}, {{0xff}}, {{1}}, {{2, 0}},
		} {
			if err := c.pass(old...); err != nil {
				return fmt.Errorf("%x: %w", slices.Concat(old...), err)
			}
		}
		return nil
	}},
	{name: "frame of 2⁶³ bytes", joins: true, run: func(c *crowd) error {
		for _, size := range []uint64{1 << 63, 1<<63 - 1, 1<<64 - 1, 1<<64 - 40, 1 << 62, 1 << 47, 1 << 32, 1<<32 - 1, 1 << 31, 1<<31 - 1, 0, 1} {
			for _, start := range [][]byte{
				slices.Concat(greeting(3, 1, c.mech(), 0), c.opening(), frame(more, nil), announce(0, size)),
				slices.Concat(greeting(3, 1, c.mech(), 0), c.opening(), announce(more, size)),
				slices.Concat(greeting(3, 1, c.mech(), 0), c.opening(), announce(command, size)),
				slices.Concat(greeting(3, 1, c.mech(), 0), announce(command, size)), // during the handshake
				slices.Concat(greeting2(1, c.kindNumber()), frame(0, nil), frame(more, nil), announce(0, size)),
				slices.Concat(greeting2(1, c.kindNumber()), announce(0, size)),
				slices.Concat(frame1(0, nil), frame1(more, nil), announce1(0, size)),
				announce1(0, size),
			} {
				if err := c.pass(start, []byte("the first bytes")); err != nil {
					return err
				}
			}
		}
		return nil
	}},
	{name: "commands", joins: true, run: func(c *crowd) error {
		data := [][]byte{greeting(3, 1, c.mech(), 0), c.opening()}
		for _, name := range []string{"PING", "PONG", "SUBSCRIBE", "CANCEL", "ERROR", "READY", "HELLO", "WELCOME", "INITIATE", "MESSAGE", "JOIN", "LEAVE", "", "NONSENSE"} {
			for _, n := range []int{0, 1, 2, 3, 17, 300} {
				cmd := zmtpCommand(name, make([]byte, n)...)
				if err := errors.Join(c.pass(append(data, cmd)...), c.pass(data[0], cmd)); err != nil {
					return err
				}
			}
		}
		return errors.Join(
			c.pass(append(data, frame(command, nil))...),
			c.pass(append(data, frame(command, []byte{200, 'x'}))...),
			c.pass(append(data, frame(command|more, []byte("\x04PING\x00\x00")))...),
			c.pass(append(data, frame(more, nil), frame(0xf8, []byte("reserved flags")))...),
		)
	}},
	{name: "metadata", mechanism: "null", joins: true, run: func(c *crowd) error {
		kind := property("Socket-Type", c.fits)
		for _, metadata := range [][]byte{
			nil,
			{0}, {255}, {0, 0, 0, 0, 0},
			kind[:5], kind[:len(kind)-1],
			slices.Concat(kind, kind),
			slices.Concat(kind, property("Socket-Type", "PAIR")),
			slices.Concat(kind, property("Identity", "\x00\x00\x00\x00\x01")),
			slices.Concat(kind, property("Identity", string(make([]byte, 300)))),
			slices.Concat(kind, property("", ""), property("x", string(make([]byte, 1<<16)))),
			slices.Concat(kind, []byte("\x01x\xff\xff\xff\xff")),
			slices.Concat(kind, []byte("\x01x\x7f\xff\xff\xff")),
			property("Socket-Type", "PAIR"), property("Socket-Type", ""), property("Socket-Type", "SERVER"),
			property("socket-type", c.fits),
		} {
			if err := c.pass(greeting(3, 1, "NULL", 0), zmtpCommand("READY", metadata...), frame(more, nil), frame(0, []byte("x"))); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "half a message", joins: true, run: func(c *crowd) error {
		for i := range many(50) {
			s, err := call(c.at.peer)
			if err != nil {
				return err
			}
			err = s.say(greeting(3, 1, c.mech(), 0), c.opening(), frame(more, nil), frame(more, []byte("a part")), frame(0, []byte("the last"))[:2+i%4])
			if i%2 == 0 {
				err = errors.Join(err, s.leave())
			} else {
				s.reset()
			}
			if err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "stops reading", joins: true, run: func(c *crowd) error {
		data := bytes.Repeat(slices.Concat(frame(more, nil), frame(0, make([]byte, 8192))), 200)
		switch c.fits {
		case "SUB":
			data = slices.Concat(frame(0, []byte{1}), zmtpCommand("SUBSCRIBE"))
		case "PUSH", "PUB":
			data = frame(0, []byte("to have said something"))
		}
		s, err := c.come(greeting(3, 1, c.mech(), 0), c.opening())
		if err != nil {
			return err
		}
		s.rude = true // to hear it all out would take long
		for range many(5) {
			if err := s.say(data); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "long subscription", joins: true, run: func(c *crowd) error { // CVE-2021-20236
		if c.fits != "SUB" {
			return nil
		}
		topic := bytes.Repeat([]byte("x"), 200_000)
		whole := slices.Concat(greeting(3, 1, c.mech(), 0), c.opening())
		return errors.Join(
			c.pass(whole, zmtpCommand("SUBSCRIBE", topic...), zmtpCommand("CANCEL", topic...)),
			c.pass(whole, frame(0, append([]byte{1}, topic...)), frame(0, append([]byte{0}, topic...))),
			c.pass(whole, zmtpCommand("SUBSCRIBE", topic...)),
		)
	}},
	{name: "reconnects in a loop", joins: true, run: func(c *crowd) error {
		for i := range many(200) {
			s, err := call(c.at.peer)
			if err != nil {
				return err
			}
			whole := slices.Concat(greeting(3, 1, c.mech(), 0), c.opening(), frame(more, nil), frame(0, []byte("hello again")))
			err = s.say(whole[:len(whole)*(i%5)/4])
			if err == nil && i%20 == 0 {
				_, err = s.hear(1) // likewise
			}
			if err != nil {
				return err
			}
			s.reset()
		}
		return nil
	}},
}

// TestHostile has strangers do what they can to each role that the suite binds.
// Good peers and newcomers get all their messages through, once and in order,
// the process lives, and its descriptors are what they were.
func TestHostile(t *testing.T) {
	seed := *hostileSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-hostile-seed %d", seed)
	for _, transport := range []string{"ipc", "tcp"} {
		for _, mechanism := range []string{"null", "plain", "curve"} {
			if quick := transport == "tcp" && mechanism == "null" || transport == "ipc" && mechanism == "curve"; !quick && !*hostileAll {
				continue
			}
			t.Run(transport+"/"+mechanism, func(t *testing.T) {
				a := newArena(t, transport, mechanism)
				a.welcome()
				for _, what := range attacks {
					if what.mechanism != "" && what.mechanism != mechanism {
						continue
					}
					t.Run(what.name, func(t *testing.T) {
						a.t = t
						a.attack(what, seed)
					})
				}
				a.t = t
				a.close()
			})
		}
	}
}

// TestHostileMemory has strangers come and go by the hundred, and looks at the
// memory of the process: what a connection takes, 8 KiB and more, must come back.
func TestHostileMemory(t *testing.T) {
	if _, err := anonymous(); err != nil {
		t.Skip("needs Linux's /proc: ", err)
	}
	for _, mechanism := range []string{"null", "curve"} {
		if mechanism != "null" && !*hostileAll {
			continue
		}
		t.Run(mechanism, func(t *testing.T) {
			a := newArena(t, "tcp", mechanism)
			a.welcome()
			round := func() {
				a.each(func(v *victim) error {
					c := newCrowd(a, v, 1)
					stages := [][]byte{signature, greeting(3, 1, c.mech(), 0), c.opening(), frame(more, nil), frame(0, []byte("message"))}
					last := len(stages)
					if v.shares() {
						last = 2 // who goes on would be a peer
					}
					for i := range 100 {
						if err := c.pass(slices.Concat(stages[min(i%last, 1) : i%last+1]...)); err != nil {
							return err
						}
					}
					return a.exchange(v, theGood)
				})
			}
			round()
			before, _ := anonymous()
			for range 3 {
				round()
			}
			after, err := anonymous()
			const limit = 6 << 20 // of 17 MB, if each left 8 KiB
			if err != nil || after-before > limit {
				t.Errorf("2100 strangers left %d bytes, %v, want %d at most", after-before, err, limit)
			}
			a.close()
		})
	}
}

// anonymous is how much memory the process has that is no file's.
func anonymous() (bytes int, err error) {
	debug.FreeOSMemory()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, line, _ := strings.Cut(string(status), "RssAnon:")
	_, err = fmt.Sscan(line, &bytes)
	return bytes << 10, err
}

// TestHostileSubscriber has a subscriber that never reads. An XPUB drops what is
// for it, and the good one gets all. One that must not drop waits, as the proxy's
// do, and the limit says so.
func TestHostileSubscriber(t *testing.T) {
	for _, test := range []struct {
		name   string
		option Option
		wait   time.Duration
		want   string
	}{
		{"drops", func(*zmq.Socket) error { return nil }, patience, ""},
		{"waits", NoDrop(), short, "for 200ms: its peer is missing, dead or slow"},
	} {
		t.Run(test.name, func(t *testing.T) {
			report := record(func(tb TB) {
				s := Open(tb, Config{Transport: "tcp", Wait: test.wait})
				at := s.Address()
				verbose := func(z *zmq.Socket) error { return z.SetXpubVerbose(1) }
				got := make(chan struct{}, 1)
				s.Go("publisher", func(r *Role) error {
					pub, err := r.Bind(zmq.XPUB, at, HWM(100), verbose, test.option)
					for range 2 { // both subscribe
						if err == nil {
							_, err = pub.Recv()
						}
					}
					for w := payload.NewWriter(1<<17, 0); err == nil; {
						if err = pub.Send(w.Next()); err == nil {
							err = pub.Await(got, "the good subscriber")
						}
					}
					return err
				})
				s.Run("subscriber", func(r *Role) error {
					<-at.bound
					stranger, err := call(at.peer)
					if err != nil {
						return err
					}
					defer stranger.reset()
					if err := stranger.join("SUB"); err != nil {
						return err
					}
					if err := stranger.say(frame(0, []byte{1})); err != nil {
						return err
					}
					if err := prompt(at.peer); err != nil {
						return err
					}
					sub, err := r.Connect(zmq.SUB, at, Subscribe(""))
					c := payload.NewChecker(1<<17, 1)
					for i := 0; err == nil && i < 200; i++ { // 26 MB, more than the kernel keeps for the stranger
						var msg []byte
						if msg, err = sub.Recv(); err == nil {
							err = c.Check(msg)
						}
						got <- struct{}{}
					}
					return err
				})
			})
			if !strings.Contains(report, test.want) || (report == "") != (test.want == "") {
				t.Errorf("report %q, want %q", report, test.want)
			}
		})
	}
}

// TestHostileStream has strangers come and go at an endpoint that the user chose
// while a stream in C runs, as in a benchmark: the count is exact.
func TestHostileStream(t *testing.T) {
	const n = 20_000
	for _, name := range []string{"null", "curve"} {
		t.Run(name, func(t *testing.T) {
			s := Open(t, Config{Transport: "tcp", Mechanism: mechanism(t, name)})
			at, err := s.AddressAt("tcp://127.0.0.1:*")
			if err != nil {
				t.Fatal(err)
			}
			came := make(chan struct{}, 1)
			s.Go("strangers", func(r *Role) error {
				r.parked.Store(true)
				<-at.bound
				for i := 0; !s.isOver(); i++ {
					stranger, err := call(at.peer)
					if err != nil {
						return nil // the end
					}
					stranger.say([][]byte{nil, signature, []byte("GET / HTTP/1.1\r\n\r\n"), announce1(0, 1<<63), greeting(3, 1, "CURVE", 0)}[i%5])
					stranger.leave()
					select {
					case came <- struct{}{}:
					default:
					}
				}
				return nil
			})
			s.Go("sender", pushing(at, floodC(100, n)))
			s.Run("receiver", pulling(at, func(pull *Socket) error {
				loop := cloop.NewLoop(100, 0, 1)
				half := func(socket unsafe.Pointer) error { return loop.Receive(socket, n/2) }
				if err := pull.Outside("recv", loop, half); err != nil {
					return err
				}
				if err := pull.Await(came, "a stranger"); err != nil {
					return err
				}
				return pull.Outside("recv", loop, half)
			}))
		})
	}
}
