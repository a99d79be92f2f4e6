package subs

// Keys of up to eight bytes are words, and a message is not compared with what is in
// a tree: it has such a word as its beginning, or not. Up to eight are compared
// all at once; more are in a table, which is asked once for each size that there
// is. A slot has what the table does not know of the hash, and the hash is another form
// of the word, so no other word has the same hash and slot:
//
//	slot   63 ‥ 48 │ 43 ‥ 40 │ 39 ‥ 32         │ 31 ‥ 0
//	       place     size      63 ‥ 56 of hash   31 ‥ 0 of hash

import "math/bits"

const (
	maxShort = 8
	maxFew   = 8
	perPart  = 512 // keys in a part of a table, until there are maxParts
)

// short holds keys of up to eight bytes.
type short struct {
	tree  Radix // all of them, and the empty key
	few   [maxFew]struct{ word, mask uint64 }
	n     int       // how many are in few
	table hashTable // if it has parts, the keys are there, and not in few
	sizes [maxShort + 1]int
	any   uint // bit i is set if there are keys of size i+1
}

func (s *short) add(key []byte, secret uint64) bool {
	_, first := s.tree.add(key)
	if first {
		s.count(len(key), 1)
		s.put(key, secret)
	}
	return first
}

func (s *short) remove(key []byte, secret uint64) bool {
	last := s.tree.Remove(key)
	if last {
		s.count(len(key), -1)
		s.drop(key, secret)
	}
	return last
}

func (s *short) count(size, by int) {
	s.sizes[size] += by
	s.any = 0
	for i, n := range s.sizes[1:] {
		s.any |= uint(min(n, 1)) << i
	}
}

// put gives a key, which is in the tree, a place besides.
func (s *short) put(key []byte, secret uint64) {
	switch {
	case len(key) == 0:
	case len(s.table.parts) == 0 && s.n < maxFew:
		s.few[s.n].word, s.few[s.n].mask = firstWord(key), maskOf(len(key))
		s.n++
	case len(s.table.parts) == 0 || len(s.table.parts) < maxParts && s.tree.Len() > perPart*len(s.table.parts):
		s.fill(secret)
	default:
		s.table.insert(wordAt(firstWord(key), len(key), secret))
	}
}

// drop takes a key, which is not in the tree any more, out of its place.
func (s *short) drop(key []byte, secret uint64) {
	if len(key) == 0 {
		return
	}
	if len(s.table.parts) > 0 {
		x, w := wordAt(firstWord(key), len(key), secret)
		if s.table.remove(x, s.table.find(x, w, slotBits)); s.any == 0 {
			s.table = hashTable{}
		}
		return
	}
	for i, f := range s.few[:s.n] {
		if f.word == firstWord(key) && f.mask == maskOf(len(key)) {
			s.n--
			s.few[i] = s.few[s.n]
			return
		}
	}
}

// fill makes a table from the tree.
func (s *short) fill(secret uint64) {
	s.table, s.n = newTable(s.tree.Len()), 0
	for key := range s.tree.All() {
		if len(key) > 0 {
			s.table.insert(wordAt(firstWord(key), len(key), secret))
		}
	}
}

func maskOf(size int) uint64 { return ^uint64(0) >> (64 - 8*size) }

// wordAt returns the hash of a key of size bytes, and its slot.
func wordAt(word uint64, size int, secret uint64) (x uint64, s slot) {
	word ^= secret
	x = (word ^ word>>32) * (bits.RotateLeft64(secret, 8*size) | 1)
	return x, slot(x>>40)<<48 | slot(size)<<40 | slot(x>>56)<<32 | slot(uint32(x))
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

// matchShort reports whether data begins with a short key. What else Match cannot do itself
// it does, too.
//
//go:noinline
func (h *Hash) matchShort(data []byte) bool {
	t := &h.short.table
	if len(data) < 8 || len(t.parts) == 0 || h.rare || len(data) > maxLeaf {
		return h.matchOther(data)
	}
	word := load(data, 0)
	for any := h.short.any; any != 0; any &= any - 1 {
		i := bits.TrailingZeros(any) & 7
		x, w := wordAt(word<<(56-8*i)>>(56-8*i), i+1, h.secret)
		l := t.part(x).line(x, 0)
		for m := l.match(tagOf(x)); m != 0; m &= m - 1 {
			if l.slots[laneOf(m)] == w && l.tag(laneOf(m)) == tagOf(x) {
				return true
			}
		}
		if l.passed() > 0 && t.find(x, w, slotBits) != nil {
			return true
		}
	}
	return false
}

// matchOther is matchShort without a table of short keys, and Match for very long messages.
func (h *Hash) matchOther(data []byte) bool {
	switch {
	case h.rare:
		return h.matchTrees(data)
	case h.first != nil && len(data) > maxLeaf:
		return h.matchLong(data)
	case h.quick && len(data) >= 8:
		return h.matchFew(load(data, 0))
	case len(data) > maxLeaf:
		return h.matchShort(data[:maxShort])
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
