//go:build cgo

// Package zmqbench measures ZeroMQ as Go programs meet it, through
// github.com/pebbe/zmq4, next to the same exchanges in C and over the bare
// transport.
//
// Every performance tool of libzmq is a benchmark here. A benchmark is a few
// roles, ordinary functions that run as goroutines, on one session: the role
// under the clock runs on the benchmark's own goroutine and its peers on
// theirs. Start with BenchmarkLatency in this file.
package zmqbench

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	zmq "github.com/pebbe/zmq4"

	"zmqbench/internal/cloop"
	"zmqbench/internal/flags"
	"zmqbench/internal/latency"
	"zmqbench/internal/linkage"
	"zmqbench/internal/metric"
	"zmqbench/internal/payload"
	"zmqbench/internal/progress"
	"zmqbench/internal/session"
)

// transports are those of libzmq's own tools.
var transports = []string{"inproc", "ipc", "tcp"}

// sizes are the default ones, in bytes: libzmq keeps a message of 1 inside its
// header and one of 100 (more than 33) outside, it sends several of 1000 in
// one batch of 8192, and 65536 are more than a batch.
var sizes = []int{1, 100, 1000, 65536}

// hwm is libzmq's default high-water mark, which its tools leave as it is. The
// flag changes that of streams. Round trips keep it: they queue one message,
// and a REP drops replies at a mark of a few, since libzmq learns late that its
// queue has been read.
const hwm = 1000

// BenchmarkLatency measures round trips between a requester and a replier: one
// op is one round trip, twice the one-way figure that libzmq's remote_lat and
// inproc_lat print. Each round trip is recorded for the percentiles.
//
// With layer=zmq4 both roles are Go, and with layer=libzmq both are C on
// sockets that were opened in the same way. With layer=kernel the same bytes go
// over a tcp or Unix socket, or from thread to thread, without ZeroMQ; it has no
// security mechanism.
func BenchmarkLatency(b *testing.B) {
	for _, w := range wires() {
		for _, size := range w.sizes(100) {
			name := fmt.Sprintf("%v/size=%d", w, size)
			b.Run(name+"/layer=zmq4", func(b *testing.B) {
				roundTrips(b, w.open(b), size, requester, replier)
			})
			b.Run(name+"/layer=libzmq", func(b *testing.B) {
				roundTrips(b, w.open(b), size, requesterC, replierC)
			})
			if w.mech != "null" {
				continue
			}
			b.Run(name+"/layer=kernel", func(b *testing.B) {
				bareRoundTrips(b, w.open(b), w.transport, size)
			})
		}
	}
}

// A peer is a role that meets the role under the clock at an address.
type peer func(*session.Role, *session.Address) error

// A requesting role makes round trips of size bytes against the clock.
type requesting func(b *testing.B, r *session.Role, at *session.Address, size int) (*measurement, error)

// roundTrips has requests made on the benchmark's goroutine, each after the
// reply to the last, and answered by a replier that binds.
func roundTrips(b *testing.B, s *session.Session, size int, request requesting, replier peer) {
	at := s.Address()
	s.Go("replier", func(r *session.Role) error { return replier(r, at) })
	runRequester(b, s, at, size, request)
}

// copies is how many copies of one message a round trip holds at most: what is
// sent, what it is compared with, and one in each queue and role.
const copies = 6

// checkRoundTrip fails b if a round trip would take too much memory.
func checkRoundTrip(b *testing.B, size int) {
	if err := flags.CheckMemory(size, 1, 1, 1, copies-1); err != nil {
		b.Fatal(err)
	}
}

// runRequester runs the role under the clock and reports its round trips.
func runRequester(b *testing.B, s *session.Session, at *session.Address, size int, request requesting) {
	checkRoundTrip(b, size)
	var m *measurement
	s.Run("requester", func(r *session.Role) (err error) {
		m, err = request(b, r, at, size)
		return err
	})
	m.report(b)
	m.reportTail(b)
}

