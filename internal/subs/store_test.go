package subs_test

import (
	"bytes"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"zmqbench/internal/subs"
)

// A store under test also checks its own invariants.
type store interface {
	subs.Store
	Check() error
	EmptyKeyRefs() uint64
	SetEmptyKeyRefs(uint64)
	FillArena()
}

// kinds are the kinds of store that all tests here are for.
var kinds = []struct {
	name  string
	empty func() store
}{
	{"store=trie", func() store { return new(subs.Trie) }},
	{"store=radix", func() store { return new(subs.Radix) }},
	{"store=hash", func() store { return new(subs.Hash) }},
	{"store=weak", func() store { return subs.NewHash(0) }},
}

// each runs a test once for every kind of store.
func each(t *testing.T, test func(t *testing.T, empty func() store)) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) { test(t, kind.empty) })
	}
}

// A checker makes calls to a store and compares what they return, and checks the
// invariants after each call that changes the store.
type checker struct {
	testing.TB
	s store
}

func (c checker) add(key string, want bool) {
	c.Helper()
	if got := c.s.Add([]byte(key)); got != want {
		c.Fatalf("Add(%.40q) = %v, want %v", key, got, want)
	}
	c.invariants()
}

func (c checker) remove(key string, want bool) {
	c.Helper()
	if got := c.s.Remove([]byte(key)); got != want {
		c.Fatalf("Remove(%.40q) = %v, want %v", key, got, want)
	}
	c.invariants()
}

func (c checker) match(data string, want bool) {
	c.Helper()
	if got := c.s.Match([]byte(data)); got != want {
		c.Fatalf("Match(%.40q) = %v, want %v", data, got, want)
	}
	if h, ok := c.s.(interface{ MatchAll([][]byte, []bool) }); ok {
		c.matchAll(h.MatchAll, []byte(data), want)
	}
}

// matchAll compares a batch of data and all that it begins with, in steps, with single calls.
func (c checker) matchAll(all func([][]byte, []bool), data []byte, want bool) {
	c.Helper()
	batch := [][]byte{data}
	for n := len(data); n > 0; n -= 1 + n/16 {
		batch = append(batch, data[:n-1])
	}
	hits := make([]bool, len(batch))
	all(batch, hits)
	for i := range batch {
		if i > 0 {
			want = c.s.Match(batch[i])
		}
		if hits[i] != want {
			c.Fatalf("MatchAll(… %.40q …) = %v, want %v", batch[i], hits[i], want)
		}
	}
}

func (c checker) all(want ...string) {
	c.Helper()
	if got := keys(c.s); !slices.Equal(got, want) { // Equal, as a diff costs more
		c.Fatalf("All() mismatch (-want +got):\n%s", cmp.Diff(want, got))
	}
	if got := c.s.Len(); got != len(want) {
		c.Fatalf("Len() = %d, want %d", got, len(want))
	}
}

func (c checker) invariants() {
	c.Helper()
	if err := c.s.Check(); err != nil {
		c.Fatal(err)
	}
}

// gone checks that the store holds no more memory than one that was never used.
func (c checker) gone(empty func() store) {
	c.Helper()
	c.all()
	if got, want := c.s.Bytes(), empty().Bytes(); got != want {
		c.Fatalf("Bytes() = %d after all keys were removed, want %d", got, want)
	}
}

// keys copies what All visits.
func keys(s subs.Store) []string {
	var keys []string
	for key := range s.All() {
		keys = append(keys, string(key))
	}
	return keys
}

func TestZ54Prefixes(t *testing.T) {
	each(t, func(t *testing.T, empty func() store) {
		c := checker{t, empty()}
		for _, data := range []string{"", "A", "\x00"} {
			c.match(data, false) // an empty store matches nothing
		}
		c.add("A", true)
		c.match("A", true)
		c.match("AB", true)
		c.match("B", false)
		c.match("", false)

		c.add("", true)
		for _, data := range []string{"A", "AB", "B", "", "\x00", "\xff"} {
			c.match(data, true)
		}
		c.all("", "A")
		c.remove("", true)
		c.match("", false)
		c.match("B", false)
		c.remove("A", true)
		c.gone(empty)
	})
}

