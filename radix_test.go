//go:build cgo

package zmqbench

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	zmq "github.com/pebbe/zmq4"

	"zmqbench/internal/cloop"
	"zmqbench/internal/metric"
	"zmqbench/internal/session"
	"zmqbench/internal/subs"
)

// The subscription stores, without sockets. Keys and look-ups under
// topics=random are those of libzmq's benchmark_radix_tree, byte for byte; under
// topics=tree they are topics as applications name them, under topics=number
// numbers, and under topics=short the one or five subscriptions of a small program
// (see package subs).
//
// A run measures stores of 10000 keys. Those of 1, 5 and 1000000 keys, and messages
// of which half hit, take minutes more, and run when -bench asks for them by name:
//
//	go test -run='^$' -bench=/topics=tree/keys=1000000
//	go test -run='^$' -bench=Match/./keys=10000/hit=50
//	go test -run='^$' -bench=Match/./keys=/hit=          # everything of Match
//	go test -run='^$' -bench='(Add|Remove)/./keys='      # and of these
//
// The times are not comparable with what benchmark_radix_tree prints: the tool
// reads the clock twice inside every look-up, which costs as much as a look-up.
// Here no clock is read inside an op.

// hashSecret is the secret of hash stores here. With a random one, B/key would be another in each run.
const hashSecret = 20_000

// stores are what is compared, by the name they have in results.
var stores = []struct {
	name  string
	empty func() subs.Store
}{
	{"trie", func() subs.Store { return new(subs.Trie) }},
	{"radix", func() subs.Store { return new(subs.Radix) }},
	{"hash", func() subs.Store { return subs.NewHash(hashSecret) }},
}

// BenchmarkMatch looks up one key per op, in a store that holds all of them:
// Match is asked about one message. With hit=100 every message begins with a
// key, with hit=0 none does, and with hit=50 one in two, by chance.
//
// Under batch=16, which is measured with 1000000 keys in a hash store, a call looks
// up 16 messages, so that they wait for memory together.
//
// Each op includes the loop that walks the messages and the check of the answer,
// 2 to 3 ns for any store.
func BenchmarkMatch(b *testing.B) {
	eachTopics(b, subs.ToolQueries, func(b *testing.B, w subs.Workload) {
		for _, percent := range []int{100, 50, 0} {
			if percent == 50 && !named("hit", percent) {
				continue
			}
			messages, hit := w.Mix(percent)
			for _, store := range stores {
				b.Run(fmt.Sprintf("hit=%d/store=%s", percent, store.name), func(b *testing.B) {
					matchKeys(b, filled(b, store.empty(), w.Keys), messages, hit)
				})
			}
			if len(w.Keys) > subs.ToolKeys {
				b.Run(fmt.Sprintf("hit=%d/batch=%d/store=hash", percent, batch), func(b *testing.B) {
					matchBatches(b, filled(b, subs.NewHash(hashSecret), w.Keys).(*subs.Hash), messages, hit)
				})
			}
		}
	})
}

// matchKeys looks up data, round and round. want[i] is the answer for data[i].
func matchKeys(b *testing.B, s subs.Store, data [][]byte, want []bool) {
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if got := s.Match(data[i]); got != want[i] {
			b.Fatalf("Match(%q) = %v, want %v", data[i], got, want[i])
		}
		if i++; i == len(data) {
			i = 0
		}
	}
	reportKeyBytes(b, s)
}

// batch is the number of messages that are looked up at once under batch=16.
const batch = 16

// matchBatches is matchKeys with one call for a batch of data.
func matchBatches(b *testing.B, h *subs.Hash, data [][]byte, want []bool) {
	b.ReportAllocs()
	var hits [batch]bool
	i, last := 0, batch // in hits
	for b.Loop() {
		if last == batch {
			if i+batch > len(data) {
				i = 0
			}
			h.MatchAll(data[i:i+batch], hits[:])
			last = 0
		}
		if hits[last] != want[i] {
			b.Fatalf("MatchAll finds %v for %q, want %v", hits[last], data[i], want[i])
		}
		last++
		i++
	}
	reportKeyBytes(b, h)
}

