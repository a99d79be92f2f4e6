package subs

// One level of a hash store: where a window ends, and where its hash leads.

import (
	"encoding/binary"
	"iter"
	"math/bits"
)

const (
	minLong = 9        // bytes of the shortest key in a level
	maxEdge = 1<<8 - 1 // so that an edge is a byte
	never   = 1 << 30  // an edge that is greater than the size of any message
)

// A level is a radix tree with a table of short cuts into it.
type level struct {
	tree     Radix
	table    hashTable
	one      family // of all messages, if families is nil
	all      window // of all messages, if families is nil
	families *[familySize]family
	rows     []window // rowSize for a family
}

// A family is messages whose first eight bytes have one hash, as far as it counts.
type family struct {
	pick uint16 // the eight bytes up to here choose the edge
	row  uint16 // where in rows its windows begin
	rest uint32 // how many keys of the family are in later levels
}

// A window is 16 bytes of a message, or if its edge is below that, all bytes before it.
//
//	15 ‥ 8   its edge, where it ends
//	7 ‥ 0    where it begins
type window uint16

func windowTo(edge int) window { return window(edge<<8 | max(edge-16, 0)) }

func (w window) edge() int  { return int(w >> 8) }
func (w window) start() int { return int(w & 0xff) }

// edge returns where the window of a message of 9 bytes or more ends, the seed of its
// hash, and the family.
func (v *level) edge(data []byte, secret uint64) (edge int, seed uint64, f *family) {
	if v.families == nil {
		return v.all.edge(), seedOfAll(secret), &v.one
	}
	f = &v.families[familyOf(data, secret)]
	if len(data) < int(f.pick) {
		return never, 0, f
	}
	seed = seedOf(data, int(f.pick), secret)
	return v.rows[uint64(f.row)+seed>>58].edge(), seed, f
}

// familyOf returns the number of data's family.
func familyOf(data []byte, secret uint64) int { return int(load(data, 0) * (secret | 1) >> 56) }

// seedOf returns what hashes of a family begin with: of two messages the same if the eight
// bytes before pick are, and the first eight. Its upper bits choose the edge.
func seedOf(data []byte, pick int, secret uint64) uint64 {
	return (load(data, pick-8) ^ load(data, 0)*(secret|1)) * (secret | 1)
}

// seedOfAll returns what hashes begin with where there are no families. It is not the secret, as
// a window would then have the same hash as one with its halves exchanged.
func seedOfAll(secret uint64) uint64 { return bits.RotateLeft64(secret, 32) }

// hashOf returns the hash of the window of data that ends at edge.
func hashOf(data []byte, edge int, seed, secret uint64) uint64 {
	hi, lo := bits.Mul64(load(data, windowTo(edge).start())^secret, load(data, edge-8)^seed)
	return hi ^ lo
}

func load(b []byte, at int) uint64 { return binary.LittleEndian.Uint64(b[at : at+8]) }

// The kinds of slots, and what is found there.
//
//	         45 ‥ 43 │ 42 ‥ 40 │ 39 ‥ 29 │ 28 ‥ 0
//	leaf   0           44 ‥ 29: size     │ ref     a key
//	many   1                               31 ‥ 0: how many beginnings there are with this hash
//	branch 2     low │    span │      at │ ref     a branch of the tree
//
// A leaf of a key with several references, or with longer keys in its rest, is a leaf
// here, too, as that is where Match would end. What a slot has no room for is a many
// of one.
const (
	leafSlot   slot = 0
	manySlot   slot = 1 << 46
	branchSlot slot = 2 << 46
	kindMask   slot = 3 << 46
	maxLeaf         = 1<<16 - 1 // bytes of the longest key in a leaf
	maxAt           = 1<<11 - 1 // the greatest place of a branch in a branch
)

