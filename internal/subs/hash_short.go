package subs

// Keys of up to eight bytes are words, and a message is not compared with what is in
// a tree: it has such a word as its beginning, or not. Up to eight are compared
// all at once; more are in a table, which is asked once for each size that there
// is. The hash of a word is another form of it, and what the table does not know of
// the hash is in the slot, so no other word has the same hash and slot:
//
//	slot   63 ‥ 48 │ 43 ‥ 40 │ 39 ‥ 0
//	       place     size      of the hash

import "math/bits"

const (
	maxShort = 8
	maxFew   = 8
)

// short holds keys of up to eight bytes.
type short struct {
	tree  Radix // all of them, and the empty key
	few   [maxFew]struct{ word, mask uint64 }
	n     int       // how many are in few
	table hashTable // if it has parts, the keys are there, and not in few
	sizes [maxShort + 1]int
	any   []shortSize // of which there are keys
}

// A shortSize is what the hash of a word of this size depends on.
type shortSize struct {
	mask, odd uint64
	size      slot // as it is in a slot
}

func newShortSize(size int, secret uint64) shortSize {
	return shortSize{maskOf(size), bits.RotateLeft64(secret, 8*size) | 1, slot(size) << 40}
}

func maskOf(size int) uint64 { return ^uint64(0) >> (64 - 8*size) }

// hash returns the hash of the word that a message begins with, and its slot. Each step can be undone,
// so that two words have two hashes. What is in the upper bits of a word is only in those of a
// product, so they are turned round; and twice, as multiples of one number, which is what words
// that count up have after one round, may lie in heaps.
func (z *shortSize) hash(word, odd uint64) (x uint64, s slot) {
	x = bits.ReverseBytes64(word & z.mask * odd)
	x = bits.ReverseBytes64(x*z.odd) * odd
	return x, slot(x)&^(0xff<<40) | z.size
}

func (s *short) add(key []byte, secret uint64) bool {
	_, first := s.tree.add(key)
	if first {
		s.count(len(key), 1, secret)
		s.put(key, secret)
	}
	return first
}

func (s *short) remove(key []byte, secret uint64) bool {
	last := s.tree.Remove(key)
	if last {
		s.count(len(key), -1, secret)
		s.drop(key, secret)
	}
	return last
}

func (s *short) count(size, by int, secret uint64) {
	s.sizes[size] += by
	if by > 0 && s.sizes[size] > 1 || by < 0 && s.sizes[size] > 0 {
		return
	}
	s.any = nil
	for size, n := range s.sizes {
		if size > 0 && n > 0 {
			s.any = append(s.any, newShortSize(size, secret))
		}
	}
}

// put gives a key, which is in the tree, a place besides.
func (s *short) put(key []byte, secret uint64) {
	switch t := &s.table; {
	case len(key) == 0 || t.lost:
	case len(t.parts) == 0 && s.n < maxFew:
		s.few[s.n].word, s.few[s.n].mask = firstWord(key), maskOf(len(key))
		s.n++
	case t.outgrown(s.tree.Len()) || len(t.parts) == 0:
		s.fill(secret)
	default:
		t.insert(s.hash(key, secret))
	}
}

// drop takes a key, which is not in the tree any more, out of its place.
func (s *short) drop(key []byte, secret uint64) {
	switch t := &s.table; {
	case len(key) == 0:
	case len(s.any) == 0:
		s.table, s.n = hashTable{}, 0
	case len(t.parts) > 0:
		x, w := s.hash(key, secret)
		t.remove(x, t.find(x, w, slotBits))
	default:
		for i, f := range s.few[:s.n] {
			if f.word == firstWord(key) && f.mask == maskOf(len(key)) {
				s.n--
				s.few[i] = s.few[s.n]
				return
			}
		}
	}
}

// fill makes a table from the tree.
func (s *short) fill(secret uint64) {
	s.table, s.n = newTable(s.tree.Len()), 0
	for key := range s.tree.All() {
		if len(key) > 0 && !s.table.lost {
			s.table.insert(s.hash(key, secret))
		}
	}
}

// hash returns the hash of a key, and its slot.
func (s *short) hash(key []byte, secret uint64) (uint64, slot) {
	z := newShortSize(len(key), secret)
	return z.hash(firstWord(key), secret|1)
}

// matchFew reports whether a message with these first eight bytes begins with one of
// few, all of which are shorter.
func (h *Hash) matchFew(word uint64) bool {
	hit := uint64(0)
	for i := range h.short.few[:h.short.n&15] {
		f := &h.short.few[i]
		hit |= (word^f.word)&f.mask - 1 // the top bit only if all seven bytes are equal
	}
	return int64(hit) < 0
}

// matchShort reports whether data begins with a short key, or if a table is lost, with any.
//
//go:noinline
func (h *Hash) matchShort(data []byte) bool {
	if !h.tabled || len(data) < 8 {
		return h.matchOther(data)
	}
	word := load(data, 0)
	for i := range h.short.any {
		x, w := h.short.any[i].hash(word, h.odd)
		l := h.short.table.part(x).line(x, 0)
		m := l.match(tagOf(x)) // in the lowest slot with a bit, the tag is the same
		if m != 0 && l.slots[laneOf(m)] == w {
			return true
		}
		if m&(m-1)|l.passed() != 0 {
			return h.matchRest(word, i)
		}
	}
	return false
}

// matchRest is matchShort for all sizes from that at place i on, and looks in all lines.
func (h *Hash) matchRest(word uint64, i int) bool {
	for _, z := range h.short.any[i:] {
		if x, w := z.hash(word, h.odd); h.short.table.find(x, w, slotBits) != nil {
			return true
		}
	}
	return false
}

// matchOther is matchShort without a table.
func (h *Hash) matchOther(data []byte) bool {
	switch {
	case h.lost:
		return h.matchTrees(data)
	case h.quick && len(data) >= 8:
		return h.matchFew(load(data, 0))
	}
	return h.short.tree.Match(data)
}

// firstWord returns the first 8 bytes of data, or zeros in place of what is missing.
func firstWord(data []byte) uint64 {
	if len(data) == 0 {
		return 0
	}
	return word(data, 0)
}
