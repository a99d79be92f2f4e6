//go:build cgo

package zmqbench

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	zmq "github.com/pebbe/zmq4"

	"zmqbench/internal/affinity"
	"zmqbench/internal/cloop"
	"zmqbench/internal/flags"
	"zmqbench/internal/latency"
	"zmqbench/internal/metric"
	"zmqbench/internal/payload"
	"zmqbench/internal/progress"
	"zmqbench/internal/session"
)

// BenchmarkThroughput measures a stream from a sender to a receiver: one op is
// one message received, on the receiver's clock, which starts when the first
// message has come and stops when the last has. That is what libzmq's
// local_thr and inproc_thr print, except that they divide N messages by the
// time of N-1.
//
// The layers are those of BenchmarkLatency, and layer=batch: Go roles that move
// 16 messages into or out of Go's memory with one call into C. It is measured
// without security: encryption is the work of libzmq's own threads, message by
// message.
func BenchmarkThroughput(b *testing.B) {
	for _, w := range wires() {
		for _, size := range w.sizes(1000) {
			name := fmt.Sprintf("%v/size=%d", w, size)
			b.Run(name+"/layer=zmq4", func(b *testing.B) {
				f := newFlow(b, size, 1, conf.HWMOr(hwm), 1)
				stream(b, w.open(b), f, f.sender(f.flood), f.receive)
			})
			if w.mech != "null" {
				b.Run(name+"/layer=libzmq", func(b *testing.B) { streamC(b, w, size) })
				continue
			}
			b.Run(name+"/layer=batch", func(b *testing.B) {
				checkMemory(b, size, 1, conf.HWMOr(hwm), 1, 2*cloop.BatchLen) // with an arena on each side
				f := newFlowOf(b, b.N, size, 1, conf.HWMOr(hwm), 1)
				stream(b, w.open(b), f, f.sender(f.floodBatch), f.receiveBatch)
			})
			b.Run(name+"/layer=libzmq", func(b *testing.B) { streamC(b, w, size) })
			b.Run(name+"/layer=kernel", func(b *testing.B) {
				f := newFlowOf(b, b.N, size, 1, conf.HWMOr(hwm), 1)
				bareStream(b, w.open(b), f, w.transport)
			})
		}
	}
}

// streamC is the stream with both roles in C.
func streamC(b *testing.B, w wire, size int) {
	f := newFlowOf(b, b.N, size, 1, conf.HWMOr(hwm), 1)
	stream(b, w.open(b), f, f.sender(f.floodC), f.receiveC)
}

// BenchmarkPinned measures a stream over inproc with each role on a CPU of its
// own: one op is one message received. The CPUs are those of -pin, or else the
// first two that the process may use.
//
// With fill=none the sender writes nothing to a message but its number, 8 bytes,
// and the receiver checks the number and the length; what else came it cannot
// know. With fill=zero the sender writes zeros to every message first, and the
// receiver looks at those of one message in 1024 too. The difference is what
// writing a message costs. With layer=zmq4 that is less, since the binding copies
// the bytes of every message in any case.
//
// libzmq's I/O thread has nothing to do here. Where it is the run's header says.
func BenchmarkPinned(b *testing.B) {
	cpus, err := pinned()
	if err != nil {
		b.Skip(err)
	}
	for _, fill := range []payload.Fill{payload.None, payload.Zero} {
		for _, size := range pinnedSizes() {
			name := fmt.Sprintf("fill=%v/size=%d", fill, size)
			b.Run(name+"/layer=zmq4", func(b *testing.B) {
				f := newFlow(b, size, 1, conf.HWMOr(hwm), 1).filled(fill)
				stream(b, openOn(b, "inproc", cpus), f, f.sender(f.flood), f.receive)
			})
			b.Run(name+"/layer=libzmq", func(b *testing.B) {
				f := newFlowOf(b, b.N, size, 1, conf.HWMOr(hwm), 1).filled(fill)
				stream(b, openOn(b, "inproc", cpus), f, f.sender(f.floodC), f.receiveC)
			})
		}
	}
}

// pinned returns the CPUs of BenchmarkPinned, or why there are none.
func pinned() (*[2]int, error) {
	if conf.Pin != nil {
		return conf.Pin, nil
	}
	cpus, err := affinity.Allowed()
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil, errors.New("threads can be pinned on Linux only")
	case err != nil:
		return nil, err
	case len(cpus) < 2:
		return nil, fmt.Errorf("two roles cannot have a CPU each: the process may use CPU %s only", affinity.Text(cpus))
	}
	return (*[2]int)(cpus), nil
}

// pinnedSizes are those of -size. Of the document's six the smallest and the
// largest are in every run, and the others in one that names them.
func pinnedSizes() []int {
	return conf.SizesOr(slices.DeleteFunc([]int{64, 128, 256, 400, 500, 700}, func(size int) bool {
		return size != 64 && size != 700 && !named("size", size)
	})...)
}

// BenchmarkSenders measures what several senders get through to one receiver: one
// op is one message of 100 bytes received from any of them. Each has a context
// and so an I/O thread of its own, as a process has, and numbers its messages.
//
// fairness is Jain's index of how many came from each in the measured time: 1 if
// from all the same, 1/senders if from one alone.
func BenchmarkSenders(b *testing.B) {
	for _, transport := range []string{"ipc", "tcp"} {
		for _, senders := range []int{1, 2, 4, 8} {
			b.Run(fmt.Sprintf("transport=%s/senders=%d", transport, senders), func(b *testing.B) {
				shared(b, open(b, transport), newFlow(b, 100, senders, conf.HWMOr(hwm), senders))
			})
		}
	}
}

// shared is a stream from all senders of f.
func shared(b *testing.B, s *session.Session, f *flow) {
	var senders []peer
	for i := range f.senders {
		senders = append(senders, f.senderOf(i, f.flood))
	}
	sharedBy(b, s, f, senders)
}

// sharedBy is shared by the given senders.
func sharedBy(b *testing.B, s *session.Session, f *flow, senders []peer) {
	streams(b, s, f, senders, f.receive)
	if fairness, ok := metric.Jain(f.window); ok && b.N >= f.enough() {
		metric.Report(b, fairness, metric.Fairness)
	}
}

