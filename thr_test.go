//go:build cgo

package zmqbench

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	zmq "github.com/pebbe/zmq4"

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
func BenchmarkThroughput(b *testing.B) {
	for _, transport := range transports {
		for _, size := range conf.SizesOr(sizes...) {
			name := fmt.Sprintf("transport=%s/mech=null/size=%d", transport, size)
			b.Run(name+"/layer=zmq4", func(b *testing.B) {
				f := newFlow(b, size, 1, conf.HWMOr(hwm), 1)
				stream(b, open(b, transport), f, f.sender)
			})
		}
	}
}

// stream receives, on the benchmark's goroutine, what a sender that connects
// sends as fast as it can.
func stream(b *testing.B, s *session.Session, f *flow, sender peer) {
	at := s.Address()
	s.Go("sender", func(r *session.Role) error { return sender(r, at) })
	s.Run("receiver", func(r *session.Role) error {
		pull, err := r.Bind(zmq.PULL, at, session.HWM(f.hwm))
		if err != nil {
			return err
		}
		return f.receive(b, pull)
	})
	f.report(b)
}

// A flow is a stream of messages: what its senders and its receiver agree on,
// and what they tell each other beside the sockets.
type flow struct {
	size    int           // of each message in bytes
	senders int           // how many there are
	hwm     int           // of their sockets
	count   int64         // messages after the first; 0 until the loop has counted them
	stop    atomic.Bool   // set when the receiver has enough
	sent    atomic.Int64  // by the senders that have ended
	ready   chan struct{} // a value from each sender that has somebody to send to
}

// newFlow returns the flow of a benchmark that has that many connections. It
// fails b, before there is any socket, if the messages would take too much
// memory.
func newFlow(b *testing.B, size, senders, hwm, pipes int) *flow {
	f := &flow{size: size, senders: senders, hwm: hwm, ready: make(chan struct{}, senders)}
	f.count = fixedCount()
	all := 0
	if f.count > 0 {
		all = senders * (int(f.count) + 1)
	}
	if err := flags.CheckMemory(size, all, hwm, pipes); err != nil {
		b.Fatal(err)
	}
	return f
}

// fixedCount is N of -benchtime=Nx, or 0 when the benchmark runs for a time.
func fixedCount() int64 {
	text, ok := strings.CutSuffix(flag.Lookup("test.benchtime").Value.String(), "x")
	if !ok {
		return 0
	}
	n, _ := strconv.ParseInt(text, 10, 64) // package testing has checked it
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

// sender connects a PUSH and floods it.
func (f *flow) sender(r *session.Role, at *session.Address) error {
	push, err := r.Connect(zmq.PUSH, at, session.HWM(f.hwm))
	if err != nil {
		return err
	}
	f.ready <- struct{}{}
	if err := f.flood(push, 0); err != nil {
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
	f.sent.Add(n)
	if !f.marked() {
		return nil
	}
	return out.Send(f.mark())
}

// receive takes the first message of the flow, then b.Loop more against the
// clock, then the rest without it, and checks that nothing is missing.
func (f *flow) receive(b *testing.B, in *session.Socket) error {
	c := payload.NewChecker(f.size, f.senders)
	if err := f.first(in, c); err != nil {
		return err
	}
	b.ReportAllocs()
	for b.Loop() {
		msg, err := in.Recv()
		if err != nil {
			return err
		}
		if err := c.Check(msg); err != nil {
			return in.Fault(c.Explain(err, in.Recv))
		}
	}
	f.stop.Store(true)
	return f.rest(in, c)
}

// first waits until all senders are there and takes the first message.
func (f *flow) first(in *session.Socket, c *payload.Checker) error {
	for range f.senders {
		if err := in.Await(f.ready, "a sender that is connected"); err != nil {
			return err
		}
	}
	msg, err := in.Recv()
	if err != nil {
		return err
	}
	if err := c.Check(msg); err != nil {
		return in.Fault(c.Explain(err, in.Recv))
	}
	return in.Single()
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
			return in.Fault(c.Explain(err, in.Recv))
		}
	}
	if got, want := c.Received(), f.sent.Load(); got != want {
		return in.Fault(fmt.Errorf("%d messages came, %d were sent", got, want))
	}
	return in.Single()
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

// enough is how many messages make a rate. The first few thousand come out of
// queues that were full before the clock started: over inproc, 1000 messages
// show four times the rate of 1000000. Larger messages hide less of it.
func (f *flow) enough() int {
	if f.size <= 1000 {
		return 100_000
	}
	return 10_000
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
					stream(b, open(tb, transport), f, f.sender)
				})
				if text != "" || result.N != 10000 || f.sent.Load() != 10001 {
					t.Errorf("%d sent, N = %d, failures %q; want 10001, 10000, none", f.sent.Load(), result.N, text)
				}
				if got, there := result.Extra["msg/s"]; there {
					t.Errorf("msg/s = %v from 10000 messages, want none: that many come out of a queue", got)
				}
				result, text = measure(t, "20ms", func(b *testing.B, tb session.TB) {
					f = newFlow(b, size, 1, hwm, 1)
					stream(b, open(tb, transport), f, f.sender)
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
			stream(b, open(tb, transports[1+i%2]), f, f.sender)
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
			err := f.sender(r, at)
			<-time.After(late) // the time that a slow exit takes
			return err
		})
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
		for _, transport := range transports {
			t.Run(fault.name+"/"+transport, func(t *testing.T) {
				_, text := measure(t, "100x", func(b *testing.B, tb session.TB) {
					f := newFlow(b, 100, 1, hwm, 1)
					w := payload.NewWriter(f.size, 0)
					var msgs [][]byte
					for range f.count + 1 {
						msgs = append(msgs, slices.Clone(w.Next()))
					}
					stream(b, open(tb, transport), f, f.script(fault.spoil(msgs)))
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
