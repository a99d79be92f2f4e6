package subs

// A trie spends one node on each byte of a key. Most nodes have one child, and a
// row of such nodes is no more than its bytes. Where there is a choice, a table is
// indexed by the byte that decides, and spans the bytes in use from the lowest to
// the highest. With the keys "a", "dog", "dot" and "dots":
//
//	root  table 'a'‥'d' ──► │ 'a' end, 1 reference
//	                        │ 'b' hole
//	                        │ 'c' hole
//	                        │ 'd' run of 1 ──► table 'g'‥'t' ──► │ 'g' end, 1 reference
//	                                           "o"               │ … holes
//	                                                             │ 't' more ──► 1 reference
//	                                                                            run of 1 ──► end, 1 reference
//	                                                                                         "s"
//
// A node is a word, which lies where it is pointed from: in the table, after
// the run, after the references. So a step down costs one load.
//
//	       63 ‥ 61 │ 60 ‥ 53 │ 52 ‥ 45 │           │ 28 ‥ 0
//	hole         0 │
//	end          1 │                      31 ‥ 0: references to the key that ends here
//	more         2 │                               │    ref  ─► references, the node for longer keys
//	run          3 │                     size << 29│    ref  ─► the node after it, its bytes
//	table        4 │    last │   first │           │    ref  ─► nodes for bytes first to first+last
//
// A hole looks like the end of the trie: whoever steps on one finds nothing, and
// needs no test for it.
//
// Invariants:
//
//	the first and the last node of a table are no holes, and last > 0
//	the node after a run or in a more is no hole; in a more it is a run or a table
//	0 < size <= maxRun; of two runs in a row, the sizes are more than maxRun together
//	keys == the number of ends and mores
//
// As runs are bounded, a key of any length changes at most three of them but for
// those that it alone needs.

import (
	"encoding/binary"
	"iter"
	"slices"
	"unsafe"
)

// A Trie is a [Store] that looks at one byte after the other, as libzmq's trie_t
// does. The zero Trie is empty and ready to use.
//
// At worst Match takes one step of about 4 ns for each byte of data. Add and Remove
// take the same, and may copy a table of 256 nodes and three runs of 1 KiB: 0.6 ms
// is the most that keys chosen for it made them take.
type Trie struct {
	root uint64 // a node
	keys int    // distinct keys
	mem  arena
}

// A node is as drawn above. In an arena it is a plain word.
type node uint64

const (
	hole = iota
	end
	moreNode
	run
	table
)

// maxRun is the size of the longest run, in bytes.
const maxRun = 1 << 10

func newEnd(n refs) uint64 { return end<<61 | uint64(n) }

func (n node) kind() int  { return int(n >> 61) }
func (n node) refs() refs { return refs(n) }             // of an end
func (n node) size() int  { return int(n >> 29 & 2047) } // of a run
func (n node) first() int { return int(n >> 45 & 255) }  // of a table
func (n node) last() int  { return int(n >> 53 & 255) }
func (n node) ref() ref   { return ref(n & maxRef) }

// Match implements [Store].
func (t *Trie) Match(data []byte) bool {
	n, chunks := t.root, t.mem.chunks
	i := 0
	for {
		for n>>61 == table {
			if i >= len(data) {
				return false
			}
			entry := uint64(data[i]) - n>>45&255
			if entry > n>>53&255 { // below first the difference wraps round
				return false
			}
			n = chunks[n&maxRef>>chunkBits][n%chunkSize+entry]
			i++
		}
		if n>>61 != run {
			return n != hole
		}
		size := node(n).size()
		words := chunks[n&maxRef>>chunkBits][n%chunkSize:]
		next := i + size
		switch {
		case next > len(data):
			return false
		case size > 8 || len(data) < 8:
			if !leads(words[1:], size, data[i:]) {
				return false
			}
		default: // the eight bytes up to next, or the first eight, have the run's among them
			from := max(next, 8) - 8
			eight := binary.LittleEndian.Uint64(data[from:]) >> (8 * (i - from) & 63)
			if (eight^words[1])<<((64-8*size)&63) != 0 {
				return false
			}
		}
		n, i = words[0], next
	}
}

