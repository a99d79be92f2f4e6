package subs

import (
	"math"
	"slices"
)

const (
	minBuild = 16      // keys with which edges are chosen first
	maxBuild = 1 << 13 // and last: that takes 3 ms
)

// nextBuild returns with how many keys edges are chosen next, if they were with built.
func nextBuild(built int) int {
	switch {
	case built < 512:
		return max(minBuild, 2*built)
	case built < maxBuild/2:
		return min(4*built, maxBuild)
	}
	return math.MaxInt
}

// A byLevel has heads of keys for each level, in the order of bytes.Compare.
type byLevel [maxLevels][][]byte

// build chooses edges for the n keys of all levels, moves those that belong to another
// level then, and fills the tables.
func (h *Hash) build(n int) {
	h.built = n
	var left byLevel          // by the level where a key is
	var to [maxLevels]byLevel // by the one where it belongs, and then by that where it is
	for i := range h.levels {
		left[i] = h.levels[i].heads()
	}
	last := 0
	for c := (chooser{secret: h.secret, fit: mostFit}); last < maxLevels-1; last++ {
		heads := slices.Concat(left[:]...)
		if len(heads) == 0 {
			break
		}
		if last == maxLevels-2 {
			c.fit = allFit
		}
		v := h.setEdges(last, c.edges(heads))
		for i := range left {
			to[last][i], left[i] = v.split(left[i], h.secret)
		}
	}
	h.setEdges(last, edges{all: windowTo(minLong)})
	to[last] = left
	h.move(&to)
	h.levels = slices.Delete(h.levels, last+1, len(h.levels))
	for i := range h.levels {
		h.fill(i, &to[i])
	}
}

// heads returns the heads of all keys of a level in their order.
func (v *level) heads() [][]byte {
	var block []byte
	heads := make([][]byte, 0, v.tree.Len())
	for t := range v.tree.leaves() {
		if cap(block)-len(block) < maxEdge+8 { // whole words are written
			block = make([]byte, 0, 64<<10)
		}
		from := len(block)
		block = v.tree.appendHead(block, t, maxEdge)
		heads = append(heads, block[from:len(block):len(block)])
	}
	return heads
}

// split returns the heads of keys that may be in the level, and the others.
func (v *level) split(heads [][]byte, secret uint64) (fit, left [][]byte) {
	fit = make([][]byte, 0, len(heads))
	for _, head := range heads {
		if v.fits(head, secret) {
			fit = append(fit, head)
		} else {
			left = append(left, head)
		}
	}
	return fit, left
}

// setEdges sets the edges of level i, which may be new.
func (h *Hash) setEdges(i int, e edges) *level {
	if i == len(h.levels) {
		h.levels = append(h.levels, level{})
	}
	v := &h.levels[i]
	v.one, v.all, v.families, v.rows = family{}, e.all, e.families, e.rows
	return v
}

// move moves keys to the level to which they belong. One that moves is as short as its head, for
// no edge is too great for a longer one.
func (h *Hash) move(to *[maxLevels]byLevel) {
	for i := range to {
		for j, heads := range to[i] {
			for _, head := range heads {
				if i != j {
					h.levels[i].tree.put(head, h.levels[j].tree.take(head))
				}
			}
		}
	}
}

// fill makes the table of level i, to which these keys belong, and tells the levels before.
func (h *Hash) fill(i int, keys *byLevel) {
	all := slices.Values(keys[i])
	for j, heads := range keys {
		if i != j && len(heads) > 0 {
			all = merge(slices.Values(heads), all)
		}
		for _, head := range heads {
			h.pass(head, i, 1)
		}
	}
	h.levels[i].fill(all, h.secret)
}
