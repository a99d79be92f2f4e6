package subs_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"zmqbench/internal/subs"
)

// checkedSometimes runs a script of steps, and checks the invariants of the
// store after every 1000th only, as there are too many keys to do it after each.
// No key is shorter than shortest. It returns what calls returned how often.
func checkedSometimes(t *testing.T, s subs.Store, steps, shortest int, check func() error, next func() []byte, random *rand.Rand) tally {
	t.Helper()
	held, results := plain{}, tally{}
	for i := range steps {
		key := next()
		var got, want bool
		o := op(random.IntN(int(ops)))
		switch o {
		case add:
			got, want = s.Add(key), held.Add(key)
		case remove:
			got, want = s.Remove(key), held.Remove(key)
		case match: // by lengths, as there are too many keys to look at all
			got = s.Match(key)
			for size := shortest; size <= len(key) && !want; size++ {
				want = held[string(key[:size])] > 0
			}
		}
		if got != want {
			t.Fatalf("%v of %.40q = %v, want %v", o, key, got, want)
		}
		results.count(o, got)
		if i%1000 == 0 {
			if err := check(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for key := range held {
		for held[key] > 0 {
			if got, want := s.Remove([]byte(key)), held.Remove([]byte(key)); got != want {
				t.Fatalf("remove of %.40q = %v, want %v", key, got, want)
			}
		}
	}
	if err := check(); err != nil {
		t.Fatal(err)
	}
	return results
}

// TestHashCollisions uses a store whose secret is known to be 0, and keys of
// zeros with one byte in them: all hashes are equal that do not see this byte,
// and many that do. The longer ones share slots, and the short ones fill lines, until
// with too many of them their table is lost.
func TestHashCollisions(t *testing.T) {
	random, s := seeded(t), subs.NewHash(0)
	for _, values := range []int{1, 255, 1} {
		key := func() []byte {
			key := make([]byte, 1+random.IntN(64))
			if random.IntN(2) == 0 {
				key = key[:min(len(key), 8)]
			}
			key[random.IntN(len(key))] = byte(1 + random.IntN(values))
			return key
		}
		shared, lost := 0, 0
		check := func() error {
			n, m := s.Shared()
			shared, lost = max(shared, n), max(lost, m)
			return s.Check()
		}
		checkedSometimes(t, s, 50_000, 0, check, key, random).guard(t, 50)
		if shared < 4 || (lost > 0) != (values > 1) {
			t.Errorf("with %d values: at most %d beginnings shared slots, want 4, and %d tables were lost", values, shared, lost)
		}
		checker{t, s}.gone(func() store { return subs.NewHash(0) })
	}
}

// TestHashNesting uses keys that are prefixes of each other, many deep, and some that leave the row
// before the shortest ends.
func TestHashNesting(t *testing.T) {
	random, s := seeded(t), new(subs.Hash)
	text := bytes.Repeat([]byte("abcdefghijklmnopqrstuvwxyz"), 40)
	key := func() []byte {
		key := bytes.Clone(text[:20+random.IntN(981)])
		if random.IntN(4) == 0 {
			key[random.IntN(20)] ^= byte(random.IntN(3))
		}
		return key
	}
	checkedSometimes(t, s, 30_000, 20, s.Check, key, random).guard(t, 50)
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
	checkedSometimes(t, s, 5_000, 64<<10, s.Check, key, random).guard(t, 50)
	checker{t, s}.gone(func() store { return new(subs.Hash) })
}

// TestHashChurn adds and removes keys of all lengths, so that chunks and tables
// come and go.
func TestHashChurn(t *testing.T) {
	random, s, results := seeded(t), new(subs.Hash), tally{}
	for range 4 {
		most := uint64(1 + random.IntN(50_000))
		key := func() []byte {
			n := random.Uint64N(most)
			key := binary.BigEndian.AppendUint64(nil, n*0x9e3779b97f4a7c15)
			return append(key, make([]byte, n%50)...)
		}
		for result, n := range checkedSometimes(t, s, 50_000, 8, s.Check, key, random) {
			results[result] += n
		}
		checker{t, s}.gone(func() store { return new(subs.Hash) })
	}
	results.guard(t, 50)
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
			key := family(random)
			h.Add(key)
			keys[string(key)] = true
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

// TestHashBuilt shows when edges are chosen and tables get all their parts: whatever
// else is in the store, a very long key, too, and for the keys that are there.
func TestHashBuilt(t *testing.T) {
	h := new(subs.Hash)
	h.Add(make([]byte, 3<<20))
	grow := func(name string, keys, built int) {
		t.Helper()
		for i := range keys {
			h.Add(fmt.Appendf(nil, "%s.%d.%s", name, i, name))
		}
		if got := h.Built(); got != built {
			t.Errorf("%s: edges were chosen with %d keys, want %d", name, got, built)
		}
		if levels, _ := h.Parts(); levels[0] != 32 {
			t.Errorf("%s: %d parts, want 32", name, levels)
		}
		if err := h.Check(); err != nil {
			t.Error(name, err)
		}
	}
	grow("sensor", 20_000, 8192)
	for i := range 19_000 {
		h.Remove(fmt.Appendf(nil, "sensor.%d.sensor", i))
	}
	if got := h.Built(); got < 1000 || got > 8192/4 {
		t.Errorf("built for %d keys after most are gone, want 1000 to 2048", got)
	}
	grow("a longer name", 8000, 4*h.Built())
}

// TestHashLateLevel fills a level that was empty when edges were chosen.
func TestHashLateLevel(t *testing.T) {
	h := new(subs.Hash)
	w := subs.RandomTopics(8192, 1)
	for _, key := range w.Keys {
		h.Add(key)
	}
	for i := range 20_000 {
		h.Add(fmt.Appendf(nil, "s%08d", i))
	}
	keys, parts := h.Levels(), 0
	if levels, _ := h.Parts(); len(levels) > 1 {
		parts = levels[len(levels)-1]
	}
	if last := keys[len(keys)-1]; last != 20_000 || parts != 32 {
		t.Errorf("levels have %d keys, and the last one %d parts, want 20000 and 32", keys, parts)
	}
	checker{t, h}.invariants()
}

// TestHashShortAlike adds keys of eight bytes that a hash of one product cannot tell apart.
func TestHashShortAlike(t *testing.T) {
	for _, alike := range []func(i int) []byte{
		func(i int) []byte { return []byte{0, 0, 0, byte(i), 0, 0, 0, byte(i)} },
		func(i int) []byte { return []byte{0, 0, 0, 0, 0, 0, byte(i >> 8), byte(i)} },
		func(i int) []byte { return []byte{0, 0, byte(i >> 8), byte(i), 0, 0, byte(i >> 8), byte(i)} },
		func(i int) []byte { return []byte{byte(i), byte(i >> 8), 0, 0, 0, 0, 0, 0} },
	} {
		h := new(subs.Hash)
		for i := range 1 << 16 {
			h.Add(alike(i))
		}
		if _, lost := h.Shared(); lost > 0 {
			t.Errorf("with keys like %v the table is lost", alike(0x1234))
		}
	}
}

// TestHashLost adds more than a table has room for, and removes it.
func TestHashLost(t *testing.T) {
	h := subs.NewHash(0)
	key := func(i int) []byte { return []byte{byte(i >> 8), byte(i), 0, 0, 0, 0, 0, 0} } // with this secret, all of one line
	for i := range 1000 {
		h.Add(key(i))
	}
	if _, lost := h.Shared(); lost != 1 {
		t.Fatalf("%d tables are lost, want 1", lost)
	}
	h.Add([]byte("a long key"))
	checker{t, h}.invariants()
	for _, data := range []string{"a long key", "a long key and more", "\x01\x02\x00\x00\x00\x00\x00\x00"} {
		if !h.Match([]byte(data)) {
			t.Errorf("Match(%q) = false, want true", data)
		}
	}
	if h.Match([]byte("a long ke")) {
		t.Error("Match(a long ke) = true, want false")
	}
	for i := range 1000 {
		h.Remove(key(i))
	}
	checker{t, h}.invariants()
	if _, lost := h.Shared(); lost != 0 {
		t.Errorf("%d tables are lost without a key in them", lost)
	}
}

// TestNewHash shows that a store depends on its secret and on calls only.
func TestNewHash(t *testing.T) {
	size := func(secret uint64) int {
		h := subs.NewHash(secret)
		for _, key := range subs.TreeTopics(3000, 1).Keys {
			h.Add(key)
		}
		return h.Bytes()
	}
	if got, want := size(1), size(1); got != want {
		t.Errorf("%d bytes, and %d after the same calls", got, want)
	}
}

// TestMatchAllRefuses shows that an answer has a place for each message, or no message is looked for.
func TestMatchAllRefuses(t *testing.T) {
	h := new(subs.Hash)
	h.Add([]byte("a"))
	for _, answers := range []int{0, 16, 18} {
		hits := make([]bool, answers)
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.Contains(text, "17 messages") {
					t.Errorf("MatchAll with %d answers: %s", answers, text)
				}
			}()
			h.MatchAll(slices.Repeat([][]byte{[]byte("abc")}, 17), hits)
		}()
		if slices.Contains(hits, true) {
			t.Errorf("MatchAll with %d answers gives some", answers)
		}
	}
}
