//go:build cgo

// Package zmqbench measures ZeroMQ as Go programs meet it, through
// github.com/pebbe/zmq4.
//
// Every performance tool of libzmq is a benchmark here. A benchmark is a few
// roles, ordinary functions that run as goroutines, on one session: the role
// under the clock runs on the benchmark's own goroutine and its peers on
// theirs. Start with BenchmarkLatency in this file.
package zmqbench

import (
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	zmq "github.com/pebbe/zmq4"

	"zmqbench/internal/cloop"
	"zmqbench/internal/flags"
	"zmqbench/internal/linkage"
	"zmqbench/internal/metric"
	"zmqbench/internal/payload"
	"zmqbench/internal/session"
)

// transports are those of libzmq's own tools.
var transports = []string{"inproc", "ipc", "tcp"}

// sizes are the default ones, in bytes: libzmq keeps a message of 1 inside its
// header and one of 100 (more than 33) outside, it sends several of 1000 in
// one batch of 8192, and 65536 are more than a batch.
var sizes = []int{1, 100, 1000, 65536}

// hwm is libzmq's default high-water mark, which its tools leave as it is.
const hwm = 1000

// BenchmarkLatency measures round trips between a requester and a replier: one
// op is one round trip, twice the one-way figure that libzmq's remote_lat and
// inproc_lat print.
func BenchmarkLatency(b *testing.B) {
	for _, transport := range transports {
		for _, size := range conf.SizesOr(sizes...) {
			name := fmt.Sprintf("transport=%s/mech=null/size=%d", transport, size)
			b.Run(name+"/layer=zmq4", func(b *testing.B) {
				roundTrips(b, open(b, transport), size, replier)
			})
		}
	}
}

// A peer is a role that meets the role under the clock at an address.
type peer func(*session.Role, *session.Address) error

// roundTrips sends requests of size bytes from the benchmark's goroutine, each
// after the reply to the last, to a replier that binds.
func roundTrips(b *testing.B, s *session.Session, size int, replier peer) {
	at := s.Address()
	s.Go("replier", func(r *session.Role) error { return replier(r, at) })
	s.Run("requester", func(r *session.Role) error { return requester(b, r, at, size) })
	reportLatency(b)
}

// requester sends a request and waits for it to come back, b.Loop times.
func requester(b *testing.B, r *session.Role, at *session.Address, size int) error {
	req, err := r.Connect(zmq.REQ, at, session.HWM(conf.HWMOr(hwm)))
	if err != nil {
		return err
	}
	out, in := payload.NewWriter(size, 0), payload.NewChecker(size, 1)
	b.ReportAllocs()
	for b.Loop() {
		if err := req.Send(out.Next()); err != nil {
			return err
		}
		reply, err := req.Recv()
		if err != nil {
			return err
		}
		if err := in.Check(reply); err != nil {
			return req.Fault(err)
		}
	}
	return req.Single()
}

// replier returns every request to its sender until the session ends.
func replier(r *session.Role, at *session.Address) error {
	rep, err := r.Bind(zmq.REP, at, session.HWM(conf.HWMOr(hwm)))
	if err != nil {
		return err
	}
	return echo(rep)
}

// echo sends back what it receives.
func echo(rep *session.Socket) error {
	for {
		msg, err := rep.Recv()
		if err != nil {
			return err
		}
		if err := rep.Send(msg); err != nil {
			return err
		}
	}
}

// reportLatency adds to ns/op, the round trip, its half: the figure that
// libzmq's tools print, which nobody has measured one way.
func reportLatency(b *testing.B) {
	metric.Report(b, float64(b.Elapsed().Nanoseconds())/float64(b.N)/2, metric.OneWayNs)
}

// conf is what the command line says, checked by TestMain.
var conf flags.Flags

// open begins the session of one sub-benchmark.
func open(tb session.TB, transport string) *session.Session {
	return session.Open(tb, session.Config{Transport: transport, Wait: conf.Wait, IOThreads: conf.IOThreads})
}

// TestMain checks the flags before any socket is opened, and prints the header
// of a run when benchmarks are to run.
func TestMain(m *testing.M) {
	set := flags.Register(flag.CommandLine)
	flag.Parse()
	var err error
	if conf, err = set.Parse(); err == nil {
		err = session.Usable()
	}
	if err == nil && flag.Lookup("test.bench").Value.String() != "" && flag.Lookup("test.list").Value.String() == "" {
		err = header(set).Write(os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "zmqbench:", err)
		os.Exit(2)
	}
	session.EndOnSignal()
	os.Exit(m.Run())
}

// header is what a run says of itself.
func header(set *flags.Set) metric.Header {
	h := metric.Header{LibZMQ: cloop.Version()}
	for _, s := range set.Changed() {
		h.Flags = append(h.Flags, metric.Setting(s))
	}
	loaded, err := linkage.Loaded()
	if err != nil {
		loaded = err.Error()
	}
	h.Facts = append([]string{
		fmt.Sprintf("libzmq: %s, built against the headers of %s", loaded, cloop.HeaderVersion()),
		"crypto: " + linkage.Crypto(zmq.HasCurve()),
		"zmq4: " + linkage.ZMQ4(),
	}, linkage.Machine()...)
	return h
}