// requester sends a request and waits for it to come back, b.Loop times.
func requester(b *testing.B, r *session.Role, at *session.Address, size int) (*measurement, error) {
	req, err := r.Connect(zmq.REQ, at)
	if err != nil {
		return nil, err
	}
	out, in := payload.NewWriter(size, 0), payload.NewChecker(size, 1)
	if warm() {
		if err := errors.Join(req.Send(out.Next()), received(req, in)); err != nil {
			return nil, err
		}
	}
	m := begin(b)
	m.perMessage = true
	for b.Loop() {
		start := latency.Now()
		if err := req.Send(out.Next()); err != nil {
			return nil, err
		}
		reply, err := req.Recv()
		if err != nil {
			return nil, err
		}
		m.tail.Record(latency.Now() - start)
		if err := in.Check(reply); err != nil {
			return nil, req.Fault(err)
		}
	}
	m.end()
	return m, req.Single()
}

// warm reports whether one round trip is made before the clock starts, so that
// none that is timed finds everything cold. When the command line says how many
// to make, these are all: the other side may count them.
func warm() bool { return fixedCount() == 0 }

// received takes and checks a reply.
func received(req *session.Socket, in *payload.Checker) error {
	reply, err := req.Recv()
	if err != nil {
		return err
	}
	if err := in.Check(reply); err != nil {
		return req.Fault(err)
	}
	return nil
}

// requesterC is requester in C: one call from Go for all round trips.
func requesterC(b *testing.B, r *session.Role, at *session.Address, size int) (*measurement, error) {
	req, err := r.Connect(zmq.REQ, at)
	if err != nil {
		return nil, err
	}
	loop := cloop.NewLoop(size, 0, 1)
	request := func(n int, h *latency.Histogram) error {
		return req.Outside("recv", loop, func(socket unsafe.Pointer) error { return loop.Request(socket, n, h) })
	}
	if warm() {
		if err := request(1, nil); err != nil {
			return nil, err
		}
	}
	m := begin(b)
	b.ResetTimer()
	err = request(b.N, &m.tail)
	b.StopTimer()
	m.end()
	return m, errors.Join(err, req.Single())
}

// replier returns every request to its sender until the session ends.
func replier(r *session.Role, at *session.Address) error {
	rep, err := r.Bind(zmq.REP, at)
	if err != nil {
		return err
	}
	return echo(rep)
}