// BenchmarkBurst sends "Message #0", "Message #1" and so on from a PUSH that binds
// to a PULL that connects: one op is one burst of that count, from the beginning
// of its first send to the receipt of its last message. send-ns is how long the
// sender was in it, and recv-ns is from the first message received to the last.
// The text of each message is checked.
//
// With start=cold every burst has new contexts and a new connection, which is up
// when it begins; with start=warm all go over one, which has carried messages
// before. What lies between bursts counts towards -benchtime and is in no figure.
//
// A run has bursts of 100000, with -short of 1000, and with -bench=/count=1000000
// those.
func BenchmarkBurst(b *testing.B) {
	for _, transport := range transports {
		for _, count := range burstCounts() {
			for _, start := range burstStarts {
				b.Run(fmt.Sprintf("transport=%s/count=%d/start=%s", transport, count, start.name), func(b *testing.B) {
					u := newBursts(b, count)
					start.run(b, func() *session.Session { return open(b, transport) }, u, u.sender)
				})
			}
		}
	}
}

// burstStarts are how bursts begin.
var burstStarts = []struct {
	name string
	run  func(b *testing.B, open func() *session.Session, u *bursts, sender peer)
}{{"cold", coldBursts}, {"warm", warmBursts}}

// burstCounts are how many messages a burst has.
func burstCounts() []int {
	counts := []int{100_000}
	if testing.Short() {
		counts[0] = 1000
	}
	if named("count", 1_000_000) {
		counts = append(counts, 1_000_000)
	}
	return counts
}

// bursts are what a sender and a receiver of bursts share.
type bursts struct {
	count int // messages of a burst
	hwm   int
	seen  *tally
	text  [payload.MaxText]byte // room for the receiver

	asked chan struct{} // a value when the receiver wants the next burst
	size  int           // how many it wants, set before
	told  chan struct{} // a value when that has been sent
	begun int64         // when the sender began and when it had done, by latency.Now,
	done  int64         // set before

	sending, receiving, all int64 // ns, of the bursts so far
}

// newBursts returns bursts of count messages. It fails b if they would take too
// much memory.
func newBursts(b *testing.B, count int) *bursts {
	u := &bursts{count: count, hwm: conf.HWMOr(hwm), seen: newTally(), asked: make(chan struct{}, 1), told: make(chan struct{}, 1)}
	if err := flags.CheckMemory(payload.MaxText, count, u.hwm, 1, 1); err != nil {
		b.Fatal(err)
	}
	return u
}

// coldBursts opens a session for each burst.
func coldBursts(b *testing.B, open func() *session.Session, u *bursts, sender peer) {
	defer watch(b, u.seen)()
	for b.Loop() {
		u.receive(open(), sender, func(pull *session.Socket) error { return u.take(pull, u.count) })
	}
	u.report(b)
}

// warmBursts opens one session for all bursts, and has a first one of up to
// 10000 messages that is not measured.
func warmBursts(b *testing.B, open func() *session.Session, u *bursts, sender peer) {
	defer watch(b, u.seen)()
	u.receive(open(), sender, func(pull *session.Socket) error {
		if err := u.take(pull, min(u.count, 10_000)); err != nil {
			return err
		}
		u.sending, u.receiving, u.all = 0, 0, 0
		for b.Loop() {
			if err := u.take(pull, u.count); err != nil {
				return err
			}
		}
		return nil
	})
	u.report(b)
}

// receive has a sender bind and runs the receiver, which connects.
func (u *bursts) receive(s *session.Session, sender peer, receive func(pull *session.Socket) error) {
	at := s.Address()
	s.Go("sender", func(r *session.Role) error { return sender(r, at) })
	s.Run("receiver", func(r *session.Role) error {
		pull, err := r.Connect(zmq.PULL, at, session.HWM(u.hwm))
		if err != nil {
			return err
		}
		return receive(pull)
	})
}

// sender is the role that sends a burst whenever the receiver wants one.
func (u *bursts) sender(r *session.Role, at *session.Address) error {
	push, err := r.Bind(zmq.PUSH, at, session.HWM(u.hwm))
	if err != nil {
		return err
	}
	for {
		if err := push.Await(u.asked, "the receiver"); err != nil {
			return err
		}
		if err := u.send(push); err != nil {
			return err
		}
	}
}

// send sends one burst and tells how long it took.
func (u *bursts) send(push *session.Socket) error {
	var text [payload.MaxText]byte
	u.begun = latency.Now()
	for i := range u.size {
		if err := push.Send(payload.AppendText(text[:0], i)); err != nil {
			return err
		}
	}
	u.done = latency.Now()
	u.told <- struct{}{}
	return nil
}

// take wants a burst of size messages, receives it and adds up the times.
func (u *bursts) take(pull *session.Socket, size int) error {
	u.size = size
	u.asked <- struct{}{}
	var first int64
	for i := range size {
		msg, err := pull.Recv()
		if err != nil {
			return err
		}
		if i == 0 {
			first = latency.Now()
		}
		if err := payload.CheckText(msg, i, u.text[:]); err != nil {
			return pull.Fault(err)
		}
		u.seen.add()
	}
	last := latency.Now()
	if err := pull.Single(); err != nil {
		return err
	}
	if err := pull.Await(u.told, "the times of the sender"); err != nil {
		return err
	}
	u.sending += u.done - u.begun
	u.receiving += last - first
	u.all += last - u.begun
	return nil
}

// report gives the times of a burst. That of an op is from its own two clock
// reads: what testing takes has in it what lies between bursts.
func (u *bursts) report(b *testing.B) {
	n := float64(b.N)
	metric.Report(b, float64(u.all)/n, metric.NsPerOp)
	metric.Report(b, float64(u.sending)/n, metric.SendNs)
	metric.Report(b, float64(u.receiving)/n, metric.RecvNs)
}

// A receiving role takes a flow from a socket against the clock.
type receiving func(*testing.B, *session.Socket) (*measurement, error)

// stream receives, on the benchmark's goroutine, what a sender that connects
// sends as fast as it can.
func stream(b *testing.B, s *session.Session, f *flow, sender peer, receive receiving) {
	streams(b, s, f, []peer{sender}, receive)
}

