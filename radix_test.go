//go:build cgo

package zmqbench

import (
	"flag"
	"fmt"
	"regexp"
	"runtime"
	"testing"
	"time"

	"zmqbench/internal/metric"
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
//	go test -run='^$' -bench=/./keys=/hit=               # everything
//
// The times are not comparable with what benchmark_radix_tree prints: the tool
// reads the clock twice inside every look-up, which costs as much as a look-up.
// Here no clock is read inside an op.

// stores are what is compared, by the name they have in results.
var stores = []struct {
	name  string
	empty func() subs.Store
}{
	{"trie", func() subs.Store { return new(subs.Trie) }},
	{"radix", func() subs.Store { return new(subs.Radix) }},
	{"hash", func() subs.Store { return new(subs.Hash) }},
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
					matchBatches(b, filled(b, new(subs.Hash), w.Keys).(*subs.Hash), messages, hit)
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