// BenchmarkAdd adds one key per op, to a store that does not have it.
//
// The store grows from empty until all keys are in, and then gives way to a new
// empty one. That costs one small allocation for all the keys together, and is
// left in the time. So is the collector's work on the stores thrown away, which
// is part of what memory costs in Go. As an early key costs less than a late
// one, the time depends a little on the number of ops when they are fewer than
// a few times the keys; -benchtime=10000x is exactly one growth.
func BenchmarkAdd(b *testing.B) {
	eachTopics(b, 1, func(b *testing.B, w subs.Workload) {
		for _, store := range stores {
			b.Run("store="+store.name, func(b *testing.B) {
				full := filled(b, store.empty(), w.Keys)
				addKeys(b, store.empty, w.Keys)
				reportKeyBytes(b, full)
			})
		}
	})
}

// addKeys adds keys to one store after another.
func addKeys(b *testing.B, empty func() subs.Store, keys [][]byte) {
	b.ReportAllocs()
	i, s := 0, empty()
	for b.Loop() {
		if !s.Add(keys[i]) {
			b.Fatalf("Add(%q) = false, want true", keys[i])
		}
		if i++; i == len(keys) {
			i, s = 0, empty()
		}
	}
}

// BenchmarkRemove removes one key per op, and with it the key's last reference.
//
// The store shrinks from full to empty, is filled again, and so on. Filling
// takes up to several times as long as emptying. It is timed by itself, once for
// all keys, and taken out of the time reported; but it does count towards
// -benchtime, which so bounds the run and not the removals alone. Allocations
// are those of one emptying, measured apart.
func BenchmarkRemove(b *testing.B) {
	eachTopics(b, 1, func(b *testing.B, w subs.Workload) {
		for _, store := range stores {
			b.Run("store="+store.name, func(b *testing.B) {
				full := filled(b, store.empty(), w.Keys)
				removeKeys(b, full, w.Keys)
				reportRemoveAllocs(b, store.empty(), w.Keys)
				reportKeyBytes(b, filled(b, store.empty(), w.Keys))
			})
		}
	})
}

// removeKeys removes keys from s, which holds them all, and adds them again.
func removeKeys(b *testing.B, s subs.Store, keys [][]byte) {
	var filling time.Duration
	i := 0
	for b.Loop() {
		if !s.Remove(keys[i]) {
			b.Fatalf("Remove(%q) = false, want true", keys[i])
		}
		if i++; i == len(keys) {
			start := time.Now()
			filled(b, s, keys)
			filling += time.Since(start)
			i = 0
		}
	}
	metric.Report(b, float64(b.Elapsed()-filling)/float64(b.N), metric.NsPerOp)
}

// reportRemoveAllocs fills s and reports what removing all keys allocates, in
// place of what testing counts, which includes the filling.
func reportRemoveAllocs(b *testing.B, s subs.Store, keys [][]byte) {
	var before, after runtime.MemStats
	filled(b, s, keys)
	runtime.ReadMemStats(&before)
	for _, key := range keys {
		s.Remove(key)
	}
	runtime.ReadMemStats(&after)
	b.ReportAllocs()
	metric.Report(b, float64(after.TotalAlloc-before.TotalAlloc)/float64(len(keys)), metric.BytesPerOp)
	metric.Report(b, float64(after.Mallocs-before.Mallocs)/float64(len(keys)), metric.AllocsPerOp)
}

// eachTopics runs a benchmark once for each kind of topics and number of keys.
func eachTopics(b *testing.B, queries int, run func(*testing.B, subs.Workload)) {
	for _, topics := range []struct {
		name     string
		workload func(keys, queries int) subs.Workload
		keys     []int
	}{
		{"random", subs.RandomTopics, []int{subs.ToolKeys, 1_000_000}},
		{"tree", subs.TreeTopics, []int{subs.ToolKeys, 1_000_000}},
		{"number", subs.NumberTopics, []int{subs.ToolKeys, 1_000_000}},
		{"short", subs.ShortTopics, []int{1, 5}},
	} {
		for _, keys := range topics.keys {
			if keys != subs.ToolKeys && !named("keys", keys) {
				continue
			}
			b.Run(fmt.Sprintf("topics=%s/keys=%d", topics.name, keys), func(b *testing.B) {
				run(b, topics.workload(keys, queries))
			})
		}
	}
}

