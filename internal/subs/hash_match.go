package subs

import (
	"encoding/binary"
	"math/bits"
)

// What is added to a hash for the seed of the level below, and to the secret for
// that of the next root.
const (
	nextLevel = 0x9e3779b97f4a7c15
	nextRoot  = 0xd6e8feb86659fd93
)

func load(b []byte, at int) uint64 { return binary.LittleEndian.Uint64(b[at : at+8]) }

// firstWord returns the first 8 bytes of data, or zeros in place of what is missing.
func firstWord(data []byte) uint64 {
	n := len(data)
	switch {
	case n >= 8:
		return binary.LittleEndian.Uint64(data)
	case n >= 4:
		return uint64(binary.LittleEndian.Uint32(data)) |
			uint64(binary.LittleEndian.Uint32(data[n-4:]))<<(8*(n-4)&31)
	case n > 0:
		return uint64(data[0]) | uint64(data[n/2])<<(n/2*8) | uint64(data[n-1])<<((n-1)*8)
	default:
		return 0
	}
}

// start returns the edge that a search for data begins with.
func (h *Hash) start(r *root, data []byte) int {
	if r.edges == nil || len(data) < r.pick {
		return r.edge
	}
	return int(r.edges[load(data, r.pick-8)*(h.secret|1)>>56])
}

// hash returns the hash of the window of data that ends at e.
func (h *Hash) hash(seed uint64, data []byte, e int) uint64 {
	var a, b uint64
	switch {
	case e >= 16:
		a, b = load(data, e-16), load(data, e-8)
	case e >= 8:
		a, b = load(data, 0), load(data, e-8)
	default:
		a = firstWord(data) & (1<<(8*e&63) - 1)
	}
	hi, lo := bits.Mul64(a^h.secret, b^seed)
	return hi ^ lo ^ seed
}

// matchLine looks at the slots of a line that the hash x of data may lead to. It
// returns -1 if data begins with a key of one, or else the edge of a node, or else
// the edge given, which is that of a line before, or maxInt. As no way leads on
// from a node of another hash, only a second node's hash is looked at.
func (h *Hash) matchLine(l *line, data []byte, x uint64, edge int) int {
	for m := l.match(tagOf(x)); m != 0; m &= m - 1 {
		s := slot(l[laneOf(m)])
		if !s.isNode() {
			if begins(data, h.record(s.ref())) {
				return -1
			}
		} else if s.place() == placeOf(x) && (edge == maxInt || load(h.record(s.ref()), headSize) == x) {
			edge = s.edge()
		}
	}
	return edge
}

// matchPassed is matchLine for the lines after the home of x.
//
//go:noinline
func (h *Hash) matchPassed(data []byte, x uint64, edge int) int {
	t := h.table(x)
	for i := 1; i < probes && edge >= 0; i++ {
		l := t.line(x, i)
		if edge = h.matchLine(l, data, x, edge); l.passed() == 0 {
			break
		}
	}
	return edge
}

// matchRest looks for a prefix of data outside of the roots.
//
//go:noinline
func (h *Hash) matchRest(data []byte) bool {
	var w, hit uint64
	if len(data) >= 8 {
		w = binary.LittleEndian.Uint64(data)
	} else {
		w = firstWord(data)
	}
	f := &h.few
	for i := range f.words[:f.n&15] {
		z := (w ^ f.words[i].word) & f.words[i].mask
		hit |= (z - 1) &^ z // the top bit only if z == 0
	}
	if f.long == 0 && len(data) >= 8 && h.spill.tree.Len() == 0 {
		return int64(hit) < 0
	}
	if int64(hit) < 0 && f.match(h, data) {
		return true
	}
	return h.spill.tree.Len() > 0 && h.spill.tree.Match(data)
}

// begins reports whether data begins with the key in rec.
func begins(data, rec []byte) bool {
	n := infoLen(rec)
	if len(data) < n || len(rec) < headSize+n { // noKey has less
		return false
	}
	return string(data[:n]) == string(rec[headSize:headSize+n])
}
