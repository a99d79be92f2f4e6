//go:build cgo

package zmqbench

import (
	"fmt"
	"strings"
	"testing"

	zmq "github.com/pebbe/zmq4"

	"zmqbench/internal/payload"
	"zmqbench/internal/session"
)

// BenchmarkProxy measures what comes through zmq_proxy, over inproc: one op is
// one message received behind the proxy.
//
// With pattern=pubsub it is libzmq's proxy_thr: two publishers (XPUB) connect
// to an XSUB, and one subscriber (SUB) to the XPUB behind the proxy. All
// sockets have an HWM of 10000, no XPUB drops, and the publishers wait for the
// subscription. Unlike the tool's, the clock starts when both publishers have
// seen it, and whatever both sent is received and checked; the figure is what
// the subscriber received, which is both publishers' share.
//
// With pattern=pushpull the sockets of BenchmarkThroughput are on the two
// sides of the proxy. With pattern=reqrep those of BenchmarkLatency are: the
// op is then one request received behind the proxy and its reply taken back,
// one round trip.
//
// With layer=libzmq all roles but the proxy itself, which is C in any case, are
// C. There is no layer=kernel: nothing in the kernel forwards.
func BenchmarkProxy(b *testing.B) {
	for _, pattern := range []struct {
		name string
		run  func(*testing.B, *session.Session, int, language)
	}{{"pubsub", pubSub}, {"pushpull", pushPull}, {"reqrep", reqRep}} {
		for _, size := range conf.SizesOr(100, 1000) {
			for _, l := range languages {
				name := fmt.Sprintf("pattern=%s/size=%d/layer=%s", pattern.name, size, l.layer)
				b.Run(name, func(b *testing.B) { pattern.run(b, open(b, "inproc"), size, l) })
			}
		}
	}
}

// A language is what the roles around a proxy are written in.
type language struct {
	layer string
	c     bool
}

var languages = []language{{"zmq4", false}, {"libzmq", true}}

// flow returns a flow whose count is known where the loop is in C.
func (l language) flow(b *testing.B, size, senders, queue, pipes int) *flow {
	if l.c {
		return newFlowOf(b, b.N, size, senders, queue, pipes)
	}
	return newFlow(b, size, senders, queue, pipes)
}

// flood is the sending loop of f.
func (l language) flood(f *flow) flooding {
	if l.c {
		return f.floodC
	}
	return f.flood
}

// receive is the receiving loop of f.
func (l language) receive(f *flow) receiving {
	if l.c {
		return f.receiveC
	}
	return f.receive
}

// proxy returns a role that binds a front to its addresses and a back to its
// one, and forwards between them.
func proxy(front, back zmq.Type, fronts []*session.Address, at *session.Address, options ...session.Option) func(*session.Role) error {
	return func(r *session.Role) error {
		f, err := r.Socket(front, options...)
		if err != nil {
			return err
		}
		for _, at := range fronts {
			if err := f.Bind(at); err != nil {
				return err
			}
		}
		if back == zmq.XPUB {
			options = append(options, session.NoDrop())
		}
		b, err := r.Bind(back, at, options...)
		if err != nil {
			return err
		}
		return r.Proxy(f, b)
	}
}

// pubSub is the topology of proxy_thr.
func pubSub(b *testing.B, s *session.Session, size int, l language) {
	const publishers = 2
	f := l.flow(b, size, publishers, conf.HWMOr(10000), publishers+1)
	fronts, back := []*session.Address{s.Address(), s.Address()}, s.Address()
	s.Go("proxy", proxy(zmq.XSUB, zmq.XPUB, fronts, back, session.HWM(f.hwm)))
	for i, at := range fronts {
		s.Go(fmt.Sprintf("publisher %d", i), func(r *session.Role) error { return f.publisher(r, at, i, l.flood(f)) })
	}
	runReceiver(b, s, f, "subscriber", func(r *session.Role) (*measurement, error) {
		sub, err := r.Connect(zmq.SUB, back, session.HWM(f.hwm), session.Subscribe(""))
		if err != nil {
			return nil, err
		}
		return l.receive(f)(b, sub)
	})
}

