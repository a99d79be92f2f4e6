package subs

// Where windows end. A good edge tells most keys apart, and few of them are too short
// for it. Edges are tried, and judged by what they do to the keys that are there: of
// each, the first 255 bytes are looked at, its head.

import (
	"math"
	"math/bits"
	"slices"
)

const (
	edgeRange  = 48   // edges that are tried, from the first that tells keys apart
	sample     = 256  // heads that one edge is tried on
	rowSample  = 1024 // heads that a row is tried on
	minAlone   = 0.99
	minMany    = 64 // keys for which there are families
	minFamily  = 8  // keys for which a family has 64 edges
	pickStep   = 4  // from one pick that is tried to the next, or more
	maxPicks   = 12 // picks that are tried, so that long keys take no longer
	mostFit    = 8  // one key in 8 may be too short
	allFit     = math.MaxInt
	rowSize    = 64
	familySize = 256
)

// A chooser chooses edges of which one key in fit may be shorter.
type chooser struct {
	secret uint64
	fit    int
	counter
}

// edges say for a level where windows end.
type edges struct {
	all      window
	families *[familySize]family
	rows     []window
}

// edges returns edges for a level to which these keys may belong.
func (c *chooser) edges(heads [][]byte) edges {
	edge, alone := c.best(heads, seedOfAll(c.secret))
	e := edges{all: windowTo(edge)}
	if len(heads) < minMany || alone > minAlone {
		return e
	}
	e.families = new([familySize]family)
	heads, end := sorted(heads, func(head []byte) int { return familyOf(head, c.secret) })
	rows, from := map[[rowSize]uint8]int{}, 0
	for i, end := range end {
		pick, row := 8, constantRow(minLong)
		if from < end {
			pick, row = c.row(heads[from:end])
		}
		from = end
		at, ok := rows[row]
		if !ok {
			at = len(e.rows)
			rows[row] = at
			for _, edge := range row {
				e.rows = append(e.rows, windowTo(int(edge)))
			}
		}
		e.families[i] = family{pick: uint16(pick), row: uint16(at)}
	}
	return e
}

func constantRow(edge int) (row [rowSize]uint8) {
	for i := range row {
		row[i] = uint8(edge)
	}
	return row
}

// row returns the edges for a family with these keys: one, or if that is better, as
// many as eight bytes that end at pick tell apart.
func (c *chooser) row(heads [][]byte) (pick int, row [rowSize]uint8) {
	edge, _ := c.best(heads, seedOf(heads[0], 8, c.secret))
	pick, row = 8, constantRow(edge)
	if len(heads) < minFamily {
		return pick, row
	}
	heads, _ = sorted(heads, func(head []byte) int { return len(head) })
	few := every(heads, rowSample)
	best, most := c.score(few, pick, &row), len(few[len(few)/c.fit])
	for p := 8 + pickStep; p <= most; p += max(pickStep, most/maxPicks) {
		r := c.lateRow(few, p, edge)
		if s := c.score(few, p, &r); s > best {
			best, pick = s, p
		}
	}
	if pick > 8 {
		row = c.lateRow(heads, pick, edge)
	}
	return pick, row
}

// lateRow returns the greatest edges for which not too many of these keys, sorted by size, are too
// short, besides those that are shorter than pick.
func (c *chooser) lateRow(heads [][]byte, pick, edge int) (row [rowSize]uint8) {
	var all, seen [rowSize]int
	long, _ := slices.BinarySearchFunc(heads, pick, func(head []byte, pick int) int { return len(head) - pick })
	heads = heads[long:]
	for _, head := range heads {
		all[seedOf(head, pick, c.secret)>>58]++
	}
	first := max(edge, pick)
	for _, head := range heads {
		i := seedOf(head, pick, c.secret) >> 58
		if seen[i] == all[i]/c.fit {
			row[i] = uint8(len(head))
			first = min(first, len(head))
		}
		seen[i]++
	}
	for i := range row {
		if row[i] == 0 {
			row[i] = uint8(first)
		}
	}
	return row
}

// score says how good a row is.
func (c *chooser) score(heads [][]byte, pick int, row *[rowSize]uint8) int {
	c.reset(len(heads))
	for _, head := range heads {
		if len(head) < pick {
			continue
		}
		seed := seedOf(head, pick, c.secret)
		if edge := int(row[seed>>58]); len(head) >= edge {
			c.add(hashOf(head, edge, seed, c.secret))
		}
	}
	return c.counter.score()
}

// best returns the one edge that is best, and the share of keys that it gives a slot of
// their own.
func (c *chooser) best(heads [][]byte, seed uint64) (edge int, alone float64) {
	keys := every(heads, min(sample, max(16, len(heads)/8)))
	same, longest := len(keys[0]), 0
	for _, key := range keys {
		same, longest = min(same, agree(keys[0], key)), max(longest, len(key))
	}
	edge = min(max(minLong, same+1), maxEdge)
	best := -2 * len(keys)
	for e := edge; e <= min(longest, edge+edgeRange); e++ {
		c.reset(len(keys))
		for _, key := range keys {
			if len(key) >= e {
				c.add(hashOf(key, e, seed, c.secret))
			}
		}
		if short := len(keys) - c.n; short > len(keys)/c.fit {
			break
		}
		if s := c.counter.score(); s >= best {
			best, edge = s, e
			alone = float64(c.n-c.shared) / float64(len(keys))
		}
	}
	return edge, alone
}

// sorted returns heads in the order of what key says of each, which is 0 to 255, and where in
// them those of each value end.
func sorted(heads [][]byte, key func([]byte) int) (all [][]byte, end [256]int) {
	for _, head := range heads {
		end[key(head)]++
	}
	n := 0
	for i := range end { // from here on, where the next one goes
		n, end[i] = n+end[i], n
	}
	all = make([][]byte, len(heads))
	for _, head := range heads {
		i := key(head)
		all[end[i]] = head
		end[i]++
	}
	return all, end
}

// every returns at most n of heads, evenly spread.
func every(heads [][]byte, n int) [][]byte {
	if len(heads) <= n {
		return heads
	}
	few, step := make([][]byte, 0, n), (len(heads)+n-1)/n
	for i := 0; i < len(heads); i += step {
		few = append(few, heads[i])
	}
	return few
}

// A counter counts hashes, and those that have an equal among them.
type counter struct {
	all       int // keys, those without a hash, too
	n, shared int
	seen      []uint64 // hashes, with the top bit for those seen twice
}

// reset makes the counter ready for as many keys.
func (c *counter) reset(all int) {
	size := 1 << bits.Len(uint(2*all))
	if size > cap(c.seen) {
		c.seen = make([]uint64, size)
	}
	c.all, c.n, c.shared = all, 0, 0
	c.seen = c.seen[:size]
	clear(c.seen)
}

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
// one that has none.
func (c *counter) score() int { return 2*(c.n-c.shared) + c.shared - (c.all - c.n) }

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