// streams is stream with several senders.
func streams(b *testing.B, s *session.Session, f *flow, senders []peer, receive receiving) {
	at := s.Address()
	for i, sender := range senders {
		name := "sender"
		if len(senders) > 1 {
			name = fmt.Sprintf("sender %d", i)
		}
		s.Go(name, func(r *session.Role) error { return sender(r, at) })
	}
	receiveAt(b, s, f, at, receive)
}

// receiveAt runs the receiver of a stream, which binds.
func receiveAt(b *testing.B, s *session.Session, f *flow, at *session.Address, receive receiving) {
	runReceiver(b, s, f, "receiver", func(r *session.Role) (*measurement, error) {
		pull, err := r.Bind(zmq.PULL, at, session.HWM(f.hwm))
		if err != nil {
			return nil, err
		}
		return receive(b, pull)
	})
}

// runReceiver runs the role under the clock and reports its flow.
func runReceiver(b *testing.B, s *session.Session, f *flow, name string, role func(*session.Role) (*measurement, error)) {
	var m *measurement
	s.Run(name, func(r *session.Role) (err error) {
		m, err = role(r)
		return err
	})
	m.report(b)
	f.report(b)
}

// bareStream is the stream over the bare transport, in C.
func bareStream(b *testing.B, s *session.Session, f *flow, transport string) {
	near, far := barePair(b, s, transport, f.size)
	s.Go("sender", func(r *session.Role) error {
		err := r.Outside("send", far.Where(), far, far.Release, func() error { return far.Flood(b.N + 1) })
		if err == nil {
			r.AwaitEnd()
		}
		return err
	})
	runReceiver(b, s, f, "receiver", func(r *session.Role) (m *measurement, err error) {
		err = r.Outside("recv", near.Where(), near, near.Release, func() error {
			if err := near.Receive(1); err != nil {
				return err
			}
			defer watch(b, near)()
			m = begin(b)
			b.ResetTimer()
			err := near.Receive(b.N)
			b.StopTimer()
			m.end()
			return err
		})
		return m, err
	})
}

// A tally counts the messages that a loop in Go receives, for -progress. Without
// that it is nil and counts nothing. (Loops in C and those in batches count in
// any case, for the session's watchdog.)
type tally struct{ received atomic.Int64 }

// newTally returns a tally if there is somebody to ask it.
func newTally() *tally {
	if progressLog == nil {
		return nil
	}
	return new(tally)
}

func (t *tally) add() {
	if t != nil {
		t.received.Add(1)
	}
}

// Counts tells, at any time, how many have been received.
func (t *tally) Counts() (sent, received int64) { return 0, t.received.Load() }

// watch has -progress follow a receiver until the function that it returns is
// called. Parts of one count what the others do not.
func watch(b *testing.B, parts ...session.Counter) (stop func()) {
	return progressLog.Watch(b.Name(), func() (sum int64) {
		for _, part := range parts {
			_, received := part.Counts()
			sum += received
		}
		return sum
	})
}

// A flow is a stream of messages: what its senders and its receiver agree on,
// and what they tell each other beside the sockets.
type flow struct {
	size    int                          // of each message in bytes
	fill    payload.Fill                 // what is in it beside its number
	senders int                          // how many there are
	hwm     int                          // of their sockets
	pipes   int                          // connections from the senders to the receiver
	count   int64                        // messages after the first; 0 if the benchmark runs for a time
	stop    atomic.Bool                  // set when the receiver has enough
	sent    atomic.Int64                 // by the senders that have ended
	ready   chan struct{}                // a value from each sender that has somebody to send to
	seen    *tally                       // of a receiver in Go
	window  []int64                      // what it received from each sender while the clock ran
	begin   chan struct{}                // closed when all have: one that began sooner could fill the queues that another still needs
	loops   []atomic.Pointer[cloop.Loop] // of the senders that are in C
}

// newFlow returns the flow of a benchmark with b.Loop that has that many
// connections.
func newFlow(b *testing.B, size, senders, queue, pipes int) *flow {
	return newFlowOf(b, fixedCount(), size, senders, queue, pipes)
}

// newFlowOf returns the flow of count messages after the first, or of as many
// as b.Loop takes if count is 0. It fails b, before there is any socket, if the
// messages would take too much memory.
func newFlowOf(b *testing.B, count, size, senders, queue, pipes int) *flow {
	checkMemory(b, size, senders, queue, pipes, 0)
	return &flow{
		size: size, senders: senders, hwm: queue, pipes: pipes, count: int64(count),
		ready: make(chan struct{}, senders), begin: make(chan struct{}),
		loops: make([]atomic.Pointer[cloop.Loop], senders),
		seen:  newTally(),
	}
}

// filled makes the flow one of such messages.
func (f *flow) filled(fill payload.Fill) *flow {
	f.fill = fill
	return f
}

// checkMemory fails b if the messages would take too much memory. How many
// there are is known if -benchtime says so; b.N grows to what no flag tells.
func checkMemory(b *testing.B, size, senders, queue, pipes, held int) {
	all := 0
	if n := fixedCount(); n > 0 {
		all = senders * (n + 1)
	}
	if err := flags.CheckMemory(size, all, queue, pipes, held); err != nil {
		b.Fatal(err)
	}
}

// fixedCount is N of -benchtime=Nx, or 0 when the benchmark runs for a time.
func fixedCount() int {
	text, ok := strings.CutSuffix(flag.Lookup("test.benchtime").Value.String(), "x")
	if !ok {
		return 0
	}
	n, _ := strconv.Atoi(text) // package testing has checked it
	return n
}

// marked reports whether each sender ends its part of the stream with a
// message of another length. A single sender that knows the count does not:
// it sends exactly what a foreign receiver would expect of it.
func (f *flow) marked() bool { return f.count == 0 || f.senders > 1 }

// mark is that message.
func (f *flow) mark() []byte {
	if f.size == 0 {
		return []byte{0}
	}
	return nil
}

// A flooding loop sends the messages of one sender of a flow.
type flooding func(out *session.Socket, sender int) error

