//go:build cgo

package zmqbench

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	zmq "github.com/pebbe/zmq4"

	"zmqbench/internal/cloop"
	"zmqbench/internal/latency"
	"zmqbench/internal/linkage"
	"zmqbench/internal/metric"
	"zmqbench/internal/payload"
	"zmqbench/internal/session"
	"zmqbench/internal/z85"
)

// A wire is what a benchmark's messages cross.
type wire struct{ transport, mech string }

// wires are all there are. Over inproc libzmq ignores security, so that there
// is no such wire.
func wires() []wire {
	all := []wire{{"inproc", "null"}}
	for _, transport := range []string{"ipc", "tcp"} {
		for _, mech := range []string{"null", "plain", "curve"} {
			all = append(all, wire{transport, mech})
		}
	}
	return all
}

// String is the wire as the first two parts of a benchmark's name.
func (w wire) String() string { return fmt.Sprintf("transport=%s/mech=%s", w.transport, w.mech) }

// short reports whether a run measures no more than a little of the wire: it is
// secured, and -bench does not name the mechanism.
func (w wire) short() bool { return w.mech != "null" && !named("mech", w.mech) }

// sizes are those to measure. If that is only a little, it is one size with
// CURVE over tcp. The flag goes before all.
func (w wire) sizes(one int) []int {
	switch {
	case !w.short():
		return conf.SizesOr(sizes...)
	case w == wire{"tcp", "curve"}:
		return conf.SizesOr(one)
	}
	return nil
}

// open begins a session whose connections are secured. It skips the benchmark
// where libzmq has no CURVE (Z40).
func (w wire) open(tb testing.TB) *session.Session {
	if w.mech == "null" {
		return open(tb, w.transport)
	}
	return session.Open(tb, w.config(tb))
}

// config is that of a session on the wire.
func (w wire) config(tb testing.TB) session.Config {
	mechanism, err := session.NewMechanism(w.mech)
	if errors.Is(err, session.ErrNoCurve) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return session.Config{Transport: w.transport, Wait: conf.Wait, IOThreads: conf.IOThreads, CPUs: conf.Pin, Mechanism: mechanism}
}

// BenchmarkHandshake makes connections: one op is one connection made and its
// first message across, from the call of zmq_connect to the receipt at the
// bound side. The message is given to the socket at once, and leaves when the
// handshake has succeeded. ns/op is the mean of these times. To open the socket
// before and to close it afterwards is not in them, nor is the look at the
// monitors of both sides, which must have seen a handshake each time.
//
// With mech=plain a ZAP handler compares name and password, as it must; with
// mech=curve nobody asks who the client is.
func BenchmarkHandshake(b *testing.B) {
	for _, w := range wires() {
		if w.transport == "inproc" {
			continue // there is no handshake
		}
		b.Run(w.String(), func(b *testing.B) { handshakes(b, session.Open(b, w.config(b))) })
	}
}

// handshakes has connections made against the clock, one after the other.
func handshakes(b *testing.B, s *session.Session) {
	at := s.Address()
	received := make(chan struct{}, 1)
	var when atomic.Int64 // by latency.Now
	s.Go("receiver", func(r *session.Role) error {
		pull, err := r.Bind(zmq.PULL, at)
		if err != nil {
			return err
		}
		in := payload.NewChecker(firstSize, 1)
		for {
			msg, err := pull.Recv()
			if err != nil {
				return err
			}
			when.Store(latency.Now())
			if err := in.Check(msg); err != nil {
				return pull.Fault(err)
			}
			received <- struct{}{}
		}
	})
	var tail latency.Histogram
	var sum int64
	s.Run("sender", func(r *session.Role) error {
		out := payload.NewWriter(firstSize, 0)
		for b.Loop() {
			start, err := first(r, at, out.Next(), received)
			if err != nil {
				return err
			}
			took := when.Load() - start
			tail.Record(took)
			sum += took
		}
		return nil
	})
	metric.Report(b, float64(sum)/float64(b.N), metric.NsPerOp)
	reportQuantiles(b, &tail, metric.P50Ns, metric.P90Ns, metric.P99Ns, metric.P999Ns, metric.MaxNs)
}