// A recorder is what a session reports to in tests that bring failures about:
// it keeps their text and ends the measurement without failing the test.
type recorder struct {
	*testing.B
	text string
}

func (r *recorder) Error(args ...any) { r.text += fmt.Sprintln(args...) }
func (r *recorder) Fatal(args ...any) { r.Error(args...); r.SkipNow() }

// measure runs a benchmark as -benchtime would and returns its result and what
// it reported instead of failing.
func measure(t *testing.T, benchtime string, body func(b *testing.B, tb session.TB)) (testing.BenchmarkResult, string) {
	t.Helper()
	benchtimeFlag := flag.Lookup("test.benchtime").Value
	defer benchtimeFlag.Set(benchtimeFlag.String())
	if err := benchtimeFlag.Set(benchtime); err != nil {
		t.Fatal(err)
	}
	var text string
	result := testing.Benchmark(func(b *testing.B) {
		r := &recorder{B: b}
		defer func() { text += r.text }()
		body(b, r)
	})
	return result, text
}

// wait sets the roles' limit for the length of a test.
func wait(t *testing.T, limit time.Duration) {
	before := conf.Wait
	conf.Wait = limit
	t.Cleanup(func() { conf.Wait = before })
}

// TestLatencyCount has a replier that counts: -benchtime=10000x is 10000
// requests, no more and no less, also while every call is interrupted (Z14),
// with one P (Z28), and with messages of no bytes.
func TestLatencyCount(t *testing.T) {
	for _, transport := range transports {
		for _, size := range []int{0, 100} {
			t.Run(fmt.Sprintf("%s/%d", transport, size), func(t *testing.T) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1 + min(size, 1)))
				if size > 0 {
					defer interruptions()()
				}
				var requests int
				counting := func(r *session.Role, at *session.Address) error {
					rep, err := r.Bind(zmq.REP, at)
					for err == nil {
						var msg []byte
						if msg, err = rep.Recv(); err == nil {
							requests++
							err = rep.Send(msg)
						}
					}
					return err
				}
				result, text := measure(t, "10000x", func(b *testing.B, tb session.TB) {
					roundTrips(b, open(tb, transport), size, counting)
				})
				if text != "" || requests != 10000 || result.N != 10000 {
					t.Errorf("%d requests, N = %d, failures %q; want 10000, 10000, none", requests, result.N, text)
				}
				half := float64(result.T.Nanoseconds()) / 10000 / 2 // Z84
				if got := result.Extra["one-way-ns"]; math.Abs(got-half) > half*1e-9 {
					t.Errorf("one-way-ns = %v, want half of ns/op, %v", got, half)
				}
			})
		}
	}
}

// interruptions sends this process SIGURG, the signal of the Go scheduler,
// every 50 µs until the function that it returns is called.
func interruptions() (stop func()) {
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		ticker := time.NewTicker(50 * time.Microsecond)
		defer ticker.Stop()
		for {
			select {
			case <-quit:
				return
			case <-ticker.C:
				syscall.Kill(os.Getpid(), syscall.SIGURG)
			}
		}
	}()
	return func() { close(quit); <-gone }
}

// TestLatencyFaults has repliers that spoil one reply each: no such run may
// end well, and the failure says which message and how. (Z09: sizes differ.)
func TestLatencyFaults(t *testing.T) {
	wait(t, 300*time.Millisecond)
	const at = 5 // the request whose reply is spoiled
	for _, fault := range []struct {
		name  string
		reply func(msg, before []byte) []byte // nil drops it
		want  string
	}{
		{"drop", func(msg, before []byte) []byte { return nil }, "no message for 300ms"},
		{"repeat", func(msg, before []byte) []byte { return before }, "message 4 of sender 0 is repeated: it came again where number 5 was due"},
		{"corrupt", func(msg, before []byte) []byte { msg[50] ^= 4; return msg }, "message 5 is damaged: byte 50 is"},
		{"cut", func(msg, before []byte) []byte { return msg[:60] }, "message 5 has the wrong size: got 60 bytes, want 100"},
	} {
		for _, transport := range transports {
			t.Run(fault.name+"/"+transport, func(t *testing.T) {
				spoiling := func(r *session.Role, addr *session.Address) error {
					rep, err := r.Bind(zmq.REP, addr)
					var before []byte
					for i := 0; err == nil; i++ {
						var msg []byte
						if msg, err = rep.Recv(); err != nil {
							break
						}
						reply := msg
						if i == at {
							reply = fault.reply(slices.Clone(msg), before)
						}
						if before = msg; reply == nil {
							r.AwaitEnd()
							break
						}
						err = rep.Send(reply)
					}
					return err
				}
				_, text := measure(t, "100x", func(b *testing.B, tb session.TB) {
					roundTrips(b, open(tb, transport), 100, spoiling)
				})
				for _, want := range []string{"requester: recv " + transport + "://", fault.want, "(6 sent, "} {
					if !strings.Contains(text, want) {
						t.Errorf("failure %q, want %q in it", text, want)
					}
				}
			})
		}
	}
}