// sender returns a role that connects a PUSH and floods it.
func (f *flow) sender(flood flooding) peer { return f.senderOf(0, flood) }

// senderOf is sender for one of several.
func (f *flow) senderOf(number int, flood flooding) peer {
	return func(r *session.Role, at *session.Address) error {
		push, err := r.Connect(zmq.PUSH, at, session.HWM(f.hwm))
		if err != nil {
			return err
		}
		return f.send(r, push, flood, number)
	}
}

// send floods a socket that has somebody to send to, when all senders have, and
// then waits for the end.
func (f *flow) send(r *session.Role, out *session.Socket, flood flooding, sender int) error {
	f.ready <- struct{}{}
	if err := out.Await(f.begin, "the other senders"); err != nil {
		return err
	}
	if err := flood(out, sender); err != nil {
		return err
	}
	r.AwaitEnd()
	return nil
}

// flood sends messages until the receiver has enough, or one more than the
// count if that is known, and the mark after them.
func (f *flow) flood(out *session.Socket, sender int) error {
	w := f.fill.NewWriter(f.size, sender)
	var n int64
	for ; (f.count == 0 || n <= f.count) && !f.stop.Load(); n++ {
		if err := out.Send(w.Next()); err != nil {
			return err
		}
	}
	return f.flooded(out, n)
}

// flooded ends a flood of n messages.
func (f *flow) flooded(out *session.Socket, n int64) error {
	f.sent.Add(n)
	if !f.marked() {
		return nil
	}
	return out.Send(f.mark())
}

// floodC is flood in C.
func (f *flow) floodC(out *session.Socket, sender int) error {
	loop := cloop.NewLoop(f.size, sender, 1)
	loop.Fill(f.fill)
	f.loops[sender].Store(loop)
	if f.stop.Load() {
		loop.Stop()
	}
	err := out.Outside("send", loop, func(socket unsafe.Pointer) error {
		return loop.Flood(socket, int(f.count)+1)
	})
	if err != nil {
		return err
	}
	sent, _ := loop.Counts()
	return f.flooded(out, sent)
}

// floodBatch is flood with 16 messages a call into C.
func (f *flow) floodBatch(out *session.Socket, sender int) error {
	w, batch := f.fill.NewWriter(f.size, sender), cloop.NewBatch(cloop.BatchLen, f.size)
	var n int
	send := func(socket unsafe.Pointer) error { return batch.Send(socket, n) }
	var sent int64
	for ; sent <= f.count && !f.stop.Load(); sent += int64(n) {
		n = int(min(cloop.BatchLen, f.count+1-sent))
		for i := range n {
			w.Put(batch.Message(i))
		}
		if err := out.Outside("send", batch, send); err != nil {
			return err
		}
	}
	return f.flooded(out, sent)
}

// receive takes the first message of the flow, then b.Loop more against the
// clock, then the rest without it, and checks that nothing is missing.
func (f *flow) receive(b *testing.B, in *session.Socket) (*measurement, error) {
	c := f.fill.NewChecker(f.size, f.senders)
	if err := f.first(in, c); err != nil {
		return nil, err
	}
	defer watch(b, f.seen)()
	m := begin(b)
	m.perMessage = true
	before := f.shares(c)
	for b.Loop() {
		msg, err := in.Recv()
		if err != nil {
			return nil, err
		}
		if err := c.Check(msg); err != nil {
			return nil, in.Fault(payload.Explain(err, in.Recv))
		}
		f.seen.add()
	}
	m.end()
	f.window = since(before, f.shares(c))
	f.halt()
	return m, f.rest(in, c)
}

// receiveC is receive in C: one call from Go for all that the clock sees.
func (f *flow) receiveC(b *testing.B, in *session.Socket) (*measurement, error) {
	loop := cloop.NewLoop(f.size, 0, f.senders)
	loop.Fill(f.fill)
	receive := func(n int) error {
		err := in.Outside("recv", loop, func(socket unsafe.Pointer) error { return loop.Receive(socket, n) })
		return explain(err, in)
	}
	if err := f.sendersAreThere(in); err != nil {
		return nil, err
	}
	if err := errors.Join(receive(1), in.Single()); err != nil {
		return nil, err
	}
	defer watch(b, loop)()
	m := begin(b)
	b.ResetTimer()
	err := receive(b.N)
	b.StopTimer()
	m.end()
	f.halt()
	if err = errors.Join(err, in.Single()); err != nil || !f.marked() {
		return m, err
	}
	err = in.Outside("recv", loop, func(socket unsafe.Pointer) error { return loop.Rest(socket, f.senders) })
	_, received := loop.Counts()
	return m, errors.Join(explain(err, in), f.complete(in, received))
}

// receiveBatch is receive with 16 messages a call into C.
func (f *flow) receiveBatch(b *testing.B, in *session.Socket) (*measurement, error) {
	c, batch := f.fill.NewChecker(f.size, f.senders), cloop.NewBatch(cloop.BatchLen, f.size)
	if err := f.first(in, c); err != nil {
		return nil, err
	}
	var n int
	receive := func(socket unsafe.Pointer) error { return batch.Receive(socket, n) }
	defer watch(b, batch, f.seen)() // which has the first message and the rest
	m := begin(b)
	m.perMessage = true
	b.ResetTimer()
	for i := 0; i < b.N; i += n {
		n = min(cloop.BatchLen, b.N-i)
		if err := in.Outside("recv", batch, receive); err != nil {
			return nil, err
		}
		for j := range n {
			if err := c.Check(batch.Received(j)); err != nil {
				next := j
				return nil, in.Fault(payload.Explain(err, func() ([]byte, error) {
					if next++; next < n {
						return batch.Received(next), nil
					}
					return in.Recv()
				}))
			}
		}
	}
	b.StopTimer()
	m.end()
	f.halt()
	return m, f.rest(in, c)
}

// shares is what the receiver has got from each sender.
func (f *flow) shares(c *payload.Checker) []int64 {
	shares := make([]int64, f.senders)
	for i := range shares {
		shares[i] = c.From(i)
	}
	return shares
}

// since is what each had more of after than before.
func since(before, after []int64) []int64 {
	for i := range after {
		after[i] -= before[i]
	}
	return after
}