func TestZ56Duplicates(t *testing.T) {
	each(t, func(t *testing.T, empty func() store) {
		c := checker{t, empty()}
		for _, key := range []string{"k", "", "key", "\x00\xff"} {
			c.add(key, true)
			c.add(key, false)
			c.all(key) // Len counts keys, not references
			c.remove(key, false)
			c.match(key, true)
			c.remove(key, true)
			c.remove(key, false)
			c.match(key, false)
			c.gone(empty)
		}
	})
}

// TestZ56Absent removes what is not there, next to keys that are.
func TestZ56Absent(t *testing.T) {
	each(t, func(t *testing.T, empty func() store) {
		c := checker{t, empty()}
		c.remove("", false)
		c.remove("topic", false)
		c.add("topic.a", true)
		c.add("topic.b", true)
		c.add("topic.bcd", true)
		size := c.s.Bytes()
		for _, key := range []string{"", "t", "topic", "topic.", "topic.bc", "topic.bcde", "topic.bce", "topic.c", "x"} {
			c.remove(key, false)
			c.all("topic.a", "topic.b", "topic.bcd")
		}
		if got := c.s.Bytes(); got != size {
			t.Errorf("Bytes() = %d after removing what is not there, want %d", got, size)
		}
	})
}

// TestZ55DenseNodes fills nodes with all 256 children and empties them in random order.
func TestZ55DenseNodes(t *testing.T) {
	var topics []string
	for b := range 256 {
		topics = append(topics, string([]byte{byte(b)}), string([]byte{'x', byte(b)}))
	}
	each(t, func(t *testing.T, empty func() store) {
		random := seeded(t)
		c, want := checker{t, empty()}, plain{}
		for _, i := range random.Perm(len(topics)) {
			c.add(topics[i], want.Add([]byte(topics[i])))
			c.all(keys(want)...)
		}
		for _, i := range random.Perm(len(topics)) {
			c.remove(topics[i], want.Remove([]byte(topics[i])))
			c.all(keys(want)...)
			for range 20 {
				topic := topics[random.IntN(len(topics))]
				c.match(topic, want.Match([]byte(topic)))
			}
		}
		c.gone(empty)
	})
}

// TestHistory takes a detour to a set of keys: what a store answers does not depend
// on it, and what it holds depends on the calls alone.
func TestHistory(t *testing.T) {
	w := subs.TreeTopics(1000, 1)
	each(t, func(t *testing.T, empty func() store) {
		random := seeded(t)
		on, off := random.Perm(1000), random.Perm(500)
		detour := func() (s store, most int) {
			s = empty()
			for _, i := range on {
				s.Add(w.Keys[i])
			}
			most = s.Bytes()
			for _, i := range off {
				s.Remove(w.Keys[500+i])
			}
			return s, most
		}
		direct := filled(empty(), w.Keys[:500])
		once, most := detour()
		again, _ := detour()
		if diff := cmp.Diff(keys(direct), keys(once)); diff != "" {
			t.Errorf("All() mismatch (-direct +detour):\n%s", diff)
		}
		slack := 0
		if _, ok := once.(*subs.Hash); ok {
			slack = most / 4 // as secrets differ
		}
		if got, want := again.Bytes(), once.Bytes(); got < want-slack || got > want+slack {
			t.Errorf("Bytes() = %d after the same calls as before, want %d", got, want)
		}
		// A removal may need another chunk, which is at most as big as all before.
		if got := once.Bytes(); got > 2*most {
			t.Errorf("Bytes() = %d after removals, want at most twice the %d before them", got, most)
		}
	})
}

// TestLongKeys allows a stack that recursion by key length would exceed, which
// ends the process.
func TestLongKeys(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(256 << 10))
	each(t, func(t *testing.T, empty func() store) {
		long := string(bytes.Repeat([]byte{0, 0xff}, 1<<19)) // 1 MiB
		c := checker{t, empty()}
		c.add(long, true)
		c.add(long[:len(long)-1], true)
		c.match(long, true)
		c.match(long[:len(long)-2], false)
		c.all(long[:len(long)-1], long)
		c.remove(long[:len(long)-1], true)
		c.match(long[:len(long)-1], false)
		c.remove(long, true)
		c.gone(empty)
	})
}

