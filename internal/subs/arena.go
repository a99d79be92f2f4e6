package subs

// An arena is the memory of one store: words of 64 bits without a pointer among
// them, which the garbage collector never looks at. A store takes blocks of words
// and gives them back. A ref is the place of a block:
//
//	ref  28 ‥ 13 │ 12 ‥ 0         chunks
//	       chunk │ word             0: nil, so that no block has ref 0
//	                                1: ┌──────┬───┬────────┬──────┬─────────┐
//	                                2: │ block│gap│ block  │block │ gap     │
//	                                   └──────┴───┴────────┴──────┴─────────┘
//
// Memory comes in chunks, each a fifth of all before it together, up to 64 KiB: so
// a store of a few keys stays small, no call ever moves what is there, and the
// most that one call waits for is a chunk of zeros. A block of more than 64 KiB
// has a chunk of its own.
//
// What is given back joins the gaps on its left and right; a chunk that is one
// single gap goes back to the heap. A chunk in which anything is left stays,
// and its gaps are filled first: by the smallest gap that the lists know to be
// big enough. So a store that is empty holds nothing. One that shrinks may hold what it
// held at most, and for want of a fitting gap a little more: the new block is taken
// before the old one is given back.
//
// A gap of two words or more is in the list of its class. Its words are
//
//	first    next in the list << 32 | previous in the list
//	second   its size   (which is also the last of two)
//	last     its size
//
// Invariants:
//
//	bit i of gaps[c] == 1  exactly if word i of chunk c is in a gap
//	no gap begins where another ends, and none is a whole chunk
//	bit k of listed == 1   exactly if lists[k] is not 0
//	held == the bytes of all chunks with their gaps' bits

import (
	"fmt"
	"math/bits"
)

// A ref is the place of a block in an arena; no block has ref 0.
type ref uint32

const (
	refBits   = 29
	maxRef    = 1<<refBits - 1
	chunkBits = 13
	chunkSize = 1 << chunkBits // words in a chunk, but for the first few and for single big blocks
	firstSize = 32             // words in the first chunk
	maxChunks = 1 << (refBits - chunkBits)
)

type arena struct {
	chunks [][]uint64
	gaps   [][]uint64 // for each chunk, a bit for each word
	vacant []ref      // places in chunks that are nil
	lists  [42]ref    // by class, the first gap
	listed uint64
	held   int
}

// block returns the words from r to the end of r's chunk.
func (a *arena) block(r ref) []uint64 { return a.chunks[r>>chunkBits][r%chunkSize:] }

// class returns the list for gaps of size words: up to 31 each size has its
// own, above that each doubling.
func class(size int) int {
	if size < 32 {
		return size
	}
	return 26 + bits.Len(uint(size))
}

// alloc returns a block of size words, which are not zero.
func (a *arena) alloc(size int) ref {
	if size > chunkSize {
		return a.grow(size)
	}
	first := class(size)
	for listed := a.listed >> first << first; listed != 0; listed &= listed - 1 {
		r := a.lists[bits.TrailingZeros64(listed)]
		if gap := int(a.block(r)[1]); gap >= size {
			return a.take(r, gap, size)
		}
	}
	r := a.grow(min(max(firstSize, size, a.held/40), chunkSize))
	gap := len(a.block(r))
	a.mark(r, gap)
	a.link(r, gap)
	return a.take(r, gap, size)
}

// take makes the first size words of a gap a block.
func (a *arena) take(r ref, gap, size int) ref {
	a.unlink(r, gap)
	a.mark(r, size)
	if gap > size {
		a.link(r+ref(size), gap-size)
	}
	return r
}

