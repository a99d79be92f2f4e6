//go:build !subs_safe && (amd64 || arm64)

package subs

import (
	"math/bits"
	"unsafe"
)

// The sizes that families, lines and parts are found by.
const (
	_ = -(unsafe.Sizeof(family{}) ^ 8)
	_ = -(unsafe.Sizeof(line{}) ^ 1<<lineBits)
	_ = -(unsafe.Sizeof(part{}) ^ 1<<partBits)
)

// Match implements [Store]. Of what matchLong does, it does what nearly all messages need:
// in each level one look at one line, and one comparison with a key, without the
// checks of bounds that the invariants make needless: a pick or an edge is not greater
// than n, the size of data, and not less than 8; last is where the last line of a part is; a
// slot with a size from 9 to n has the ref of a key, which is all in its chunk; and after
// a family with rest > 0 comes another level. A slot is not asked for its place, as
// its key is compared anyway. It is built where words are little-endian and may lie anywhere.
func (h *Hash) Match(data []byte) bool {
	v, p, n := h.first, unsafe.Pointer(unsafe.SliceData(data)), len(data)
	if v == nil || uint(n-minLong) > maxLeaf-minLong {
		if h.quick && n >= 8 && v == nil {
			return h.matchFew(*(*uint64)(p))
		} else if v != nil && n > maxLeaf {
			return h.matchLong(data)
		}
		return h.all || h.matchShort(data)
	}
	word := func(p unsafe.Pointer, at int) uint64 { return *(*uint64)(unsafe.Add(p, at)) }
	for {
		f, w, seed := word(unsafe.Pointer(&v.one), 0), uint64(v.all), seedOfAll(h.secret)
		if v.families != nil {
			seed = word(p, 0) * h.odd
			f = word(unsafe.Pointer(v.families), int(seed>>56*8)) // pick, row and rest
			if int(uint16(f)) > n {
				return h.matchLong(data)
			}
			seed = (word(p, int(uint16(f))-8) ^ seed) * h.odd
			w = uint64(*(*window)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(v.rows)), (uint64(uint16(f>>16))+seed>>58)*2)))
		}
		if edge := int(w >> 8); edge <= n {
			hi, lo := bits.Mul64(word(p, int(uint8(w)))^h.secret, word(p, edge-8)^seed)
			x := hi ^ lo
			t := (*part)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(v.table.parts)), x>>32&v.table.mask<<partBits))
			l := (*line)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(t.lines)), x>>(48-lineBits)&uint64(t.last)))
			if m := l.match(tagOf(x)); m != 0 {
				s := slot(word(unsafe.Pointer(l), laneOf(m)*8))
				size := int(s << 16 >> (16 + refBits)) // beyond maxLeaf if it is no leaf
				if uint(size-minLong) > uint(n-minLong) {
					return h.matchLong(data)
				}
				chunk := *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(v.tree.text.chunks)), uintptr(s&maxRef>>chunkBits)*unsafe.Sizeof([]uint64{})))
				key, last := unsafe.Add(chunk, uintptr(s&(chunkSize-1))*8), size-8
				if word(p, 0) != word(key, 0) || word(p, last) != word(key, last) || word(p, last>>1) != word(key, last>>1) {
					return h.matchLong(data)
				}
				if v.families != nil || size > 24 { // then sizes are mixed, and a branch that depends on them is dear
					a := (last + 3) >> 2
					if word(p, a) != word(key, a) || word(p, last-a) != word(key, last-a) {
						return h.matchLong(data)
					}
					for at := 8; size > 40 && at < last; at += 8 {
						if word(p, at) != word(key, at) {
							return h.matchLong(data)
						}
					}
				}
				return true
			} else if l.passed() > 0 {
				return h.matchLong(data)
			}
		}
		if f>>32 == 0 {
			return h.more && h.matchShort(data)
		}
		v = (*level)(unsafe.Add(unsafe.Pointer(v), unsafe.Sizeof(*v)))
	}
}
