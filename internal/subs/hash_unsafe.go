//go:build !subs_safe && (amd64 || arm64)

package subs

import (
	"math/bits"
	"unsafe"
)

// Match implements [Store]. Of what matchLong does, it does what nearly all messages need:
// in each level one look at one line, and one comparison with a key, without the
// checks of bounds that the invariants make needless: a pick or an edge is not greater
// than n, the size of data; x << 8 >> shift is the number of a line; a slot with
// a size has the ref of a key, which is all in its chunk; and after a family with rest > 0
// comes another level. It is built where words are little-endian and may lie anywhere.
func (h *Hash) Match(data []byte) bool {
	v, p, n := h.first, unsafe.Pointer(unsafe.SliceData(data)), len(data)
	if h.all {
		return true
	}
	if v == nil || uint(n-minLong) > maxLeaf-minLong {
		if h.quick && n >= 8 && v == nil {
			return h.matchFew(*(*uint64)(p))
		}
		return h.matchShort(data)
	}
	word := func(p unsafe.Pointer, at int) uint64 { return *(*uint64)(unsafe.Add(p, at)) }
	for {
		edge, seed, f := int(v.one.pick), h.secret, &v.one
		if v.families != nil {
			seed = word(p, 0) * h.odd
			f = (*family)(unsafe.Add(unsafe.Pointer(v.families), seed>>56*uint64(unsafe.Sizeof(family{}))))
			if int(f.pick) > n {
				return h.matchLong(data)
			}
			seed = (word(p, int(f.pick)-8) ^ seed) * h.odd
			edge = int(*(*uint8)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(v.rows)), uint64(f.row)+seed>>58)))
		}
		if edge <= n {
			hi, lo := bits.Mul64(word(p, (edge-16)&^((edge-16)>>63))^h.secret, word(p, edge-8)^(seed+uint64(edge)))
			x := hi ^ lo
			t := (*part)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(v.table.parts)), x>>56&v.table.mask*uint64(unsafe.Sizeof(part{}))))
			l := (*line)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(t.lines)), x<<8>>(t.shift&63)*uint64(unsafe.Sizeof(line{}))))
			if m := l.match(tagOf(x)); m != 0 {
				s := l.slots[laneOf(m)]
				size := int(s << 16 >> (16 + refBits)) // beyond maxLeaf if it is no leaf
				if s.isAt(x) && uint(size-minLong) <= uint(n-minLong) {
					chunk := *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(v.tree.mem.chunks)), uintptr(s&maxRef>>chunkBits)*unsafe.Sizeof([]uint64{})))
					key, last, half := unsafe.Add(chunk, uintptr(s&(chunkSize-1))*8), size-8, (size-8)>>1
					differ := (word(p, 0) ^ word(key, 0)) | (word(p, half) ^ word(key, half)) | (word(p, last) ^ word(key, last))
					if v.families != nil || size > 24 { // then sizes are mixed, and a branch that depends on them is dear
						a, b := half>>1, half+(last-half)>>1
						differ |= (word(p, a) ^ word(key, a)) | (word(p, b) ^ word(key, b))
						for at := 8; at < last && size > 40; at += 8 {
							differ |= word(p, at) ^ word(key, at)
						}
					}
					if differ == 0 {
						return true
					}
				}
				return h.matchLong(data)
			} else if l.passed() > 0 {
				return h.matchLong(data)
			}
		}
		if f.rest == 0 {
			return h.more && h.matchShort(data)
		}
		v = (*level)(unsafe.Add(unsafe.Pointer(v), unsafe.Sizeof(*v)))
	}
}
