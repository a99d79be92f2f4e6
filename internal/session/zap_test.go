//go:build cgo

package session

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	zmq "github.com/pebbe/zmq4"
)

// A register lists who may connect; it can change while somebody asks.
type register struct {
	mu        sync.Mutex
	addresses map[string]bool // for NULL
	passwords map[string]string
	keys      map[string]bool // raw
	asked     []Request
}

// set changes the register.
func (g *register) set(change func(*register)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change(g)
}

// allow is for Role.Authenticate.
func (g *register) allow(q Request) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = append(g.asked, q)
	switch q.Mechanism {
	case "NULL":
		return g.addresses[q.Address] && len(q.Credentials) == 0
	case "PLAIN":
		password, ok := g.passwords[string(q.Credentials[0])]
		return ok && password == string(q.Credentials[1])
	case "CURVE":
		return g.keys[string(q.Credentials[0])]
	}
	return false
}

// lone is an option that leaves all as it is.
func lone(*zmq.Socket) error { return nil }

// attempt has a client with the given options connect to at and send a message.
// It returns why the client was not let in, or nil.
func attempt(r *Role, at *Address, options ...Option) error {
	push, err := r.Connect(zmq.PUSH, at, options...)
	if err != nil {
		return err
	}
	return push.Send([]byte("let in"))
}

// A gate is a bound PULL that lets in whom a handler lets in. It reports what it
// refuses, and goes on.
type gate struct {
	s       *Session
	at      *Address
	refused chan error
	got     chan string
}

// newGate opens a session with a gate, whose handler is started by authenticate.
func newGate(t *testing.T, transport string, wait time.Duration, authenticate func(*Role) error, options ...Option) *gate {
	g := &gate{refused: make(chan error, 100), got: make(chan string, 100)}
	g.s = Open(t, Config{Transport: transport, Wait: wait, Refused: func(err error) { g.refused <- err }})
	g.at = g.s.Address()
	g.s.Go("gate", func(r *Role) error {
		if err := authenticate(r); err != nil {
			return err
		}
		pull, err := r.Bind(zmq.PULL, g.at, options...)
		if err != nil {
			return err
		}
		for {
			msg, err := pull.Recv()
			if errors.Is(err, zmq.ETERM) {
				return nil // the clients have had their turn
			}
			if err != nil {
				return err
			}
			g.got <- string(msg)
		}
	})
	return g
}

// passes fails the test unless a client with the options is let in.
func (g *gate) passes(t *testing.T, r *Role, name string, options ...Option) {
	t.Helper()
	if err := attempt(r, g.at, options...); err != nil {
		t.Errorf("%s: %v, want it to be let in", name, err)
		return
	}
	select {
	case got := <-g.got:
		if got != "let in" {
			t.Errorf("%s: the gate got %q", name, got)
		}
	case <-time.After(g.s.conf.Wait):
		t.Fatalf("%s: the gate got nothing for %v", name, g.s.conf.Wait)
	}
}

// fails fails the test unless a client with the options is refused, by both sides,
// for that reason.
func (g *gate) fails(t *testing.T, r *Role, name, want string, options ...Option) {
	t.Helper()
	err := attempt(r, g.at, options...)
	if !errors.Is(err, ErrHandshake) || !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("%s: %v, want %s", name, err, want)
	}
	select {
	case err := <-g.refused:
		if !errors.Is(err, ErrHandshake) || !strings.Contains(err.Error(), "gate: handshake failed: "+want) {
			t.Errorf("%s: the gate says %v, want %s", name, err, want)
		}
	case got := <-g.got:
		t.Fatalf("%s: the gate got %q, want nothing", name, got)
	case <-time.After(g.s.conf.Wait):
		t.Fatalf("%s: the gate says nothing for %v, want %s", name, g.s.conf.Wait, want)
	}
	select {
	case got := <-g.got:
		t.Errorf("%s: the gate got %q, want nothing", name, got)
	default:
	}
}

const denied = "not authenticated, ZAP status 400"