// firstSize is the size of a first message in bytes.
const firstSize = 100

// first makes a connection, sends its first message and returns when connecting
// began. The receiver has the message then, and both sides saw the handshake.
func first(r *session.Role, at *session.Address, msg []byte, received <-chan struct{}) (start int64, err error) {
	push, err := r.Socket(zmq.PUSH)
	if err != nil {
		return 0, err
	}
	defer r.Close(push)
	dial, err := push.Dial(at)
	if err != nil {
		return 0, err
	}
	start = latency.Now()
	err = dial.Start()
	if err == nil {
		err = push.Send(msg)
	}
	if err == nil {
		err = push.Await(received, "the receipt")
	}
	return start, dial.Finish(err)
}

// BenchmarkKeypair makes keys: one op is one CURVE key pair, in Z85, of which
// libzmq's curve_keygen makes one. No context is being terminated meanwhile,
// which could crash libzmq: a session's are gone when it has ended.
func BenchmarkKeypair(b *testing.B) {
	checkPair(b, newPair(b))
	b.ReportAllocs()
	for b.Loop() {
		if public, secret, err := zmq.NewCurveKeypair(); err != nil || len(public) != 40 || len(secret) != 40 {
			b.Fatalf("%d and %d characters, %v, want 40 and 40", len(public), len(secret), err)
		}
	}
}

// A pair is a CURVE key pair in Z85.
type pair struct{ public, secret string }

// newPair makes a pair, or skips where libzmq has no CURVE (Z40). It is for
// the time before a session is open: libzmq may crash when keys are made while
// a context is terminated (Z42).
func newPair(tb testing.TB) pair {
	tb.Helper()
	if !zmq.HasCurve() {
		tb.Skip("this libzmq was built without CURVE")
	}
	public, secret, err := zmq.NewCurveKeypair()
	if err != nil {
		tb.Fatal(err)
	}
	return pair{public, secret}
}

// checkPair fails unless both keys are Z85 of 32 bytes, read by the suite's
// own decoder, and the public one is that of the secret one, by Go's own
// X25519.
func checkPair(tb testing.TB, p pair) {
	tb.Helper()
	public, err := z85.DecodeKey("public key", p.public)
	if err != nil {
		tb.Fatal(err)
	}
	secret, err := z85.DecodeKey("secret key", p.secret)
	if err != nil {
		tb.Fatal(err)
	}
	key, err := ecdh.X25519().NewPrivateKey(secret)
	if err != nil {
		tb.Fatal(err)
	}
	if got := key.PublicKey().Bytes(); !bytes.Equal(got, public) {
		tb.Fatalf("public half of the secret key = %x, want %x", got, public)
	}
}

// TestCurveKeypairs makes 1000 pairs, all of them good and none like another
// (A7).
func TestCurveKeypairs(t *testing.T) {
	checkPair(t, pair{"mQdmh1=JuKj]rb$@:jrs:Efo:L$H3g+-FE{M$n#1", "[>}]%6&a(#Wmh9&wEHG*(Chd[m&Ra(=]EL-m/k*D"})
	seen := map[string]bool{}
	for range 1000 {
		p := newPair(t)
		checkPair(t, p)
		seen[p.public], seen[p.secret] = true, true
	}
	if len(seen) != 2000 {
		t.Errorf("%d different keys, want 2000", len(seen))
	}
}

