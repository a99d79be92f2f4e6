package subs

// Where the windows of nodes end. A good edge tells most of a node's keys apart, and
// few of them are too short for it.
//
// A node that comes about as two keys meet gets an edge for those two. When the
// store has grown eightfold, while it is small enough to do it at once, all is
// placed anew, with edges chosen by looking at all keys that will share a node.

import (
	"cmp"
	"math/bits"
	"slices"
)

const (
	minBuild  = 16 // an eighth of the number of keys at which build is run first
	maxBuild  = 1 << 13
	reach     = 8  // bytes after the first difference that an edge may take in
	edgeRange = 48 // edges that are tried
	bigNode   = 32 // keys for which an edge is chosen with care
	sample    = 256
)

// build places all keys anew.
func (h *Hash) build() {
	var refs []uint32
	for i := range h.chunks {
		h.records(i, func(ref uint32) {
			if isNode(h.home(ref)) {
				h.kill(ref)
			} else {
				h.setHome(ref, homeFew)
				refs = append(refs, ref)
			}
		})
	}
	// Long keys first: an edge that is good for most must not be lowered for one.
	slices.SortStableFunc(refs, func(a, b uint32) int { return cmp.Compare(len(h.key(b)), len(h.key(a))) })
	h.built = h.keys
	h.few, h.opened, h.roots = few{}, 0, [maxRoots]root{}
	h.makeTables()
	for h.opened < maxRoots && len(refs) > maxFew {
		before := h.opened
		h.open(refs)
		if h.opened == before {
			break
		}
		refs = slices.DeleteFunc(refs, func(ref uint32) bool { return h.home(ref) != homeFew })
	}
	h.fewOrSpill(refs, noRef)
}

// planned returns edges for the nodes that will have many of the keys, by the hash
// that leads to them.
func (h *Hash) planned(refs []uint32, r *root) map[uint64]int {
	type node struct {
		refs  []uint32
		edge  int
		seed  uint64
		depth int
	}
	if len(refs) <= bigNode {
		return nil
	}
	type hashed struct {
		x   uint64
		ref uint32
	}
	plan := map[uint64]int{}
	for todo := []node{{refs, r.edge, r.seed, 0}}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		below := make([]hashed, 0, len(n.refs))
		for _, ref := range n.refs {
			key, edge := h.key(ref), n.edge
			if n.depth == 0 {
				edge = h.start(r, key)
			}
			if len(key) >= edge {
				below = append(below, hashed{h.hash(n.seed, key, edge), ref})
			}
		}
		slices.SortFunc(below, func(a, b hashed) int { return cmp.Compare(a.x, b.x) })
		for from, to := 0, 0; from < len(below); from = to {
			x := below[from].x
			for to = from; to < len(below) && below[to].x == x; to++ {
			}
			if to-from <= bigNode || n.depth+2 >= maxDepth {
				continue
			}
			group := make([]uint32, to-from)
			for i := range group {
				group[i] = below[from+i].ref
			}
			plan[x], _ = h.bestEdge(group, 1)
			todo = append(todo, node{group, plan[x], x + nextLevel, n.depth + 1})
		}
	}
	return plan
}

// chosen returns a root for these keys, with one edge if that tells most of them
// apart.
func (h *Hash) chosen(refs []uint32) root {
	edge, alone := h.bestEdge(refs, 1)
	r := root{edge: edge}
	if len(refs) <= bigNode || alone > 0.9 {
		return r
	}
	first, same := h.key(refs[0]), maxEdge
	for i := 0; i < len(refs); i += (len(refs) + sample - 1) / sample {
		same = min(same, agree(first, h.key(refs[i])))
	}
	if same > maxEdge/2 {
		return r
	}
	r.pick, r.edges = max(8, same+4), new([256]uint16)
	var groups [256][]uint32
	for _, ref := range refs {
		if key := h.key(ref); len(key) >= r.pick {
			i := load(key, r.pick-8) * (h.secret | 1) >> 56
			groups[i] = append(groups[i], ref)
		}
	}
	for i, group := range groups {
		e := max(r.edge, r.pick)
		if len(group) >= 8 {
			e, _ = h.bestEdge(group, r.pick)
		}
		r.edges[i] = uint16(e)
	}
	r.edge = maxEdge
	return r
}

// bestEdge returns an edge, of at least low, for a node with these keys, and
// the share of keys that it gives a slot of their own. It tries edges on a
// sample, and counts two for a key with its own slot, one for any other, and takes
// off one for two that are too short.
func (h *Hash) bestEdge(refs []uint32, low int) (edge int, alone float64) {
	most := min(sample, max(16, len(refs)/8))
	var keys [][]byte
	for i := 0; i < len(refs); i += (len(refs) + most - 1) / most {
		keys = append(keys, h.key(refs[i]))
	}
	same, longest := len(keys[0]), 0
	for _, key := range keys {
		same, longest = min(same, agree(keys[0], key)), max(longest, len(key))
	}
	hashes := make([]uint64, 0, len(keys))
	low = max(low, same+1)
	best := -2 * len(keys)
	edge = low
	for e := low; e <= min(longest, low+edgeRange, maxEdge); e++ {
		hashes = hashes[:0]
		for _, key := range keys {
			if len(key) >= e {
				hashes = append(hashes, h.hash(0, key, e))
			}
		}
		slices.Sort(hashes)
		shared := 0
		for i, x := range hashes {
			if (i > 0 && hashes[i-1] == x) || (i+1 < len(hashes) && hashes[i+1] == x) {
				shared++
			}
		}
		if score := 5*len(hashes) - 2*shared - len(keys); score >= best {
			best, edge = score, e
			alone = float64(len(hashes)-shared) / float64(len(keys))
		}
	}
	return edge, alone
}

// nextEdge returns an edge for a node with a and b, or 0 if one of them is a prefix
// of the other.
func nextEdge(a, b []byte) int {
	same, size := agree(a, b), min(len(a), len(b))
	if same == size {
		return 0
	}
	return same + 1 + min(reach, (size-same-1)/2)
}

// agree returns the number of bytes that a and b begin with alike.
func agree(a, b []byte) int {
	size := min(len(a), len(b))
	a, b = a[:size], b[:size]
	for i := 0; i < size; i += 8 {
		if differ := word(a, i) ^ word(b, i); differ != 0 {
			return i + bits.TrailingZeros64(differ)/8
		}
	}
	return size
}