// TestZAP has a listed and an unlisted client for each mechanism (Z39), and
// changes the list: the next handshake goes by it.
func TestZAP(t *testing.T) {
	pairs := newPairs(t, 3)
	server, alice, mallory := pairs[0], pairs[1], pairs[2]
	raw := func(p pair) string {
		key, err := curveKey("public key", p.public)
		if err != nil {
			t.Fatal(err)
		}
		return string(key)
	}
	curve := func(p pair) Option { return CurveClient(server.public, p.public, p.secret) }
	for _, test := range []struct {
		name             string
		server           []Option
		listed, unlisted Option
		list, delist     func(*register)
	}{
		{"null", nil, lone, nil,
			func(g *register) { g.addresses = map[string]bool{"127.0.0.1": true} },
			func(g *register) { g.addresses = map[string]bool{"127.0.0.2": true} }},
		{"plain", []Option{PlainServer()}, PlainClient("alice", "open sesame"), PlainClient("mallory", "open sesame"),
			func(g *register) { g.passwords = map[string]string{"alice": "open sesame"} },
			func(g *register) { g.passwords = map[string]string{"alice": "another"} }},
		{"wrong password", []Option{PlainServer()}, PlainClient("alice", "open sesame"), PlainClient("alice", "open barley"),
			func(g *register) { g.passwords = map[string]string{"alice": "open sesame"} },
			func(g *register) { g.passwords = nil }},
		{"curve", []Option{CurveServer(server.secret)}, curve(alice), curve(mallory),
			func(g *register) { g.keys = map[string]bool{raw(alice): true} },
			func(g *register) { g.keys = map[string]bool{raw(mallory): true} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			var list register
			list.set(test.list)
			g := newGate(t, "tcp", 5*time.Second, func(r *Role) error { return r.Authenticate(list.allow) },
				append(test.server, ZAPDomain("global"))...)
			g.s.Run("clients", func(r *Role) error {
				g.passes(t, r, "listed", test.listed)
				if test.unlisted != nil {
					g.fails(t, r, "unlisted", denied, test.unlisted)
				}
				list.set(test.delist)
				g.fails(t, r, "not listed any more", denied, test.listed)
				list.set(test.list)
				g.passes(t, r, "listed again", test.listed)
				return nil
			})
			for _, q := range list.asked {
				if q.Domain != "global" || q.Address != "127.0.0.1" {
					t.Errorf("the handler was asked about %q in %q, want 127.0.0.1 in global", q.Address, q.Domain)
				}
			}
			if len(list.asked) < 3 {
				t.Errorf("the handler was asked %d times", len(list.asked))
			}
		})
	}
}

// TestZAPAnswers has a handler that answers with a given status, or with what is
// no answer. None of it lets anybody in, and the bound side says why.
func TestZAPAnswers(t *testing.T) {
	pairs := newPairs(t, 2)
	server, client := pairs[0], pairs[1]
	frames := func(frames ...string) (all [][]byte) {
		for _, f := range frames {
			all = append(all, []byte(f))
		}
		return all
	}
	for _, test := range []struct {
		name  string
		reply func(asked [][]byte) [][]byte // nil: none
		want  string                        // of the gate; empty: the client is let in
	}{
		{"yes", func(q [][]byte) [][]byte { return frames("1.0", string(q[1]), "200", "OK", "", "") }, ""},
		{"late", func(q [][]byte) [][]byte {
			<-time.After(100 * time.Millisecond) // the fault itself
			return frames("1.0", string(q[1]), "200", "OK", "alice", "\x01X\x00\x00\x00\x01y")
		}, ""},
		{"no", func(q [][]byte) [][]byte { return frames("1.0", string(q[1]), "400", "no", "", "") }, denied},
		{"later", func(q [][]byte) [][]byte { return frames("1.0", string(q[1]), "300", "busy", "", "") }, "the ZAP handler could not tell, ZAP status 300"},
		{"broken", func(q [][]byte) [][]byte { return frames("1.0", string(q[1]), "500", "oops", "", "") }, "not authenticated, ZAP status 500"},
		{"other status", func(q [][]byte) [][]byte { return frames("1.0", string(q[1]), "999", "", "", "") }, "protocol error 0x20000004 (invalid status"},
		{"long status", func(q [][]byte) [][]byte { return frames("1.0", string(q[1]), "2000", "", "", "") }, "protocol error 0x20000004 (invalid status"},
		{"other version", func(q [][]byte) [][]byte { return frames("2.0", string(q[1]), "200", "", "", "") }, "protocol error 0x20000003 (wrong version"},
		{"other request", func(q [][]byte) [][]byte { return frames("1.0", "2", "200", "", "", "") }, "protocol error 0x20000002 (another request's reply"},
		{"no metadata frame", func(q [][]byte) [][]byte { return frames("1.0", string(q[1]), "200", "", "") }, "protocol error 0x20000001 (wrong number of frames"},
		{"a frame more", func(q [][]byte) [][]byte { return frames("1.0", string(q[1]), "200", "", "", "", "") }, "protocol error 0x20000001 (wrong number of frames"},
		{"bad metadata", func(q [][]byte) [][]byte { return frames("1.0", string(q[1]), "200", "", "", "\xffgarbage") }, "protocol error 0x20000005 (invalid metadata"},
		{"one frame", func(q [][]byte) [][]byte { return frames("garbage") }, "protocol error 0x20000001 (wrong number of frames"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := newGate(t, "tcp", time.Second, func(r *Role) error { return r.bindZAP(test.reply) }, CurveServer(server.secret))
			if test.want == "" {
				g.s.Run("client", func(r *Role) error {
					g.passes(t, r, test.name, CurveClient(server.public, client.public, client.secret))
					return nil
				})
				return
			}
			g.s.Go("client", func(r *Role) error {
				if err := attempt(r, g.at, CurveClient(server.public, client.public, client.secret)); err == nil {
					t.Error("the client was let in")
				}
				return nil // with ETERM, where the gate does not tell the client
			})
			g.s.Run("judge", func(r *Role) error {
				select {
				case err := <-g.refused:
					if want := "gate: handshake failed: " + test.want; !strings.Contains(err.Error(), want) {
						t.Errorf("the gate says %v, want %s", err, want)
					}
				case <-g.s.over:
				}
				return nil
			})
			if len(g.got) > 0 {
				t.Errorf("the gate got %q, want nothing", <-g.got)
			}
		})
	}
}

