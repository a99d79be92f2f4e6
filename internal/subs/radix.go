package subs

// A radix tree has a node only where keys part. On the way down nothing is
// compared: a branch says which byte of a message decides, and that byte leads on.
// Among the keys of which no other key is a prefix at most one can be a prefix of
// the message, and it is where the way ends; that one is compared, once. With the
// keys "a", "dog", "dot" and "dots":
//
//	root  branch at 0 ──► lane 3 │ 'a' leaf "a"
//	                             │ 'd' branch at 2 ──► lane 3 │ 'g' leaf "dog"
//	                                                          │ 't' more ──► 1 reference
//	                                                                         leaf "dot"
//	                                                                         leaf "dots"
//
// A twig is a word that says what follows:
//
//	       63 62 │ 61 ‥ 59 │ 58 ‥ 56 │ 55 ‥ 29 │ 28 ‥ 0
//	none       0 │                                          (only at the root, and as a rest)
//	leaf       1 │                   │    size │    ref  ─► the key's bytes; it has one reference
//	more       2 │                             │    ref  ─► references, leaf, rest
//	branch     3 │     low │    span │      at │    ref  ─► lanes, twigs
//
// The rest of a more is the tree of the keys that its own key is a proper prefix
// of. No Match goes there. A key with several references is a more, too.
//
// A branch has its twigs in the order of the byte that leads to them. A lane
// stands for 32 values of that byte, low << 5 to low << 5 + 31 in the first one;
// there are as many lanes as the bytes in use need, span+1, and each is
//
//	63 ‥ 32   where in the chunk its first twig is
//	31 ‥ 0    a bit for each value that leads to a twig
//
// so a twig is found by counting the bits below its own.
//
// Invariants, for each branch:
//
//	it has two twigs or more, none of kind none
//	the first and the last lane have bits
//	the keys below it are longer than at, and begin with the same at bytes
//	at is greater than in all branches above, and not less than the size of any more's leaf above
//	keys == the number of leaves
//
// The memory is that of the keys, each with all its bytes, plus 8 bytes for each
// twig and lane. Keys have an arena of their own: so what a way down reads lies close
// together, and a hash store, which needs the keys alone, finds them in less memory.

import (
	"encoding/binary"
	"iter"
	"math/bits"
	"slices"
	"unsafe"
)

// A Radix is a [Store] with a node for each place where keys part, as libzmq's
// radix_tree_t is. The zero Radix is empty and ready to use.
//
// At worst Match takes one step for each byte of data, and compares it with one key. Add
// and Remove go down twice and may copy 264 words. testdata/stores.txt at the root of the
// repository says how long that took with keys chosen for it.
type Radix struct {
	root uint64 // a twig
	keys int    // distinct keys
	mem  arena  // branches and mores
	text arena  // the bytes of keys
}

// A twig is as drawn above. In an arena it is a plain word.
type twig uint64

const (
	none = iota
	leaf
	more
	branch
)

func newTwig(kind, size int, r ref) uint64 {
	return uint64(kind)<<62 | uint64(size)<<refBits | uint64(r)
}

func (t twig) kind() int  { return int(t >> 62) }
func (t twig) ref() ref   { return ref(t & maxRef) }
func (t twig) size() int  { return int(t >> refBits & maxKey) } // of a leaf's key
func (t twig) at() int    { return t.size() }                   // of a branch
func (t twig) low() int   { return int(t >> 59 & 7) }
func (t twig) lanes() int { return int(t>>56&7) + 1 }

// Match implements [Store].
func (r *Radix) Match(data []byte) bool { return r.search(r.root, data) }

