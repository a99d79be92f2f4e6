package subs

// A table maps hashes to slots. It is made of 64-byte lines, each a cache line: seven slots,
// and their tags side by side in the eighth word, so that one subtraction compares
// all seven.
//
//	line    slot 0 │ slot 1 │ … │ slot 6 │ passed, tag 6, …, tag 1, tag 0
//	                                       8 bits each
//	slot    63      48 47                                 0
//	        place     │ what is found                     0 if free
//
// The upper bits of a hash are used once each:
//
//	63    48 47   40 39   32 31                    0
//	place   │ tag   │ part  │ not in the table
//
// Part chooses one of the parts, which grow and shrink each alone, so
// that no single Add moves more than one of them. The last bits of place choose
// the slot's home line in it; as all of place is in the slot, a part grows
// without looking at keys. A slot that finds its home full goes to one of the
// next lines, and the lines it passes count it: a search may end at a line
// with passed == 0.
//
// A slot that finds no room at all is what many equal hashes come to, or more keys than
// 32 parts of 65 536 lines hold, about 12 million. Then the table is lost: it gives up
// all its slots, and its keys are searched for in the tree.
//
// Invariants, with at = the slot's line, m = len(lines), and home = place mod m:
//
//	m is a power of two, and 64·(m − 1) == last
//	(at − home) mod m < probes
//	passed == the number of slots with (line − home) mod m < (at − home) mod m
//	used == the number of slots that are not 0
//	tag == 0 where slot == 0

import "unsafe"

const (
	lineSlots = 7
	maxParts  = 32
	fewParts  = 512     // keys with more of which a table has all parts
	maxLines  = 1 << 16 // of a part
	lineBits  = 6       // a line has 1<<lineBits bytes
	partBits  = 5       // and a part, with pointers of 64 bits, 1<<partBits
	probes    = 8       // lines that a slot may be in
	passedOne = 1 << 56
	lowBytes  = 1 << 56 / 0xff // 0x01 in each of the seven tags
	highBits  = lowBytes << 7
)

// A line is as drawn above.
type line struct {
	slots [lineSlots]slot
	tags  uint64 // and in the top byte how many have passed
}

type part struct {
	lines []line
	used  uint32
	last  uint32 // how many bytes after lines[0] its last line is
}

// A hashTable has no slots if it has no parts.
type hashTable struct {
	parts []part
	mask  uint64 // len(parts) − 1
	lost  bool
}

// A slot says what a hash leads to.
type slot uint64

const slotBits = 1<<48 - 1 // those that are not the place

func tagOf(x uint64) uint8 { return uint8(x >> 40) }

// at returns what is found in s as a slot that is stored under x.
func (s slot) at(x uint64) slot { return slot(x)&^slotBits | s&slotBits }

// isAt reports whether s is stored under x, as far as the place says.
func (s slot) isAt(x uint64) bool { return (uint64(s)^x)>>48 == 0 }

// match returns a word with the top bit set in each byte whose tag is tag, and
// rarely in some other. Free slots have the tag 0.
func (l *line) match(tag uint8) uint64 {
	z := l.tags ^ uint64(tag)*lowBytes
	return (z - lowBytes) &^ z & highBits
}

// laneOf returns the number of the lowest slot in a result of match that is not 0. Counting
// zeros takes some processors eight steps without BMI; so m ^ (m−1), which is
// 1<<(8·lane+8) − 1, shifts the constant, and the lane is what comes to the top.
func laneOf(m uint64) int {
	const lanes = lowBytes | 1<<41 | 2<<33 | 3<<25 | 4<<17 | 5<<9 | 6<<1
	return int((m ^ (m - 1)) * lanes >> 57)
}

func (l *line) tag(lane int) uint8 { return uint8(l.tags >> (8 * lane)) }

func (l *line) passed() uint64 { return l.tags >> 56 }

// newTable returns a table that is to hold about size slots.
func newTable(size int) hashTable {
	n := 1
	for n < maxParts && size > n*16 {
		n *= 2
	}
	t := hashTable{parts: make([]part, n), mask: uint64(n - 1)}
	lines := 2
	for full(size/n, lines) {
		lines *= 2
	}
	for i := range t.parts {
		t.parts[i] = newPart(lines)
	}
	return t
}

