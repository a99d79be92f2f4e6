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
//	two slots with one hash: never two nodes, nor two keys of one node
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
	"math/bits"
	"math/rand/v2"
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

// spillOver moves a key from its record to the radix tree.
func (h *Hash) spillOver(ref uint32) {
	h.spill.put(h.key(ref), h.recordLog.refs(ref))
	h.kill(ref)
	h.keys--
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

// A path is the way to a key's slot.
type path struct {
	ref   uint32
	few   bool
	root  int
	depth int // of the slot; or the index among few
	x     [maxDepth]uint64
	nodes [maxDepth]slot // nodes[i] is the node that x[i] leads to
}

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
				if h.home(ref) == p.home()+homeNode && load(h.record(ref), headSize) == x {
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

func (p *path) home() int { return p.root<<3 | p.depth }

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
		other, node := h.clash(&p, x)
		if node {
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
		p.x[p.depth] = x
		p.depth++
		edge, seed = next, x+nextLevel
	}
	return false
}

// clash returns the record of the key that has the hash x in the same node as key
// would, and whether there is a node with this hash at another level.
func (h *Hash) clash(p *path, x uint64) (other uint32, node bool) {
	var buf [probes * lineSlots]slot
	for _, s := range h.found(buf[:0], x) {
		ref := s.ref()
		if s.isNode() {
			node = node || load(h.record(ref), headSize) == x
		} else if h.home(ref) == p.home() {
			// It may be in another node, and agree in the table's bits alone.
			q := path{root: p.root}
			if h.walk(&q, h.key(ref)); q.x[q.depth] == x {
				other = ref
			}
		}
	}
	return other, node
}

// divide turns the slot of other into a node, with other alone below it.
func (h *Hash) divide(p *path, x uint64, other uint32, edge int) bool {
	var id [8]byte
	for i := range id {
		id[i] = byte(x >> (8 * i))
	}
	node, ok := h.alloc(id[:], homeNode+p.home())
	if !ok {
		return false
	}
	below := h.hash(x+nextLevel, h.key(other), edge)
	if !h.insert(below, keySlot(other)) {
		h.kill(node)
		return false
	}
	h.setHome(other, p.home()+1)
	h.replace(x, keySlot(other), edgeSlot(node, edge))
	p.nodes[p.depth] = edgeSlot(node, edge)
	return true
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

// tidy empties the chunks of which less than half is alive.
func (h *Hash) tidy() {
	for len(h.sparse) > 0 {
		i := h.sparse[len(h.sparse)-1]
		h.sparse = h.sparse[:len(h.sparse)-1]
		h.records(int(i), h.move)
		if h.live[i] == 0 {
			h.drop(i)
		}
	}
}

// move copies a record to the end of the recordLog, and has its slot point there.
func (h *Hash) move(ref uint32) {
	key, home := h.key(ref), h.home(ref)
	to, ok := h.alloc(key, home)
	if !ok {
		return
	}
	h.setRefs(to, h.recordLog.refs(ref))
	switch {
	case home == homeFew:
		h.few.ref[slices.Index(h.few.ref[:h.few.n], ref)] = to
	case isNode(home):
		x := load(key, 0)
		var buf [probes * lineSlots]slot
		for _, s := range h.found(buf[:0], x) {
			if s.isNode() && s.ref() == ref {
				h.replace(x, s, edgeSlot(to, s.edge()))
			}
		}
	default:
		p := path{root: home >> 3}
		h.walk(&p, key)
		h.replace(p.x[p.depth], keySlot(ref), keySlot(to))
	}
	h.kill(ref)
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