// replierC is replier in C.
func replierC(r *session.Role, at *session.Address) error {
	rep, err := r.Bind(zmq.REP, at)
	if err != nil {
		return err
	}
	return echoC(rep)
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

// echoC is echo in C.
func echoC(rep *session.Socket) error {
	loop := cloop.NewLoop(0, 0, 1)
	return rep.Outside("recv", loop, loop.Reply)
}

// bareRoundTrips makes the round trips over the bare transport, in C.
func bareRoundTrips(b *testing.B, s *session.Session, transport string, size int) {
	checkRoundTrip(b, size)
	near, far := barePair(b, s, transport, size)
	s.Go("replier", func(r *session.Role) error {
		return r.Outside("recv", far.Where(), far, far.Release, far.Reply)
	})
	var m *measurement
	s.Run("requester", func(r *session.Role) error {
		request := func(n int, h *latency.Histogram) error {
			return r.Outside("recv", near.Where(), near, near.Release, func() error { return near.Request(n, h) })
		}
		if warm() {
			if err := request(1, nil); err != nil {
				return err
			}
		}
		m = begin(b)
		b.ResetTimer()
		err := request(b.N, &m.tail)
		b.StopTimer()
		m.end()
		return err
	})
	m.report(b)
	m.reportTail(b)
}

// barePair returns the ends of a bare transport, which s closes.
func barePair(b *testing.B, s *session.Session, transport string, size int) (near, far *cloop.End) {
	near, far, err := cloop.NewPair(transport, size)
	if err != nil {
		b.Fatal(err)
	}
	s.Cleanup(near.Close)
	s.Cleanup(far.Close)
	return near, far
}

// A measurement is what a benchmark learns beside the time that package testing
// takes: what the whole process used meanwhile, and each round trip.
type measurement struct {
	cpu   int64 // ns
	calls int64 // from Go into C

	// perMessage is whether Go calls for each message. A loop in C is a handful
	// of calls in all.
	perMessage bool

	tail latency.Histogram
}

// begin starts a measurement. The clock of b starts after it.
func begin(b *testing.B) *measurement {
	b.ReportAllocs()
	return &measurement{cpu: cpuTime(), calls: runtime.NumCgoCall()}
}

// end ends the measurement. The clock of the benchmark has been stopped.
func (m *measurement) end() {
	m.cpu = cpuTime() - m.cpu
	m.calls = runtime.NumCgoCall() - m.calls
}

// cpuTime is the processor time that the process has used, in ns: of all
// threads, those of libzmq too.
func cpuTime() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

// few is the number of ops below which a figure says more of the moments before
// and after than of the ops.
const few = 1000

// report gives what an op used.
func (m *measurement) report(b *testing.B) {
	if b.N < few {
		return
	}
	metric.Report(b, float64(m.cpu)/float64(b.N), metric.CPUNsPerOp)
	if m.perMessage {
		metric.Report(b, float64(m.calls)/float64(b.N), metric.CgoPerOp)
	}
}

// reportTail adds to ns/op, the mean round trip, its half, which is the figure
// of libzmq's tools and not measured one way, and the percentiles.
func (m *measurement) reportTail(b *testing.B) {
	metric.Report(b, float64(b.Elapsed().Nanoseconds())/float64(b.N)/2, metric.OneWayNs)
	reportQuantiles(b, &m.tail, metric.P50Ns, metric.P90Ns, metric.P99Ns, metric.P999Ns, metric.MaxNs)
}

// reportQuantiles reports the median, the 90th, 99th and 99.9th percentile and
// the maximum in the given units. Those that h has too few round trips for are
// left out.
func reportQuantiles(b *testing.B, h *latency.Histogram, units ...metric.Unit) {
	for i, q := range []float64{0.5, 0.9, 0.99, 0.999, 1} {
		if ns, ok := h.Quantile(q); ok {
			metric.Report(b, float64(ns), units[i])
		}
	}
	if doubt := h.Doubt(); doubt != "" {
		b.Log(doubt)
	}
}

// BenchmarkPaced measures round trips that begin on a schedule, whether or not
// those before are back: one op is one round trip begun on schedule. So ns/op
// is the pace, and the percentiles are the result.
//
// A round trip counts from the moment that the schedule has for it. A stall of
// the replier so shows in every op that it delayed; a loop that waits for each
// reply would start fewer and hide it (coordinated omission). What such a loop
// would show is reported beside it as service-…: the time from when the replier
// was free for the request, which is when it was sent or when the reply before
// it came, whichever is later. (When replies come out of a backlog this is the
// time that taking one took.) rate-missed is the share of ops that the
// requester itself began more than one interval late.
//
// A DEALER sends to a ROUTER. The requester sleeps in the kernel, where a reply
// wakes it, until 100 µs or half an interval before the next op is due, and then
// it spins; with everything on one CPU that is taken from the others.
func BenchmarkPaced(b *testing.B) {
	for _, transport := range transports {
		for _, size := range conf.SizesOr(100) {
			for _, rate := range []int{1000, 10000} {
				name := fmt.Sprintf("transport=%s/size=%d/rate=%d", transport, size, rate)
				b.Run(name, func(b *testing.B) { paced(b, open(b, transport), size, rate, router) })
			}
		}
	}
}

// paced has requests made at the given rate, in 1/s, and answered.
func paced(b *testing.B, s *session.Session, size, rate int, replier peer) {
	if runtime.GOOS != "linux" {
		b.Skip("a wait of less than a millisecond is made with ppoll, which is Linux's")
	}
	// A stalled replier has requests queue on both sides, and then its replies.
	if err := flags.CheckMemory(size, fixedCount(), hwm, 2, copies-1); err != nil {
		b.Fatal(err)
	}
	at := s.Address()
	s.Go("replier", func(r *session.Role) error { return replier(r, at) })
	var p *pacer
	s.Run("requester", func(r *session.Role) error {
		dealer, err := r.Connect(zmq.DEALER, at)
		if err != nil {
			return err
		}
		p = &pacer{dealer: dealer, interval: int64(time.Second) / int64(rate), in: payload.NewChecker(size, 1)}
		return p.run(b, payload.NewWriter(size, 0))
	})
	p.report(b)
}

// router returns every request to the DEALER that it came from.
func router(r *session.Role, at *session.Address) error {
	rep, err := r.Bind(zmq.ROUTER, at, session.Mandatory())
	if err != nil {
		return err
	}
	for {
		if err := route(rep); err != nil {
			return err
		}
	}
}

// route returns one request.
func route(rep *session.Socket) error {
	id, err := rep.RecvPart()
	if err != nil {
		return err
	}
	msg, err := rep.Recv()
	if err != nil {
		return err
	}
	if err := rep.SendPart(id); err != nil {
		return err
	}
	return rep.Send(msg)
}

const (
	spin   = int64(100 * time.Microsecond) // at most; a sleep ends up to 50 µs late, the timer slack of Linux
	flight = 1 << 16                       // round trips under way at once, a power of two
)

// A pacer begins round trips on a schedule: number i at start + i × interval.
type pacer struct {
	dealer   *session.Socket
	in       *payload.Checker
	start    int64             // ns, by latency.Now
	interval int64             // ns
	sent     int64             // round trips begun
	missed   int64             // of them, those begun late by more than the interval
	late     latency.Histogram // from the schedule to the actual beginning
	tail     latency.Histogram // from the schedule to the reply
	service  latency.Histogram // from when the replier was free to the reply
	began    [flight]int64     // when number i began, at i % flight
	replied  int64             // when the last reply came
}

// run begins a round trip for each b.Loop, and takes the replies.
func (p *pacer) run(b *testing.B, out *payload.Writer) error {
	p.start = latency.Now()
	for b.Loop() {
		if err := p.await(p.start + p.sent*p.interval); err != nil {
			return err
		}
		now := latency.Now()
		late := now - (p.start + p.sent*p.interval)
		p.late.Record(late)
		if late > p.interval {
			p.missed++
		}
		p.began[p.sent%flight] = now
		if err := p.dealer.Send(out.Next()); err != nil {
			return err
		}
		p.sent++
	}
	for p.in.Received() < p.sent {
		msg, err := p.dealer.Recv()
		if err != nil {
			return err
		}
		if err := p.take(msg); err != nil {
			return err
		}
	}
	return p.dealer.Single()
}

// await takes replies until the time due. It spins on a wait of no length and
// not on TryRecv, whose garbage would be collected in the measured time.
func (p *pacer) await(due int64) error {
	for {
		for ready := true; ready; {
			msg, ok, err := p.dealer.TryRecv()
			if err != nil {
				return err
			}
			if ready = ok; ok {
				if err := p.take(msg); err != nil {
					return err
				}
			}
		}
		if p.sent-p.in.Received() >= flight {
			return p.dealer.Fault(fmt.Errorf("%d replies are missing", flight))
		}
		for ready := false; !ready; {
			left := due - latency.Now()
			if left <= 0 {
				return nil
			}
			var err error
			if ready, err = p.dealer.Wait(time.Duration(left - min(spin, p.interval/2))); err != nil {
				return err
			}
		}
	}
}

// take records the reply that came just now. Replies come in the order of
// their requests, which the check sees to.
func (p *pacer) take(msg []byte) error {
	now, i := latency.Now(), p.in.Received()
	if err := p.in.Check(msg); err != nil {
		return p.dealer.Fault(payload.Explain(err, p.dealer.Recv))
	}
	p.tail.Record(now - (p.start + i*p.interval))
	p.service.Record(now - max(p.began[i%flight], p.replied))
	p.replied = now
	return nil
}

// report gives the percentiles of both, and how well the schedule was kept.
func (p *pacer) report(b *testing.B) {
	reportQuantiles(b, &p.tail, metric.P50Ns, metric.P90Ns, metric.P99Ns, metric.P999Ns, metric.MaxNs)
	reportQuantiles(b, &p.service, metric.ServiceP50Ns, metric.ServiceP90Ns, metric.ServiceP99Ns, metric.ServiceP999Ns, metric.ServiceMaxNs)
	metric.Report(b, float64(p.missed)/float64(p.sent), metric.RateMissed)
	if ns, ok := p.late.Quantile(0.99); ok {
		metric.Report(b, float64(ns), metric.LateP99Ns)
	}
}

// conf is what the command line says, checked by TestMain.
var conf flags.Flags

// progressLog is where -progress has lines written, or nil.
var progressLog *progress.Log

// open begins the session of one sub-benchmark.
func open(tb session.TB, transport string) *session.Session {
	return openOn(tb, transport, conf.Pin)
}

// openOn is open with the roles on these CPUs, or on any if cpus is nil.
func openOn(tb session.TB, transport string, cpus *[2]int) *session.Session {
	return session.Open(tb, session.Config{Transport: transport, Wait: conf.Wait, IOThreads: conf.IOThreads, CPUs: cpus})
}

// TestMain checks the flags before any socket is opened, and prints the header
// of a run when benchmarks are to run.
func TestMain(m *testing.M) {
	set := flags.Register(flag.CommandLine)
	flag.Parse()
	if err := prepare(set); err != nil {
		fmt.Fprintln(os.Stderr, "zmqbench:", err)
		os.Exit(2)
	}
	session.EndOnSignal()
	status := m.Run()
	if err := progressLog.Err(); err != nil {
		fmt.Fprintln(os.Stderr, "# -progress:", err)
		status = max(status, 1)
	}
	os.Exit(status)
}

// prepare reads the flags and does what comes before the first benchmark.
func prepare(set *flags.Set) (err error) {
	if conf, err = set.Parse(); err != nil {
		return err
	}
	run := benchmarking() && flag.Lookup("test.list").Value.String() == ""
	if run && conf.Progress != "" {
		if progressLog, err = progress.Open(conf.Progress); err != nil {
			return fmt.Errorf("-progress: %w", err)
		}
	}
	if err := session.Usable(conf.IOThreads); err != nil || !run {
		return err
	}
	return announce(set)
}

// announce writes the header of a run, if it is one that is demanded.
func announce(set *flags.Set) error {
	h := header(set)
	if err := demanded(conf.Libzmq, h.LibZMQ, loadedFrom()); err != nil {
		return err
	}
	return h.Write(os.Stdout)
}

// benchmarking reports whether benchmarks are to run.
func benchmarking() bool { return flag.Lookup("test.bench").Value.String() != "" }

// loadedFrom is the path of the libzmq in use, or why it is not known.
func loadedFrom() string {
	path, err := linkage.Loaded()
	if err != nil {
		return err.Error()
	}
	return path
}

// header is what a run says of itself.
func header(set *flags.Set) metric.Header {
	h := metric.Header{LibZMQ: cloop.Version()}
	for _, s := range set.Changed() {
		h.Flags = append(h.Flags, metric.Setting(s))
	}
	h.Facts = append([]string{
		fmt.Sprintf("libzmq: %s, built against the headers of %s", loadedFrom(), cloop.HeaderVersion()),
		"crypto: " + linkage.Crypto(zmq.HasCurve()),
		"zmq4: " + linkage.ZMQ4(),
		"pin: " + placement(),
	}, linkage.Machine()...)
	return h
}

// placement says where pinned roles and libzmq's threads run: with -pin those of
// every benchmark with sockets, and else those of BenchmarkPinned alone.
func placement() string {
	cpus, err := pinned()
	if err != nil {
		return "BenchmarkPinned is skipped: " + err.Error()
	}
	where, err := session.Placement(*cpus, conf.IOThreads)
	if err != nil {
		return "BenchmarkPinned fails: " + err.Error()
	}
	if conf.Pin == nil {
		where = "BenchmarkPinned only: " + where
	}
	return where
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
//
// It skips the test when benchmarks are to follow: package testing prints the
// lines goos, goarch, pkg and cpu once, and testing.Benchmark would take them.
func measure(t *testing.T, benchtime string, body func(b *testing.B, tb session.TB)) (testing.BenchmarkResult, string) {
	t.Helper()
	if benchmarking() {
		t.Skip("a benchmark in a test would take the goos, goarch, pkg and cpu lines from those that follow; test without -bench")
	}
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
			if size == 0 && transport == "tcp" {
				continue // over ipc an empty message is the same frame
			}
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
					roundTrips(b, open(tb, transport), size, requester, counting)
				})
				if text != "" || requests != 10000 || result.N != 10000 {
					t.Errorf("%d requests, N = %d, failures %q; want 10000, 10000, none", requests, result.N, text)
				}
				for name, request := range map[string]requesting{"go": requester, "c": requesterC} {
					timed, text := measure(t, "5ms", func(b *testing.B, tb session.TB) {
						requests = 0 // b.N grows: the last run is the result
						roundTrips(b, open(tb, transport), size, request, counting)
					})
					if text != "" || requests != timed.N+1 { // Z83: the first exchange is not timed
						t.Errorf("%s: %d requests, N = %d, failures %q; want one more than N, none", name, requests, timed.N, text)
					}
				}
				half := float64(result.T.Nanoseconds()) / 10000 / 2 // Z84
				if got := result.Extra["one-way-ns"]; math.Abs(got-half) > half*1e-9 {
					t.Errorf("one-way-ns = %v, want half of ns/op, %v", got, half)
				}
			})
		}
	}
}

