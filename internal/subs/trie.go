package subs

// A trie spends one node on each byte of a key. A node keeps its children in a
// table that is indexed by the byte that leads to them and spans the bytes in
// use, from the lowest to the highest. Children lie in the table itself, so a
// step down costs one load. With the keys "a", "d" and "dog":
//
//	root  refs 0  min 'a'  next ──► 'a' refs 1  next nil
//	                                'b' (hole)
//	                                'c' (hole)
//	                                'd' refs 1  min 'o'  next ──► 'o' refs 0  min 'g'  next ──► 'g' refs 1  next nil
//
// A hole is a node with neither references nor children, and looks like the
// end of the trie: whoever steps on one finds nothing, and needs no test for it.
//
// Invariants:
//
//	next == nil  or  the first and the last entry of next are not holes
//	             (so len(next) > 1 exactly if there are two children or more)
//	len(next) == cap(next), min + len(next) <= 256
//	entries == the sum of len(next) over all nodes
//	keys    == the number of nodes with refs > 0

import (
	"iter"
	"unsafe"
)

// A Trie is a [Store] with a node for each byte, as libzmq's trie_t is.
// The zero Trie is empty and ready to use.
type Trie struct {
	root    trieNode
	keys    int // distinct keys
	entries int // table entries, holes included
}

type trieNode struct {
	next []trieNode // the children for bytes min, min+1, …
	refs refs       // references to the key that ends here
	min  byte       // without meaning while next is nil
}

// child returns the child of n for byte c, or nil if c is outside the table.
func (n *trieNode) child(c byte) *trieNode {
	// Below min the difference wraps round and is too large as well.
	if i := uint(c) - uint(n.min); i < uint(len(n.next)) {
		return &n.next[i]
	}
	return nil
}

// hole reports whether n is an unused entry of a table.
func (n *trieNode) hole() bool { return n.refs == 0 && n.next == nil }

// Add implements [Store].
func (t *Trie) Add(key []byte) bool {
	n := &t.root
	for _, c := range key {
		next := n.child(c)
		if next == nil {
			t.widen(n, c)
			next = n.child(c)
		}
		n = next
	}
	if !n.refs.add() {
		return false
	}
	t.keys++
	return true
}

// Remove implements [Store].
func (t *Trie) Remove(key []byte) bool {
	// Of the nodes above the key's own, keep is the lowest that is needed by
	// another key: all below it go when the key's node has no children.
	n, keep, depth := &t.root, &t.root, 0
	for i, c := range key {
		if n.refs > 0 || len(n.next) > 1 {
			keep, depth = n, i
		}
		if n = n.child(c); n == nil {
			return false
		}
	}
	if !n.refs.drop() {
		return false
	}
	t.keys--
	if n.next == nil && n != &t.root {
		t.entries -= len(key) - depth - 1 // tables of one entry, below keep's
		t.cut(keep, key[depth])
	}
	return true
}

// Match implements [Store].
func (t *Trie) Match(data []byte) bool {
	n := &t.root
	for _, c := range data {
		if n.refs > 0 {
			return true
		}
		if n = n.child(c); n == nil {
			return false
		}
	}
	return n.refs > 0
}

// All implements [Store].
func (t *Trie) All() iter.Seq[[]byte] {
	// A visit is a node still to be seen, and the last byte and the length of
	// the way to it.
	type visit struct {
		node *trieNode
		last byte
		size int
	}
	return func(yield func([]byte) bool) {
		var key []byte
		todo := []visit{{node: &t.root}}
		for len(todo) > 0 {
			v := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if v.size > 0 {
				key = append(key[:v.size-1], v.last)
			}
			n := v.node
			if n.refs > 0 && !yield(key) {
				return
			}
			for i := len(n.next) - 1; i >= 0; i-- {
				if child := &n.next[i]; !child.hole() {
					todo = append(todo, visit{child, n.min + byte(i), v.size + 1})
				}
			}
		}
	}
}

// Len implements [Store].
func (t *Trie) Len() int { return t.keys }

// Bytes implements [Store].
func (t *Trie) Bytes() int {
	return int(unsafe.Sizeof(*t)) + t.entries*int(unsafe.Sizeof(trieNode{}))
}

// widen extends the table of n to byte c, which is outside it.
func (t *Trie) widen(n *trieNode, c byte) {
	if n.next == nil {
		n.min = c
	}
	low := min(n.min, c)
	high := max(int(n.min)+len(n.next), int(c)+1)
	table := make([]trieNode, high-int(low))
	copy(table[n.min-low:], n.next)
	t.setTable(n, low, table)
}

// cut turns the child of n for byte c into a hole, and the table into the
// smallest that holds the other children.
func (t *Trie) cut(n *trieNode, c byte) {
	*n.child(c) = trieNode{}
	from, to := 0, len(n.next)
	for from < to && n.next[from].hole() {
		from++
	}
	for from < to && n.next[to-1].hole() {
		to--
	}
	switch to - from {
	case len(n.next): // a hole in the middle
	case 0:
		t.setTable(n, 0, nil)
	default:
		table := make([]trieNode, to-from)
		copy(table, n.next[from:to])
		t.setTable(n, n.min+byte(from), table)
	}
}

// setTable makes table, whose first entry is for byte low, the table of n.
func (t *Trie) setTable(n *trieNode, low byte, table []trieNode) {
	t.entries += len(table) - len(n.next)
	n.min, n.next = low, table
}
