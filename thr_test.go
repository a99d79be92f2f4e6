//go:build cgo

package zmqbench

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	zmq "github.com/pebbe/zmq4"

	"zmqbench/internal/cloop"
	"zmqbench/internal/flags"
	"zmqbench/internal/metric"
	"zmqbench/internal/payload"
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

// A receiving role takes a flow from a socket against the clock.
type receiving func(*testing.B, *session.Socket) (*measurement, error)

// stream receives, on the benchmark's goroutine, what a sender that connects
// sends as fast as it can.
func stream(b *testing.B, s *session.Session, f *flow, sender peer, receive receiving) {
	at := s.Address()
	s.Go("sender", func(r *session.Role) error { return sender(r, at) })
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

// A flow is a stream of messages: what its senders and its receiver agree on,
// and what they tell each other beside the sockets.
type flow struct {
	size    int                          // of each message in bytes
	senders int                          // how many there are
	hwm     int                          // of their sockets
	pipes   int                          // connections from the senders to the receiver
	count   int64                        // messages after the first; 0 if the benchmark runs for a time
	stop    atomic.Bool                  // set when the receiver has enough
	sent    atomic.Int64                 // by the senders that have ended
	ready   chan struct{}                // a value from each sender that has somebody to send to
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
	}
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
func (f *flow) sender(flood flooding) peer {
	return func(r *session.Role, at *session.Address) error {
		push, err := r.Connect(zmq.PUSH, at, session.HWM(f.hwm))
		if err != nil {
			return err
		}
		return f.send(r, push, flood, 0)
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
	w := payload.NewWriter(f.size, sender)
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
	w, batch := payload.NewWriter(f.size, sender), cloop.NewBatch(cloop.BatchLen, f.size)
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
	c := payload.NewChecker(f.size, f.senders)
	if err := f.first(in, c); err != nil {
		return nil, err
	}
	m := begin(b)
	m.perMessage = true
	for b.Loop() {
		msg, err := in.Recv()
		if err != nil {
			return nil, err
		}
		if err := c.Check(msg); err != nil {
			return nil, in.Fault(payload.Explain(err, in.Recv))
		}
	}
	m.end()
	f.halt()
	return m, f.rest(in, c)
}

// receiveC is receive in C: one call from Go for all that the clock sees.
func (f *flow) receiveC(b *testing.B, in *session.Socket) (*measurement, error) {
	loop := cloop.NewLoop(f.size, 0, f.senders)
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
	c, batch := payload.NewChecker(f.size, f.senders), cloop.NewBatch(cloop.BatchLen, f.size)
	if err := f.first(in, c); err != nil {
		return nil, err
	}
	var n int
	receive := func(socket unsafe.Pointer) error { return batch.Receive(socket, n) }
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
	wait(t, 300*time.Millisecond)
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
				_, text := measure(t, "100x", func(b *testing.B, tb session.TB) {
					f := newFlow(b, 100, 1, hwm, 1)
					receive := map[string]receiving{"go": f.receive, "c": f.receiveC, "batch": f.receiveBatch}[language]
					w := payload.NewWriter(f.size, 0)
					var msgs [][]byte
					for range f.count + 1 {
						msgs = append(msgs, slices.Clone(w.Next()))
					}
					stream(b, open(tb, transport), f, f.script(fault.spoil(msgs)), receive)
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