// TestPrefixChain stores prefixes of one key of 64 KiB, from the longest to the
// shortest, so that each but the first splits what is there.
func TestPrefixChain(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(256 << 10))
	const size, step = 64 << 10, 64
	key := bytes.Repeat([]byte("a"), size)
	each(t, func(t *testing.T, empty func() store) {
		c := checker{t, empty()}
		for n := size; n > 0; n -= step {
			if !c.s.Add(key[:n]) {
				t.Fatalf("Add(%d bytes) = false, want true", n)
			}
			if c.s.Match(key[:n-1]) {
				t.Fatalf("Match(%d bytes) = true, want false", n-1)
			}
		}
		c.invariants()
		n := 0
		for got := range c.s.All() {
			if n += step; len(got) != n {
				t.Fatalf("All() visits %d bytes, want %d", len(got), n)
			}
		}
		if n != size {
			t.Fatalf("All() ends at %d bytes, want %d", n, size)
		}
		for _, i := range seeded(t).Perm(size / step) {
			if n := (i + 1) * step; !c.s.Remove(key[:n]) {
				t.Fatalf("Remove(%d bytes) = false, want true", n)
			}
		}
		c.invariants()
		c.gone(empty)
	})
}

// TestMaxRefs shows that a key whose count has reached the end stays.
func TestMaxRefs(t *testing.T) {
	each(t, func(t *testing.T, empty func() store) {
		c := checker{t, empty()}
		c.add("", true)
		c.add("", false)
		c.s.SetEmptyKeyRefs(subs.MaxRefs - 1)
		c.remove("", false)
		c.add("", false)
		c.add("", false) // MaxRefs
		c.add("", false)
		c.remove("", false)
		if got := c.s.EmptyKeyRefs(); got != subs.MaxRefs {
			t.Errorf("%d references after Remove, want %d", got, uint32(subs.MaxRefs))
		}
		c.match("anything", true)
		c.all("")
	})
}

// TestLimits shows that a key or a store that would be too large is refused, and
// that nothing changes.
func TestLimits(t *testing.T) {
	refused := func(t *testing.T, s store, key []byte) {
		t.Helper()
		defer func() {
			t.Helper()
			if recover() == nil {
				t.Errorf("Add(%d bytes) does not panic", len(key))
			}
		}()
		s.Add(key)
	}
	each(t, func(t *testing.T, empty func() store) {
		c := checker{t, empty()}
		c.add("topic", true)
		refused(t, c.s, make([]byte, 128<<20))
		c.s.FillArena()
		size := c.s.Bytes()
		refused(t, c.s, []byte("topic.a"))
		refused(t, c.s, bytes.Repeat([]byte("a"), 100_000))
		c.invariants()
		c.all("topic")
		if got := c.s.Bytes(); got != size {
			t.Errorf("Bytes() = %d after what was refused, want %d", got, size)
		}
	})
}

// TestNothingLeft compares the heap before keys were added with the heap after all
// were removed, and counts the objects between: the collector has no work with them.
func TestNothingLeft(t *testing.T) {
	w := subs.TreeTopics(subs.ToolKeys, 1)
	each(t, func(t *testing.T, empty func() store) {
		var m runtime.MemStats
		s := empty()
		before := heap()
		runtime.ReadMemStats(&m)
		objects := m.HeapObjects
		filled(s, w.Keys)
		full := heap()
		runtime.ReadMemStats(&m)
		if got, want := int(m.HeapObjects)-int(objects), len(w.Keys)/25; got > want {
			t.Errorf("%d objects on the heap for %d keys, want at most %d", got, len(w.Keys), want)
		}
		for _, i := range seeded(t).Perm(len(w.Keys)) {
			s.Remove(w.Keys[i])
		}
		if got, want := heap()-before, (full-before)/100; got > want {
			t.Errorf("%d bytes left on the heap, want at most %d, 1 %% of what the keys took", got, want)
		}
		runtime.KeepAlive(s)
	})
}

// TestOwnership shows that a store keeps a copy of what it is given, and that
// All can be left early and used again.
func TestOwnership(t *testing.T) {
	each(t, func(t *testing.T, empty func() store) {
		c := checker{t, empty()}
		key := []byte("topic")
		c.s.Add(key)
		c.s.Add(key[:3])
		copy(key, "-----")
		c.all("top", "topic")
		for got := range c.s.All() {
			if string(got) != "top" {
				t.Errorf("All() begins with %q, want %q", got, "top")
			}
			break
		}
		c.all("top", "topic")
	})
}