// Add implements [Store].
func (t *Trie) Add(key []byte) bool {
	checkSize(key)
	t.mem.reserve(2*wordsFor(len(key)) + 2*maxRun)
	var before *uint64 // the run that p comes right after, if there is one
	for p := &t.root; ; {
		n := node(*p)
		switch n.kind() {
		case hole:
			*p = t.chain(key)
			t.keys++
			return true
		case end:
			count := n.refs()
			if len(key) > 0 {
				*p = t.newMore(count, t.chain(key))
				t.keys++
				return true
			}
			count.add()
			*p = newEnd(count)
			return false
		case moreNode:
			words := t.mem.block(n.ref())
			if len(key) == 0 {
				count := refs(words[0])
				count.add()
				words[0] = uint64(count)
				return false
			}
			before, p = nil, &words[1]
		case table:
			if len(key) == 0 {
				*p = t.newMore(1, *p)
				t.keys++
				return true
			}
			if t.entry(n, key[0]) == nil {
				t.widen(p, key[0])
			}
			before, p, key = nil, t.entry(node(*p), key[0]), key[1:]
		case run:
			words := t.mem.block(n.ref())
			same := common(words[1:], n.size(), key)
			if same < n.size() {
				t.split(p, key, same)
				t.join(before, p)
				t.keys++
				return true
			}
			before, p, key = p, &words[0], key[same:]
		}
	}
}

// Remove implements [Store].
func (t *Trie) Remove(key []byte) bool {
	// The lowest table or more on the way is needed by another key; what is
	// below goes with this one. c leads on from there, if it is a table.
	var keep, beforeKeep, before *uint64
	var c byte
	for p := &t.root; ; {
		n := node(*p)
		switch n.kind() {
		case hole:
			return false
		case end:
			count := n.refs()
			if len(key) > 0 {
				return false
			}
			if !count.drop() {
				*p = newEnd(count)
				return false
			}
			t.keys--
			t.prune(keep, c)
			t.join(beforeKeep, keep)
			return true
		case moreNode:
			words := t.mem.block(n.ref())
			if len(key) > 0 {
				keep, beforeKeep, before, p = p, before, nil, &words[1]
				continue
			}
			count := refs(words[0])
			last := count.drop()
			if words[0] = uint64(count); last {
				t.keys--
				*p = words[1]
				t.mem.release(n.ref(), 2)
				t.join(before, p)
			}
			return last
		case table:
			if len(key) == 0 {
				return false
			}
			c = key[0]
			keep, beforeKeep, before, p, key = p, before, nil, t.entry(n, c), key[1:]
			if p == nil {
				return false
			}
		case run:
			words := t.mem.block(n.ref())
			if !leads(words[1:], n.size(), key) {
				return false
			}
			before, p, key = p, &words[0], key[n.size():]
		}
	}
}

// All implements [Store].
func (t *Trie) All() iter.Seq[[]byte] {
	// A visit is a node still to be seen, and the size of the way to the
	// table that it is in, and the byte that leads to it.
	type visit struct {
		n    uint64
		size int
		c    byte
	}
	return func(yield func([]byte) bool) {
		var key []byte
		var todo []visit
		for n := node(t.root); ; {
			switch n.kind() {
			case run:
				words := t.mem.block(n.ref())
				key, n = unpack(key, words[1:], n.size()), node(words[0])
				continue
			case moreNode:
				if !yield(key) {
					return
				}
				n = node(t.mem.block(n.ref())[1])
				continue
			case end:
				if !yield(key) {
					return
				}
			case table:
				for i, n2 := range slices.Backward(t.nodes(n)) {
					if n2 != hole {
						todo = append(todo, visit{n2, len(key), byte(n.first() + i)})
					}
				}
			}
			if len(todo) == 0 {
				return
			}
			v := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			n, key = node(v.n), append(key[:v.size], v.c)
		}
	}
}

// Len implements [Store].
func (t *Trie) Len() int { return t.keys }

// Bytes implements [Store].
func (t *Trie) Bytes() int { return int(unsafe.Sizeof(*t)) + t.mem.bytes() }