// TestLoopLeftEarly fails a real benchmark in the middle of its b.Loop (Z77): it
// has no result, and the next one runs as if nothing had been.
func TestLoopLeftEarly(t *testing.T) {
	dying := func(r *session.Role, at *session.Address) error {
		rep, err := r.Bind(zmq.REP, at)
		for i := 0; err == nil && i < 5; i++ {
			var msg []byte
			if msg, err = rep.Recv(); err == nil {
				err = rep.Send(msg)
			}
		}
		return errors.Join(err, errors.New("replier: out of order"))
	}
	for _, replier := range []peer{dying, replier} {
		result, text := measure(t, "100x", func(b *testing.B, tb session.TB) {
			roundTrips(b, open(tb, "tcp"), 100, requester, replier)
		})
		if broken := text != ""; broken != (result.N == 0) {
			t.Errorf("N = %d, failures %q; want either", result.N, text)
		}
	}
}

// TestLatencyTail delays every 100th reply by 10 ms (Z82): the mean and the
// median stay far below, the tail tells.
func TestLatencyTail(t *testing.T) {
	const delay = 10 * time.Millisecond
	delaying := func(r *session.Role, at *session.Address) error {
		rep, err := r.Bind(zmq.REP, at)
		for i := 0; err == nil; i++ {
			var msg []byte
			if msg, err = rep.Recv(); err != nil {
				break
			}
			if i%100 == 99 {
				<-time.After(delay) // the fault itself
			}
			err = rep.Send(msg)
		}
		return err
	}
	for name, request := range map[string]requesting{"go": requester, "c": requesterC} {
		result, text := measure(t, "1000x", func(b *testing.B, tb session.TB) {
			roundTrips(b, open(tb, "tcp"), 100, request, delaying)
		})
		x := result.Extra
		if text != "" || x["p50-ns"] > x["max-ns"]/4 || x["p99.9-ns"] < float64(delay) || x["max-ns"] < float64(delay) {
			t.Errorf("%s: p50 %.0f, p99.9 %.0f, max %.0f ns, failures %q; want a tail of 10 ms and a median far below",
				name, x["p50-ns"], x["p99.9-ns"], x["max-ns"], text)
		}
	}
}

