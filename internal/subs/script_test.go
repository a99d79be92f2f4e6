package subs_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// A script makes the same calls to a store and to a plain one, and compares
// what they return.
type script struct {
	checker
	want plain
	tally
}

// A tally counts what calls return, as a comparison in which nothing is ever found
// shows nothing.
type tally map[string]int

func (t tally) count(o op, result bool) { t[o.String()+" "+strconv.FormatBool(result)]++ }

// guard fails if some result came less than least times.
func (t tally) guard(tb testing.TB, least int) {
	tb.Helper()
	for o := range ops {
		for _, result := range []bool{true, false} {
			if name := o.String() + " " + strconv.FormatBool(result); t[name] < least {
				tb.Errorf("%d calls of kind %q, want at least %d", t[name], name, least)
			}
		}
	}
}

// failures counts what a guard finds.
type failures struct {
	testing.TB
	n int
}

func (f *failures) Helper()               {}
func (f *failures) Errorf(string, ...any) { f.n++ }

// TestGuard trips the guard: for each kind of result of which there are too few it fails once.
func TestGuard(t *testing.T) {
	f, results := &failures{TB: t}, tally{}
	for want := 6; want >= 0; want-- {
		f.n = 0
		if results.guard(f, 2); f.n != want {
			t.Errorf("%v: %d failures, want %d", results, f.n, want)
		}
		for range 2 {
			results.count(op(want/2)%ops, want%2 == 0)
		}
	}
}

// An op is one of the calls that a script is made of.
type op int

const (
	add op = iota
	remove
	match
	ops
)

func (o op) String() string { return [ops]string{"add", "remove", "match"}[o] }

func newScript(tb testing.TB, s store) *script {
	return &script{checker{tb, s}, plain{}, tally{}}
}

// step makes one call.
func (s *script) step(o op, key []byte) {
	s.Helper()
	var want bool
	switch o {
	case add:
		want = s.want.Add(key)
		s.add(string(key), want)
	case remove:
		want = s.want.Remove(key)
		s.remove(string(key), want)
	case match:
		want = s.want.Match(key)
		s.match(string(key), want)
	}
	s.count(o, want)
}

// compare compares the whole stores.
func (s *script) compare() {
	s.Helper()
	s.all(keys(s.want)...)
}

// seeded returns a random generator. Its seed is logged, and SUBS_SEED sets it.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("SUBS_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("to repeat: SUBS_SEED=%d go test -run '^%s$'", seed, t.Name())
	return rand.New(rand.NewPCG(seed, 0))
}

// TestZ55RandomScripts makes up to 100 000 calls, or with SUBS_LONG=1 a million, over each
// of some sets of keys, in which keys repeat and nest. Every so often the store is
// emptied: in one that is always well filled, nothing would ever miss.
func TestZ55RandomScripts(t *testing.T) {
	for _, set := range []struct {
		name  string
		every int // calls between one empty store and the next
		slow  int // how many times fewer calls in a short run
		key   func(*rand.Rand) []byte
	}{
		{"two", 250, 5, alphabet("ab", 6)},             // long runs of nodes with one child
		{"four", 250, 8, alphabet("\x00\x01\x02/", 4)}, // many keys in few nodes
		{"ends", 250, 4, alphabet("\x00@\xff", 2)},     // tables of up to 256 entries, most of them holes
		{"bytes", 1000, 20, func(random *rand.Rand) []byte { // all 256 bytes, with and without something after them
			return []byte{byte(random.IntN(256)), byte(random.IntN(2))}[:1+random.IntN(2)]
		}},
		{"bits", 250, 4, func(random *rand.Rand) []byte { // that differ in one of the last sixteen bits
			key := bytes.Repeat([]byte{0x55}, 40)
			key[38+random.IntN(2)] ^= 1 << random.IntN(8)
			return key[:38+random.IntN(3)]
		}},
		{"chain", 2000, 100, func(random *rand.Rand) []byte { // prefixes of each other, 1000 deep, and some that leave the row
			key := bytes.Repeat([]byte{'a', 'b', 0}, 500)[:200+random.IntN(1000)]
			if random.IntN(4) == 0 {
				key[random.IntN(200)]++
			}
			return key
		}},
		{"families", 3000, 50, func(random *rand.Rand) []byte { // that a hash store has edges for, and levels
			return family(rand.New(rand.NewPCG(random.Uint64N(500), 0)))
		}},
		{"runs", 500, 100, func(random *rand.Rand) []byte { // about as long as the trie's longest run, and twice that
			return append(make([]byte, 1020*random.IntN(3)), alphabet("\x00\x01", 9)(random)...)
		}},
		{"long", 100, 500, func(random *rand.Rand) []byte { // 64 KiB shared
			return append(bytes.Repeat([]byte("shared prefix / "), 4096), alphabet("ab", 3)(random)...)
		}},
	} {
		t.Run("keys="+set.name, func(t *testing.T) {
			each(t, func(t *testing.T, empty func() store) {
				random, s := seeded(t), newScript(t, empty())
				steps, seldom := 100_000/set.slow, 20
				if long {
					steps, seldom = 1_000_000, 20*set.slow
					s.s = &seldomChecked{s.s, set.slow, 0}
				}
				for i := range steps {
					s.step(op(random.IntN(int(ops))), set.key(random))
					if i%seldom == 0 {
						s.compare()
					}
					if i%set.every == set.every-1 {
						left := keys(s.want)
						random.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
						s.drain(left)
						s.gone(empty)
					}
				}
				s.guard(t, steps/500)
			})
		})
	}
}

