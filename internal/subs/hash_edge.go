package subs

// Where windows end. A good edge tells most keys apart, and few of them are too short
// for it. Edges are tried, and judged by what they do to the keys that are there: of
// each, the first 255 bytes are looked at, its head.

import (
	"math"
	"math/bits"
)

const (
	edgeRange  = 48  // edges that are tried, from the first that tells keys apart
	sample     = 256 // heads that they are tried on
	minAlone   = 0.95
	minMany    = 64 // keys for which there are families
	minFamily  = 8  // keys for which a family has 64 edges
	pickStep   = 2
	mostFit    = 8 // one key in 8 may be too short
	allFit     = math.MaxInt
	rowSize    = 64
	familySize = 256
)

// An edges says for a level where windows end.
type edges struct {
	one      family
	families *[familySize]family
	rows     []uint8
}

// chooseEdges returns edges for these keys, of which one in fit may be too short.
func chooseEdges(heads [][]byte, secret uint64, fit int) edges {
	edge, alone := bestEdge(heads, secret, secret, fit)
	e := edges{one: family{pick: uint16(edge)}}
	if len(heads) < minMany || alone > minAlone {
		return e
	}
	e.families = new([familySize]family)
	groups, rows := make([][][]byte, familySize), map[[rowSize]uint8]int{}
	for _, head := range heads {
		i := seedOf(head, 8, secret) >> 56
		groups[i] = append(groups[i], head)
	}
	for i, group := range groups {
		pick, row := 8, constantRow(minLong)
		if len(group) > 0 {
			pick, row = chooseRow(group, secret, fit)
		}
		at, ok := rows[row]
		if !ok {
			at = len(e.rows)
			rows[row] = at
			e.rows = append(e.rows, row[:]...)
		}
		e.families[i] = family{pick: uint16(pick), row: uint16(at)}
	}
	return e
}

// seedOf returns what a family's edge is chosen by, and hashes begin with. With a pick
// of 8 its top byte is the family.
func seedOf(data []byte, pick int, secret uint64) uint64 {
	seed := load(data, 0) * (secret | 1)
	if pick > 8 {
		seed = (load(data, pick-8) ^ seed) * (secret | 1)
	}
	return seed
}

func constantRow(edge int) (row [rowSize]uint8) {
	for i := range row {
		row[i] = uint8(edge)
	}
	return row
}

// chooseRow returns the edges for a family with these keys: one, or if that is better, as
// many as eight bytes that end at pick tell apart.
func chooseRow(heads [][]byte, secret uint64, fit int) (pick int, row [rowSize]uint8) {
	edge, _ := bestEdge(heads, seedOf(heads[0], 8, secret), secret, fit)
	pick, row = 8, constantRow(edge)
	if len(heads) < minFamily {
		return pick, row
	}
	best := score(heads, pick, &row, secret)
	for p := 8 + pickStep; p <= sizeOf(heads, fit); p += pickStep {
		r := lateRow(heads, p, edge, secret, fit)
		if s := score(heads, p, &r, secret); s > best {
			best, pick, row = s, p, r
		}
	}
	return pick, row
}

// lateRow returns the edges that are as late as the sizes of keys allow.
func lateRow(heads [][]byte, pick, edge int, secret uint64, fit int) (row [rowSize]uint8) {
	var groups [rowSize][][]byte
	for _, head := range heads {
		if len(head) >= pick {
			i := seedOf(head, pick, secret) >> 58
			groups[i] = append(groups[i], head)
		}
	}
	first := max(edge, pick)
	for i, group := range groups {
		if len(group) > 0 {
			row[i] = uint8(max(pick, sizeOf(group, fit)))
			first = min(first, int(row[i]))
		}
	}
	for i := range row {
		if row[i] == 0 {
			row[i] = uint8(first)
		}
	}
	return row
}

// sizeOf returns the greatest size that all keys but one in fit have.
func sizeOf(heads [][]byte, fit int) int {
	var sizes [maxEdge + 1]int
	for _, head := range heads {
		sizes[len(head)]++
	}
	size, short := minLong, 0
	for ; size < maxEdge; size++ {
		if short += sizes[size]; short > len(heads)/fit {
			break
		}
	}
	return size
}

// score says how good a row is.
func score(heads [][]byte, pick int, row *[rowSize]uint8, secret uint64) int {
	c := newCounter(len(heads))
	for _, head := range heads {
		if len(head) < pick {
			continue
		}
		seed := seedOf(head, pick, secret)
		if edge := int(row[seed>>58]); len(head) >= edge {
			c.add(hashOf(head, edge, seed, secret))
		}
	}
	return c.score(len(heads))
}

// bestEdge returns an edge, and the share of keys that it gives a slot of their own.
func bestEdge(heads [][]byte, seed, secret uint64, fit int) (edge int, alone float64) {
	most := min(sample, max(16, len(heads)/8))
	var keys [][]byte
	for i := 0; i < len(heads); i += (len(heads) + most - 1) / most {
		keys = append(keys, heads[i])
	}
	same, longest := len(keys[0]), 0
	for _, key := range keys {
		same, longest = min(same, agree(keys[0], key)), max(longest, len(key))
	}
	edge = min(max(minLong, same+1), maxEdge)
	best := -2 * len(keys)
	for e := edge; e <= min(longest, edge+edgeRange); e++ {
		c := newCounter(len(keys))
		for _, key := range keys {
			if len(key) >= e {
				c.add(hashOf(key, e, seed, secret))
			}
		}
		if len(keys)-c.n > len(keys)/fit {
			break
		}
		if s := c.score(len(keys)); s >= best {
			best, edge = s, e
			alone = float64(c.n-c.shared) / float64(len(keys))
		}
	}
	return edge, alone
}

// A counter counts hashes, and those that have an equal among them.
type counter struct {
	n, shared int
	seen      []uint64 // hashes, with the top bit for those seen twice
}

func newCounter(n int) *counter { return &counter{seen: make([]uint64, 1<<bits.Len(uint(2*n)))} }

func (c *counter) add(x uint64) {
	const twice = 1 << 63
	c.n++
	x = x>>1 | 1
	for i := x >> 1; ; i++ {
		at := &c.seen[i&uint64(len(c.seen)-1)]
		switch *at {
		case 0:
			*at = x
		case x:
			*at |= twice
			c.shared += 2
		case x | twice:
			c.shared++
		default:
			continue
		}
		return
	}
}

// score counts two for a key with its own hash, one for any other, and takes off one for
// one that is not there.
func (c *counter) score(keys int) int {
	return 2*(c.n-c.shared) + c.shared - (keys - c.n)
}

// agree returns the number of bytes that a and b begin with alike.
func agree(a, b []byte) int {
	size := min(len(a), len(b))
	a, b = a[:size], b[:size]
	for i := 0; i < size; i += 8 {
		if differ := word(a, i) ^ word(b, i); differ != 0 {
			return min(i+bits.TrailingZeros64(differ)/8, size)
		}
	}
	return size
}