// publisher connects an XPUB that does not drop, waits for the subscription to
// everything, which is one byte 1, and floods.
func (f *flow) publisher(r *session.Role, at *session.Address, sender int, flood flooding) error {
	pub, err := r.Connect(zmq.XPUB, at, session.HWM(f.hwm), session.NoDrop())
	if err != nil {
		return err
	}
	if err := awaitSubscription(pub, ""); err != nil {
		return err
	}
	return f.send(r, pub, flood, sender)
}

// awaitSubscription receives the frame of a subscription to topic at an XPUB:
// a byte 1 and the topic, see zmq_socket(3).
func awaitSubscription(pub *session.Socket, topic string) error {
	frame, err := pub.Recv()
	if err != nil {
		return err
	}
	if want := "\x01" + topic; string(frame) != want {
		return pub.Fault(fmt.Errorf("subscription frame %q, want %q", frame, want))
	}
	return nil
}

// pushPull puts a proxy between the roles of BenchmarkThroughput.
func pushPull(b *testing.B, s *session.Session, size int, l language) {
	f := l.flow(b, size, 1, conf.HWMOr(hwm), 2)
	front, back := s.Address(), s.Address()
	s.Go("proxy", proxy(zmq.PULL, zmq.PUSH, []*session.Address{front}, back, session.HWM(f.hwm)))
	s.Go("sender", func(r *session.Role) error { return f.sender(l.flood(f))(r, front) })
	runReceiver(b, s, f, "receiver", func(r *session.Role) (*measurement, error) {
		pull, err := r.Connect(zmq.PULL, back, session.HWM(f.hwm))
		if err != nil {
			return nil, err
		}
		return l.receive(f)(b, pull)
	})
}

// reqRep puts a proxy between the roles of BenchmarkLatency.
func reqRep(b *testing.B, s *session.Session, size int, l language) {
	front, back := s.Address(), s.Address()
	s.Go("proxy", proxy(zmq.ROUTER, zmq.DEALER, []*session.Address{front}, back))
	s.Go("replier", func(r *session.Role) error {
		rep, err := r.Connect(zmq.REP, back)
		if err != nil {
			return err
		}
		if l.c {
			return echoC(rep)
		}
		return echo(rep)
	})
	if l.c {
		runRequester(b, s, front, size, requesterC)
	} else {
		runRequester(b, s, front, size, requester)
	}
}

// TestProxyCount runs every pattern for a count, over every transport and while
// each call and zmq_proxy itself are interrupted (Z10, Z50). That nothing was
// lost, also of what the publishers sent beyond the count, the flow checks.
func TestProxyCount(t *testing.T) {
	defer interruptions()()
	for _, transport := range transports {
		for name, run := range map[string]func(*testing.B, *session.Session, int, language){
			"pubsub": pubSub, "pushpull": pushPull, "reqrep": reqRep,
		} {
			for _, l := range languages {
				t.Run(transport+"/"+name+"/"+l.layer, func(t *testing.T) {
					result, text := measure(t, "1000x", func(b *testing.B, tb session.TB) {
						run(b, open(tb, transport), 100, l)
					})
					if text != "" || result.N != 1000 {
						t.Errorf("N = %d, failures %q; want 1000, none", result.N, text)
					}
				})
			}
		}
	}
}

// TestProxyFirstMessages publishes as soon as the subscription has arrived and
// gets every message from the first, a hundred times without a pause (Z51).
func TestProxyFirstMessages(t *testing.T) {
	for i := range 100 {
		result, text := measure(t, "100x", func(b *testing.B, tb session.TB) {
			pubSub(b, open(tb, "tcp"), 8, languages[i%2])
		})
		if text != "" || result.N != 100 {
			t.Fatalf("run %d: N = %d, failures %q; want 100, none", i, result.N, text)
		}
	}
}

// TestProxySmallQueues runs the publishers with queues that one alone would fill
// before the other has its subscription: they begin together, or the proxy,
// blocked by the one, could never tell the other that there is a subscriber.
func TestProxySmallQueues(t *testing.T) {
	before := conf.HWM
	defer func() { conf.HWM = before }()
	for _, conf.HWM = range []int{1, 2, 10} {
		for i, benchtime := range []string{"2000x", "20ms", "20ms", "2000x", "20ms", "20ms"} {
			_, text := measure(t, benchtime, func(b *testing.B, tb session.TB) {
				pubSub(b, open(tb, "inproc"), 100, languages[i%2])
			})
			if text != "" {
				t.Fatalf("HWM %d, %s, %s: %s", conf.HWM, benchtime, languages[i%2].layer, text)
			}
		}
	}
}