func newPart(lines int) part {
	return part{lines: make([]line, lines), last: uint32((lines - 1) << lineBits)}
}

// outgrown reports whether a table should have all parts there are for size keys.
func (t *hashTable) outgrown(size int) bool { return len(t.parts) < maxParts && size > fewParts }

// full reports whether with used slots one more should have more lines.
func full(used, lines int) bool { return used*10 >= lines*lineSlots*7 }

// bytes returns the memory that the table holds on the heap.
func (t *hashTable) bytes() int {
	n := cap(t.parts) * int(unsafe.Sizeof(part{}))
	for i := range t.parts {
		n += len(t.parts[i].lines) * int(unsafe.Sizeof(line{}))
	}
	return n
}

// part returns the part for the hash x.
func (t *hashTable) part(x uint64) *part { return &t.parts[x>>32&uint64(len(t.parts)-1)] }

// line returns the line that is i after the home of x.
func (p *part) line(x uint64, i int) *line {
	return &p.lines[(int(x>>48)+i)&(len(p.lines)-1)]
}

// find returns a slot under x, as far as the table knows, that has the same bits as s
// where mask has ones, or nil.
func (t *hashTable) find(x uint64, s, mask slot) *slot {
	p := t.part(x)
	for i := range probes {
		l := p.line(x, i)
		for m := l.match(tagOf(x)); m != 0; m &= m - 1 {
			lane := laneOf(m)
			if at := l.slots[lane]; at != 0 && at.isAt(x) && l.tag(lane) == tagOf(x) && (at^s)&mask == 0 {
				return &l.slots[lane]
			}
		}
		if l.passed() == 0 {
			break
		}
	}
	return nil
}

// insert stores s under x. If there is no room, the table is lost.
func (t *hashTable) insert(x uint64, s slot) {
	p, tag := t.part(x), tagOf(x)
	s = s.at(x)
	if full(int(p.used), len(p.lines)) {
		p.resize(2 * len(p.lines))
	}
	if !p.put(tag, s) && !(p.resize(2*len(p.lines)) && p.put(tag, s)) {
		*t = hashTable{lost: true}
	}
}

// remove takes away the slot at, which is stored under x.
func (t *hashTable) remove(x uint64, at *slot) {
	p := t.part(x)
	for i := range probes {
		l := p.line(x, i)
		if lane := l.lane(at); lane >= 0 {
			l.slots[lane] = 0
			l.tags &^= 0xff << (8 * lane)
			p.used--
			break
		}
		l.tags -= passedOne
	}
	if int(p.used)*6 < len(p.lines)*lineSlots {
		p.resize(len(p.lines) / 2)
	}
}

// lane returns which slot of l is at, or -1.
func (l *line) lane(at *slot) int {
	for lane := range lineSlots {
		if &l.slots[lane] == at {
			return lane
		}
	}
	return -1
}

// put stores s, which has its place in it, and reports whether there was room.
func (p *part) put(tag uint8, s slot) bool {
	home := int(s >> 48)
	for i := range min(probes, len(p.lines)) {
		l := &p.lines[(home+i)&(len(p.lines)-1)]
		for lane := range lineSlots {
			if l.slots[lane] != 0 {
				continue
			}
			l.slots[lane] = s
			l.tags |= uint64(tag) << (8 * lane)
			p.used++
			for ; i > 0; i-- {
				p.lines[(home+i-1)&(len(p.lines)-1)].tags += passedOne
			}
			return true
		}
	}
	return false
}

// resize gives p another number of lines. It leaves p as it is if that is not
// possible, or would leave most lines empty.
func (p *part) resize(lines int) bool {
	if lines < 2 || lines > maxLines || lines > len(p.lines) && int(p.used) < lines/2 {
		return false
	}
	to := newPart(lines)
	for i := range p.lines {
		l := &p.lines[i]
		for lane := range lineSlots {
			if l.slots[lane] != 0 && !to.put(l.tag(lane), l.slots[lane]) {
				return false
			}
		}
	}
	*p = to
	return true
}
