package subs

// few keys: up to eight of any length, compared by their first bytes all at once.
type few struct {
	n     int
	long  int // keys of more than 8 bytes
	words [maxFew]struct{ word, mask uint64 }
	ref   [maxFew]uint32
}

// match compares data with each of the keys.
func (f *few) match(h *Hash, data []byte) bool {
	for _, ref := range f.ref[:f.n] {
		if begins(data, h.record(ref)) {
			return true
		}
	}
	return false
}

func (f *few) add(key []byte, ref uint32) {
	f.words[f.n].word = firstWord(key)
	f.words[f.n].mask = 1<<(8*min(len(key), 8)) - 1
	f.ref[f.n] = ref
	f.n++
	if len(key) > 8 {
		f.long++
	}
}

func (f *few) remove(i int, key []byte) {
	f.n--
	if len(key) > 8 {
		f.long--
	}
	f.words[i], f.ref[i] = f.words[f.n], f.ref[f.n]
	f.words[f.n], f.ref[f.n] = struct{ word, mask uint64 }{}, 0
}
