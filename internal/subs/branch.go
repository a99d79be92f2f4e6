package subs

import "math/bits"

// A byteSet has a bit for each value of a byte: value c is bit c%32 of word c/32.
// Words are what the lanes of a branch in a [Radix] have in their lower halves.
type byteSet [8]uint32

func (s *byteSet) flip(c byte) { s[c>>5] ^= 1 << (c & 31) }

// below returns the number of values in s that are less than c.
func (s *byteSet) below(c byte) int {
	n := bits.OnesCount32(s[c>>5] & (1<<(c&31) - 1))
	for _, word := range s[:c>>5] {
		n += bits.OnesCount32(word)
	}
	return n
}

// follow returns the place of the twig to which c leads from a branch, or nil.
func (r *Radix) follow(t twig, c byte) *uint64 {
	lane := int(c>>5) - t.low()
	if lane < 0 || lane >= t.lanes() {
		return nil
	}
	chunk := r.mem.chunks[t.ref()>>chunkBits]
	set := chunk[int(t.ref()%chunkSize)+lane]
	bit := uint32(1) << (c & 31)
	if uint32(set)&bit == 0 {
		return nil
	}
	return &chunk[int(set>>32)+bits.OnesCount32(uint32(set)&(bit-1))]
}

// twigs returns the twigs of a branch.
func (r *Radix) twigs(t twig) []uint64 {
	chunk := r.mem.chunks[t.ref()>>chunkBits]
	first := int(t.ref()%chunkSize) + t.lanes()
	last := chunk[first-1]
	return chunk[first : int(last>>32)+bits.OnesCount32(uint32(last))]
}

// bytesOf returns the set of bytes that lead on from a branch.
func (r *Radix) bytesOf(t twig) (s byteSet) {
	for i, lane := range r.mem.block(t.ref())[:t.lanes()] {
		s[t.low()+i] = uint32(lane)
	}
	return s
}

// newBranch returns a branch at a byte that leads on if it is in s, and the
// twigs for the caller to fill in. s is not empty.
func (r *Radix) newBranch(at int, s *byteSet) (t uint64, twigs []uint64) {
	low, high := 0, len(s)
	for s[low] == 0 {
		low++
	}
	for s[high-1] == 0 {
		high--
	}
	size := high - low
	for _, word := range s[low:high] {
		size += bits.OnesCount32(word)
	}
	p := r.mem.alloc(size)
	words := r.mem.block(p)[:size]
	next := int(p%chunkSize) + high - low
	for i, word := range s[low:high] {
		words[i] = uint64(next)<<32 | uint64(word)
		next += bits.OnesCount32(word)
	}
	return newTwig(branch, at, p) | uint64(low)<<59 | uint64(high-low-1)<<56, words[high-low:]
}

// dropBranch gives back the memory of a branch.
func (r *Radix) dropBranch(t twig) { r.mem.release(t.ref(), t.lanes()+len(r.twigs(t))) }

// fork puts a branch in the place of *p, from which old leads to *p, and c to next.
func (r *Radix) fork(p *uint64, at int, old, c byte, next uint64) {
	var s byteSet
	s.flip(old)
	s.flip(c)
	t, twigs := r.newBranch(at, &s)
	twigs[s.below(old)], twigs[s.below(c)] = *p, next
	*p = t
}

// insert makes c, which leads to nothing from the branch at p, lead to next.
func (r *Radix) insert(p *uint64, c byte, next uint64) {
	t := twig(*p)
	old, s := r.twigs(t), r.bytesOf(t)
	i := s.below(c)
	s.flip(c)
	wider, twigs := r.newBranch(t.at(), &s)
	copy(twigs, old[:i])
	twigs[i] = next
	copy(twigs[i+1:], old[i:])
	r.dropBranch(t)
	*p = wider
}

// cut takes the twig to which c leads out of the branch at p. If one twig is
// left, it takes the place of the branch.
func (r *Radix) cut(p *uint64, c byte) {
	t := twig(*p)
	old, s := r.twigs(t), r.bytesOf(t)
	i := s.below(c)
	if len(old) == 2 {
		*p = old[1-i]
		r.dropBranch(t)
		return
	}
	s.flip(c)
	narrower, twigs := r.newBranch(t.at(), &s)
	copy(twigs, old[:i])
	copy(twigs[i:], old[i+1:])
	r.dropBranch(t)
	*p = narrower
}
