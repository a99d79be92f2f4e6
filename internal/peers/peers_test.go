package peers

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"zmqbench/internal/subs"
)

// faults are what the libraries get wrong, by store and set of keys. A fault that
// is gone fails the test: then the line goes, and what the README says of it.
var faults = map[string]string{
	"plar/empty": "Len() = 1, want 0", // the empty key cannot be deleted
}

// slow is the obvious store.
type slow map[string]int

func (s slow) Add(key []byte) bool {
	s[string(key)]++
	return s[string(key)] == 1
}

func (s slow) Remove(key []byte) bool {
	n := s[string(key)]
	if n <= 1 {
		delete(s, string(key))
		return n == 1
	}
	s[string(key)]--
	return false
}

func (s slow) Match(data []byte) bool {
	for key := range s {
		if strings.HasPrefix(string(data), key) {
			return true
		}
	}
	return false
}

func (s slow) Len() int { return len(s) }

// TestStores makes the same random calls to a store and to a slow one, over sets
// of keys that nest and repeat.
func TestStores(t *testing.T) {
	left := maps.Clone(faults)
	for _, store := range Stores {
		for _, set := range []struct {
			name     string
			alphabet string
			min, max int
		}{
			{"letters", "ab", 1, 6},
			{"zeros", "\x00\x01\xff", 1, 4},
			{"bytes", allBytes(), 1, 2},
			{"empty", "ab", 0, 3},
			{"long", "ab", 40, 60},
		} {
			name := store.Name + "/" + set.name
			delete(left, name)
			t.Run(name, func(t *testing.T) {
				got := compare(store.Empty(), func(random *rand.Rand) []byte {
					key := make([]byte, set.min+random.IntN(set.max-set.min+1))
					for i := range key {
						key[i] = set.alphabet[random.IntN(len(set.alphabet))]
					}
					if set.name == "long" { // one shared prefix, ends that differ
						copy(key, strings.Repeat("a", set.min-3))
					}
					return key
				})
				switch want := faults[name]; {
				case want == "" && got != "":
					t.Error(got)
				case want != "" && got == "":
					t.Errorf("no fault, want %q: it is mended, so faults and the README need not have it", want)
				case !strings.Contains(got, want):
					t.Errorf("fault %q, want %q in it", got, want)
				}
			})
		}
	}
	if len(left) > 0 {
		t.Errorf("faults of no store and set of keys that there is: %q", left)
	}
}

func allBytes() string {
	var s []byte
	for c := range 256 {
		s = append(s, byte(c))
	}
	return string(s)
}

// compare returns the first call that a store answers otherwise than a slow one,
// or that panics.
func compare(s Store, key func(*rand.Rand) []byte) (fault string) {
	var call string
	defer func() {
		if p := recover(); p != nil {
			fault = fmt.Sprintf("%s panics: %v", call, p)
		}
	}()
	random, want := rand.New(rand.NewPCG(1, 2)), slow{}
	for i := range 20_000 {
		k := key(random)
		var got, expected bool
		switch random.IntN(4) {
		case 0:
			call = fmt.Sprintf("call %d, Add(%q)", i, k)
			got, expected = s.Add(slices.Clone(k)), want.Add(k)
		case 1, 2:
			call = fmt.Sprintf("call %d, Remove(%q)", i, k)
			got, expected = s.Remove(k), want.Remove(k)
		case 3:
			call = fmt.Sprintf("call %d, Match(%q)", i, k)
			got, expected = s.Match(k), want.Match(k)
		}
		if got != expected {
			return fmt.Sprintf("%s = %v, want %v", call, got, expected)
		}
		if call = fmt.Sprintf("after call %d, Len()", i); s.Len() != want.Len() {
			return fmt.Sprintf("%s = %d, want %d", call, s.Len(), want.Len())
		}
	}
	return ""
}

// stores are the libraries and, beside them, the stores of package subs.
var stores = append(slices.Clone(Stores), []Library{
	{"trie", func() Store { return new(subs.Trie) }},
	{"radix", func() Store { return new(subs.Radix) }},
	{"hash", func() Store { return new(subs.Hash) }},
}...)

// workloads are those of the suite's own benchmarks with 10000 keys.
var workloads = []struct {
	name string
	make func(keys, queries int) subs.Workload
}{{"random", subs.RandomTopics}, {"tree", subs.TreeTopics}, {"number", subs.NumberTopics}}

// BenchmarkMatch looks up one key per op, as the suite's own does.
func BenchmarkMatch(b *testing.B) {
	for _, topics := range workloads {
		w := topics.make(subs.ToolKeys, 100_000)
		for _, percent := range []int{100, 0} {
			messages, want := w.Mix(percent)
			for _, store := range stores {
				b.Run(fmt.Sprintf("topics=%s/keys=%d/hit=%d/store=%s", topics.name, subs.ToolKeys, percent, store.Name), func(b *testing.B) {
					s := filled(b, store.Empty(), w.Keys)
					b.ReportAllocs()
					i := 0
					for b.Loop() {
						if got := s.Match(messages[i]); got != want[i] {
							b.Fatalf("Match(%q) = %v, want %v", messages[i], got, want[i])
						}
						if i++; i == len(messages) {
							i = 0
						}
					}
				})
			}
		}
	}
}

// BenchmarkAdd adds one key per op to a store that does not have it, and begins
// with an empty one when all are in, as the suite's own does.
func BenchmarkAdd(b *testing.B) {
	eachStore(b, func(b *testing.B, empty func() Store, keys [][]byte) {
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
	})
}

// BenchmarkRemove removes one key per op, and with it the key's last reference, as
// the suite's own does. Filling the store again counts towards -benchtime and is
// not in ns/op.
func BenchmarkRemove(b *testing.B) {
	eachStore(b, func(b *testing.B, empty func() Store, keys [][]byte) {
		s := filled(b, empty(), keys)
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
		b.ReportMetric(float64(b.Elapsed()-filling)/float64(b.N), "ns/op")
	})
}

// eachStore runs a benchmark for each kind of topics and each store.
func eachStore(b *testing.B, run func(b *testing.B, empty func() Store, keys [][]byte)) {
	for _, topics := range workloads {
		keys := topics.make(subs.ToolKeys, 1).Keys
		for _, store := range stores {
			b.Run(fmt.Sprintf("topics=%s/keys=%d/store=%s", topics.name, subs.ToolKeys, store.Name), func(b *testing.B) {
				run(b, store.Empty, keys)
			})
		}
	}
}

// filled adds keys to s, and collects the garbage that this makes.
func filled(b *testing.B, s Store, keys [][]byte) Store {
	for _, key := range keys {
		if !s.Add(key) {
			b.Fatalf("Add(%q) = false, want true", key)
		}
	}
	runtime.GC()
	return s
}
