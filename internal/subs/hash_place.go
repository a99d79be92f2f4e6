package subs

// Where a new key goes: below a root, among the few, or into the radix tree.

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// settle finds a place for key, which is not in the store.
func (h *Hash) settle(key []byte, ref uint32) bool {
	for i := range h.opened {
		if h.place(i, key, ref) {
			return true
		}
	}
	if h.few.n < maxFew {
		h.setHome(ref, homeFew)
		h.few.add(key, ref)
		return true
	}
	if h.opened == maxRoots {
		return false
	}
	refs := append(h.few.ref[:len(h.few.ref):len(h.few.ref)], ref)
	h.few = few{}
	h.open(refs)
	return h.fewOrSpill(refs, ref)
}

// fewOrSpill puts what open has left of refs among the few. It reports whether
// ref, the last of them, has a place.
func (h *Hash) fewOrSpill(refs []uint32, ref uint32) bool {
	placed := true
	for _, r := range refs {
		if h.home(r) != homeFew {
			continue
		}
		if h.few.n < maxFew {
			h.few.add(h.key(r), r)
		} else if r == ref {
			placed = false
		} else {
			h.spillOver(r)
		}
	}
	return placed
}

// spillOver moves a key from its record to the radix tree.
func (h *Hash) spillOver(ref uint32) {
	h.spill.put(h.key(ref), h.recordLog.refs(ref))
	h.kill(ref)
	h.keys--
}

// open opens a root for refs, and places those that it can.
func (h *Hash) open(refs []uint32) {
	if !h.seeded {
		h.secret, h.seeded = rand.Uint64(), true
	}
	if len(h.tables) == 0 {
		h.makeTables()
	}
	c := h.opened
	h.opened++
	h.roots[c] = h.chosen(refs)
	h.roots[c].seed = bits.RotateLeft64(h.secret, 8*c+8) + uint64(c+1)*nextRoot
	h.plan = h.planned(refs, &h.roots[c])
	for _, ref := range refs {
		h.place(c, h.key(ref), ref)
	}
	h.plan = nil
	if h.roots[c].n == 0 {
		h.opened--
	}
}

func (h *Hash) makeTables() {
	n := 1
	for n < maxTables && h.keys > n*64 {
		n *= 2
	}
	h.tables, h.mask = make([]lineTable, n), uint64(n-1)
	for i := range h.tables {
		h.tables[i] = lineTable{lines: make([]line, 1), shift: 16}
	}
}

// place gives the key, which is nowhere in the store, a slot in root c.
func (h *Hash) place(c int, key []byte, ref uint32) bool {
	p := path{root: c}
	edge, seed := h.walk(&p, key)
	for p.depth < maxDepth && len(key) >= edge {
		x := h.hash(seed, key, edge)
		other, taken := h.clash(&p, x)
		if taken {
			return false
		}
		if other == noRef {
			if !h.insert(x, keySlot(ref)) {
				return false
			}
			h.setHome(ref, p.home())
			h.grown(&p, 1)
			return true
		}
		if p.depth+1 == maxDepth {
			return false
		}
		// Make the slot a node with both keys below.
		next := h.plan[x]
		if next == 0 || next > min(len(key), len(h.key(other))) {
			next = nextEdge(key, h.key(other))
		}
		if next == 0 || next > maxEdge {
			return false
		}
		if !h.divide(&p, x, other, next) {
			return false
		}
		edge, seed = next, x+nextLevel
	}
	return false
}

// divide turns the slot of other into a node, with other alone below it. It moves p
// on to there.
func (h *Hash) divide(p *path, x uint64, other uint32, edge int) bool {
	id := binary.LittleEndian.AppendUint64(make([]byte, 0, 16), x)
	node, ok := h.alloc(binary.LittleEndian.AppendUint64(id, h.seed(p)), homeNode+p.home())
	if !ok {
		return false
	}
	p.x[p.depth], p.nodes[p.depth] = x, edgeSlot(node, edge)
	p.depth++
	below := h.hash(x+nextLevel, h.key(other), edge)
	if _, taken := h.clash(p, below); taken || !h.insert(below, keySlot(other)) {
		h.kill(node)
		return false
	}
	h.setHome(other, p.home())
	h.replace(x, keySlot(other), edgeSlot(node, edge))
	return true
}