// explain makes the fault of a loop in C more exact by what follows it.
func explain(err error, in *session.Socket) error {
	var fault *payload.Fault
	if errors.As(err, &fault) {
		return in.Fault(payload.Explain(fault, in.Recv))
	}
	return err
}

// halt tells the senders that the receiver has enough.
func (f *flow) halt() {
	f.stop.Store(true)
	for i := range f.loops {
		if loop := f.loops[i].Load(); loop != nil {
			loop.Stop()
		}
	}
}

// first waits until all senders are there and takes the first message.
func (f *flow) first(in *session.Socket, c *payload.Checker) error {
	if err := f.sendersAreThere(in); err != nil {
		return err
	}
	msg, err := in.Recv()
	if err != nil {
		return err
	}
	if err := c.Check(msg); err != nil {
		return in.Fault(payload.Explain(err, in.Recv))
	}
	f.seen.add()
	return in.Single()
}

// sendersAreThere waits until all senders are, and lets them begin.
func (f *flow) sendersAreThere(in *session.Socket) error {
	for range f.senders {
		if err := in.Await(f.ready, "a sender that is connected"); err != nil {
			return err
		}
	}
	close(f.begin)
	return nil
}

// rest takes what the senders sent while the receiver had enough.
func (f *flow) rest(in *session.Socket, c *payload.Checker) error {
	if !f.marked() {
		return in.Single()
	}
	for marks := 0; marks < f.senders; {
		msg, err := in.Recv()
		if err != nil {
			return err
		}
		if len(msg) == len(f.mark()) {
			marks++
			continue
		}
		if err := c.Check(msg); err != nil {
			return in.Fault(payload.Explain(err, in.Recv))
		}
		f.seen.add()
	}
	if err := f.complete(in, c.Received()); err != nil {
		return err
	}
	return in.Single()
}

// complete compares what was received with what was sent: messages below 8
// bytes have no numbers that would tell.
func (f *flow) complete(in *session.Socket, received int64) error {
	if sent := f.sent.Load(); received != sent {
		return in.Fault(fmt.Errorf("%d messages came, %d were sent", received, sent))
	}
	return nil
}

// report adds the rate to ns/op if there were enough messages for one.
func (f *flow) report(b *testing.B) {
	if b.N < f.enough() {
		return
	}
	if rate, ok := metric.Rate(int64(b.N), b.Elapsed()); ok {
		metric.Report(b, rate, metric.MsgPerSec)
		b.SetBytes(int64(f.size))
	}
}

// enough is how many messages make a rate. The first come out of queues that
// were full before the clock started: over inproc, 1000 messages show four times
// the rate of 1000000. Larger messages hide less of it.
func (f *flow) enough() int {
	few := 10_000
	if f.size <= 1000 {
		few = 100_000
	}
	return max(few, 5*2*f.hwm*f.pipes)
}

// TestThroughputCount: -benchtime=10000x is one message to start the clock and
// 10000 more, none lost (Z03, Z07). Without a count, whatever was sent is
// received, and the result's N is what the clock ran for.
func TestThroughputCount(t *testing.T) {
	for _, transport := range transports {
		for _, size := range []int{0, 1, 100} {
			t.Run(fmt.Sprintf("%s/%d", transport, size), func(t *testing.T) {
				var f *flow
				result, text := measure(t, "10000x", func(b *testing.B, tb session.TB) {
					f = newFlow(b, size, 1, hwm, 1)
					stream(b, open(tb, transport), f, f.sender(f.flood), f.receive)
				})
				if text != "" || result.N != 10000 || f.sent.Load() != 10001 {
					t.Errorf("%d sent, N = %d, failures %q; want 10001, 10000, none", f.sent.Load(), result.N, text)
				}
				if got, there := result.Extra["msg/s"]; there {
					t.Errorf("msg/s = %v from 10000 messages, want none: that many come out of a queue", got)
				}
				result, text = measure(t, "20ms", func(b *testing.B, tb session.TB) {
					f = newFlow(b, size, 1, hwm, 1)
					stream(b, open(tb, transport), f, f.sender(f.flood), f.receive)
				})
				if text != "" || f.sent.Load() <= int64(result.N) {
					t.Errorf("%d sent, N = %d, failures %q; want more than N, none", f.sent.Load(), result.N, text)
				}
			})
		}
	}
}

// TestThroughputLargeMessages sends 1 MiB messages and lets the sender close as
// soon as the receiver has all: nothing may be missing, a hundred times (Z03).
func TestThroughputLargeMessages(t *testing.T) {
	for i := range 100 {
		_, text := measure(t, "10x", func(b *testing.B, tb session.TB) {
			f := newFlow(b, 1<<20, 1, hwm, 1)
			stream(b, open(tb, transports[1+i%2]), f, f.sender(f.flood), f.receive)
		})
		if text != "" {
			t.Fatalf("run %d: %s", i, text)
		}
	}
}

// TestThroughputClock lets the sender take its time after the last message:
// that is none of the measurement (Z13).
func TestThroughputClock(t *testing.T) {
	const late = 300 * time.Millisecond
	var f *flow
	result, text := measure(t, "1000x", func(b *testing.B, tb session.TB) {
		f = newFlow(b, 100, 1, hwm, 1)
		stream(b, open(tb, "tcp"), f, func(r *session.Role, at *session.Address) error {
			err := f.sender(f.flood)(r, at)
			<-time.After(late) // the time that a slow exit takes
			return err
		}, f.receive)
	})
	if text != "" || result.T >= late {
		t.Errorf("the clock shows %v, failures %q; want less than the sender's exit alone, %v", result.T, text, late)
	}
}