// TestPublisherThatDrops floods a small queue that nobody reads with an XPUB
// that may drop: a rate must come from what was received, and a pattern that
// is held to be lossless must fail when it is not (Z12).
func TestPublisherThatDrops(t *testing.T) {
	_, text := measure(t, "1000x", func(b *testing.B, tb session.TB) {
		f := newFlow(b, 100, 1, 10, 1)
		s := open(tb, "inproc")
		at := s.Address()
		s.Go("publisher", func(r *session.Role) error {
			pub, err := r.Bind(zmq.XPUB, at, session.HWM(f.hwm))
			if err == nil {
				err = awaitSubscription(pub, "")
			}
			w := payload.NewWriter(f.size, 0)
			for n := 0; err == nil; n++ {
				if n == 100 { // many more than both queues hold
					f.ready <- struct{}{}
				}
				err = pub.Send(w.Next())
			}
			return err
		})
		s.Run("subscriber", func(r *session.Role) error {
			sub, err := r.Connect(zmq.SUB, at, session.HWM(f.hwm), session.Subscribe(""))
			if err != nil {
				return err
			}
			_, err = f.receive(b, sub)
			return err
		})
	})
	if want := " of sender 0 is lost: number "; !strings.Contains(text, want) {
		t.Errorf("failure %q, want %q in it", text, want)
	}
}

// TestProxyNews is the demonstration of a proxy over tcp: what a publisher
// sends in front of it comes to a subscriber behind it, in order.
func TestProxyNews(t *testing.T) {
	s := open(t, "tcp")
	front, back := s.Address(), s.Address()
	s.Go("proxy", proxy(zmq.XSUB, zmq.XPUB, []*session.Address{front}, back))
	s.Go("publisher", func(r *session.Role) error {
		return publish(r, front, "news-", "news-0", "news-1", "news-2")
	})
	s.Run("subscriber", func(r *session.Role) error {
		return subscribe(r, back, "news-", "news-0", "news-1", "news-2")
	})
}

// TestSubscriptionIsPrefix: who subscribes to A gets AB too, and who
// subscribes to nothing in particular gets all (Z54).
func TestSubscriptionIsPrefix(t *testing.T) {
	sent := []string{"A", "AB", "B", "", "A."}
	for topic, want := range map[string][]string{"A": {"A", "AB", "A."}, "": sent} {
		s := open(t, "tcp")
		at := s.Address()
		s.Go("publisher", func(r *session.Role) error {
			pub, err := r.Bind(zmq.XPUB, at)
			if err != nil {
				return err
			}
			return publishOn(r, pub, topic, sent...)
		})
		s.Run("subscriber", func(r *session.Role) error { return subscribe(r, at, topic, want...) })
	}
}

// publish connects an XPUB, which is a PUB that shows subscriptions, waits for
// the one to topic and sends the messages.
func publish(r *session.Role, at *session.Address, topic string, messages ...string) error {
	pub, err := r.Connect(zmq.XPUB, at)
	if err != nil {
		return err
	}
	return publishOn(r, pub, topic, messages...)
}

func publishOn(r *session.Role, pub *session.Socket, topic string, messages ...string) error {
	if err := awaitSubscription(pub, topic); err != nil {
		return err
	}
	for _, m := range messages {
		if err := pub.Send([]byte(m)); err != nil {
			return err
		}
	}
	r.AwaitEnd()
	return nil
}

// subscribe connects a SUB and demands the given messages in their order.
func subscribe(r *session.Role, at *session.Address, topic string, messages ...string) error {
	sub, err := r.Connect(zmq.SUB, at, session.Subscribe(topic))
	if err != nil {
		return err
	}
	for _, want := range messages {
		got, err := sub.Recv()
		if err != nil {
			return err
		}
		if string(got) != want {
			return sub.Fault(fmt.Errorf("got %q, want %q", got, want))
		}
	}
	return nil
}