// racing reports whether this was built with the race detector.
func racing() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// TestLatencyCost: a round trip costs what the binding costs and no more (Z26).
// Each of its two RecvBytes makes five calls into C and allocates a message and,
// unless it is empty, its bytes; each SendBytes makes one call, and allocates
// only for an empty message. The C layers allocate nothing.
func TestLatencyCost(t *testing.T) {
	if racing() {
		t.Skip("with the race detector, sockets ask which goroutine calls, and that allocates")
	}
	for _, size := range []int{0, 1, 100, 1 << 20} {
		calls := map[int]float64{0: 8}[size] // no bytes to copy, and none to ask for
		if size > 0 {
			calls = 12
		}
		result, text := measure(t, "2000x", func(b *testing.B, tb session.TB) {
			roundTrips(b, open(tb, "inproc"), size, requester, replier)
		})
		// The replier may be one allocation ahead or behind at either end.
		allocs := math.Round(float64(result.MemAllocs) / float64(result.N))
		if got := result.Extra["cgo-calls/op"]; text != "" || allocs != 4 || math.Abs(got-calls) > 0.1 {
			t.Errorf("size %d: %v allocs/op and %.2f cgo-calls/op, failures %q; want 4, %v, none", size, allocs, got, text, calls)
		}
		result, text = measure(t, "2000x", func(b *testing.B, tb session.TB) {
			roundTrips(b, open(tb, "inproc"), size, requesterC, replierC)
		})
		if text != "" || result.AllocsPerOp() != 0 {
			t.Errorf("size %d in C: %d allocs/op, failures %q; want none", size, result.AllocsPerOp(), text)
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
		for i, transport := range slices.Concat(transports, transports) {
			request, language := requesting(requester), "go"
			if i >= len(transports) {
				request, language = requesterC, "c"
			}
			t.Run(fault.name+"/"+transport+"/"+language, func(t *testing.T) {
				if fault.name == "drop" { // the only one that is found by waiting
					wait(t, 300*time.Millisecond)
				}
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
					roundTrips(b, open(tb, transport), 100, request, spoiling)
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

// TestPacedStall has a replier that stands still once, for 500 ms at 1000
// requests a second: all that were due meanwhile are late, and the percentiles
// must say so. A loop that waits for each reply would have seen one slow
// request, as service-… shows (Z82, coordinated omission).
func TestPacedStall(t *testing.T) {
	const stall = 500 * time.Millisecond
	for _, transport := range []string{"inproc", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			result, text := measure(t, "1000x", func(b *testing.B, tb session.TB) {
				paced(b, open(tb, transport), 100, 1000, stalling(stall))
			})
			x := result.Extra
			if text != "" || result.N != 1000 {
				t.Fatalf("N = %d, failures %q; want 1000, none", result.N, text)
			}
			if p99, most := x["p99-ns"], x["max-ns"]; p99 < 1e8 || most < float64(stall)*0.99 {
				t.Errorf("p99-ns = %.0f and max-ns = %.0f, want at least 1e8 and the stall of 5e8", p99, most)
			}
			// A requester that reads the reply before the stall late takes the
			// beginning off it: half of the stall is more than that, and than any
			// other reply took.
			if p99, most := x["service-p99-ns"], x["service-max-ns"]; p99 > x["p99-ns"]/4 || most < float64(stall)/2 {
				t.Errorf("service-p99-ns = %.0f and service-max-ns = %.0f, want far below p99-ns = %.0f, and at least half of the stall", p99, most, x["p99-ns"])
			}
		})
	}
}

// stalling is a router that stands still before its 200th reply.
func stalling(stall time.Duration) peer {
	return func(r *session.Role, at *session.Address) error {
		rep, err := r.Bind(zmq.ROUTER, at)
		for i := 0; err == nil; i++ {
			if i == 200 {
				<-time.After(stall) // the fault itself
			}
			err = route(rep)
		}
		return err
	}
}

// TestPacedRate compares the time that a paced run took with its schedule: they
// differ by no more than 1 %, or the run says that it missed the rate.
func TestPacedRate(t *testing.T) {
	for _, rate := range []int{1000, 10000} {
		n := rate / 2
		result, text := measure(t, fmt.Sprintf("%dx", n), func(b *testing.B, tb session.TB) {
			paced(b, open(tb, "tcp"), 100, rate, router)
		})
		if text != "" || result.N != n {
			t.Fatalf("N = %d, failures %q; want %d, none", result.N, text, n)
		}
		schedule := time.Duration(n-1) * time.Second / time.Duration(rate)
		off := math.Abs(float64(result.T-schedule)) / float64(schedule)
		if missed := result.Extra["rate-missed"]; off > 0.01 && missed == 0 {
			t.Errorf("%d/s: took %v for a schedule of %v and missed none, want within 1 %%", rate, result.T, schedule)
		}
	}
}

// TestNothingIsPinned: which CPUs a thread may use is nobody's choice unless the
// user's (Z27). While roles exchange messages and afterwards, every thread of the
// process, libzmq's too, may use what the process could before.
func TestNothingIsPinned(t *testing.T) {
	before := allowedCPUs(t)
	if len(before) != 1 {
		t.Skipf("threads of this process already differ in their CPUs, or there is no /proc: %q", before)
	}
	var during []string
	looking := func(r *session.Role, at *session.Address) error {
		rep, err := r.Bind(zmq.REP, at)
		if err != nil {
			return err
		}
		during = allowedCPUs(t)
		return echo(rep)
	}
	if _, text := measure(t, "100x", func(b *testing.B, tb session.TB) {
		roundTrips(b, open(tb, "tcp"), 100, requesterC, looking)
	}); text != "" {
		t.Fatal(text)
	}
	if after := allowedCPUs(t); !slices.Equal(during, before) || !slices.Equal(after, before) {
		t.Errorf("CPUs allowed: %q before, %q during and %q after, want the same", before, during, after)
	}
}

// allowedCPUs lists the different sets of CPUs that threads of this process may
// use.
func allowedCPUs(t *testing.T) []string {
	files, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil {
		t.Error(err)
	}
	var sets []string
	for _, file := range files {
		status, _ := os.ReadFile(file) // a thread may have ended meanwhile
		if _, line, ok := strings.Cut(string(status), "Cpus_allowed_list:"); ok {
			set, _, _ := strings.Cut(line, "\n")
			sets = append(sets, strings.TrimSpace(set))
		}
	}
	slices.Sort(sets)
	return slices.Compact(sets)
}