// TestThroughputFaults has senders that spoil one message each. The failure
// says which and how.
func TestThroughputFaults(t *testing.T) {
	for _, fault := range []struct {
		name, want string
		spoil      func(m [][]byte) [][]byte
	}{
		{"drop", "message 50 of sender 0 is lost", func(m [][]byte) [][]byte { return slices.Delete(m, 50, 51) }},
		{"repeat", "message 50 of sender 0 is repeated", func(m [][]byte) [][]byte { return slices.Insert(m, 51, m[50]) }},
		{"reorder", "message 50 of sender 0 is out of order", func(m [][]byte) [][]byte { m[50], m[51] = m[51], m[50]; return m }},
		{"corrupt", "message 50 is damaged: byte 99 is", func(m [][]byte) [][]byte { m[50][99] ^= 1; return m }},
		{"corrupt number", "message 50 is damaged: its number reads", func(m [][]byte) [][]byte { m[50][1] ^= 1; return m }},
		{"cut", "message 50 has the wrong size: got 99 bytes, want 100", func(m [][]byte) [][]byte { m[50] = m[50][:99]; return m }},
		{"first", "message 0 has the wrong size: got 4 bytes, want 100", func(m [][]byte) [][]byte { m[0] = m[0][:4]; return m }},
		{"stop", "no message for 300ms", func(m [][]byte) [][]byte { return m[:50] }},
	} {
		for i, transport := range slices.Concat(transports, transports, transports) {
			language := []string{"go", "c", "batch"}[i/len(transports)]
			t.Run(fault.name+"/"+transport+"/"+language, func(t *testing.T) {
				if fault.name == "stop" { // the only one that is found by waiting
					wait(t, 300*time.Millisecond)
				}
				_, text := measure(t, "100x", func(b *testing.B, tb session.TB) {
					f := newFlow(b, 100, 1, hwm, 1)
					receive := map[string]receiving{"go": f.receive, "c": f.receiveC, "batch": f.receiveBatch}[language]
					stream(b, open(tb, transport), f, f.script(fault.spoil(f.messages())), receive)
				})
				for _, want := range []string{"receiver: recv " + transport + "://", fault.want, "0 sent, ", "\nsender: PUSH "} {
					if !strings.Contains(text, want) {
						t.Errorf("failure %q, want %q in it", text, want)
					}
				}
			})
		}
	}
}

// TestThroughputParts: a message of several parts is not taken for several
// messages, whatever the receiver is written in (Z09).
func TestThroughputParts(t *testing.T) {
	for _, language := range []string{"go", "c", "batch"} {
		_, text := measure(t, "1x", func(b *testing.B, tb session.TB) {
			f := newFlow(b, 100, 1, hwm, 1)
			receive := map[string]receiving{"go": f.receive, "c": f.receiveC, "batch": f.receiveBatch}[language]
			stream(b, open(tb, "tcp"), f, func(r *session.Role, at *session.Address) error {
				push, err := r.Connect(zmq.PUSH, at)
				if err != nil {
					return err
				}
				f.ready <- struct{}{}
				w := payload.NewWriter(f.size, 0)
				if err := errors.Join(push.SendPart(w.Next()), push.Send(w.Next())); err != nil {
					return err
				}
				r.AwaitEnd()
				return nil
			}, receive)
		})
		if want := "the message has several parts, want one"; !strings.Contains(text, want) {
			t.Errorf("%s: failures %q, want %q in them", language, text, want)
		}
	}
}

// script is a sender of the given messages.
func (f *flow) script(msgs [][]byte) peer {
	return func(r *session.Role, at *session.Address) error {
		push, err := r.Connect(zmq.PUSH, at)
		if err != nil {
			return err
		}
		f.ready <- struct{}{}
		for _, msg := range msgs {
			if err := push.Send(msg); err != nil {
				return err
			}
		}
		r.AwaitEnd()
		return nil
	}
}

// pinnedStream runs BenchmarkPinned's stream for a count, with what is done in
// each role before its first message.
func pinnedStream(t *testing.T, l language, fill payload.Fill, cpus *[2]int, sending, receiving func()) (testing.BenchmarkResult, string) {
	t.Helper()
	return measure(t, "3000x", func(b *testing.B, tb session.TB) {
		f := l.flow(b, 64, 1, hwm, 1).filled(fill)
		sender := f.sender(func(out *session.Socket, sender int) error {
			sending()
			return l.flood(f)(out, sender)
		})
		stream(b, openOn(tb, "inproc", cpus), f, sender, func(b *testing.B, in *session.Socket) (*measurement, error) {
			receiving()
			return l.receive(f)(b, in)
		})
	})
}

// TestPinned looks at the threads of the process while a pinned stream runs: one
// of a role on each CPU, libzmq's where the header of a run says, and all others
// free; and afterwards all as before (Z27).
func TestPinned(t *testing.T) {
	cpus, err := pinned()
	if err != nil {
		t.Skip(err)
	}
	text := placement()
	before := allowedCPUs(t)
	for _, l := range languages {
		var sender, receiver []int
		var threads map[string]int
		result, failed := pinnedStream(t, l, payload.Zero, cpus, func() { sender, _ = affinity.Allowed() }, func() {
			receiver, _ = affinity.Allowed()
			threads = map[string]int{}
			all, err := affinity.Threads()
			if err != nil {
				t.Error(err)
			}
			for _, thread := range all {
				if strings.HasPrefix(thread.Name, "ZMQbg") {
					thread.CPUs += " of libzmq"
				}
				threads[thread.CPUs]++
			}
		})
		if failed != "" || result.N != 3000 {
			t.Fatalf("%s: N = %d, failures %q; want 3000, none", l.layer, result.N, failed)
		}
		if !slices.Equal(receiver, cpus[:1]) || !slices.Equal(sender, cpus[1:]) {
			t.Errorf("%s: the receiver may use CPUs %v and the sender %v, want %v, one each", l.layer, receiver, sender, *cpus)
		}
		first, second := affinity.Text(cpus[:1]), affinity.Text(cpus[1:])
		delete(threads, before[0]) // those of the Go runtime
		want := map[string]int{first: 1, second: 1, first + " of libzmq": conf.IOThreads + 1}
		if !maps.Equal(threads, want) {
			t.Errorf("%s: threads by CPU %v, want %v", l.layer, threads, want)
		}
		if want := "over inproc all on CPU " + first; !strings.HasSuffix(text, want) {
			t.Errorf("the header has %q, want %q in it", text, want)
		}
		if after := allowedCPUs(t); !slices.Equal(after, before) {
			t.Errorf("%s: threads may use CPUs %q afterwards, want %q as before", l.layer, after, before)
		}
	}
}