// search reports whether data begins with a key that it may lead to from t. It makes
// no call, as with one it would have to save its registers at its start.
func (r *Radix) search(t uint64, data []byte) bool {
	for t>>62 == branch {
		at := t >> refBits & maxKey
		if at >= uint64(len(data)) {
			return false
		}
		c := data[at]
		lane := uint64(c>>5) - t>>59&7
		if lane > t>>56&7 { // below low the difference wraps round
			return false
		}
		chunk := r.mem.chunks[t&maxRef>>chunkBits]
		set := chunk[t%chunkSize+lane]
		bit := uint32(1) << (c & 31)
		if uint32(set)&bit == 0 {
			return false
		}
		t = chunk[set>>32+uint64(bits.OnesCount32(uint32(set)&(bit-1)))]
	}
	if t>>62 == more {
		t = r.mem.chunks[t&maxRef>>chunkBits][t%chunkSize+1]
	}
	size := int(t >> refBits & maxKey)
	if size > len(data) || size == 0 {
		return size == 0 && t != none
	}
	words, i := r.text.chunks[t&maxRef>>chunkBits], t%chunkSize
	for ; size > 8; size -= 8 {
		if words[i] != binary.LittleEndian.Uint64(data[:8]) {
			return false
		}
		data = data[8:]
		i++
	}
	if len(data) >= 8 { // compare all eight, and shift out those that are not the key's
		return (words[i]^binary.LittleEndian.Uint64(data))<<((64-8*size)&63) == 0
	}
	w := words[i]
	for _, c := range data[:size] {
		if byte(w) != c {
			return false
		}
		w >>= 8
	}
	return true
}

// leads reports whether data begins with the key of a leaf.
func (r *Radix) leads(t twig, data []byte) bool {
	return t.size() == 0 || leads(r.text.block(t.ref()), t.size(), data)
}

// Add implements [Store].
func (r *Radix) Add(key []byte) bool {
	_, first := r.add(key)
	return first
}

// add is Add. It also returns how many bytes key has in common with the key before
// it, or the one after it, whichever are more.
func (r *Radix) add(key []byte) (same int, first bool) {
	checkSize(key)
	near := r.nearest(key)
	same = r.common(near, key)
	p := r.place(key, same)
	t := twig(*p)
	if t != none && same == len(key) && same == near.size() {
		return same, r.count(p)
	}
	r.mem.reserve(8 + 256)
	r.text.reserve(wordsFor(len(key)))
	own := r.newLeaf(key)
	switch {
	case t.kind() == none:
		*p = own
	case same == len(key):
		*p = r.newMore(1, own, *p)
	case t.kind() == leaf && t.size() == same:
		*p = r.newMore(1, *p, own)
	case t.kind() == branch && t.at() == same:
		r.insert(p, key[same], own)
	default:
		r.fork(p, same, r.byteOf(near, same), key[same], own)
	}
	r.keys++
	return same, true
}

// nearest returns the leaf of one of the keys that begin with most of key.
func (r *Radix) nearest(key []byte) twig {
	for t := twig(r.root); ; {
		switch t.kind() {
		default:
			return t
		case more:
			words := r.mem.block(t.ref())
			own, rest := twig(words[1]), twig(words[2])
			if rest == none || len(key) <= own.size() {
				return own
			}
			t = rest
		case branch:
			p := &r.twigs(t)[0]
			if t.at() < len(key) {
				if q := r.follow(t, key[t.at()]); q != nil {
					p = q
				}
			}
			t = twig(*p)
		}
	}
}

// begins reports whether a key begins with data.
func (r *Radix) begins(data []byte) bool { return r.common(r.nearest(data), data) == len(data) }

// place returns the first twig on key's way that has below it only keys that
// begin with the first same bytes of key, or is of the key that ends there.
func (r *Radix) place(key []byte, same int) *uint64 {
	for p := &r.root; ; {
		switch t := twig(*p); t.kind() {
		default:
			return p
		case more:
			words := r.mem.block(t.ref())
			if size := twig(words[1]).size(); size > same || size == len(key) {
				return p
			}
			p = &words[2]
		case branch:
			if t.at() >= same {
				return p
			}
			p = r.follow(t, key[t.at()])
		}
	}
}

// count adds a reference to the key at p.
func (r *Radix) count(p *uint64) bool {
	if twig(*p).kind() == leaf {
		*p = r.newMore(2, *p, none)
		return false
	}
	words := r.mem.block(twig(*p).ref())
	n := refs(words[0])
	n.add()
	words[0] = uint64(n)
	return false
}

// take removes a key that is in the tree, and returns how many references it had.
func (r *Radix) take(key []byte) (n refs) {
	n = 1
	if p := r.place(key, len(key)); twig(*p).kind() == more {
		words := r.mem.block(twig(*p).ref())
		n, words[0] = refs(words[0]), 1
		r.tidy(p)
	}
	r.Remove(key)
	return n
}

// put adds a key that is not in the tree, with n references.
func (r *Radix) put(key []byte, n refs) {
	r.add(key)
	if n > 1 {
		r.add(key)
		r.mem.block(twig(*r.place(key, len(key))).ref())[0] = uint64(n)
	}
}

