//go:build !subs_safe && (amd64 || arm64)

package subs

import (
	"math/bits"
	"unsafe"
)

// Match implements [Store]. It does what it does in hash_safe.go without the checks
// of bounds that the invariants make needless: an edge is at most the length of
// data; a shifted place is the number of a line; a slot has the reference of a
// record, which is all in its chunk and padded to whole words. It is built where
// words are little-endian and may lie anywhere.
func (h *Hash) Match(data []byte) bool {
	if h.refs > 0 || h.opened == 0 {
		return h.refs > 0 || h.matchRest(data)
	}
	word := func(p unsafe.Pointer, at int) uint64 { return *(*uint64)(unsafe.Add(p, at)) }
	p, size := unsafe.Pointer(unsafe.SliceData(data)), min(len(data), maxLen-1)
	if size < 8 {
		w := firstWord(data)
		p = unsafe.Pointer(&w)
	}
	for i := range h.opened {
		r := &h.roots[i&(maxRoots-1)]
		edge, seed := h.start(r, data), r.seed
		for depth := 0; edge <= size && depth < maxDepth; depth++ {
			a, b := word(p, max(edge-16, 0)), uint64(0)
			if edge >= 8 {
				b = word(p, edge-8)
			} else {
				a &= 1<<(8*edge&63) - 1
			}
			hi, lo := bits.Mul64(a^h.secret, b^seed)
			x := hi ^ lo ^ seed
			t := (*lineTable)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(h.tables)), uintptr(x>>56&h.mask)*unsafe.Sizeof(lineTable{})))
			l := (*line)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(t.lines)), uintptr(placeOf(x))>>(t.shift&31)*unsafe.Sizeof(line{})))
			edge, seed = maxInt, x+nextLevel
			for m := l.match(tagOf(x)); m != 0; m &= m - 1 {
				s := slot(l[laneOf(m)])
				chunk := *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(h.chunks)), uintptr(s.ref()>>offsetBits)*unsafe.Sizeof([]byte{})))
				rec := unsafe.Add(chunk, uintptr(s.ref()&offsetMask)*8)
				if s.isNode() {
					if s.place() == placeOf(x) && (edge == maxInt || word(rec, headSize) == x) {
						edge = s.edge()
					}
					continue
				}
				n, key := int(*(*uint32)(unsafe.Add(rec, 4))&maxLen), unsafe.Add(rec, headSize)
				if n > size {
					continue
				}
				differ := (word(p, 0) ^ word(key, 0)) << ((64 - 8*min(n, 8)) & 63)
				if n > 8 { // the first and the last two words, which may overlap, and those between
					low, high := min(n-8, 8), max(n-16, 0)
					differ |= (word(p, low) ^ word(key, low)) | (word(p, high) ^ word(key, high)) | (word(p, n-8) ^ word(key, n-8))
					for i := 16; i < high; i += 8 {
						differ |= word(p, i) ^ word(key, i)
					}
				}
				if differ == 0 {
					return true
				}
			}
			if l.passed() > 0 {
				if edge = h.matchPassed(data, x, edge); edge < 0 {
					return true
				}
			}
		}
	}
	return (h.few.n > 0 || h.spill.tree.Len() > 0) && h.matchRest(data)
}