// named reports whether -bench names key=value, or the key with a pattern that does
// not begin with a digit: what only a run that asks for it should measure.
func named(key string, value any) bool {
	name := regexp.MustCompile(fmt.Sprintf("%s=(%v)?([^0-9]|$)", key, value))
	return name.MatchString(flag.Lookup("test.bench").Value.String())
}

// filled adds keys, of which s holds none, to s. It collects the garbage that
// this makes, so that no op pays for it.
func filled(b *testing.B, s subs.Store, keys [][]byte) subs.Store {
	for _, key := range keys {
		if !s.Add(key) {
			b.Fatalf("Add(%q) = false, want true", key)
		}
	}
	runtime.GC()
	return s
}

// reportKeyBytes reports the memory of s for each key in it, by its own exact
// count.
func reportKeyBytes(b *testing.B, s subs.Store) {
	metric.Report(b, float64(s.Bytes())/float64(s.Len()), metric.BytesPerKey)
}

// BenchmarkFilter measures what filtering costs a publisher: one op is one
// message offered to an XPUB over inproc, whose one subscriber has n
// subscriptions. With hit=100 each message goes to the subscriber, with hit=0
// none does. The store at work is libzmq's generic_mtrie_t, which none of its
// tools measures.
//
// Subscriptions and messages are 20 characters, those of topics=random, and the
// misses are the same for every n. So the difference to keys=1 is what it costs to
// have n subscriptions to match. The rest is zmq_send, and of a hit also the pipe
// to the subscriber.
//
// ns/op is the time of the sends alone, which are made in C, 1000 in a call: a
// call through the binding takes several times as long as a miss. After each such
// burst the subscriber, off the clock, takes what has come and compares it
// with what should have. So nothing is dropped, nothing waits for room, and a
// subscriber that sleeps is woken once in a burst. This counts towards -benchtime,
// which so bounds the run and not the sends alone.
func BenchmarkFilter(b *testing.B) {
	misses := subs.RandomTopics(subs.ToolKeys, 100*burst).Misses
	for _, keys := range []int{1, 100, subs.ToolKeys} {
		w := subs.RandomTopics(keys, 100*burst)
		w.Misses = misses
		for _, percent := range []int{100, 0} {
			messages, hit := w.Mix(percent)
			f := newFilter(w.Keys, messages, hit)
			b.Run(fmt.Sprintf("keys=%d/hit=%d", keys, percent), func(b *testing.B) { f.run(b, open(b, "inproc")) })
		}
	}
}

// burst is how many messages a publisher is offered before its subscriber looks
// at what has come.
const burst = 1000

// A filter is subscriptions, the messages that their publisher is offered, and
// what its two roles tell each other beside the sockets.
type filter struct {
	keys    [][]byte       // subscribed to
	size    int            // of a message
	bursts  []*cloop.Batch // of messages
	hits    [][]bool       // of each burst, which messages a key is a prefix of
	n       int            // messages offered of the burst whose turn it is
	offered chan struct{}  // they have been
	taken   chan struct{}  // what has come of them has been taken
}

// newFilter returns a filter of whole bursts of messages of one size. hit says
// which of them a key is a prefix of.
func newFilter(keys, messages [][]byte, hit []bool) *filter {
	f := &filter{keys: keys, size: len(messages[0])}
	for i := 0; i < len(messages); i += burst {
		batch := cloop.NewBatch(burst, f.size)
		for j, m := range messages[i : i+burst] {
			copy(batch.Message(j), m)
		}
		f.bursts = append(f.bursts, batch)
		f.hits = append(f.hits, hit[i:i+burst])
	}
	return f
}

// run offers b.N messages.
func (f *filter) run(b *testing.B, s *session.Session) {
	f.offered, f.taken = make(chan struct{}, 1), make(chan struct{}, 1)
	at := s.Address()
	s.Go("subscriber", func(r *session.Role) error { return f.subscriber(r, at) })
	var sending time.Duration
	s.Run("publisher", func(r *session.Role) (err error) {
		sending, err = f.publisher(b, r, at)
		return err
	})
	metric.Report(b, float64(sending)/float64(b.N), metric.NsPerOp)
}