// release takes back the block of size words at r.
func (a *arena) release(r ref, size int) {
	chunk, gaps, at := a.chunks[r>>chunkBits], a.gaps[r>>chunkBits], int(r%chunkSize)
	low, high := at, at+size
	if low > 0 && isSet(gaps, low-1) {
		gap := 1
		if low > 1 && isSet(gaps, low-2) {
			gap = int(chunk[low-1])
		}
		low -= gap
		a.unlink(r-ref(gap), gap)
	}
	if high < len(chunk) && isSet(gaps, high) {
		gap := 1
		if high+1 < len(chunk) && isSet(gaps, high+1) {
			gap = int(chunk[high+1])
		}
		a.unlink(r+ref(size), gap)
		high += gap
	}
	if high-low == len(chunk) {
		a.shrink(r >> chunkBits)
		return
	}
	a.mark(r, size)
	a.link(r-ref(at-low), high-low)
}

// reserve panics if the arena may have no place for blocks of so many words, two
// or more, in all.
func (a *arena) reserve(words int) {
	if used := len(a.chunks) - len(a.vacant); used+2*(words/chunkSize)+2 > maxChunks {
		panic(fmt.Sprintf("subs: no room for %d bytes more: a store has %d MiB in %d of at most %d chunks of memory; share the keys among several stores",
			8*words, a.held>>20, used, maxChunks-1))
	}
}

// grow returns a new chunk of size words, without a gap.
func (a *arena) grow(size int) ref {
	if len(a.vacant) == 0 {
		if len(a.chunks) == 0 {
			a.chunks, a.gaps = make([][]uint64, 1, 4), make([][]uint64, 1, 4)
		}
		a.vacant = append(a.vacant, ref(len(a.chunks)))
		a.chunks, a.gaps = append(a.chunks, nil), append(a.gaps, nil)
	}
	last := len(a.vacant) - 1
	c := a.vacant[last]
	a.vacant = a.vacant[:last]
	a.chunks[c] = make([]uint64, size)
	a.gaps[c] = make([]uint64, (min(size, chunkSize)+63)/64)
	a.held += 8 * (size + len(a.gaps[c]))
	return c << chunkBits
}

// shrink gives chunk c back to the heap, and with the last one the directory.
func (a *arena) shrink(c ref) {
	a.held -= 8 * (len(a.chunks[c]) + len(a.gaps[c]))
	a.chunks[c], a.gaps[c] = nil, nil
	if a.vacant = append(a.vacant, c); len(a.vacant) == len(a.chunks)-1 {
		*a = arena{}
	}
}

// bytes returns the memory that the arena holds on the heap.
func (a *arena) bytes() int {
	return a.held + 24*(cap(a.chunks)+cap(a.gaps)) + 4*cap(a.vacant)
}

// link puts a gap into its list.
func (a *arena) link(r ref, gap int) {
	if gap == 1 {
		return
	}
	k := class(gap)
	next, words := a.lists[k], a.block(r)
	words[0], words[1], words[gap-1] = uint64(next)<<32, uint64(gap), uint64(gap)
	if next != 0 {
		a.block(next)[0] |= uint64(r)
	}
	a.lists[k] = r
	a.listed |= 1 << k
}

// unlink takes a gap out of its list.
func (a *arena) unlink(r ref, gap int) {
	if gap == 1 {
		return
	}
	links := a.block(r)[0]
	next, previous := ref(links>>32), ref(links)
	if next != 0 {
		words := a.block(next)
		words[0] = words[0]>>32<<32 | uint64(previous)
	}
	if previous != 0 {
		words := a.block(previous)
		words[0] = uint64(next)<<32 | words[0]<<32>>32
		return
	}
	k := class(gap)
	if a.lists[k] = next; next == 0 {
		a.listed &^= 1 << k
	}
}

// mark turns over the bits of size words from r on.
func (a *arena) mark(r ref, size int) {
	gaps := a.gaps[r>>chunkBits]
	for at, end := int(r%chunkSize), int(r%chunkSize)+size; at < end; {
		next := min(end, at|63+1)
		gaps[at/64] ^= (1<<(next-at) - 1) << (at % 64)
		at = next
	}
}

// isSet returns bit i.
func isSet(bits []uint64, i int) bool { return bits[i/64]>>(i%64)&1 != 0 }
