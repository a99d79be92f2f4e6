package subs

// A hash store looks at a message in two or three places, and compares it with
// one key. What makes that possible: of keys none of which is a prefix of another, at
// most one is a prefix of a message. So the way to it need not be checked; the key
// found is compared in full, once, at the end.
//
// A node sends its keys apart by the hash of a window: the 16 bytes before an edge,
// or as many as there are. No key of the node is shorter than the edge.
// Where two hashes are equal, another node follows, with an edge of its own. With the keys
// "orders.us.17.new", "orders.us.17.fill" and "orders.eu.4.new":
//
//	root  edge 12          hash of "orders.us.17" ──► node  edge 14   hash of "orders.us.17.n" ──► key
//	                                                                  hash of "orders.us.17.f" ──► key
//	                       hash of "orders.eu.4." ──► key
//
// The hash above is the seed below, so a hash stands for the whole way from the root,
// and all nodes share one hash table: a node is a slot that says where its edge is,
// and not a table of its own (hash_table.go). Keys, and the counts of nodes, are
// records in chunks of bytes (hash_keys.go). Where edges should be, hash_edge.go
// says; a root may have 256 of them.
//
// Where one key is a prefix of another, both would follow the same way to one slot;
// and a key may be shorter than the edge it meets. Such a key goes to the next of up to
// four roots, each with its own edges and nodes; then to the few, up to eight keys of
// any kind; then to a radix tree. A search asks in the same order. So what an attacker can
// make slow is bounded: whatever the keys are, Match takes at most 4·8 steps
// and then a search in the radix tree.
//
// The secret, random for each store, is in every hash, so nobody can choose keys
// whose hashes are equal. Were they, the keys would go to the radix tree.
//
// Invariants:
//
//	a key is in one place: below a root, among the few, or in the radix tree
//	len(key) >= the edges on the way to it
//	the count of a node or root == the number of slots below it, > 0 for a node
//	two slots with one hash: never two nodes, nor two keys at one level below a root
//	n > 0 for the last of the roots
//
// Limits: a key of 64 MiB, a chunk beyond 131072 (16 GiB of short keys), an edge
// beyond 65535, the 65537th line of a table: what passes one goes to the radix
// tree, and is refused if it passes a limit of that. Counts of references stop at
// MaxRefs.

import (
	"bytes"
	"iter"
	"math"
	"slices"
	"unsafe"
)

const (
	maxRoots = 4
	maxDepth = 8
	maxFew   = 8
	maxEdge  = 1<<16 - 1
	maxInt   = math.MaxInt
)

// A Hash is a [Store] that finds the one key that can be a prefix of a message by
// hashing, and compares once. The zero Hash is empty and ready to use.
//
// At worst Match takes 4·8 steps and then as long as that of a [Radix] with the same
// keys: 8 µs where 1000 keys part one byte after the other. Add and Remove besides
// may move a table, 1/128 of the slots, and an Add may place up to 8192 keys anew:
// 3.5 ms as a rule, and 5.4 ms is the most that was seen.
type Hash struct {
	refs   refs // to the empty key
	opened int  // roots in use
	tables []lineTable
	mask   uint64 // len(tables) − 1
	secret uint64
	roots  [maxRoots]root
	recordLog
	few    few
	spill  spill
	keys   int            // outside of spill, without the empty key
	built  int            // the number of keys when build was last run
	plan   map[uint64]int // while build runs, the edges of nodes by their hash
	seeded bool
}

// A root is a node that searches begin at. It may have 256 edges instead of one; which
// it is, the eight bytes that end at pick say.
type root struct {
	edge  int // for messages shorter than pick, more than they are long
	seed  uint64
	n     int // slots that lead on from it
	pick  int
	edges *[256]uint16
}

// Add implements [Store].
func (h *Hash) Add(key []byte) bool {
	if len(key) == 0 {
		return h.refs.add()
	}
	if p := h.locate(key); p.ref != noRef {
		n := h.recordLog.refs(p.ref)
		n.add()
		h.setRefs(p.ref, n)
		return false
	}
	if h.spill.again(key) {
		return false
	}
	h.spill.tree.mem.reserve(wordsFor(len(key)) + 8 + 256)
	ref, ok := h.alloc(key, homeFew)
	if !ok {
		h.spill.put(key, 1)
		return true
	}
	h.keys++
	if !h.settle(key, ref) {
		h.spillOver(ref)
	}
	if h.keys >= 8*max(h.built, minBuild) && h.built < maxBuild {
		h.build()
	}
	h.tidy()
	return true
}

// Remove implements [Store].
func (h *Hash) Remove(key []byte) bool {
	if len(key) == 0 {
		return h.refs.drop()
	}
	p := h.locate(key)
	if p.ref == noRef {
		return h.spill.remove(key)
	}
	n := h.recordLog.refs(p.ref)
	last := n.drop()
	if !last {
		h.setRefs(p.ref, n)
		return false
	}
	h.keys--
	if p.few {
		h.few.remove(p.depth, key)
	} else {
		h.unplace(&p)
	}
	h.kill(p.ref)
	if h.keys == 0 {
		h.reset()
	}
	h.tidy()
	return true
}

// reset gives back all memory of an empty store but the radix tree's.
func (h *Hash) reset() {
	*h = Hash{refs: h.refs, secret: h.secret, seeded: h.seeded, spill: h.spill}
}

// All implements [Store].
func (h *Hash) All() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		keys := make([][]byte, 0, h.Len())
		if h.refs > 0 {
			keys = append(keys, nil)
		}
		for i := range h.chunks {
			h.records(i, func(ref uint32) {
				if !isNode(h.home(ref)) {
					keys = append(keys, h.key(ref))
				}
			})
		}
		for key := range h.spill.tree.All() {
			keys = append(keys, bytes.Clone(key))
		}
		slices.SortFunc(keys, bytes.Compare)
		for _, key := range keys {
			if !yield(key) {
				return
			}
		}
	}
}

// Len implements [Store].
func (h *Hash) Len() int {
	n := h.keys + h.spill.tree.Len()
	if h.refs > 0 {
		n++
	}
	return n
}

// Bytes implements [Store].
func (h *Hash) Bytes() int {
	n := int(unsafe.Sizeof(*h)) + h.spill.bytes() + h.held
	n += cap(h.tables) * int(unsafe.Sizeof(lineTable{}))
	for i := range h.tables {
		n += cap(h.tables[i].lines) * int(unsafe.Sizeof(line{}))
	}
	for i := range h.roots {
		if h.roots[i].edges != nil {
			n += int(unsafe.Sizeof(*h.roots[i].edges))
		}
	}
	return n + cap(h.chunks)*24 + cap(h.live)*8 + cap(h.free)*4 + cap(h.sparse)*4
}
