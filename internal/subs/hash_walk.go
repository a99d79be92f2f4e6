package subs

// The way from a root to the slot of a key, when the store changes.

import "bytes"

// A path is the way to a key's slot.
type path struct {
	ref   uint32
	few   bool
	root  int
	depth int // of the slot; or the index among few
	x     [maxDepth]uint64
	nodes [maxDepth]slot // nodes[i] is the node that x[i] leads to
}

func (p *path) home() int { return p.root<<3 | p.depth }

// locate finds the record of key.
func (h *Hash) locate(key []byte) path {
	var p path
	for i := range h.few.n {
		if bytes.Equal(h.key(h.few.ref[i]), key) {
			p.ref, p.few, p.depth = h.few.ref[i], true, i
			return p
		}
	}
	for p.root = range h.opened {
		if h.walk(&p, key); p.ref != noRef {
			return p
		}
	}
	return p
}

// walk looks for key in root p.root. It goes down as far as there are nodes,
// and leaves in p the way there, with p.ref the key's record, if it is found.
// It returns the edge below the last node.
func (h *Hash) walk(p *path, key []byte) (edge int, seed uint64) {
	var buf [probes * lineSlots]slot
	edge, seed = h.start(&h.roots[p.root], key), h.roots[p.root].seed
	for p.depth = 0; p.depth < maxDepth && len(key) >= edge; p.depth++ {
		x := h.hash(seed, key, edge)
		p.x[p.depth] = x
		var node slot
		for _, s := range h.found(buf[:0], x) {
			switch ref := s.ref(); {
			case s.isNode():
				if rec := h.record(ref); h.home(ref) == p.home()+homeNode && load(rec, headSize) == x && load(rec, headSize+8) == seed {
					node = s
				}
			case h.home(ref) == p.home() && bytes.Equal(h.key(ref), key):
				p.ref = ref
				return
			}
		}
		if node == 0 {
			return
		}
		p.nodes[p.depth] = node
		edge, seed = node.edge(), x+nextLevel
	}
	return
}

// clash returns the record of the key that has the hash x in the node that p ends
// in, and whether x is taken: by a node, or by a key in another node at this level.
func (h *Hash) clash(p *path, x uint64) (other uint32, taken bool) {
	var buf [probes * lineSlots]slot
	for _, s := range h.found(buf[:0], x) {
		ref := s.ref()
		if s.isNode() {
			taken = taken || load(h.record(ref), headSize) == x
		} else if h.home(ref) == p.home() {
			// It may agree in the table's bits alone.
			q := path{root: p.root}
			if h.walk(&q, h.key(ref)); q.x[q.depth] != x {
				continue
			}
			if q.parent() == p.parent() {
				other = ref
			} else {
				taken = true
			}
		}
	}
	return other, taken
}

// seed returns the seed of the node that p ends in.
func (h *Hash) seed(p *path) uint64 {
	if p.depth == 0 {
		return h.roots[p.root].seed
	}
	return p.x[p.depth-1] + nextLevel
}

// parent returns the record of the node that p ends in, or noRef for a root.
func (p *path) parent() uint32 {
	if p.depth == 0 {
		return noRef
	}
	return p.nodes[p.depth-1].ref()
}

// grown adds to the count of the node that the last slot on p is in.
func (h *Hash) grown(p *path, by int) int {
	if p.depth == 0 {
		h.roots[p.root].n += by
		return 1
	}
	return int(h.count(p.nodes[p.depth-1].ref(), by))
}

// unplace removes the slot at the end of p, and nodes that are empty then.
func (h *Hash) unplace(p *path) {
	s := keySlot(p.ref)
	for {
		h.remove(p.x[p.depth], s)
		if h.grown(p, -1) > 0 {
			break
		}
		p.depth--
		s = p.nodes[p.depth] & (1<<48 - 1)
		h.kill(s.ref())
	}
	for h.opened > 0 && h.roots[h.opened-1].n == 0 {
		h.opened--
	}
}
