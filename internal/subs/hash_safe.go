//go:build subs_safe || !(amd64 || arm64)

package subs

// Match implements [Store].
func (h *Hash) Match(data []byte) bool {
	if h.refs > 0 {
		return true
	}
	for i := range h.opened {
		edge, seed := h.start(&h.roots[i], data), h.roots[i].seed
		for depth := 0; edge <= len(data) && depth < maxDepth; depth++ {
			x := h.hash(seed, data, edge)
			l := h.table(x).line(x, 0)
			if edge = h.matchLine(l, data, x, maxInt); edge >= 0 && l.passed() > 0 {
				edge = h.matchPassed(data, x, edge)
			}
			if edge < 0 {
				return true
			}
			seed = x + nextLevel
		}
	}
	return (h.few.n > 0 || h.spill.tree.Len() > 0) && h.matchRest(data)
}
