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
//	       63 ‥ 47 │ 31 ‥ 29 │ 28 ‥ 16 │ 15 ‥ 8 │ 7 ‥ 0
//	hole         0        0          0        0       0
//	run      chunk        1       word      10 ‥ 0: size   ─► the node after it, its bytes
//	end    63 ‥ 32: references to the key that ends here; kind 2
//	more     chunk        3       word                     ─► references, the node for longer keys
//	table    chunk        4       word    first    last    ─► nodes for bytes first to first+last
//
// The kind makes the lower 32 bits of a table negative. What a step down waits for,
// the chunk, is at the top, and takes one shift.
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
// At worst Match takes one step for each byte of data. Add and Remove take the same, and
// may copy a table of 256 nodes and three runs of 1 KiB. testdata/stores.txt at the root of the
// repository says how long that took with keys chosen for it.
type Trie struct {
	root uint64 // a node
	keys int    // distinct keys
	mem  arena
}

// A node is as drawn above. In an arena it is a plain word.
type node uint64

const (
	hole = iota
	run
	end
	moreNode
	table
)

// maxRun is the size of the longest run, in bytes.
const maxRun = 1 << 10

// A node has 13 bits for the word in a chunk, and 17 for the chunk.
const _ = uint(13-chunkBits) + uint(17-(refBits-chunkBits))

func newEnd(n refs) uint64 { return uint64(n)<<32 | end<<29 }

// newNode returns a node of a kind that points to r.
func newNode(kind uint64, r ref) uint64 {
	return uint64(r>>chunkBits)<<47 | kind<<29 | uint64(r%chunkSize)<<16
}

func (n node) kind() int     { return int(uint32(n) >> 29) }
func (n node) refs() refs    { return refs(n >> 32) } // of an end
func (n node) chunk() uint64 { return uint64(n >> 47) }
func (n node) word() uint64  { return uint64(n >> 16 % chunkSize) }
func (n node) ref() ref      { return ref(n.chunk()<<chunkBits | n.word()) }
func (n node) size() int     { return int(n & 2047) }     // of a run
func (n node) first() int    { return int(n >> 8 & 255) } // of a table
func (n node) last() int     { return int(n & 255) }

// Match implements [Store]. The compiler can put it into the caller, and a message
// then costs no call while the empty key is there.
func (t *Trie) Match(data []byte) bool {
	n := node(t.root)
	if int32(n) < end<<29 {
		n = t.find(n, data)
	}
	return n != hole
}

// find returns the end or the more of the first key on the way from n that data
// begins with, or else a hole. It makes no call, as with one it would have to save
// its registers at its start.
func (t *Trie) find(n node, data []byte) node {
	for i := 0; ; {
		for int32(n) < 0 { // a table
			if uint(i) >= uint(len(data)) {
				return hole
			}
			entry := data[i] - byte(n.first())
			if entry > byte(n.last()) { // below first the difference wraps round
				return hole
			}
			n = node(t.mem.chunks[n.chunk()][n.word()+uint64(entry)])
			i++
		}
		if n.kind() != run {
			return n
		}
		size := n.size()
		next := i + size
		if next > len(data) {
			return hole
		}
		words, at := t.mem.chunks[n.chunk()], n.word()+1
		bytes := words[at]
		n = node(words[at-1])
		for ; size > 8; size -= 8 {
			if bytes != binary.LittleEndian.Uint64(data[i:i+8:i+8]) {
				return hole
			}
			i += 8
			at++
			bytes = words[at]
		}
		differ := (word(data, i) ^ bytes) << (-8 * size & 63) // without what is after the run
		if n.kind() == end {
			if differ != 0 { // a conditional move: a branch here would often be mispredicted
				n = hole
			}
			return n
		}
		if differ != 0 {
			return hole
		}
		i = next
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
