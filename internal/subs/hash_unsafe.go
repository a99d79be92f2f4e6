//go:build !subs_safe && (amd64 || arm64)

package subs

import (
	"math/bits"
	"unsafe"
)

// Match implements [Store].
func (h *Hash) Match(data []byte) bool {
	v, p, n := h.first, unsafe.Pointer(unsafe.SliceData(data)), len(data)
	if h.all {
		return true
	}
	if v == nil || uint(n-minLong) > maxLeaf-minLong {
		if n > maxLeaf {
			return h.matchLong(data)
		}
		if h.quick && n >= 8 {
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
			pick := int(f.pick)
			if pick > n {
				return h.matchLong(data)
			}
			seed = (word(p, pick-8) ^ seed) * h.odd
			edge = int(*(*uint8)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(v.rows)), uint64(f.row)+seed>>58)))
		}
		if edge <= n {
			hi, lo := bits.Mul64(word(p, (edge-16)&^((edge-16)>>63))^h.secret, word(p, edge-8)^(seed+uint64(edge)))
			x := hi ^ lo
			t := (*part)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(v.table.parts)), x>>56&v.table.mask*uint64(unsafe.Sizeof(part{}))))
			l := (*line)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(t.lines)), x<<8>>(t.shift&63)*uint64(unsafe.Sizeof(line{}))))
			m := l.match(tagOf(x))
			if m != 0 {
				s := l.slots[laneOf(m)]
				size := int(s << 16 >> (16 + refBits))
				if !s.isAt(x) || uint(size-minLong) > uint(n-minLong) {
					return h.matchLong(data)
				}
				chunk := *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(v.tree.mem.chunks)), uintptr(s&maxRef>>chunkBits)*unsafe.Sizeof([]uint64{})))
				key, last := unsafe.Add(chunk, uintptr(s&(chunkSize-1))*8), size-8
				differ := (word(p, 0) ^ word(key, 0)) | (word(p, last) ^ word(key, last))
				half := last >> 1
				differ |= word(p, half) ^ word(key, half)
				if v.families != nil || size > 24 {
					a, b := half>>1, half+(last-half)>>1
					differ |= (word(p, a) ^ word(key, a)) | (word(p, b) ^ word(key, b))
					if size > 40 {
						for at := 8; at < last; at += 8 {
							differ |= word(p, at) ^ word(key, at)
						}
					}
				}
				if differ == 0 {
					return true
				}
				return h.matchLong(data)
			}
			if l.passed() > 0 {
				return h.matchLong(data)
			}
		}
		if f.rest == 0 {
			return h.more && h.matchShort(data)
		}
		v = (*level)(unsafe.Add(unsafe.Pointer(v), unsafe.Sizeof(*v)))
	}
}
