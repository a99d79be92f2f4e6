package subs

import "fmt"

// MatchAll sets hits[i] to Match(data[i]) for all i. With many keys it is faster than
// as many calls of Match: it takes 16 messages at a time and one step after the other,
// so that the loads of one step, each of which may wait for memory, wait together.
// It panics if hits is not as long as data.
func (h *Hash) MatchAll(data [][]byte, hits []bool) {
	if len(hits) != len(data) {
		panic(fmt.Sprintf("subs: MatchAll of %d messages has room for %d answers; give it one for each", len(data), len(hits)))
	}
	for len(data) > 0 {
		n := min(len(data), batchSize)
		switch {
		case h.first != nil:
			h.matchBatch(data[:n], hits[:n])
		case h.tabled:
			h.matchShortBatch(data[:n], hits[:n])
		default:
			for i := range n {
				hits[i] = h.Match(data[i])
			}
		}
		data, hits = data[n:], hits[n:]
	}
}

const batchSize = 16

// matchBatch looks for the one key of the first level that each message may begin with, and
// leaves to Match what is not found there.
func (h *Hash) matchBatch(data [][]byte, hits []bool) {
	var (
		x     [batchSize]uint64
		lines [batchSize]*line // nil if there is no way on
		slots [batchSize]slot
		keys  [batchSize][]uint64
		heads [batchSize]uint64 // the first eight bytes of messages, and in them what is different in keys
		tails [batchSize]uint64 // the last bytes of keys
	)
	v := h.first
	for i, d := range data {
		if len(d) >= minLong {
			heads[i&15], x[i&15] = load(d, 0), load(d, len(d)-8)
		}
	}
	for i, d := range data {
		if len(d) < minLong {
			continue
		}
		if edge, seed, _ := v.edge(d, h.secret); edge <= len(d) {
			x[i&15] = hashOf(d, edge, seed, h.secret)
			lines[i&15] = v.table.part(x[i&15]).line(x[i&15], 0)
		}
	}
	for i := range data {
		if l := lines[i&15]; l != nil {
			s := slot(0)
			if m := l.match(tagOf(x[i&15])); m != 0 {
				s = l.slots[laneOf(m)]
			}
			if s.kind() != leafSlot || s == 0 || !s.isAt(x[i&15]) {
				lines[i&15] = nil
				continue
			}
			slots[i&15], keys[i&15] = s, v.tree.text.block(ref(s&maxRef))
		}
	}
	for i := range data {
		if lines[i&15] != nil {
			heads[i&15] ^= keys[i&15][0]
			tails[i&15] = keys[i&15][(slots[i&15].size()-1)/8]
		}
	}
	for i, d := range data {
		hits[i] = lines[i&15] != nil && heads[i&15] == 0 && tails[i&15] != 0 && leads(keys[i&15], slots[i&15].size(), d) || h.Match(d)
	}
}

// matchShortBatch looks in one line for each message, if all keys have one length.
func (h *Hash) matchShortBatch(data [][]byte, hits []bool) {
	var (
		x [batchSize]uint64
		w [batchSize]slot
		l [batchSize]*line
		m [batchSize]uint64
	)
	s := &h.short
	for i, d := range data {
		if len(d) >= 8 {
			x[i&15], w[i&15] = s.any[0].hash(load(d, 0), h.odd)
			l[i&15] = s.table.part(x[i&15]).line(x[i&15], 0)
		}
	}
	for i := range data {
		if l := l[i&15]; l != nil {
			m[i&15] = l.match(tagOf(x[i&15]))
		}
	}
	for i, d := range data {
		l, m := l[i&15], m[i&15]
		hits[i] = m != 0 && l.slots[laneOf(m)] == w[i&15] || h.Match(d)
	}
}
