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
			hit, next := h.matchLine(l, data, x, maxInt)
			if !hit && l.passed() > 0 {
				hit, next = h.matchPassed(data, x, next)
			}
			if hit {
				return true
			}
			edge, seed = next, x+nextLevel
		}
	}
	return (h.few.n > 0 || h.spill.tree.Len() > 0) && h.matchRest(data)
}