func (s slot) kind() slot { return s & kindMask }
func (s slot) size() int  { return int(s >> refBits & maxLeaf) } // of a leaf
func (s slot) many() int  { return int(uint32(s)) }              // of a many
func (s slot) twig() uint64 { // of a branch
	return branch<<62 | uint64(s>>40&63)<<56 | uint64(s)&(1<<40-1)
}

// slotOf returns the slot for a twig.
func (v *level) slotOf(t twig) slot {
	if t.kind() == more {
		t = twig(v.tree.mem.block(t.ref())[1])
	}
	switch {
	case t.kind() == leaf && t.size() <= maxLeaf:
		return leafSlot | slot(t.size())<<refBits | slot(t.ref())
	case t.kind() == branch && t.at() <= maxAt:
		return branchSlot | slot(t>>56&63)<<40 | slot(t.at())<<refBits | slot(t.ref())
	}
	return manySlot | 1
}

// fits reports whether key may be in this level.
func (v *level) fits(key []byte, secret uint64) bool {
	edge, _, _ := v.edge(key, secret)
	return len(key) >= edge
}

func (v *level) add(key []byte, secret uint64) bool {
	same, first := v.tree.add(key)
	if first {
		v.lead(key, secret, same, true)
	}
	return first
}

func (v *level) remove(key []byte, secret uint64) bool {
	last := v.tree.Remove(key)
	if last {
		v.lead(key, secret, never, false)
	}
	return last
}

// lead has the table lead to where the keys that begin like key are now; key itself
// may be one. Before, if same is less than the edge, there were none.
func (v *level) lead(key []byte, secret uint64, same int, here bool) {
	if v.table.lost {
		return
	}
	edge, seed, _ := v.edge(key, secret)
	x, t := hashOf(key, edge, seed, secret), twig(none)
	if here || v.tree.begins(key[:edge]) {
		t = twig(*v.tree.place(key[:edge], edge))
	}
	at := v.table.find(x, 0, 0)
	switch {
	case at == nil && v.table.outgrown(v.tree.Len()):
		v.fill(v.tree.heads(maxEdge), secret)
	case at == nil:
		v.table.insert(x, v.slotOf(t))
	case same < edge && at.kind() == manySlot:
		*at++
	case same < edge:
		*at = (manySlot | 2).at(x)
	case at.kind() == manySlot && at.many() > 1:
		if t == none {
			*at--
		}
	case t == none:
		v.table.remove(x, at)
	default:
		*at = v.slotOf(t).at(x)
	}
}

// fill makes the table from the tree, of which these are the heads in their order.
func (v *level) fill(heads iter.Seq[[]byte], secret uint64) {
	v.table = newTable(v.tree.Len())
	var before []byte
	for head := range heads {
		same := agree(before, head)
		if edge, _, _ := v.edge(head, secret); same < edge {
			v.lead(head, secret, same, true)
		}
		before = append(before[:0], head...)
	}
}

// match reports whether data begins with a key of this level, and if not, whether it
// may begin with one of a later level.
func (v *level) match(data []byte, secret uint64) (hit, rest bool) {
	edge, seed, f := v.edge(data, secret)
	return edge <= len(data) && v.matchHash(data, hashOf(data, edge, seed, secret)), f.rest > 0
}

// matchHash follows the slots under x.
func (v *level) matchHash(data []byte, x uint64) bool {
	p := v.table.part(x)
	for i := range probes {
		l := p.line(x, i)
		for m := l.match(tagOf(x)); m != 0; m &= m - 1 {
			if s := l.slots[laneOf(m)]; s != 0 && s.isAt(x) && v.leads(s, data) {
				return true
			}
		}
		if l.passed() == 0 {
			break
		}
	}
	return false
}

// leads reports whether data begins with the key that s may lead to.
func (v *level) leads(s slot, data []byte) bool {
	switch s.kind() {
	case leafSlot:
		return leads(v.tree.text.block(ref(s&maxRef)), s.size(), data)
	case branchSlot:
		return v.tree.search(s.twig(), data)
	}
	return v.tree.Match(data)
}