// publisher binds an XPUB, waits for the subscriptions, offers b.N messages in
// bursts, and returns how long that alone took. Neither socket has an HWM: the one
// that drops messages drops subscriptions too.
func (f *filter) publisher(b *testing.B, r *session.Role, at *session.Address) (sending time.Duration, err error) {
	pub, err := r.Bind(zmq.XPUB, at, session.HWM(0))
	if err != nil {
		return 0, err
	}
	if err := awaitSubscriptions(pub, f.keys); err != nil {
		return 0, err
	}
	b.ResetTimer()
	defer b.StopTimer()
	for i, left := 0, b.N; left > 0; i++ {
		batch, n := f.bursts[i%len(f.bursts)], min(left, burst)
		start := time.Now()
		err := pub.Outside("send", batch, func(socket unsafe.Pointer) error { return batch.Send(socket, n) })
		sending += time.Since(start)
		if err != nil {
			return 0, err
		}
		f.n = n
		f.offered <- struct{}{}
		if err := pub.Await(f.taken, "the subscriber"); err != nil {
			return 0, err
		}
		left -= n
	}
	return sending, nil
}

// awaitSubscriptions receives the frame of a subscription to each of topics, in
// any order.
func awaitSubscriptions(pub *session.Socket, topics [][]byte) error {
	missing := map[string]bool{}
	for _, topic := range topics {
		missing[string(topic)] = true
	}
	for len(missing) > 0 {
		frame, err := pub.Recv()
		if err != nil {
			i := slices.IndexFunc(topics, func(topic []byte) bool { return missing[string(topic)] })
			return fmt.Errorf("%w: subscription %q has not arrived, nor have %d others", err, topics[i], len(missing)-1)
		}
		topic, ok := strings.CutPrefix(string(frame), "\x01")
		if !ok || !missing[topic] {
			return pub.Fault(fmt.Errorf("frame %q is none of the %d subscriptions that are missing", frame, len(missing)))
		}
		delete(missing, topic)
	}
	return nil
}

// subscriber connects an XSUB, which shows all that the publisher sends where a
// SUB would filter once more, subscribes, and after each burst takes what has come.
func (f *filter) subscriber(r *session.Role, at *session.Address) error {
	sub, err := r.Connect(zmq.XSUB, at, session.HWM(0))
	if err != nil {
		return err
	}
	if err := subscribeTo(sub, f.keys); err != nil {
		return err
	}
	in := cloop.NewBatch(burst+1, f.size) // one more than should come shows that more has come
	for i := 0; ; i++ {
		if err := sub.Await(f.offered, "the publisher"); err != nil {
			return err
		}
		if err := f.take(sub, in, i%len(f.bursts), f.n); err != nil {
			return err
		}
		f.taken <- struct{}{}
	}
}

// subscribeTo subscribes an XSUB to topics.
func subscribeTo(sub *session.Socket, topics [][]byte) error {
	for _, topic := range topics {
		if err := sub.Send(slices.Concat([]byte{1}, topic)); err != nil {
			return err
		}
	}
	return nil
}

// take takes what has come of the first n messages of burst i, and compares.
func (f *filter) take(sub *session.Socket, in *cloop.Batch, i, n int) error {
	var came int
	err := sub.Outside("recv", in, func(socket unsafe.Pointer) (err error) {
		came, err = in.TryReceive(socket, n+1)
		return err
	})
	if err != nil {
		return err
	}
	next := 0
	for j := range n {
		if !f.hits[i][j] {
			continue
		}
		want := f.bursts[i].Message(j)
		if next == came {
			return sub.Fault(fmt.Errorf("%q has not come, after %d of a burst of %d messages", want, came, n))
		}
		if got := in.Received(next); !bytes.Equal(got, want) {
			return sub.Fault(fmt.Errorf("got %q, want %q, message %d of a burst of %d", got, want, j, n))
		}
		next++
	}
	if next < came {
		return sub.Fault(fmt.Errorf("got %q, which no subscription is a prefix of, after the %d messages that should come of a burst of %d", in.Received(next), next, n))
	}
	return nil
}