// TestZ85 holds the binding's encoding and ours against each other: they agree
// on what is legal (Z32), and on other text only ours is an error (Z29).
func TestZ85(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %#x", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 1000 {
		key := make([]byte, 32)
		for i := range key {
			key[i] = byte(rnd.Uint32())
		}
		text, err := z85.Encode(key)
		if theirs := zmq.Z85encode(string(key)); err != nil || text != theirs {
			t.Fatalf("Encode(%x) = %q, %v, the binding's is %q", key, text, err, theirs)
		}
		data, err := z85.Decode(text)
		if theirs := zmq.Z85decode(text); err != nil || string(data) != theirs {
			t.Fatalf("Decode(%q) = %x, %v, the binding's is %x", text, data, err, theirs)
		}
	}
	for _, test := range []struct{ text, theirs, ours string }{
		{"~~~~~", "00000000", "illegal character at position 0"},
		{"Hello~~~~~", "864fd26f00000000", "illegal character at position 5"},
	} {
		if got := fmt.Sprintf("%x", zmq.Z85decode(test.text)); got != test.theirs {
			t.Errorf("the binding's Z85decode(%q) = %s, want %s", test.text, got, test.theirs)
		}
		if data, err := z85.Decode(test.text); data != nil || err == nil || !strings.Contains(err.Error(), test.ours) {
			t.Errorf("Decode(%q) = %x, %v, want %s", test.text, data, err, test.ours)
		}
	}
}

// TestWires: there is no cell with security over inproc (Z38), and a run that
// names no mechanism has few that are secured.
func TestWires(t *testing.T) {
	bench := flag.Lookup("test.bench").Value
	defer bench.Set(bench.String())
	for _, test := range []struct {
		bench        string
		plain, curve int // sizes over tcp
	}{
		{".", 0, 1},
		{"Latency/./mech=curve", len(sizes), len(sizes)}, // of which those that it does not match are not run
		{"//mech=(plain|curve)/", len(sizes), len(sizes)},
	} {
		bench.Set(test.bench)
		got := map[string]int{}
		for _, w := range wires() {
			for _, size := range w.sizes(100) {
				if err := metric.CheckName(fmt.Sprintf("BenchmarkLatency/%v/size=%d/layer=zmq4", w, size)); err != nil {
					t.Error(err)
				}
				if w.transport == "tcp" {
					got[w.mech]++
				}
			}
		}
		if conf.SizesOr() == nil && (got["plain"] != test.plain || got["curve"] != test.curve) {
			t.Errorf("-bench=%s: %v sizes over tcp, want %d with PLAIN and %d with CURVE", test.bench, got, test.plain, test.curve)
		}
	}
}

// TestHandshake makes exactly as many connections as it is told, and has a time
// for each.
func TestHandshake(t *testing.T) {
	for _, w := range wires()[1:] {
		t.Run(w.String(), func(t *testing.T) {
			result, text := measure(t, "20x", func(b *testing.B, tb session.TB) {
				handshakes(b, session.Open(tb, w.config(t)))
			})
			x := result.Extra
			if text != "" || result.N != 20 || x["p50-ns"] <= 0 || x["p50-ns"] > x["max-ns"] || x["max-ns"] > float64(result.T) {
				t.Errorf("N = %d in %v, %v, failures %q; want 20 and times within that", result.N, result.T, x, text)
			}
		})
	}
}