// TestPinnedFill has C and Go send to each other what BenchmarkPinned sends. In
// each message of zeros there are none but zeros; in the others anything may be.
// Faults are found as far as there is something to compare.
func TestPinnedFill(t *testing.T) {
	for _, fill := range []payload.Fill{payload.None, payload.Zero} {
		for _, from := range languages {
			for _, to := range languages {
				result, text := measure(t, "3000x", func(b *testing.B, tb session.TB) {
					f := to.flow(b, 64, 1, hwm, 1).filled(fill)
					stream(b, open(tb, "inproc"), f, f.sender(from.flood(f)), to.receive(f))
				})
				if text != "" || result.N != 3000 {
					t.Errorf("fill=%v, %s to %s: N = %d, failures %q; want 3000, none", fill, from.layer, to.layer, result.N, text)
				}
			}
			_, text := measure(t, "1000x", func(b *testing.B, tb session.TB) {
				f := newFlowOf(b, b.N, 64, 1, hwm, 1).filled(fill)
				stream(b, open(tb, "inproc"), f, f.sender(from.flood(f)), onlyZeros(f))
			})
			if fill == payload.Zero && text != "" {
				t.Errorf("fill=zero, %s: %s", from.layer, text)
			}
		}
	}
	wait(t, 300*time.Millisecond)
	for _, fault := range []struct {
		name       string
		spoil      func(m [][]byte) [][]byte
		none, zero string
	}{
		{"drop", func(m [][]byte) [][]byte { return slices.Delete(m, 50, 51) }, "message 50 of sender 0 is lost", "message 50 of sender 0 is lost"},
		{"cut", func(m [][]byte) [][]byte { m[50] = m[50][:63]; return m }, "message 50 has the wrong size", "message 50 has the wrong size"},
		{"a byte", func(m [][]byte) [][]byte { m[50][63] = 1; return m }, "", ""},
		{"a byte that is looked at", func(m [][]byte) [][]byte { m[1024][63] = 1; return m }, "", "message 1024 is damaged: byte 63 is 0x01, want 0x00"},
	} {
		for fill, want := range map[payload.Fill]string{payload.None: fault.none, payload.Zero: fault.zero} {
			for _, l := range languages {
				_, text := measure(t, "1500x", func(b *testing.B, tb session.TB) {
					f := newFlowOf(b, 1500, 64, 1, hwm, 1).filled(fill)
					stream(b, open(tb, "inproc"), f, f.script(fault.spoil(f.messages())), l.receive(f))
				})
				if !strings.Contains(text, want) || want == "" && text != "" {
					t.Errorf("fill=%v, %s, %s: failure %q, want %q", fill, fault.name, l.layer, text, want)
				}
			}
		}
	}
}

// onlyZeros receives the messages of f and looks at every byte.
func onlyZeros(f *flow) receiving {
	return func(b *testing.B, in *session.Socket) (*measurement, error) {
		if err := f.sendersAreThere(in); err != nil {
			return nil, err
		}
		m := begin(b)
		for range b.N + 1 {
			msg, err := in.Recv()
			if err != nil {
				return nil, err
			}
			for i, c := range msg[8:] {
				if c != 0 {
					return nil, in.Fault(fmt.Errorf("byte %d is %#02x, want 0", 8+i, c))
				}
			}
		}
		m.end()
		return m, nil
	}
}

// messages are those that a sender of f sends.
func (f *flow) messages() [][]byte {
	w := f.fill.NewWriter(f.size, 0)
	var msgs [][]byte
	for range f.count + 1 {
		msgs = append(msgs, slices.Clone(w.Next()))
	}
	return msgs
}

// TestSenders has four senders get 100000 messages through to one receiver, or
// 1000000 with STREAMS_LONG=1 in the environment. None is lost and none out of its
// sender's order, which the flow checks; what came from each adds up to what the
// clock ran for.
func TestSenders(t *testing.T) {
	n := 100_000
	switch {
	case os.Getenv("STREAMS_LONG") != "":
		n = 1_000_000
	case racing():
		n = 10_000
	}
	for _, transport := range []string{"ipc", "tcp"} {
		var f *flow
		result, text := measure(t, fmt.Sprintf("%dx", n), func(b *testing.B, tb session.TB) {
			f = newFlow(b, 100, 4, hwm, 4)
			shared(b, open(tb, transport), f)
		})
		sum := int64(0)
		for _, got := range f.window {
			sum += got
		}
		if text != "" || result.N != n || sum != int64(n) || f.sent.Load() < sum {
			t.Errorf("%s: N = %d, from each sender %v, %d sent, failures %q; want %d, the same in all, no fewer, none",
				transport, result.N, f.window, f.sent.Load(), text, n)
		}
		want, _ := metric.Jain(f.window)
		if got, ok := result.Extra["fairness"]; ok != (n >= f.enough()) || ok && (got != want || got < 0.25 || got > 1) {
			t.Errorf("%s: fairness = %v, %v, want %v from %v, and none of fewer than %d", transport, got, ok, want, f.window, f.enough())
		}
	}
}

