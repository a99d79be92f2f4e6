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
	p, size := unsafe.Pointer(unsafe.SliceData(data)), min(len(data), maxLen-1)
	if size < 8 {
		w := firstWord(data)
		p = unsafe.Pointer(&w)
	}
	for i := range h.opened {
		r := &h.roots[i&(maxRoots-1)]
		edge, seed := r.edge, r.seed
		if r.edges != nil && size >= r.pick {
			edge = int(r.edges[*(*uint64)(unsafe.Add(p, r.pick-8))*(h.secret|1)>>56])
		}
		for depth := 0; edge <= size && depth < maxDepth; depth++ {
			a, b := *(*uint64)(unsafe.Add(p, max(edge-16, 0))), uint64(0)
			if edge >= 8 {
				b = *(*uint64)(unsafe.Add(p, edge-8))
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
					if s.place() == placeOf(x) && (edge == maxInt || *(*uint64)(unsafe.Add(rec, headSize)) == x) {
						edge = s.edge()
					}
					continue
				}
				switch n := int(*(*uint32)(unsafe.Add(rec, 4)) & maxLen); {
				case n > size:
				default:
					tail := max(n-8, 0)
					differ := (*(*uint64)(unsafe.Add(p, tail)) ^ *(*uint64)(unsafe.Add(rec, headSize+tail))) << ((64 - 8*min(n, 8)) & 63)
					for i := 0; i+8 < n && differ == 0; i += 8 {
						differ = *(*uint64)(unsafe.Add(p, i)) ^ *(*uint64)(unsafe.Add(rec, headSize+i))
					}
					if differ == 0 {
						return true
					}
				}
			}
			if l.passed() > 0 {
				hit, next := h.matchPassed(data, x, edge)
				if hit {
					return true
				}
				edge = next
			}
		}
	}
	return (h.few.n > 0 || h.spill.tree.Len() > 0) && h.matchRest(data)
}