// TestEncrypted puts a relay between the roles, which sees what they exchange:
// with NULL and PLAIN the very bytes of the messages, with CURVE none of them,
// whatever the layer.
func TestEncrypted(t *testing.T) {
	const size, n = 1000, 20
	msg := payload.NewWriter(size, 0).Next()
	marker := msg[size/2 : size/2+16] // the same in every message
	for _, w := range wires()[1:] {
		for name, run := range map[string]func(b *testing.B, s *session.Session, at, far *session.Address){
			"latency": func(b *testing.B, s *session.Session, at, far *session.Address) {
				s.Go("replier", func(r *session.Role) error { return replier(r, at) })
				runRequester(b, s, far, size, requester)
			},
			"latency in C": func(b *testing.B, s *session.Session, at, far *session.Address) {
				s.Go("replier", func(r *session.Role) error { return replierC(r, at) })
				runRequester(b, s, far, size, requesterC)
			},
			"throughput": func(b *testing.B, s *session.Session, at, far *session.Address) {
				f := newFlow(b, size, 1, hwm, 1)
				s.Go("sender", func(r *session.Role) error { return f.sender(f.flood)(r, far) })
				receiveAt(b, s, f, at, f.receive)
			},
			"throughput in C": func(b *testing.B, s *session.Session, at, far *session.Address) {
				f := newFlowOf(b, b.N, size, 1, hwm, 1)
				s.Go("sender", func(r *session.Role) error { return f.sender(f.floodC)(r, far) })
				receiveAt(b, s, f, at, f.receiveC)
			},
		} {
			t.Run(fmt.Sprint(w, "/", name), func(t *testing.T) {
				var seen []byte
				_, text := measure(t, fmt.Sprint(n, "x"), func(b *testing.B, tb session.TB) {
					s := session.Open(tb, w.config(t))
					at := s.Address()
					relay, err := newRelay(t, w.transport, at)
					if err != nil {
						t.Fatal(err)
					}
					s.Cleanup(func() { seen = relay.close() })
					far, err := s.Far(relay.endpoint)
					if err != nil {
						t.Fatal(err)
					}
					run(b, s, at, far)
				})
				want := n
				if w.mech == "curve" {
					want = 0
				}
				if got := bytes.Count(seen, marker); text != "" || got < want || want == 0 && got > 0 || len(seen) < n*size {
					t.Errorf("the relay saw %d bytes and the message in them %d times, failures %q; want more than %d, and %d", len(seen), got, text, n*size, want)
				}
				if !bytes.Contains(seen, []byte(strings.ToUpper(w.mech)+"\x00")) {
					t.Errorf("no peer announced %s", w.mech)
				}
			})
		}
	}
}

// A relay is a middleman who passes on one connection and keeps what it sees.
type relay struct {
	endpoint string
	listener net.Listener
	quit     chan struct{}
	ends     sync.WaitGroup
	seen     [2]bytes.Buffer // each way
}

// newRelay returns a relay to the address.
func newRelay(t *testing.T, transport string, to *session.Address) (*relay, error) {
	network, address := "tcp", "127.0.0.1:0"
	if transport == "ipc" {
		network, address = "unix", t.TempDir()+"/relay"
	}
	l, err := net.Listen(network, address)
	if err != nil {
		return nil, err
	}
	r := &relay{endpoint: transport + "://" + l.Addr().String(), listener: l, quit: make(chan struct{})}
	r.ends.Go(func() {
		client, err := l.Accept()
		if err != nil {
			return
		}
		defer client.Close()
		select {
		case <-to.Bound():
		case <-r.quit:
			return
		}
		_, address, _ := strings.Cut(to.Endpoint(), "://")
		server, err := net.Dial(network, address)
		if err != nil {
			t.Error(err)
			return
		}
		defer server.Close()
		r.pass(client, server)
	})
	return r, nil
}

// pass passes on what comes from either side, until either goes away.
func (r *relay) pass(a, b net.Conn) {
	var ways sync.WaitGroup
	for i, way := range [][2]net.Conn{{a, b}, {b, a}} {
		ways.Go(func() {
			io.Copy(way[1], io.TeeReader(way[0], &r.seen[i]))
			a.Close()
			b.Close()
		})
	}
	ways.Wait()
}

// close ends the relay when its connection has ended, and returns all that it saw.
func (r *relay) close() []byte {
	r.listener.Close()
	close(r.quit)
	r.ends.Wait()
	return slices.Concat(r.seen[0].Bytes(), r.seen[1].Bytes())
}

