package subs

// A hash store is a radix tree with short cuts. Where a search in the tree goes down
// step by step, the hash store hashes the 16 bytes of the message before an edge, and
// a table says what part of the tree has the keys that begin like this: nearly always
// one key, which is compared, once. With the edge 18 and the keys "orders.us-east-1.17.new",
// "orders.us-east-1.4.new" and "orders.us-east-1.4.fill":
//
//	message                        table               radix tree
//
//	orders.us-east-1.17.new…                           branch at 17
//	  └─── window ───┘ edge        ┌────────────┐      ├─ '1' leaf "orders.us-east-1.17.new"
//	         │                     │ a leaf     ├────► │
//	         └── hash ───────────► ├────────────┤      │
//	                               │ a branch   ├────► └─ '4' branch at 19
//	                               └────────────┘             ├─ 'f' leaf "orders.us-east-1.4.fill"
//	                                                          └─ 'n' leaf "orders.us-east-1.4.new"
//
// So the table has one slot for each beginning of size edge that keys have, and what it
// says follows from the tree alone. No key need be compared on the way, for of all keys
// that no other is a prefix of, at most one is a prefix of a message. Where two
// beginnings have one hash, the slot says so, and a search starts at the root of the tree.
//
// Messages of one family, whose first eight bytes have one hash, have an edge of their
// own, or 64, of which eight bytes further on choose: "orders.us-" tells what has to
// be behind the edge, "sensor.eu-west-1.rack12" much better. Edges are chosen by
// looking at all keys, when the store has grown (hash_edge.go).
//
// A key that is shorter than its edge goes to the next level, a tree and a table with
// edges of their own, and there are three at most. The edge of the last is 9, and keys of up to
// eight bytes are kept apart (hash_short.go), so each key has its place, which follows
// from its bytes and the edges alone. A family knows how many of its keys are further on;
// mostly that is none, and a search ends.
//
// The secret, random for each store, is in every hash, so nobody knows one. But keys can
// be chosen whose windows are the same. With these a search takes as long as in the trees.
//
// Invariants:
//
//	a key of 9 bytes or more is in the first level whose edge for it is not greater than its size
//	the last edge is 9
//	for each beginning of size edge in a level there is one slot that stands for it
//	rest == the number of keys of the family in later levels

import (
	"bytes"
	"iter"
	"math/rand/v2"
	"unsafe"
)

const maxLevels = 3

// A Hash is a [Store] that finds the one key that can be a prefix of a message by
// hashing, and compares once. The zero Hash is empty and ready to use.
//
// At worst Match looks for a message in four trees, where a [Radix] has one; Add and Remove
// take as long as there, and may move one of 32 parts of a table besides. An Add
// that chooses edges anew, the last time the 8192nd, places all keys anew: testdata/stores.txt
// at the root of the repository says how long that took. These edges stay until three in four
// of the keys are gone. From some 8 million keys on, tables
// cannot hold them, and all messages are looked for in the trees.
type Hash struct {
	first  *level // levels[0], or nil if there is none, or all or lost is set
	secret uint64
	odd    uint64 // secret | 1
	all    bool   // the empty key is there, so all messages match
	more   bool   // there are short keys
	quick  bool   // of less than eight bytes each, and few
	tabled bool   // so many that they have a table
	lost   bool   // a table is
	seeded bool
	built  int // the number of keys when edges were chosen
	levels []level
	short  short
}

// NewHash returns an empty Hash with this secret, so that the same calls always make the
// same store, as comparing measurements needs. Where keys are of unknown origin,
// use a zero Hash, whose secret nobody knows.
func NewHash(secret uint64) *Hash {
	h := new(Hash)
	h.seed(secret)
	return h
}

// Add implements [Store].
func (h *Hash) Add(key []byte) bool {
	checkSize(key)
	if !h.seeded {
		h.seed(rand.Uint64())
	}
	if len(key) < minLong {
		if !h.short.add(key, h.secret) {
			return false
		}
	} else {
		if len(h.levels) == 0 {
			h.levels = newLevels()
		}
		i := h.levelOf(key)
		if !h.levels[i].add(key, h.secret) {
			return false
		}
		h.pass(key, i, 1)
		if n := h.long(); n >= nextBuild(h.built) {
			h.build(n)
		}
	}
	h.update()
	return true
}

