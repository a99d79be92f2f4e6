package subs

import (
	"fmt"
	"strings"
)

// Check returns an error if an invariant at the top of trie.go does not hold.
func (t *Trie) Check() error {
	keys, entries := 0, 0
	for todo := []*trieNode{&t.root}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		size := len(n.next)
		switch {
		case n.next == nil:
		case size == 0:
			return fmt.Errorf("empty table that is not nil")
		case n.next[0].hole() || n.next[size-1].hole():
			return fmt.Errorf("table from %#x of %d entries begins or ends in a hole", n.min, size)
		case cap(n.next) != size:
			return fmt.Errorf("table of %d entries has room for %d", size, cap(n.next))
		case int(n.min)+size > 256:
			return fmt.Errorf("table from %#x has %d entries", n.min, size)
		}
		if n.refs > 0 {
			keys++
		}
		entries += size
		for i := range n.next {
			if !n.next[i].hole() {
				todo = append(todo, &n.next[i])
			}
		}
	}
	if keys != t.keys || entries != t.entries {
		return fmt.Errorf("%d keys and %d entries counted, %d and %d found", t.keys, t.entries, keys, entries)
	}
	return nil
}

// Check returns an error if an invariant at the top of radix.go does not hold.
func (r *Radix) Check() error {
	keys, nodes, labels := 0, -1, 0
	for todo := []*radixNode{&r.root}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		size := len(n.next)
		switch root := n == &r.root; {
		case root != (n.label == ""):
			return fmt.Errorf("label %q of a node, root: %v", n.label, root)
		case !root && n.refs == 0 && size < 2:
			return fmt.Errorf("node %q without a key has %d children", n.label, size)
		case len(n.first) != size || cap(n.next) != size || size == 0 && n.next != nil:
			return fmt.Errorf("node %q has %d children, room for %d, and %d first bytes",
				n.label, size, cap(n.next), len(n.first))
		}
		if n.refs > 0 {
			keys++
		}
		nodes++
		labels += len(n.label)
		for i := range n.next {
			if !strings.HasPrefix(n.next[i].label, n.first[i:i+1]) || i > 0 && n.first[i-1] >= n.first[i] {
				return fmt.Errorf("node %q has first bytes %q, but child %d is %q", n.label, n.first, i, n.next[i].label)
			}
			todo = append(todo, &n.next[i])
		}
	}
	if keys != r.keys || nodes != r.nodes || labels != r.labels {
		return fmt.Errorf("%d keys, %d nodes, %d label bytes counted, %d, %d, %d found",
			r.keys, r.nodes, r.labels, keys, nodes, labels)
	}
	return nil
}

// Refs is the count of references to a key.
type Refs = refs

// EmptyKeyRefs returns the count of the empty key.
func (t *Trie) EmptyKeyRefs() *Refs { return &t.root.refs }

// EmptyKeyRefs returns the count of the empty key.
func (r *Radix) EmptyKeyRefs() *Refs { return &r.root.refs }

// NewMinstd returns the workloads' generator, started from seed.
func NewMinstd(seed uint64) func() int {
	g := minstd(seed)
	return g.next
}