// TestCurveRoundTrip sends an encrypted request and its reply (A8). It is about
// encryption alone: nobody asks who the client is (Z39). With a wrong server
// key, which looks to the client as if the server were down, nothing gets
// through and the session says why (Z36).
func TestCurveRoundTrip(t *testing.T) {
	server, client, other := newPair(t), newPair(t), newPair(t)
	for _, test := range []struct {
		name, serverKey      string
		request, reply, want string // want is in the report
	}{
		{"right key", server.public, "hello-curve", "ok-curve", ""},
		{"wrong key", other.public, "", "", "handshake failed: protocol error 0x11000001"},
	} {
		for _, transport := range []string{"ipc", "tcp"} {
			t.Run(transport+"/"+test.name, func(t *testing.T) {
				var request, reply []byte
				start := time.Now()
				_, text := measure(t, "1x", func(_ *testing.B, tb session.TB) {
					s := open(tb, transport)
					at := s.Address()
					s.Go("server", func(r *session.Role) error {
						rep, err := r.Bind(zmq.REP, at, session.CurveServer(server.secret), isCurve)
						if err != nil {
							return err
						}
						if request, err = rep.Recv(); err != nil {
							return err
						}
						return rep.Send([]byte("ok-curve"))
					})
					s.Run("client", func(r *session.Role) error {
						// Connect returns when the handshake has succeeded.
						req, err := r.Connect(zmq.REQ, at, session.CurveClient(test.serverKey, client.public, client.secret), isCurve)
						if err != nil {
							return err
						}
						if err := req.Send([]byte("hello-curve")); err != nil {
							return err
						}
						reply, err = req.Recv()
						return err
					})
				})
				if string(request) != test.request || string(reply) != test.reply {
					t.Errorf("request %q, reply %q, want %q, %q", request, reply, test.request, test.reply)
				}
				if !strings.Contains(text, test.want) || (text == "") != (test.want == "") {
					t.Errorf("report %q, want %q in it", text, test.want)
				}
				if took := time.Since(start); took > conf.Wait {
					t.Errorf("it took %v, want less than the limit of %v", took, conf.Wait)
				}
			})
		}
	}
}

// isCurve is an option that sets nothing: it fails unless the mechanism of the
// socket is CURVE. A socket has one mechanism, and speaks to no peer that has
// another.
func isCurve(z *zmq.Socket) error {
	mechanism, err := z.GetMechanism()
	if err == nil && mechanism != zmq.CURVE {
		err = fmt.Errorf("the mechanism is %v, want CURVE", mechanism)
	}
	return err
}

// versions is what libzmq does where it is not what one would expect, and in which
// version: with a ZAP domain that nobody looks after, and with the option
// ZMQ_ZAP_ENFORCE_DOMAIN, which is off by default (libzmq issue 2711, pull request
// 2773). TestDomains holds the library that is loaded against it. The last row is
// why the suite never sets the option: PLAIN without a domain ends the process when
// the first client comes.
var versions = []struct {
	mech, domain string
	enforce      bool
	in434, in435 string
	why          string
}{
	{"null", "", false, "let in", "let in", "no domain, no question"},
	{"null", "global", false, "let in", "let in", "nobody answers, and so it is yes (Z39)"},
	{"curve", "", false, "let in", "let in", "encrypted, and not authenticated"},
	{"curve", "global", false, "let in", "let in", "nobody answers, and so it is yes (Z39)"},
	{"plain", "", false, noHandler, noHandler, "PLAIN always asks"},
	{"plain", "global", false, noHandler, noHandler, "likewise"},
	{"null", "", true, "let in", "let in", "no domain to enforce"},
	{"null", "global", true, noHandler, noHandler, "enforced"},
	{"curve", "", true, "let in", "let in", "no domain to enforce"},
	{"curve", "global", true, noHandler, noHandler, "enforced"},
	{"plain", "global", true, noHandler, noHandler, "enforced"},
	{"plain", "", true, asserted, asserted, "plain_server.cpp"},
}

const (
	noHandler = "no ZAP handler is there"
	asserted  = "Assertion failed: zap_required ()"

	// enforcing is a zmq_bind that first sets the option, for which the binding has no
	// call.
	enforcing = `#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
int zmq_setsockopt(void *socket, int option, const void *value, size_t size);
int zmq_bind(void *socket, const char *at) {
	int on = 1, ZMQ_ZAP_ENFORCE_DOMAIN = 93;
	if (strncmp(at, "inproc:", 7) != 0 && zmq_setsockopt(socket, ZMQ_ZAP_ENFORCE_DOMAIN, &on, sizeof on) != 0)
		return -1;
	return ((int (*)(void *, const char *)) dlsym(RTLD_NEXT, "zmq_bind"))(socket, at);
}`
)