// TestNoPointers shows that the collector has nothing to look at in the memory that
// grows with the keys: no elements of slices of slices have pointers.
func TestNoPointers(t *testing.T) {
	each(t, func(t *testing.T, empty func() store) {
		found := 0
		elements(reflect.TypeOf(empty()).Elem(), func(name string, elem reflect.Type) {
			found++
			if hasPointers(elem) {
				t.Errorf("%s has elements of type %v, with pointers", name, elem)
			}
		})
		if found < 2 {
			t.Errorf("%d kinds of memory found, want 2 or more", found)
		}
	})
}

func TestMatchDoesNotAllocate(t *testing.T) {
	w := subs.TreeTopics(1000, 1000)
	each(t, func(t *testing.T, empty func() store) {
		s := filled(empty(), w.Keys)
		allocs := testing.AllocsPerRun(10, func() {
			for i := range w.Hits {
				s.Match(w.Hits[i])
				s.Match(w.Misses[i])
			}
		})
		if allocs != 0 {
			t.Errorf("Match allocates %v times in 2000 calls, want 0", allocs)
		}
	})
}

// TestBytes compares what stores say that they hold with what the heap grows by.
func TestBytes(t *testing.T) {
	for name, w := range map[string]subs.Workload{
		"topics=random": subs.RandomTopics(subs.ToolKeys, 1),
		"topics=tree":   subs.TreeTopics(subs.ToolKeys, 1),
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, empty func() store) {
				before, s := heap(), empty()
				filled(s, w.Keys)
				checkHeap(t, s, before)
			})
		})
	}
}

// TestNothingPinned compares the same after nodes were split, cut and merged: what
// is left must not keep alive the memory of what was there before.
func TestNothingPinned(t *testing.T) {
	each(t, func(t *testing.T, empty func() store) {
		before, s := heap(), empty()
		key := make([]byte, 1024)
		for i := range 200 {
			key[0] = byte(i)
			for _, size := range []int{1024, 992, 32, 64} {
				s.Add(key[:size])
			}
		}
		checkHeap(t, s, before)
		for i := range 200 {
			key[0] = byte(i)
			for _, size := range []int{1024, 992, 64} {
				s.Remove(key[:size])
			}
			for last := range 256 {
				s.Add([]byte{byte(i), byte(last)})
			}
			for last := 255; last > 1; last-- {
				s.Remove([]byte{byte(i), byte(last)})
			}
		}
		checkHeap(t, s, before)
	})
}

// elements calls visit for the elements of what a type holds in slices, but for
// those of directories, whose elements hold slices themselves.
func elements(typ reflect.Type, visit func(name string, elem reflect.Type)) {
	switch typ.Kind() {
	case reflect.Struct:
		for i := range typ.NumField() {
			field := typ.Field(i)
			elements(field.Type, func(name string, elem reflect.Type) { visit(field.Name+name, elem) })
		}
	case reflect.Array, reflect.Pointer:
		elements(typ.Elem(), visit)
	case reflect.Slice:
		if elem := typ.Elem(); hasSlices(elem) {
			elements(elem, func(name string, elem reflect.Type) { visit("[]"+name, elem) })
		} else {
			visit("[]", elem)
		}
	}
}

func hasSlices(typ reflect.Type) bool {
	found := false
	elements(typ, func(string, reflect.Type) { found = true })
	return found
}

// hasPointers reports whether the collector looks into values of a type.
func hasPointers(typ reflect.Type) bool {
	switch typ.Kind() {
	case reflect.Array:
		return hasPointers(typ.Elem())
	case reflect.Struct:
		for i := range typ.NumField() {
			if hasPointers(typ.Field(i).Type) {
				return true
			}
		}
		return false
	default:
		return typ.Kind() > reflect.Complex128
	}
}

// checkHeap compares s.Bytes() with what the heap has grown by. The heap may have
// more, as it rounds sizes up, and the race detector more so: by up to 25 %. It may
// have 2 % less, as strings of one byte cost nothing.
func checkHeap(t *testing.T, s store, before int64) {
	t.Helper()
	grown, claimed := float64(heap()-before), float64(s.Bytes())
	if ratio := grown / claimed; ratio < 0.98 || ratio > 1.25 {
		t.Errorf("the heap grew by %.0f bytes, %.3f times Bytes() = %.0f, want 0.98 to 1.25 times", grown, ratio, claimed)
	}
	runtime.KeepAlive(s)
}

// heap returns the bytes in live objects.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // sweeps what the first has found dead
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// filled adds keys to s.
func filled(s store, keys [][]byte) store {
	for _, key := range keys {
		s.Add(key)
	}
	return s
}