// TestFilterCount offers exact numbers of messages, of which all, half or none hit.
// What comes through, the subscriber compares.
func TestFilterCount(t *testing.T) {
	w := subs.RandomTopics(100, 2*burst)
	for _, percent := range []int{100, 50, 0} {
		for _, n := range []int{1, 3*burst + 1} {
			result, text := measure(t, fmt.Sprintf("%dx", n), func(b *testing.B, tb session.TB) {
				messages, hit := w.Mix(percent)
				newFilter(w.Keys, messages, hit).run(b, open(tb, "inproc"))
			})
			if ns := result.Extra["ns/op"]; text != "" || result.N != n || ns <= 0 {
				t.Errorf("hit=%d: N = %d, %v ns/op, failures %q; want %d, more than 0, none", percent, result.N, ns, text, n)
			}
		}
	}
}

// TestFilterFaults has subscribers that subscribe to a key too few or too many.
// The failure says which message it shows by, of a burst in which every
// message is another key.
func TestFilterFaults(t *testing.T) {
	keys := subs.RandomTopics(burst, 0).Keys
	all, none := slices.Repeat([]bool{true}, burst), slices.Repeat([]bool{false}, burst)
	for _, c := range []struct {
		name string
		keys [][]byte
		hit  []bool
		want string
	}{
		{"one too few", slices.Concat(keys[:700], keys[701:]), all, fmt.Sprintf("got %q, want %q, message 700 of a burst of 1000", keys[701], keys[700])},
		{"the last too few", keys[:999], all, fmt.Sprintf("%q has not come, after 999 of a burst of 1000 messages", keys[999])},
		{"one too many", keys[700:701], none, fmt.Sprintf("got %q, which no subscription is a prefix of, after the 0 messages", keys[700])},
		{"a prefix too many", [][]byte{keys[700][:10]}, none, fmt.Sprintf("got %q, which no subscription is a prefix of, after the 0 messages", keys[700])},
		{"the last too many", keys, slices.Concat(all[1:], none[:1]), fmt.Sprintf("got %q, which no subscription is a prefix of, after the 999 messages", keys[999])},
	} {
		_, text := measure(t, fmt.Sprintf("%dx", burst), func(b *testing.B, tb session.TB) {
			newFilter(c.keys, keys, c.hit).run(b, open(tb, "inproc"))
		})
		if !strings.HasPrefix(text, "subscriber: recv inproc://") || !strings.Contains(text, c.want) {
			t.Errorf("%s: failure %q, want it to be the subscriber's and to have %q", c.name, text, c.want)
		}
	}
}

// TestFilterMissingSubscriptions gives both sockets an HWM, at which libzmq drops
// subscriptions as it does messages, and says nothing. The publisher names one that it
// has not got when its limit is over.
func TestFilterMissingSubscriptions(t *testing.T) {
	wait(t, 200*time.Millisecond)
	keys := subs.RandomTopics(100, 0).Keys
	_, text := measure(t, "1x", func(_ *testing.B, tb session.TB) {
		s, subscribed, missed := open(tb, "inproc"), make(chan struct{}), make(chan struct{})
		at := s.Address()
		s.Go("subscriber", func(r *session.Role) error {
			sub, err := r.Connect(zmq.XSUB, at, session.HWM(10))
			if err == nil {
				err = subscribeTo(sub, keys)
			}
			close(subscribed)
			r.AwaitEnd()
			<-missed // what leaves earlier unsubscribes, and the publisher may see that first
			return err
		})
		s.Run("publisher", func(r *session.Role) error {
			defer close(missed)
			pub, err := r.Bind(zmq.XPUB, at, session.HWM(10))
			if err != nil {
				return err
			}
			return errors.Join(pub.Await(subscribed, "the subscriptions"), awaitSubscriptions(pub, keys))
		})
	})
	for _, want := range []string{
		"publisher: recv inproc://", "no message for 200ms", "(0 sent, 20 received)",
		fmt.Sprintf("subscription %q has not arrived, nor have 79 others", keys[20]), "\nsubscriber: XSUB ", ", 100 sent, 0 received;",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("failure %q, want %q in it", text, want)
		}
	}
}