// TestDomains lets a client come to a server that has no ZAP handler, in a process
// of its own where that may end it.
func TestDomains(t *testing.T) {
	const key = "ZMQBENCH_TEST_DOMAINS" // in a child: which rows
	if rows := os.Getenv(key); rows != "" {
		for _, row := range strings.Fields(rows) {
			i, _ := strconv.Atoi(row)
			fmt.Printf("row %d: %s\n", i, strings.ReplaceAll(unasked(t, versions[i].mech, versions[i].domain), "\n", " "))
		}
		return
	}
	newPair(t) // or skip
	enforced, dying := "", ""
	said := map[int]string{}
	for i, v := range versions {
		switch {
		case !v.enforce:
			said[i] = unasked(t, v.mech, v.domain)
		case v.in434 == asserted:
			dying = fmt.Sprint(i)
		default:
			enforced += fmt.Sprint(" ", i)
		}
	}
	if _, err := exec.LookPath("cc"); err == nil && runtime.GOOS == "linux" {
		for _, rows := range []string{enforced, dying} {
			t.Setenv(key, rows)
			_, out := runWith(t, enforcing, "-test.run=^TestDomains$")
			for row := range strings.FieldsSeq(rows) {
				i, _ := strconv.Atoi(row)
				said[i] = out // unless it came to an end
				for line := range strings.Lines(out) {
					if text, ok := strings.CutPrefix(line, "row "+row+": "); ok {
						said[i] = text
					}
				}
			}
		}
	}
	for i, v := range versions {
		want := map[string]string{"4.3.4": v.in434, "4.3.5": v.in435}[cloop.Version()]
		if got, ok := said[i]; ok && !strings.Contains(got, want) {
			t.Errorf("libzmq %s, mechanism %s, domain %q, enforced: %v: %q, want %s (%s)", cloop.Version(), v.mech, v.domain, v.enforce, got, want, v.why)
		}
	}
}

// unasked lets a client with the right keys come to a server without a handler, and
// returns "let in" or what the session reported.
func unasked(t *testing.T, mech, domain string) string {
	var server, client session.Option
	switch mech {
	case "null":
		server, client = session.ZAPDomain(""), session.ZAPDomain("")
	case "plain":
		server, client = session.PlainServer(), session.PlainClient("user", "password")
	case "curve":
		s, c := newPair(t), newPair(t)
		server, client = session.CurveServer(s.secret), session.CurveClient(s.public, c.public, c.secret)
	}
	reported := &reports{TB: t}
	got := false
	func() {
		defer func() { recover() }()
		s := session.Open(reported, session.Config{Transport: "tcp", Wait: time.Second})
		at := s.Address()
		s.Go("client", func(r *session.Role) error {
			push, err := r.Connect(zmq.PUSH, at, client)
			if err != nil {
				return err
			}
			if err := push.Send([]byte("let in")); err != nil {
				return err
			}
			r.AwaitEnd()
			return nil
		})
		s.Run("server", func(r *session.Role) error {
			pull, err := r.Bind(zmq.PULL, at, server, session.ZAPDomain(domain))
			if err != nil {
				return err
			}
			_, err = pull.Recv()
			got = err == nil
			return err
		})
	}()
	if got && reported.text == "" {
		return "let in"
	}
	return reported.text
}

// Reports is a TB that keeps what a session reports, and does not fail for it.
type reports struct {
	testing.TB
	text string
}

func (r *reports) Error(args ...any) { r.text += fmt.Sprintln(args...) }
func (r *reports) Fatal(args ...any) { r.Error(args...); panic(r) }

