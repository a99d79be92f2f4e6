package subs

// A hash table of 64-byte lines, each a cache line: seven slots, and their tags
// side by side in the eighth word, so that one subtraction compares all seven.
//
//	line    slot 0 │ slot 1 │ … │ slot 6 │ passed, tag 6, …, tag 1, tag 0
//	                                       8 bits each
//	slot    63      48 47          32 31   30         0
//	        place     │ edge         │ node │ record        0 if free
//
// The 64 bits of a hash are used once each:
//
//	63     56 55      40 39  32 31                   0
//	table    │ place    │ tag  │ not in the table
//
// The top bits choose one of the tables, which grow and shrink each alone, so
// that no single Add moves more than one of them. The first bits of place choose
// the slot's home line in it; as all of place is in the slot, a table grows
// without looking at keys. A slot that finds its home full goes to one of the
// next lines, and the lines it passes count it: a search may end at a line
// with passed == 0.
//
// Invariants, with at = the slot's line, home = place >> shift, and m = len(lines):
//
//	m == 1 << (16 − shift)
//	(at − home) mod m < probes
//	passed == the number of slots with (line − home) mod m < (at − home) mod m
//	used == the number of slots that are not 0
//	tag == 0 where slot == 0

import "math/bits"

const (
	lineSlots = 7
	maxTables = 128
	probes    = 4 // lines that a slot may be in
	tagWord   = lineSlots
	passedOne = 1 << 56
	lowBytes  = 1<<56/0xff | 0 // 0x01 in each of the seven tags
	highBits  = lowBytes << 7
)

type line [lineSlots + 1]uint64

type lineTable struct {
	lines []line
	used  int
	shift uint8
}

// A slot says where a hash leads: to the record of a key, or on to a node.
type slot uint64

const nodeSlot slot = 1 << 31

func keySlot(ref uint32) slot         { return slot(ref) }
func edgeSlot(ref uint32, e int) slot { return slot(e)<<32 | nodeSlot | slot(ref) }

func (s slot) isNode() bool  { return s&nodeSlot != 0 }
func (s slot) ref() uint32   { return uint32(s &^ nodeSlot) }
func (s slot) edge() int     { return int(s >> 32 & 0xffff) }
func (s slot) place() uint16 { return uint16(s >> 48) }

// at returns s as it is stored under the hash x.
func (s slot) at(x uint64) slot { return s&(1<<48-1) | slot(placeOf(x))<<48 }

func placeOf(x uint64) uint16 { return uint16(x >> 40) }
func tagOf(x uint64) uint8    { return uint8(x >> 32) }

// match returns a word with the top bit set in each byte whose tag is tag, and
// rarely in some other. Free slots have the tag 0.
func (l *line) match(tag uint8) uint64 {
	z := l[tagWord] ^ uint64(tag)*lowBytes
	return (z - lowBytes) &^ z & highBits
}

// laneOf returns the number of the lowest slot in the result of match.
func laneOf(m uint64) int { return bits.TrailingZeros64(m) >> 3 & 7 }

func (l *line) passed() uint64 { return l[tagWord] >> 56 }

// table returns the table for the hash x.
func (h *Hash) table(x uint64) *lineTable { return &h.tables[x>>56&uint64(len(h.tables)-1)] }

// line returns the line of t that is i after the home of x.
func (t *lineTable) line(x uint64, i int) *line {
	return &t.lines[(int(placeOf(x)>>t.shift)+i)&(len(t.lines)-1)]
}

// found appends to buf the slots that are stored under x, as far as the table
// knows: 24 bits and the table are the same.
func (h *Hash) found(buf []slot, x uint64) []slot {
	t := h.table(x)
	for i := range probes {
		l := t.line(x, i)
		for m := l.match(tagOf(x)); m != 0; m &= m - 1 {
			lane := laneOf(m)
			if s := slot(l[lane]); s != 0 && s == s.at(x) && uint8(l[tagWord]>>(8*lane)) == tagOf(x) {
				buf = append(buf, s)
			}
		}
		if l.passed() == 0 {
			break
		}
	}
	return buf
}

// insert stores s under x. It fails if there is no room, which takes more equal
// bits than chance gives, or 2 to the power of 29 slots.
func (h *Hash) insert(x uint64, s slot) bool {
	t := h.table(x)
	if t.used*10 >= len(t.lines)*lineSlots*7 {
		t.resize(t.shift - 1)
	}
	return t.put(tagOf(x), s.at(x)) || t.resize(t.shift-1) && t.put(tagOf(x), s.at(x))
}

// remove takes away s, which is stored under x.
func (h *Hash) remove(x uint64, s slot) {
	t := h.table(x)
	for i := range probes {
		l := t.line(x, i)
		if lane := l.lane(s.at(x), tagOf(x)); lane >= 0 {
			l[lane] = 0
			l[tagWord] &^= 0xff << (8 * lane)
			t.used--
			break
		}
		l[tagWord] -= passedOne
	}
	if t.used*6 < len(t.lines)*lineSlots {
		t.resize(t.shift + 1)
	}
}

// replace puts s in the place of old, which is stored under x.
func (h *Hash) replace(x uint64, old, s slot) {
	t := h.table(x)
	for i := range probes {
		l := t.line(x, i)
		if lane := l.lane(old.at(x), tagOf(x)); lane >= 0 {
			l[lane] = uint64(s.at(x))
			return
		}
	}
}

// lane returns the number of s in l, or -1.
func (l *line) lane(s slot, tag uint8) int {
	for lane := range lineSlots {
		if l[lane] == uint64(s) && uint8(l[tagWord]>>(8*lane)) == tag {
			return lane
		}
	}
	return -1
}

// put stores s, which has its place in it, and reports whether there was room.
func (t *lineTable) put(tag uint8, s slot) bool {
	home := int(s>>48) >> t.shift
	for i := range min(probes, len(t.lines)) {
		l := &t.lines[(home+i)&(len(t.lines)-1)]
		for lane := range lineSlots {
			if l[lane] != 0 {
				continue
			}
			l[lane] = uint64(s)
			l[tagWord] |= uint64(tag) << (8 * lane)
			t.used++
			for ; i > 0; i-- {
				t.lines[(home+i-1)&(len(t.lines)-1)][tagWord] += passedOne
			}
			return true
		}
	}
	return false
}

// resize gives t 1<<(16−shift) lines. It leaves t as it is if that is not
// possible, or would leave most lines empty.
func (t *lineTable) resize(shift uint8) bool {
	if shift > 16 { // 255 after 0
		return false
	}
	to := lineTable{lines: make([]line, 1<<(16-shift)), shift: shift}
	if t.used < len(to.lines)/2 && len(to.lines) > len(t.lines) {
		return false
	}
	for i := range t.lines {
		for lane := range lineSlots {
			s := t.lines[i][lane]
			if s != 0 && !to.put(uint8(t.lines[i][tagWord]>>(8*lane)), slot(s)) {
				return false
			}
		}
	}
	*t = to
	return true
}