// Remove implements [Store].
func (r *Radix) Remove(key []byte) bool {
	var c byte // leads from up to p, if up is a branch
	for up, p := (*uint64)(nil), &r.root; ; {
		t := twig(*p)
		switch t.kind() {
		case none:
			return false
		case leaf:
			if t.size() != len(key) || !r.leads(t, key) {
				return false
			}
			r.dropLeaf(t)
			*p = none
			if up != nil && twig(*up).kind() == branch {
				r.cut(up, c)
			} else if up != nil {
				r.tidy(up)
			}
			return true
		case more:
			words := r.mem.block(t.ref())
			own := twig(words[1])
			if own.size() < len(key) {
				up, p = p, &words[2]
				continue
			}
			if own.size() != len(key) || !r.leads(own, key) {
				return false
			}
			n := refs(words[0])
			last := n.drop()
			words[0] = uint64(n)
			if last {
				r.dropLeaf(own)
				*p = words[2]
				r.mem.release(t.ref(), 3)
			} else {
				r.tidy(p)
			}
			return last
		case branch:
			if t.at() >= len(key) {
				return false
			}
			c = key[t.at()]
			if up, p = p, r.follow(t, c); p == nil {
				return false
			}
		}
	}
}

// All implements [Store].
func (r *Radix) All() iter.Seq[[]byte] { return r.heads(maxKey) }

// heads is All, but of a key of more than size bytes there are only the first size.
func (r *Radix) heads(size int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var head []byte
		for t := range r.leaves() {
			if head = r.appendHead(head[:0], t, size); !yield(head) {
				return
			}
		}
	}
}

// appendHead appends the key of a leaf to data, or of a longer one the first size bytes.
func (r *Radix) appendHead(data []byte, t twig, size int) []byte {
	if t.size() == 0 {
		return data
	}
	return unpack(data, r.text.block(t.ref()), min(t.size(), size))
}

// leaves returns the leaves of all keys in their order.
func (r *Radix) leaves() iter.Seq[twig] {
	return func(yield func(twig) bool) {
		todo := []uint64{r.root}
		for len(todo) > 0 {
			t := twig(todo[len(todo)-1])
			todo = todo[:len(todo)-1]
			switch t.kind() {
			case leaf:
				if !yield(t) {
					return
				}
			case more:
				words := r.mem.block(t.ref())
				todo = append(todo, words[2], words[1])
			case branch:
				for _, twig := range slices.Backward(r.twigs(t)) {
					todo = append(todo, twig)
				}
			}
		}
	}
}

// Len implements [Store].
func (r *Radix) Len() int { return r.keys }

// Bytes implements [Store].
func (r *Radix) Bytes() int { return int(unsafe.Sizeof(*r)) + r.held() }

// held returns the memory that the tree has on the heap.
func (r *Radix) held() int { return r.mem.bytes() + r.text.bytes() }

// newLeaf returns a leaf for key.
func (r *Radix) newLeaf(key []byte) uint64 {
	if len(key) == 0 {
		return newTwig(leaf, 0, 0)
	}
	p := r.text.alloc(wordsFor(len(key)))
	pack(r.text.block(p), key)
	return newTwig(leaf, len(key), p)
}

// dropLeaf gives back the key of a leaf that leaves the tree.
func (r *Radix) dropLeaf(t twig) {
	r.keys--
	if t.size() > 0 {
		r.text.release(t.ref(), wordsFor(t.size()))
	}
}

// common returns how many bytes the key of a leaf, or none, has in common with key.
func (r *Radix) common(t twig, key []byte) int {
	if t.size() == 0 {
		return 0
	}
	return common(r.text.block(t.ref()), t.size(), key)
}

// byteOf returns byte i of the key of a leaf.
func (r *Radix) byteOf(t twig, i int) byte { return byteAt(r.text.block(t.ref()), i) }

func (r *Radix) newMore(n refs, own, rest uint64) uint64 {
	p := r.mem.alloc(3)
	words := r.mem.block(p)
	words[0], words[1], words[2] = uint64(n), own, rest
	return newTwig(more, 0, p)
}

// tidy puts the leaf in the place of a more that is not needed any longer.
func (r *Radix) tidy(p *uint64) {
	t := twig(*p).ref()
	if words := r.mem.block(t); words[0] == 1 && words[2] == none {
		*p = words[1]
		r.mem.release(t, 3)
	}
}