// TestZAPSilent has a handler that never answers: the client's limit strikes,
// and nobody is let in meanwhile.
func TestZAPSilent(t *testing.T) {
	pairs := newPairs(t, 2)
	server, client := pairs[0], pairs[1]
	asked := make(chan struct{}, 100)
	const limit = 200 * time.Millisecond
	start := time.Now()
	report := record(func(tb TB) {
		s := Open(tb, Config{Transport: "tcp", Wait: limit})
		at := s.Address()
		s.Go("gate", func(r *Role) error {
			if err := r.bindZAP(func([][]byte) [][]byte { asked <- struct{}{}; return nil }); err != nil {
				return err
			}
			_, err := r.Bind(zmq.PULL, at, CurveServer(server.secret))
			r.AwaitEnd()
			return err
		})
		s.Run("client", func(r *Role) error {
			return attempt(r, at, CurveClient(server.public, client.public, client.secret))
		})
	})
	within(t, limit, start)
	wantReport(t, report, "client: connect tcp://", "no connection for 200ms", "last seen: connected, and no handshake")
	if len(asked) == 0 {
		t.Error("nobody asked the handler")
	}
}

// TestZAPNobody asks for authentication where there is no handler. CURVE and NULL
// let everybody in, even with a domain (Z39); PLAIN lets in nobody, and says why.
func TestZAPNobody(t *testing.T) {
	pairs := newPairs(t, 2)
	server, client := pairs[0], pairs[1]
	for _, test := range []struct {
		name           string
		server, client Option
		want           string // in the report; empty if the client is let in
	}{
		{"null", lone, lone, ""},
		{"plain", PlainServer(), PlainClient("alice", "open sesame"), "replier: handshake failed: no ZAP handler is there"},
		{"curve", CurveServer(server.secret), CurveClient(server.public, client.public, client.secret), ""},
	} {
		for _, domain := range []string{"", "global"} { // Z45: the empty one is not an error
			report, got := roundTrip("tcp", 0, func(z *zmq.Socket) error {
				return errors.Join(test.server(z), ZAPDomain(domain)(z))
			}, test.client)
			if test.want == "" && (report != "" || got != 2) || !strings.Contains(report, test.want) || test.want != "" && got != 0 {
				t.Errorf("%s in domain %q: %d messages got through, report %q; want %q in it", test.name, domain, got, report, test.want)
			}
		}
	}
	if err := ZAPDomain(strings.Repeat("d", 256))(nil); err == nil || err.Error() != "ZAP domain: 256 bytes, want 255 at most" {
		t.Errorf("a domain of 256 bytes: %v", err)
	}
}

// TestZAPTwice starts two handlers in one context, and one in each of two.
func TestZAPTwice(t *testing.T) {
	yes := func(Request) bool { return true }
	report := record(func(tb TB) {
		s := Open(tb, Config{Transport: "tcp"})
		other := make(chan struct{})
		s.Go("other", func(r *Role) error {
			defer close(other)
			return r.Authenticate(yes)
		})
		s.Run("role", func(r *Role) error {
			<-other
			return errors.Join(r.Authenticate(yes), r.Authenticate(yes))
		})
	})
	wantReport(t, report, "role: authenticate: address already in use [the context has a ZAP handler already]")
	if strings.Contains(report, "other: authenticate") {
		t.Errorf("report %q: contexts share a handler", report)
	}
}

// TestPlainTexts gives PLAIN names and passwords that libzmq would take for no
// security at all, or refuse without saying which.
func TestPlainTexts(t *testing.T) {
	long := strings.Repeat("x", 256)
	for _, test := range []struct{ user, password, want string }{
		{"", "password", "PLAIN user name: missing"},
		{"user", "", "PLAIN password: missing"},
		{long, "password", "PLAIN user name: 256 bytes, want 255 at most"},
		{"user", long, "PLAIN password: 256 bytes, want 255 at most"},
	} {
		if err := PlainClient(test.user, test.password)(nil); err == nil || err.Error() != test.want {
			t.Errorf("PlainClient(%d bytes, %d bytes) = %v, want %s", len(test.user), len(test.password), err, test.want)
		}
	}
	if report, got := roundTrip("tcp", 0, PlainServer(), PlainClient(long[1:], long[1:])); got != 0 || !strings.Contains(report, "no ZAP handler") {
		t.Errorf("255 bytes: %d messages, report %q, want to get as far as the handler", got, report)
	}
}
