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

// build chooses edges for the n keys of all levels, and moves those that belong to another
// level then.
func (h *Hash) build(n int) {
	h.built = n
	heads, end := h.heads(n)
	left, last, c := slices.Clone(heads), 0, chooser{secret: h.secret}
	for ; last < maxLevels-1 && len(left) > 0; last++ {
		c.fit = mostFit
		if last == maxLevels-2 {
			c.fit = allFit
		}
		v := h.setEdges(last, c.edges(left))
		left = slices.DeleteFunc(left, func(head []byte) bool { return v.fits(head, h.secret) })
	}
	h.setEdges(last, edges{all: windowTo(minLong)})
	h.move(heads, end)
	h.levels = slices.Delete(h.levels, last+1, len(h.levels))
	for i := range h.levels {
		v := &h.levels[i]
		v.fill(h.secret)
		if i > 0 {
			for head := range v.tree.heads(maxEdge) {
				h.pass(head, i, 1)
			}
		}
	}
}

// heads returns the heads of all n keys in levels, and where in them those of each level end.
func (h *Hash) heads(n int) (heads [][]byte, end []int) {
	var block []byte
	heads = make([][]byte, 0, n)
	for i := range h.levels {
		for head := range h.levels[i].tree.heads(maxEdge) {
			if len(block) < maxEdge {
				block = make([]byte, 64<<10)
			}
			size := copy(block, head)
			heads = append(heads, block[:size:size])
			block = block[size:]
		}
		end = append(end, len(heads))
	}
	return heads, end
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

// move moves keys that are not in the level to which they belong. They are as short as their
// heads, for no edge is too great for a longer one.
func (h *Hash) move(heads [][]byte, end []int) {
	i := 0
	for at, head := range heads {
		for at == end[i] {
			i++
		}
		if to := h.levelOf(head); to != i {
			h.levels[to].tree.put(head, h.levels[i].tree.take(head))
		}
	}
}
