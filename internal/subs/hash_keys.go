package subs

// Records lie in chunks of bytes, which the collector does not look into. A
// record is addressed by the number of its chunk and its offset there, in
// words of eight bytes:
//
//	ref     30           14 13            0
//	        chunk          │ offset / 8
//
//	record  refs, 4 bytes │ info, 4 bytes │ bytes │ up to 7 bytes of padding
//	info    31  26 25                 0
//	        home  │ number of bytes
//
// A record holds a key and the number of references to it, or a node: its hash and
// the seed of that, and the number of slots below it. A record with refs == 0 is dead. home says
// where the record's slot is: a root and a depth, or one of the two values
// below.
//
// Records are only ever added at the end of the last chunk. When less than half
// of another chunk is alive, what lives there is moved to the end and the chunk
// is freed; so the space is less than twice what lives, and one chunk.
//
// Invariants:
//
//	live[i] == the sum of the sizes of live records in chunks[i], len(chunks[0]) > 0
//	2·live[i] >= len(chunks[i]) for all chunks that are not the last or queued in sparse
//	chunks[i] == nil  or  live[i] > 0 or i == current or i in sparse

import (
	"encoding/binary"
)

const (
	maxChunk   = 1 << 17 // bytes; a larger key has a chunk of its own
	minChunk   = 1 << 10
	offsetBits = 14
	logChunks  = 1 << 17
	headSize   = 8
	lenBits    = 26
	maxLen     = 1<<lenBits - 1
	homeNode   = 1 << 5 // the home of a node is so much more
	homeFew    = 1<<6 - 1
	offsetMask = 1<<offsetBits - 1
	noRef      = 0 // what a free slot has: a key longer than any message
)

// noKey is chunk 0, a record that no message begins with.
var noKey = []byte{1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0}

type recordLog struct {
	chunks  [][]byte
	live    []int    // bytes of live records in each chunk
	free    []uint32 // numbers of chunks that are nil
	sparse  []uint32 // chunks to be emptied
	current int      // the chunk that records are added to
	end     int      // where in it
	held    int      // the sum of len(chunks[i])
}

// alloc returns a new record with one reference, or false if no reference is left
// to address it with.
func (a *recordLog) alloc(key []byte, home int) (uint32, bool) {
	size := recordSize(len(key))
	if len(key) >= maxLen {
		return noRef, false
	}
	if len(a.chunks) == 0 || a.end+size > len(a.chunks[a.current]) {
		if !a.grow(size) {
			return noRef, false
		}
	}
	rec := a.chunks[a.current][a.end:]
	binary.LittleEndian.PutUint32(rec, 1)
	binary.LittleEndian.PutUint32(rec[4:], uint32(home)<<lenBits|uint32(len(key)))
	copy(rec[headSize:], key)
	ref := uint32(a.current<<offsetBits | a.end/8)
	a.live[a.current] += size
	a.end += size
	return ref, true
}

// grow begins a chunk that has room for size bytes.
func (a *recordLog) grow(size int) bool {
	room := minChunk
	for room < maxChunk && room < a.held/4 {
		room *= 2
	}
	if len(a.chunks) == 0 {
		a.chunks, a.live, a.held = append(a.chunks, noKey), append(a.live, 0), len(noKey)
	}
	next := len(a.chunks)
	switch {
	case len(a.free) > 0:
		next = int(a.free[len(a.free)-1])
		a.free = a.free[:len(a.free)-1]
	case next == logChunks:
		return false
	default:
		a.chunks, a.live = append(a.chunks, nil), append(a.live, 0)
	}
	last := a.current
	a.current, a.end = next, 0
	a.chunks[next] = make([]byte, max(room, size))
	a.held += len(a.chunks[next])
	if next != last && a.tooSparse(last) {
		a.sparse = append(a.sparse, uint32(last))
	}
	return true
}

// tooSparse reports whether chunk i, which is not the current one, is to be emptied.
func (a *recordLog) tooSparse(i int) bool { return i > 0 && a.live[i]*2 < len(a.chunks[i]) }

// kill marks the record as dead.
func (a *recordLog) kill(ref uint32) {
	i, rec := int(ref>>offsetBits), a.record(ref)
	was := a.tooSparse(i)
	binary.LittleEndian.PutUint32(rec, 0)
	a.live[i] -= recordSize(infoLen(rec))
	if i != a.current && !was && a.tooSparse(i) {
		a.sparse = append(a.sparse, uint32(i))
	}
}

// drop frees a chunk in which nothing lives.
func (a *recordLog) drop(i uint32) {
	a.held -= len(a.chunks[i])
	a.chunks[i] = nil
	a.free = append(a.free, i)
}

// record returns the chunk from the record on.
func (a *recordLog) record(ref uint32) []byte {
	return a.chunks[ref>>offsetBits][ref&offsetMask*8:]
}

func recordSize(n int) int { return (headSize + n + 7) &^ 7 }

func isNode(home int) bool { return home >= homeNode && home != homeFew }

func infoLen(rec []byte) int  { return int(binary.LittleEndian.Uint32(rec[4:]) & maxLen) }
func infoHome(rec []byte) int { return int(rec[7] >> 2) }

func (a *recordLog) home(ref uint32) int { return infoHome(a.record(ref)) }

func (a *recordLog) setHome(ref uint32, home int) {
	rec := a.record(ref)
	rec[7] = rec[7]&3 | uint8(home)<<2
}

// key returns the bytes of a record.
func (a *recordLog) key(ref uint32) []byte {
	rec := a.record(ref)
	end := headSize + infoLen(rec)
	return rec[headSize:end:end]
}

// count adds to the number of references, which must not pass MaxRefs, and
// returns the sum.
func (a *recordLog) count(ref uint32, by int) uint32 {
	rec := a.record(ref)
	n := uint32(int(binary.LittleEndian.Uint32(rec)) + by)
	binary.LittleEndian.PutUint32(rec, n)
	return n
}

// refs returns the number of references.
func (a *recordLog) refs(ref uint32) refs { return refs(binary.LittleEndian.Uint32(a.record(ref))) }

func (a *recordLog) setRefs(ref uint32, n refs) {
	binary.LittleEndian.PutUint32(a.record(ref), uint32(n))
}

// records calls visit for each live record in chunk i.
func (a *recordLog) records(i int, visit func(ref uint32)) {
	if i == 0 {
		return
	}
	for at := 0; at < len(a.chunks[i]); {
		rec := a.chunks[i][at:]
		if infoLen(rec) == 0 {
			break // from here on unused
		}
		at += recordSize(infoLen(rec))
		if binary.LittleEndian.Uint32(rec) > 0 {
			visit(uint32(i<<offsetBits | (len(a.chunks[i])-len(rec))/8))
		}
	}
}