// TestBurst takes three bursts over every transport, from either start. A pause
// before a burst is in no figure (it would be in ns/op if testing's clock were),
// and one in the middle of it is in all three.
func TestBurst(t *testing.T) {
	const pause = 20 * time.Millisecond
	for _, transport := range transports {
		for _, start := range burstStarts {
			for _, at := range []int{0, 500} {
				t.Run(fmt.Sprintf("%s/%s/%d", transport, start.name, at), func(t *testing.T) {
					var sent int
					result, text := measure(t, "3x", func(b *testing.B, tb session.TB) {
						u := newBursts(b, 1000)
						sent = 0
						start.run(b, func() *session.Session { return open(tb, transport) }, u, func(r *session.Role, to *session.Address) error {
							push, err := r.Bind(zmq.PUSH, to)
							for err == nil {
								if err = push.Await(u.asked, "the receiver"); err != nil {
									break
								}
								sent += u.size // before the send ends, whereupon the receiver sets another
								err = u.sendPausing(push, at, pause)
							}
							return err
						})
					})
					want := 3000
					if start.name == "warm" {
						want = 4000
					}
					if text != "" || result.N != 3 || sent != want {
						t.Fatalf("N = %d, %d sent, failures %q; want 3, %d, none", result.N, sent, text, want)
					}
					all, sending, receiving := result.Extra["ns/op"], result.Extra["send-ns"], result.Extra["recv-ns"]
					if at == 0 {
						if all <= 0 || sending <= 0 || receiving <= 0 || receiving > all || result.T < 3*pause {
							t.Errorf("ns/op, send-ns, recv-ns = %.0f, %.0f, %.0f in %v, want all above 0, and the last no more than the first, in at least %v", all, sending, receiving, result.T, 3*pause)
						}
						if sum := time.Duration(3 * all); sum > result.T-3*pause {
							t.Errorf("three bursts took %v of %v, want at most what is left without three pauses of %v", sum, result.T, pause)
						}
						return
					}
					for unit, ns := range map[string]float64{"ns/op": all, "send-ns": sending, "recv-ns": receiving} {
						// A receiver that reads the message before the pause late sees
						// less of the pause.
						if ns < float64(pause)/2 {
							t.Errorf("%s = %.0f, want most of the pause of %v", unit, ns, pause)
						}
					}
				})
			}
		}
	}
}

// sendPausing is send with a pause before message number at: before the clock, if
// that is the first.
func (u *bursts) sendPausing(push *session.Socket, at int, pause time.Duration) error {
	if at == 0 {
		<-time.After(pause) // the fault itself
		return u.send(push)
	}
	u.begun = latency.Now()
	for i := range u.size {
		if i == at {
			<-time.After(pause) // the fault itself
		}
		if err := push.Send(payload.AppendText(nil, i)); err != nil {
			return err
		}
	}
	u.done = latency.Now()
	u.told <- struct{}{}
	return nil
}

// TestBurstFaults has a sender that spoils a message: the failure says which.
func TestBurstFaults(t *testing.T) {
	wait(t, 300*time.Millisecond)
	for _, fault := range []struct {
		text string // in place of message 50
		want string
	}{
		{"Message #51", "message 50 of sender 0 is lost: number 51 came instead"},
		{"Message #49", "message 49 of sender 0 is repeated"},
		{"Message #5x", "message 50 is damaged: byte 10 is 0x78, want 0x30"},
		{"Message", "message 50 has the wrong size: got 7 bytes, want 11"},
	} {
		for _, start := range burstStarts {
			_, text := measure(t, "1x", func(b *testing.B, tb session.TB) {
				u := newBursts(b, 100)
				start.run(b, func() *session.Session { return open(tb, "tcp") }, u, func(r *session.Role, at *session.Address) error {
					push, err := r.Bind(zmq.PUSH, at)
					if err != nil {
						return err
					}
					for i := range u.count {
						text := payload.AppendText(nil, i)
						if i == 50 {
							text = []byte(fault.text)
						}
						if err := push.Send(text); err != nil {
							return err
						}
					}
					r.AwaitEnd()
					return nil
				})
			})
			for _, want := range []string{"receiver: recv tcp://", fault.want, "(0 sent, 51 received)"} {
				if !strings.Contains(text, want) {
					t.Errorf("%q, %s: failure %q, want %q in it", fault.text, start.name, text, want)
				}
			}
		}
	}
}

// TestProgress has every kind of stream write lines, with windows of a
// millisecond: they have the benchmark's name, and their last total is what the
// receiver got.
func TestProgress(t *testing.T) {
	t.Cleanup(func() { progressLog = nil })
	newFlow := func(b *testing.B, senders int) *flow { return newFlow(b, 100, senders, hwm, senders) }
	for name, kind := range map[string]struct {
		benchtime string
		total     int // 0 for whatever came
		run       func(b *testing.B, tb session.TB)
	}{
		"zmq4": {"20000x", 20001, func(b *testing.B, tb session.TB) {
			f := newFlow(b, 1)
			stream(b, open(tb, "tcp"), f, f.sender(f.flood), f.receive)
		}},
		"batch": {"20000x", 20001, func(b *testing.B, tb session.TB) {
			f := newFlowOf(b, b.N, 100, 1, hwm, 1)
			stream(b, open(tb, "tcp"), f, f.sender(f.floodBatch), f.receiveBatch)
		}},
		"libzmq": {"100000x", 100001, func(b *testing.B, tb session.TB) {
			f := newFlowOf(b, b.N, 100, 1, hwm, 1)
			stream(b, open(tb, "tcp"), f, f.sender(f.floodC), f.receiveC)
		}},
		"kernel": {"200000x", 200001, func(b *testing.B, tb session.TB) {
			f := newFlowOf(b, b.N, 100, 1, hwm, 1)
			bareStream(b, open(tb, "tcp"), f, "tcp")
		}},
		"senders": {"20000x", 0, func(b *testing.B, tb session.TB) { shared(b, open(tb, "tcp"), newFlow(b, 4)) }},
		"proxy":   {"20000x", 0, func(b *testing.B, tb session.TB) { pubSub(b, open(tb, "inproc"), 100, languages[0]) }},
		"cold": {"3x", 30000, func(b *testing.B, tb session.TB) {
			u := newBursts(b, 10000)
			coldBursts(b, func() *session.Session { return open(tb, "tcp") }, u, u.sender)
		}},
		"warm": {"2x", 30000, func(b *testing.B, tb session.TB) {
			u := newBursts(b, 10000)
			warmBursts(b, func() *session.Session { return open(tb, "tcp") }, u, u.sender)
		}},
	} {
		var text strings.Builder
		progressLog = progress.New(&text, time.Millisecond)
		result, failed := measure(t, kind.benchtime, kind.run)
		lines := strings.Split(strings.TrimSpace(text.String()), "\n")
		var total int
		_, last, _ := strings.Cut(lines[len(lines)-1], "total=")
		if _, err := fmt.Sscan(last, &total); err != nil || failed != "" || result.N == 0 || total < result.N || kind.total > 0 && total != kind.total {
			t.Errorf("%s: the last of %d lines is %q, failures %q; want a total of %d (0: of what came)", name, len(lines), lines[len(lines)-1], failed, kind.total)
		}
	}
}
