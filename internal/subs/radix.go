package subs

// A radix tree is a trie in which a run of nodes with one child each, and no
// key of their own, is one node with the run's bytes as its label. With the keys
// "a", "dog" and "dot":
//
//	root  label ""  refs 0  first "ad"
//	                        next ──► label "a"   refs 1  first ""
//	                                 label "do"  refs 0  first "gt"
//	                                                     next ──► label "g"  refs 1
//	                                                              label "t"  refs 1
//
// first repeats the first byte of each child's label, side by side, so that the
// child to go to is found without looking at the children.
//
// Invariants:
//
//	label == "" only in the root
//	refs > 0 or len(next) > 1, except in the root: no node is there just to pass through
//	first[i] == next[i].label[0], first[i] < first[i+1]
//	len(first) == len(next) == cap(next)
//	nodes  == the number of nodes without the root
//	labels == the sum of len(label)
//	keys   == the number of nodes with refs > 0
//
// No label or first shares memory with another string, or a short one could
// keep a long one alive.

import (
	"iter"
	"strings"
	"unsafe"
)

// A Radix is a [Store] with a node for each place where keys part or end, as
// libzmq's radix_tree_t is. The zero Radix is empty and ready to use.
type Radix struct {
	root   radixNode
	keys   int // distinct keys
	nodes  int // nodes without the root
	labels int // bytes in labels
}

type radixNode struct {
	label string      // the bytes from the parent to here
	first string      // the first byte of each child's label, in order
	next  []radixNode // the children
	refs  refs        // references to the key that ends here
}

// child returns the index of the child whose label begins with c, or -1.
func (n *radixNode) child(c byte) int { return strings.IndexByte(n.first, c) }

// leads reports whether key begins with the label of n.
func (n *radixNode) leads(key []byte) bool {
	return len(key) >= len(n.label) && string(key[:len(n.label)]) == n.label
}

// Add implements [Store].
func (r *Radix) Add(key []byte) bool {
	n := &r.root
	for len(key) > 0 {
		i := n.child(key[0])
		if i < 0 {
			r.insert(n, radixNode{label: string(key), refs: 1})
			r.keys++
			return true
		}
		n = &n.next[i]
		common := commonPrefix(key, n.label)
		if common < len(n.label) {
			r.split(n, common)
		}
		key = key[common:]
	}
	if !n.refs.add() {
		return false
	}
	r.keys++
	return true
}

// Remove implements [Store].
func (r *Radix) Remove(key []byte) bool {
	var parent *radixNode
	n, index := &r.root, 0
	for len(key) > 0 {
		i := n.child(key[0])
		if i < 0 || !n.next[i].leads(key) {
			return false
		}
		parent, n, index = n, &n.next[i], i
		key = key[len(n.label):]
	}
	if !n.refs.drop() {
		return false
	}
	r.keys--
	if parent == nil {
		return true
	}
	if len(n.next) == 0 {
		r.cut(parent, index)
		n = parent
	}
	if n != &r.root && n.refs == 0 && len(n.next) == 1 {
		r.merge(n)
	}
	return true
}

// Match implements [Store].
func (r *Radix) Match(data []byte) bool {
	n := &r.root
	for n.refs == 0 {
		if len(data) == 0 {
			return false
		}
		i := n.child(data[0])
		if i < 0 {
			return false
		}
		n = &n.next[i]
		if !n.leads(data) {
			return false
		}
		data = data[len(n.label):]
	}
	return true
}

// All implements [Store].
func (r *Radix) All() iter.Seq[[]byte] {
	// A visit is a node still to be seen, and the length of the way to its
	// parent.
	type visit struct {
		node *radixNode
		size int
	}
	return func(yield func([]byte) bool) {
		var key []byte
		todo := []visit{{node: &r.root}}
		for len(todo) > 0 {
			v := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			n := v.node
			key = append(key[:v.size], n.label...)
			if n.refs > 0 && !yield(key) {
				return
			}
			for i := len(n.next) - 1; i >= 0; i-- {
				todo = append(todo, visit{&n.next[i], len(key)})
			}
		}
	}
}

// Len implements [Store].
func (r *Radix) Len() int { return r.keys }

// Bytes implements [Store].
func (r *Radix) Bytes() int {
	// Each node but the root has an entry in its parent's next and first.
	return int(unsafe.Sizeof(*r)) + r.nodes*(int(unsafe.Sizeof(radixNode{}))+1) + r.labels
}

// insert makes child, whose first byte no other child of n has, a child of n.
func (r *Radix) insert(n *radixNode, child radixNode) {
	c, i := child.label[0], 0
	for i < len(n.first) && n.first[i] < c {
		i++
	}
	next := make([]radixNode, 0, len(n.next)+1)
	n.next = append(append(append(next, n.next[:i]...), child), n.next[i:]...)
	n.first = n.first[:i] + string([]byte{c}) + n.first[i:]
	r.nodes++
	r.labels += len(child.label)
}

// cut removes the child of n with index i.
func (r *Radix) cut(n *radixNode, i int) {
	r.nodes--
	r.labels -= len(n.next[i].label)
	if len(n.next) == 1 {
		n.next, n.first = nil, ""
		return
	}
	next := make([]radixNode, 0, len(n.next)-1)
	n.next = append(append(next, n.next[:i]...), n.next[i+1:]...)
	n.first = strings.Clone(n.first[:i] + n.first[i+1:])
}

// split leaves n the first size bytes of its label, and moves the rest with all
// that n has to a new only child. The caller adds a key to n, or a second child.
func (r *Radix) split(n *radixNode, size int) {
	rest := *n
	rest.label = strings.Clone(n.label[size:])
	*n = radixNode{
		label: strings.Clone(n.label[:size]),
		first: string([]byte{rest.label[0]}),
		next:  []radixNode{rest},
	}
	r.nodes++
}

// merge makes n and its only child one node.
func (r *Radix) merge(n *radixNode) {
	label := n.label + n.next[0].label
	*n = n.next[0]
	n.label = label
	r.nodes--
}

// commonPrefix returns the number of bytes that key and label begin with alike.
func commonPrefix(key []byte, label string) int {
	size := min(len(key), len(label))
	for i := range size {
		if key[i] != label[i] {
			return i
		}
	}
	return size
}