// Remove implements [Store].
func (h *Hash) Remove(key []byte) bool {
	if len(key) < minLong {
		if !h.short.remove(key, h.secret) {
			return false
		}
	} else {
		if len(h.levels) == 0 {
			return false
		}
		i := h.levelOf(key)
		if !h.levels[i].remove(key, h.secret) {
			return false
		}
		h.pass(key, i, -1)
		if n := h.long(); n == 0 {
			h.levels, h.built = nil, 0
		} else if n < h.built/4 {
			h.built = n // so edges are chosen anew for keys that come
		}
	}
	if h.Len() == 0 {
		*h = Hash{secret: h.secret, odd: h.odd, seeded: h.seeded}
	}
	h.update()
	return true
}

// newLevels returns the levels of a store in which no edges were chosen.
func newLevels() []level { return []level{{all: windowTo(minLong), table: newTable(1)}} }

func (h *Hash) seed(secret uint64) { h.secret, h.odd, h.seeded = secret, secret|1, true }

// levelOf returns which level a key of 9 bytes or more belongs to.
func (h *Hash) levelOf(key []byte) int {
	i := 0
	for !h.levels[i].fits(key, h.secret) {
		i++
	}
	return i
}

// pass tells the levels before i that a key of theirs is there, or if by is -1, no longer.
func (h *Hash) pass(key []byte, i, by int) {
	for j := range h.levels[:i] {
		_, _, f := h.levels[j].edge(key, h.secret)
		f.rest += uint32(by)
	}
}

// long returns the number of keys in levels.
func (h *Hash) long() (n int) {
	for i := range h.levels {
		n += h.levels[i].tree.Len()
	}
	return n
}

// update sets what Match looks at first.
func (h *Hash) update() {
	s := &h.short
	h.all, h.more = s.sizes[0] > 0, s.tree.Len() > 0
	h.first, h.lost = nil, s.table.lost
	for i := range h.levels {
		h.lost = h.lost || h.levels[i].table.lost
	}
	plain := !h.lost && !h.all
	h.tabled = plain && len(s.table.parts) > 0
	h.quick = plain && !h.tabled && s.sizes[8] == 0
	if plain && len(h.levels) > 0 {
		h.first = &h.levels[0]
	}
}

// matchLong is Match for a message of 9 bytes or more.
//
//go:noinline
func (h *Hash) matchLong(data []byte) bool {
	for i := range h.levels {
		hit, rest := h.levels[i].match(data, h.secret)
		if hit {
			return true
		}
		if !rest {
			break
		}
	}
	return h.more && h.matchShort(data[:maxShort])
}

// matchTrees is Match without any table.
func (h *Hash) matchTrees(data []byte) bool {
	hit := h.short.tree.Match(data)
	for i := range h.levels {
		hit = hit || h.levels[i].tree.Match(data)
	}
	return hit
}

// All implements [Store].
func (h *Hash) All() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		all := h.short.tree.All()
		for i := range h.levels {
			if h.levels[i].tree.Len() > 0 {
				all = merge(all, h.levels[i].tree.All())
			}
		}
		all(yield)
	}
}

// merge returns what both sequences have, in the order of bytes.Compare, as they are.
func merge(a, b iter.Seq[[]byte]) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		next, stop := iter.Pull(a)
		defer stop()
		before, ok := next()
		for key := range b {
			for ; ok && bytes.Compare(before, key) < 0; before, ok = next() {
				if !yield(before) {
					return
				}
			}
			if !yield(key) {
				return
			}
		}
		for ; ok; before, ok = next() {
			if !yield(before) {
				return
			}
		}
	}
}

// Len implements [Store].
func (h *Hash) Len() int { return h.short.tree.Len() + h.long() }

// Bytes implements [Store].
func (h *Hash) Bytes() int {
	n := int(unsafe.Sizeof(*h)) + cap(h.levels)*int(unsafe.Sizeof(level{}))
	n += h.short.tree.held() + h.short.table.bytes() + cap(h.short.any)*int(unsafe.Sizeof(shortSize{}))
	for i := range h.levels {
		v := &h.levels[i]
		n += v.tree.held() + v.table.bytes() + cap(v.rows)*int(unsafe.Sizeof(window(0)))
		if v.families != nil {
			n += int(unsafe.Sizeof(*v.families))
		}
	}
	return n
}
