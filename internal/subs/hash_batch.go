package subs

// MatchAll sets hits[i] to Match(data[i]) for all i. With many keys it is faster than
// as many calls of Match: it takes 16 messages at a time and one step after the other,
// so that the loads of one step, each of which may wait for memory, wait together.
// hits must be as long as data.
func (h *Hash) MatchAll(data [][]byte, hits []bool) {
	for len(data) > 0 {
		n := min(len(data), batchSize)
		h.matchBatch(data[:n], hits[:n])
		data, hits = data[n:], hits[n:]
	}
}

const batchSize = 16

// matchBatch goes one or two levels down from the first root, and leaves to Match
// what is not decided then; the lines and records that Match needs are at hand by
// then.
func (h *Hash) matchBatch(data [][]byte, hits []bool) {
	if h.refs > 0 || h.opened == 0 {
		for i := range data {
			hits[i] = h.Match(data[i])
		}
		return
	}
	var (
		x     [batchSize]uint64
		lines [batchSize]*line // nil if there is no way on
		slots [batchSize]slot
		recs  [batchSize][]byte
		heads [batchSize]uint64
	)
	r := &h.roots[0]
	for i, d := range data {
		if edge := h.start(r, d); edge <= len(d) {
			x[i&15] = h.hash(r.seed, d, edge)
			lines[i&15] = h.table(x[i&15]).line(x[i&15], 0)
		}
	}
	for range 2 {
		for i := range data {
			if l := lines[i&15]; l != nil {
				slots[i&15] = slot(l[laneOf(l.match(tagOf(x[i&15])))])
				recs[i&15] = h.record(slots[i&15].ref())
			}
		}
		for i := range data {
			if lines[i&15] != nil {
				heads[i&15] = load(recs[i&15], 0)
			}
		}
		for i, d := range data {
			s := slots[i&15]
			if lines[i&15] == nil || !s.isNode() || s.edge() > len(d) || load(recs[i&15], headSize) != x[i&15] {
				lines[i&15] = nil
				continue
			}
			x[i&15] = h.hash(x[i&15]+nextLevel, d, s.edge())
			lines[i&15] = h.table(x[i&15]).line(x[i&15], 0)
		}
	}
	for i, d := range data {
		hits[i] = heads[i&15] != 0 && !slots[i&15].isNode() && begins(d, recs[i&15]) || h.Match(d)
	}
}
