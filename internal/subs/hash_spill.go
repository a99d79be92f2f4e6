package subs

import "unsafe"

// A spill holds the keys that a Hash has no place for: a radix tree, and the
// counts of keys with more than one reference, which are rare there.
type spill struct {
	tree   Radix
	counts map[string]refs // from 2 up
}

// put stores a key, which is not there, with n references.
func (s *spill) put(key []byte, n refs) {
	s.tree.Add(key)
	s.set(key, n)
}

func (s *spill) set(key []byte, n refs) {
	switch {
	case n < 2:
		delete(s.counts, string(key))
	case s.counts == nil:
		s.counts = map[string]refs{string(key): n}
	default:
		s.counts[string(key)] = n
	}
}

func (s *spill) get(key []byte) refs { return max(s.counts[string(key)], 1) }

// again adds a reference to key, if it is there.
func (s *spill) again(key []byte) bool {
	if !s.tree.has(key) {
		return false
	}
	n := s.get(key)
	n.add()
	s.set(key, n)
	return true
}

// remove is Remove.
func (s *spill) remove(key []byte) bool {
	if n := s.get(key); n > 1 {
		n.drop()
		s.set(key, n)
		return false
	}
	return s.tree.Len() > 0 && s.tree.Remove(key)
}

// bytes returns the memory held, without that of the spill itself. For a count,
// it is an estimate.
func (s *spill) bytes() int {
	n := s.tree.Bytes() - int(unsafe.Sizeof(s.tree))
	for key := range s.counts {
		n += 2*int(unsafe.Sizeof(key)) + len(key)
	}
	return n
}