// TestVersions asks all who know which libzmq this is (A9, A10, A13). With
// -libzmq it must be the one demanded.
func TestVersions(t *testing.T) {
	loaded := cloop.Version()
	t.Logf("zmq: %s  zmq4: %s", loaded, linkage.ZMQ4())
	major, minor, patch := zmq.Version()
	if got := fmt.Sprintf("%d.%d.%d", major, minor, patch); got != loaded {
		t.Errorf("the binding says libzmq %s, libzmq says %s", got, loaded)
	}
	file, err := linkage.Loaded()
	if err != nil {
		file = err.Error()
	}
	if err := demanded(conf.Libzmq, loaded, file); err != nil {
		t.Error(err)
	}
	header := cloop.HeaderVersion()
	if packaged, err := linkage.PkgConfig(); err != nil { // the error says what to install
		t.Errorf("%v; libzmq: header %s, run time %s from %s", err, header, loaded, file)
	} else if err := agree(header, loaded, packaged, file); err != nil {
		t.Error(err)
	}
	known, err := linkage.Known()
	if err != nil {
		t.Log(err)
	}
	for _, other := range others(known, file) {
		t.Logf("the loader knows another libzmq, %s; in use is %s", other, file)
	}
}

// demanded returns an error if a version is demanded and another is loaded.
func demanded(want, loaded, file string) error {
	if want == "" || want == loaded {
		return nil
	}
	return fmt.Errorf("libzmq %s is loaded, from %s; -libzmq demands %s", loaded, file, want)
}

// agree returns an error unless the versions are one.
func agree(header, loaded, packaged, file string) error {
	if header == loaded && packaged == loaded {
		return nil
	}
	return fmt.Errorf("libzmq: header %s, pkg-config %s, run time %s from %s; want one version [is a second libzmq installed?]",
		header, packaged, loaded, file)
}

// others returns the libraries that the loader knows besides the one in use.
func others(known []string, file string) []string {
	return slices.DeleteFunc(slices.Clone(known), func(k string) bool { return k == file })
}

// TestVersionsDiffer gives the judges of TestVersions something to find.
func TestVersionsDiffer(t *testing.T) {
	const file = "/usr/local/lib/libzmq.so.5.2.5"
	for _, test := range []struct {
		err  error
		want string
	}{
		{agree("4.3.5", "4.3.5", "4.3.5", file), ""},
		{agree("4.3.4", "4.3.5", "4.3.5", file), "libzmq: header 4.3.4, pkg-config 4.3.5, run time 4.3.5 from " + file},
		{agree("4.3.4", "4.3.5", "4.3.4", file), "libzmq: header 4.3.4, pkg-config 4.3.4, run time 4.3.5 from " + file},
		{agree("4.3.5", "4.3.5", "4.3.4", file), "libzmq: header 4.3.5, pkg-config 4.3.4, run time 4.3.5 from " + file},
		{demanded("", "4.3.5", file), ""},
		{demanded("4.3.5", "4.3.5", file), ""},
		{demanded("4.3.4", "4.3.5", file), "libzmq 4.3.5 is loaded, from " + file + "; -libzmq demands 4.3.4"},
	} {
		got := ""
		if test.err != nil {
			got = test.err.Error()
		}
		if !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("error %q, want %q", got, test.want)
		}
	}
	system := "/usr/lib/x86_64-linux-gnu/libzmq.so.5.2.4"
	if got := others([]string{file, system}, file); !slices.Equal(got, []string{system}) {
		t.Errorf("others = %q, want %s", got, system)
	}
}

// TestOtherLibrary runs this program with libraries that it must not trust or
// that lack something, which a preloaded object makes of the one that is here.
func TestOtherLibrary(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil || runtime.GOOS != "linux" {
		t.Skip("needs cc and the loader of Linux: ", err)
	}
	for _, test := range []struct {
		name, source string
		args         []string
		status       int
		want         string
	}{
		// TestMain ends the suite with the binding's text: status 2, and no failure of each test (Z86).
		{"unknown version", "void zmq_version(int *a, int *b, int *c) { *a = 4; *b = 99; *c = 7; }",
			[]string{"-test.bench=."}, 2, "the runtime links with version 4.99.7\n"},
		// The binding takes it, and TestVersions does not.
		{"older version", "void zmq_version(int *a, int *b, int *c) { *a = 4; *b = 3; *c = 3; }",
			[]string{"-test.run=^TestVersions$"}, 1, "run time 4.3.3 from /"},
		{"no CURVE", "int zmq_has(const char *what) { (void) what; return 0; }", // Z40
			[]string{"-test.run=Curve|^TestZ85", "-test.bench=Keypair", "-test.v"}, 0, "this libzmq was built without CURVE\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, out := runWith(t, test.source, test.args...)
			if status != test.status || !strings.Contains(out, test.want) {
				t.Errorf("status %d, output %q, want status %d and %q", status, out, test.status, test.want)
			}
		})
	}
}