// TestFilterStrayFrame: what is no subscription that is expected does not pass for
// one.
func TestFilterStrayFrame(t *testing.T) {
	for _, frame := range []string{"\x01other", "\x00key", "key"} {
		_, text := measure(t, "1x", func(_ *testing.B, tb session.TB) {
			s := open(tb, "inproc")
			at := s.Address()
			s.Go("subscriber", func(r *session.Role) error {
				sub, err := r.Connect(zmq.XSUB, at)
				if err != nil {
					return err
				}
				defer r.AwaitEnd()
				return errors.Join(subscribeTo(sub, [][]byte{[]byte("ke"), []byte("key")}), sub.Send([]byte(frame)))
			})
			s.Run("publisher", func(r *session.Role) error {
				pub, err := r.Bind(zmq.XPUB, at)
				if err != nil {
					return err
				}
				return awaitSubscriptions(pub, [][]byte{[]byte("ke"), []byte("key"), []byte("keys")})
			})
		})
		if want := fmt.Sprintf("frame %q is none of the 1 subscriptions that are missing", frame); !strings.Contains(text, want) {
			t.Errorf("failure %q, want %q in it", text, want)
		}
	}
}

// TestFilterPrefixes offers messages to a publisher with subscriptions that
// nest and overlap, over and over with others. What comes through is what
// bytes.HasPrefix says, in order.
func TestFilterPrefixes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	draw := func(n, size int) [][]byte { // short strings of few bytes, so that many are prefixes of others
		var drawn [][]byte
		for range n {
			s := make([]byte, random.IntN(size+1))
			for i := range s {
				s[i] = "\x00\x01ab\xff"[random.IntN(5)]
			}
			drawn = append(drawn, s)
		}
		return drawn
	}
	const last = "the last"
	var hits, misses int
	for i := range 60 {
		keys := append(draw(1+random.IntN(20), 4), []byte(last))
		if i%10 > 0 {
			keys = slices.DeleteFunc(keys, func(key []byte) bool { return len(key) == 0 }) // it would match everything
		}
		messages := append(draw(100, 6), []byte(last))
		var want [][]byte
		for _, m := range messages {
			if slices.ContainsFunc(keys, func(key []byte) bool { return bytes.HasPrefix(m, key) }) {
				want = append(want, m)
			}
		}
		hits, misses = hits+len(want), misses+len(messages)-len(want)
		if diff := cmp.Diff(want, filtered(t, transports[i%3], keys, messages)); diff != "" {
			t.Fatalf("subscribed to %q, offered %q over %s: what came through mismatch (-want +got):\n%s", keys, messages, transports[i%3], diff)
		}
	}
	if hits < 1000 || misses < 1000 {
		t.Errorf("%d messages hit and %d missed, want 1000 of each: the comparison shows too little", hits, misses)
	}
}

// filtered returns what comes through of messages, up to the last, which must.
func filtered(t *testing.T, transport string, keys, messages [][]byte) (got [][]byte) {
	s := open(t, transport)
	at := s.Address()
	s.Go("publisher", func(r *session.Role) error {
		pub, err := r.Bind(zmq.XPUB, at)
		if err != nil {
			return err
		}
		if err := awaitSubscriptions(pub, keys); err != nil {
			return err
		}
		for _, m := range messages {
			if err := pub.Send(m); err != nil {
				return err
			}
		}
		r.AwaitEnd()
		return nil
	})
	s.Run("subscriber", func(r *session.Role) error {
		sub, err := r.Connect(zmq.XSUB, at)
		if err == nil {
			err = subscribeTo(sub, keys)
		}
		for err == nil && (len(got) == 0 || !bytes.Equal(got[len(got)-1], messages[len(messages)-1])) {
			var m []byte
			if m, err = sub.Recv(); err == nil {
				got = append(got, m)
			}
		}
		return err
	})
	return got
}
