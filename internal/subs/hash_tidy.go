package subs

// Records move as chunks are emptied.

import "slices"

// tidy empties the chunks of which less than half is alive.
func (h *Hash) tidy() {
	for len(h.sparse) > 0 {
		i := h.sparse[len(h.sparse)-1]
		h.sparse = h.sparse[:len(h.sparse)-1]
		h.records(int(i), h.move)
		if h.live[i] == 0 {
			h.drop(i)
		}
	}
}

// move copies a record to the end of the recordLog, and has its slot point there.
func (h *Hash) move(ref uint32) {
	key, home := h.key(ref), h.home(ref)
	to, ok := h.alloc(key, home)
	if !ok {
		return
	}
	h.setRefs(to, h.recordLog.refs(ref))
	switch {
	case home == homeFew:
		h.few.ref[slices.Index(h.few.ref[:h.few.n], ref)] = to
	case isNode(home):
		x := load(key, 0)
		var buf [probes * lineSlots]slot
		for _, s := range h.found(buf[:0], x) {
			if s.isNode() && s.ref() == ref {
				h.replace(x, s, edgeSlot(to, s.edge()))
			}
		}
	default:
		p := path{root: home >> 3}
		h.walk(&p, key)
		h.replace(p.x[p.depth], keySlot(ref), keySlot(to))
	}
	h.kill(ref)
}