// family makes keys of few families, of all sizes up to 70, that differ in few bytes.
func family(random *rand.Rand) []byte {
	key := fmt.Appendf(nil, "fam%05d.", random.IntN(40))
	for range random.IntN(60) {
		key = append(key, 'a'+byte(random.IntN(2)))
	}
	return key
}

// long says that tests may take minutes.
var long = os.Getenv("SUBS_LONG") != ""

// A seldomChecked store checks its invariants once in every calls of Check.
type seldomChecked struct {
	store
	every, calls int
}

func (s *seldomChecked) Check() error {
	if s.calls++; s.calls%s.every != 0 {
		return nil
	}
	return s.store.Check()
}

// alphabet makes keys of at most size of some bytes. Short keys are rare: each of
// them matches much, and with a few of them in a store nothing ever misses.
func alphabet(bytes string, size int) func(*rand.Rand) []byte {
	return func(random *rand.Rand) []byte {
		size := size
		for size > 0 && random.IntN(5) == 0 {
			size--
		}
		key := make([]byte, size)
		for i := range key {
			key[i] = bytes[random.IntN(len(bytes))]
		}
		return key
	}
}

// drain removes all references to keys.
func (s *script) drain(keys []string) {
	for _, key := range keys {
		for s.want[key] > 0 {
			s.step(remove, []byte(key))
		}
	}
}

// FuzzStore reads its input as calls of three bytes each: which call, and the
// place and length of its key. Keys are pieces of the input itself, so that
// they overlap and nest; some have about as many zeros before them as a
// trie's longest run has bytes. Some calls are made many times over, with another byte
// after the key each time: so tables and trees grow and shrink. After each call the
// whole stores are compared.
func FuzzStore(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x02\x00\x00\x01\x00\x00"))                         // the empty key comes and goes
	f.Add([]byte("\x00\x01\x03\x00\x01\x03\x01\x01\x03\x01\x01\x03\x01\x01\x03")) // Z56
	f.Add([]byte("\x00\x00\x02\x00\x00\x09\x02\x00\x04\x01\x00\x01\x01\x00\x02")) // Z54
	f.Add([]byte("aaaaaaaaaaaabaaaacaaaabaaaaaa\x00\x05\x09\x01\x05\x08\x02\x05\x0a"))
	f.Add([]byte("\x00\x01\x01\x00\xff\x01\x00\x80\x01\x01\x01\x01\x00\xfe\x02\x01\xff\x01"))
	f.Add([]byte("\x3c\x00\xa3\x3c\x04\xa3\x3d\x00\x43\x3e\x00\xa3"))
	f.Add([]byte("\x40\x00\x05\x40\x00\x04\x80\x00\x06\x80\x01\x05\x41\x00\x05\x82\x00\x06\x81\x00\x06"))
	f.Fuzz(func(t *testing.T, input []byte) {
		const most, size = 100, 32 // calls, and bytes of a key: more find nothing new, slowly
		input = input[:min(len(input), 3*most)]
		for _, kind := range kinds {
			t.Log(kind.name)
			rare := &seldomChecked{kind.empty(), 1, 0}
			s := newScript(t, rare)
			for i := 0; i+3 <= len(input); i += 3 {
				at := min(int(input[i+1]), len(input))
				end := min(at+int(input[i+2])%size, len(input))
				zeros := make([]byte, int(input[i]>>6)*1020)
				key, call := append(zeros, input[at:end]...), op(input[i]&63)%ops
				s.step(call, key)
				if input[i] >= 60 && input[i] < 64 {
					rare.every = 32
					for j := range min(int(input[i+2]), 3*most/2-len(s.want)) {
						s.step(call, append(key, byte(j*37)))
					}
					rare.every = 1
					s.invariants()
				}
				s.compare()
			}
			rare.every = 8
			s.drain(keys(s.want))
			rare.every = 1
			s.gone(kind.empty)
			s.invariants()
		}
	})
}
