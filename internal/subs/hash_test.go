package subs_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"zmqbench/internal/subs"
)

// checkedSometimes runs a script of steps, and checks the invariants of the
// store after every 1000th only, as there are too many keys to do it after each.
// No key is shorter than shortest.
func checkedSometimes(t *testing.T, s subs.Store, steps, shortest int, check func() error, next func() []byte, random *rand.Rand) {
	t.Helper()
	want := map[string]int{}
	for i := range steps {
		key := next()
		switch op(random.IntN(int(ops))) {
		case add:
			if got := s.Add(key); got != (want[string(key)] == 0) {
				t.Fatalf("Add(%.40q) = %v with %d references", key, got, want[string(key)])
			}
			want[string(key)]++
		case remove:
			if got := s.Remove(key); got != (want[string(key)] == 1) {
				t.Fatalf("Remove(%.40q) = %v with %d references", key, got, want[string(key)])
			}
			if want[string(key)]--; want[string(key)] <= 0 {
				delete(want, string(key))
			}
		case match:
			hit := false
			for size := shortest; size <= len(key) && !hit; size++ {
				hit = want[string(key[:size])] > 0
			}
			if got := s.Match(key); got != hit {
				t.Fatalf("Match(%.40q) = %v, want %v", key, got, hit)
			}
		}
		if i%1000 == 0 {
			if err := check(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for key, n := range want {
		for ; n > 0; n-- {
			s.Remove([]byte(key))
		}
	}
	if err := check(); err != nil {
		t.Fatal(err)
	}
}

// TestHashCollisions uses a store whose secret is known to be 0, and keys of
// zeros with one byte in them: all hashes are equal that do not see this byte,
// and many that do. The longer ones share slots, and the short ones fill lines.
func TestHashCollisions(t *testing.T) {
	random, s := seeded(t), subs.WeakHash()
	key := func() []byte {
		key := make([]byte, 1+random.IntN(64))
		if random.IntN(2) == 0 {
			key = key[:min(len(key), 8)]
		}
		key[random.IntN(len(key))] = byte(1 + random.IntN(255))
		return key
	}
	shared, over := 0, 0
	check := func() error {
		many, more := s.Shared()
		shared, over = max(shared, many), max(over, more)
		return s.Check()
	}
	checkedSometimes(t, s, 100_000, 0, check, key, random)
	if shared < 10 || over < 10 {
		t.Errorf("at most %d slots were shared, and %d had no room, want 10 of each", shared, over)
	}
	checker{t, s}.gone(func() store { return subs.WeakHash() })
}

// TestHashNesting uses keys that are prefixes of each other, many deep.
func TestHashNesting(t *testing.T) {
	random, s := seeded(t), new(subs.Hash)
	text := bytes.Repeat([]byte("abcdefghijklmnopqrstuvwxyz"), 40)
	key := func() []byte {
		key := bytes.Clone(text[:1+random.IntN(1000)])
		if random.IntN(4) == 0 {
			key[random.IntN(len(key))] ^= byte(random.IntN(3))
		}
		return key
	}
	checkedSometimes(t, s, 30_000, 0, s.Check, key, random)
	checker{t, s}.gone(func() store { return new(subs.Hash) })
}

// TestHashSharedPrefix uses keys whose first 64 KiB are the same.
func TestHashSharedPrefix(t *testing.T) {
	random, s := seeded(t), new(subs.Hash)
	long := bytes.Repeat([]byte{0xff}, 64<<10+8)
	key := func() []byte {
		key := bytes.Clone(long)
		binary.LittleEndian.PutUint64(key[64<<10:], random.Uint64N(100))
		return key
	}
	checkedSometimes(t, s, 5_000, 64<<10, s.Check, key, random)
	checker{t, s}.gone(func() store { return new(subs.Hash) })
}

// TestHashChurn adds and removes keys of all lengths, so that chunks and tables
// come and go.
func TestHashChurn(t *testing.T) {
	random, s := seeded(t), new(subs.Hash)
	for range 4 {
		most := uint64(1 + random.IntN(50_000))
		key := func() []byte {
			n := random.Uint64N(most)
			key := binary.BigEndian.AppendUint64(nil, n*0x9e3779b97f4a7c15)
			return append(key, make([]byte, n%50)...)
		}
		checkedSometimes(t, s, 50_000, 8, s.Check, key, random)
		checker{t, s}.gone(func() store { return new(subs.Hash) })
	}
}

// TestHashManyKeys is for what chance makes rare: hashes that agree in all the bits
// that a table keeps. Of 100 000 keys, about one pair has such; of the 500 000 that
// SUBS_LONG=1 makes, about thirty.
func TestHashManyKeys(t *testing.T) {
	keys := 100_000
	if long {
		keys = 500_000
	}
	w, s := subs.TreeTopics(keys, 1), new(subs.Hash)
	for range 2 {
		for _, key := range w.Keys {
			if !s.Add(key) {
				t.Fatalf("Add(%q) = false, want true", key)
			}
		}
		for _, key := range w.Keys {
			if !s.Match(key) {
				t.Fatalf("Match(%q) = false, want true", key)
			}
		}
		checker{t, s}.invariants()
		for _, key := range w.Keys {
			if !s.Remove(key) {
				t.Fatalf("Remove(%q) = false, want true", key)
			}
		}
		checker{t, s}.gone(func() store { return new(subs.Hash) })
	}
}

// TestHashMatchAll compares batches of all sizes with single calls.
func TestHashMatchAll(t *testing.T) {
	random, s := seeded(t), new(subs.Hash)
	for _, set := range []subs.Workload{subs.TreeTopics(1, 40), subs.TreeTopics(3000, 2000), subs.RandomTopics(500, 2000)} {
		for _, key := range set.Keys {
			s.Add(key)
		}
		for from := 0; from < len(set.Hits); {
			to := min(len(set.Hits), from+random.IntN(40))
			data := append(set.Hits[from:to:to], set.Misses[from:to]...)
			hits := make([]bool, len(data))
			s.MatchAll(data, hits)
			for i := range data {
				if hits[i] != s.Match(data[i]) || i < to-from && !hits[i] {
					t.Fatalf("MatchAll(%q) = %v, Match says %v", data[i], hits[i], s.Match(data[i]))
				}
			}
			from = to
		}
	}
}

// TestMatchEveryByte changes each byte of keys in turn: a comparison of a few words must
// cover all bytes of a key of any size, in whichever level it came to be. The keys
// are of families with all sizes, and some are moved when edges are chosen anew.
func TestMatchEveryByte(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 400 {
		count := 16 + round/4
		h, keys := new(subs.Hash), map[string]bool{}
		for len(keys) < count {
			key := fmt.Appendf(nil, "fam%05d.", random.IntN(40))
			for range random.IntN(60) {
				key = append(key, 'a'+byte(random.IntN(2)))
			}
			if !keys[string(key)] {
				h.Add(key)
				keys[string(key)] = true
			}
		}
		for key := range keys {
			message := []byte(key)
			for i := range message {
				message[i] ^= 0x80
				want := false
				for size := range i + 1 {
					want = want || keys[key[:size]]
				}
				if h.Match(message) != want {
					t.Fatalf("%d keys: Match of %q with byte %d changed is not %v", count, key, i, want)
				}
				message[i] ^= 0x80
			}
		}
	}
}

// TestHashHalves adds keys and the same with their halves exchanged. The hash of a window is a
// product of its halves, and must tell them apart.
func TestHashHalves(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	key := func() []byte {
		key := binary.LittleEndian.AppendUint64(nil, random.Uint64())
		return binary.LittleEndian.AppendUint64(key, random.Uint64())
	}
	h := new(subs.Hash)
	for range 1 << 13 { // after which edges stay
		h.Add(key())
	}
	before, _ := h.Shared()
	for range 1000 {
		k := key()
		h.Add(k)
		h.Add(append(k[8:16:16], k[:8]...))
	}
	if after, _ := h.Shared(); after > before+10 {
		t.Errorf("%d hashes are shared, before %d", after, before)
	}
}
