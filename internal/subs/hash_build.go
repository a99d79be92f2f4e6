package subs

import (
	"math"
	"slices"
)

const (
	minBuild = 16      // keys with which edges are chosen first
	maxBuild = 1 << 13 // and last: that takes 3 ms
	maxBytes = 2 << 20 // of keys, with more of which they are not chosen anew: all are read
)

// nextBuild returns with how many keys edges are chosen next, if they were with built.
func nextBuild(built int) int {
	switch {
	case built == 0:
		return minBuild
	case built < 512:
		return 2 * built
	case built < maxBuild:
		return 4 * built
	}
	return math.MaxInt
}

// build chooses edges for the n keys of all levels.
func (h *Hash) build(n int) {
	h.built = n
	heads, levels, c := h.heads(n), 0, chooser{secret: h.secret}
	for ; levels < maxLevels-1 && len(heads) > 0; levels++ {
		c.fit = mostFit
		if levels == maxLevels-2 {
			c.fit = allFit
		}
		v := h.setEdges(levels, c.edges(heads))
		heads = slices.DeleteFunc(heads, func(head []byte) bool { return v.fits(head, h.secret) })
	}
	h.setEdges(levels, edges{all: windowTo(minLong)})
	h.move()
	h.levels = slices.Delete(h.levels, levels+1, len(h.levels))
	for i := range h.levels {
		h.fill(i)
	}
}

// heads returns the heads of all n keys in levels.
func (h *Hash) heads(n int) [][]byte {
	var block []byte
	heads := make([][]byte, 0, n)
	for i := range h.levels {
		for key := range h.levels[i].tree.All() {
			size := min(len(key), maxEdge)
			if len(block) < size {
				block = make([]byte, 64<<10)
			}
			copy(block, key[:size])
			heads = append(heads, block[:size:size])
			block = block[size:]
		}
	}
	return heads
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

// move moves keys that are not in the level to which they belong.
func (h *Hash) move() {
	type misplaced struct {
		key  []byte
		from *level
	}
	var keys []misplaced
	for i := range h.levels {
		v := &h.levels[i]
		for key := range v.tree.All() {
			if h.levelOf(key) != i {
				keys = append(keys, misplaced{slices.Clone(key), v})
			}
		}
	}
	for _, m := range keys {
		n := m.from.tree.take(m.key)
		h.levels[h.levelOf(m.key)].tree.put(m.key, n)
	}
}

// fill makes the table of level i from its tree, and tells the levels before of the keys.
func (h *Hash) fill(i int) {
	v := &h.levels[i]
	v.table = newTable(v.tree.Len())
	var before []byte
	for key := range v.tree.All() {
		same := agree(before, key)
		if edge, _, _ := v.edge(key, h.secret); same < edge {
			v.lead(key, h.secret, same, true)
		}
		before = append(before[:0], key...)
		h.pass(key, i, 1)
	}
}