// runWith runs this test binary with functions of libzmq replaced by those in
// C source, and returns its status and output.
func runWith(t *testing.T, source string, args ...string) (status int, out string) {
	t.Helper()
	object := filepath.Join(t.TempDir(), "instead.so")
	cc := exec.Command("cc", "-shared", "-fPIC", "-o", object, "-xc", "-")
	cc.Stdin = strings.NewReader(source)
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+object)
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

// TestLinkage looks at this program as ldd and file do (A15).
func TestLinkage(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("ELF and /proc are Linux's")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	needed, err := linkage.Needs(self)
	if err != nil || !slices.Contains(needed, "libzmq.so.5") {
		t.Errorf("Needs(%s) = %q, %v, want libzmq.so.5 among them", self, needed, err)
	}
	file, err := linkage.Loaded()
	if err != nil || !strings.HasPrefix(filepath.Base(file), "libzmq") {
		t.Fatalf("Loaded() = %q, %v, want a libzmq", file, err)
	}
	t.Logf("libzmq.so.5 => %s", file)
}

// TestSocketTypes opens the twelve stable types and asks each for its type (A11).
func TestSocketTypes(t *testing.T) {
	kinds := []zmq.Type{zmq.DEALER, zmq.PAIR, zmq.PUB, zmq.PULL, zmq.PUSH, zmq.REP,
		zmq.REQ, zmq.ROUTER, zmq.STREAM, zmq.SUB, zmq.XPUB, zmq.XSUB}
	open(t, "inproc").Run("opener", func(r *session.Role) error {
		var names []string
		for _, kind := range kinds {
			if _, err := r.Socket(kind, func(z *zmq.Socket) error {
				got, err := z.GetType()
				names = append(names, got.String())
				return err
			}); err != nil {
				return err
			}
		}
		if got, want := strings.Join(names, " "), "DEALER PAIR PUB PULL PUSH REP REQ ROUTER STREAM SUB XPUB XSUB"; got != want {
			return fmt.Errorf("socket types %s, want %s", got, want)
		}
		return nil
	})
}

// TestBacklog asks the kernel how many connections may wait at a bound tcp
// endpoint (A16): 100, the default of ZMQ_BACKLOG, or what the option says.
func TestBacklog(t *testing.T) {
	text, err := os.ReadFile("/proc/sys/net/core/somaxconn")
	if err != nil {
		t.Skip("the backlog is known on Linux only: ", err)
	}
	most, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		option session.Option
		want   int
	}{
		{"default", func(*zmq.Socket) error { return nil }, 100},
		{"set", func(z *zmq.Socket) error { return z.SetBacklog(17) }, 17},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, "tcp")
			s.Run("listener", func(r *session.Role) error {
				var z *zmq.Socket
				keep := func(opened *zmq.Socket) error { z = opened; return nil }
				if _, err := r.Bind(zmq.REP, s.Address(), test.option, keep); err != nil {
					return err
				}
				at, err := z.GetLastEndpoint()
				if err != nil {
					return err
				}
				port, err := strconv.Atoi(at[strings.LastIndexByte(at, ':')+1:])
				if err != nil {
					return err
				}
				if got, err := linkage.Backlog(port); err != nil || got != min(test.want, most) {
					return fmt.Errorf("backlog of %s = %d, %v, want %d", at, got, err, min(test.want, most))
				}
				return nil
			})
		})
	}
}
