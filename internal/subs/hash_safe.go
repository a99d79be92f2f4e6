//go:build subs_safe || !(amd64 || arm64)

package subs

// Match implements [Store].
func (h *Hash) Match(data []byte) bool {
	if h.all {
		return true
	}
	if h.first != nil && len(data) >= minLong {
		return h.matchLong(data)
	}
	return h.matchShort(data)
}
