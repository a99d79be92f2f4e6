package subs

import (
	"encoding/binary"
	"fmt"
)

// WeakHash returns an empty Hash with a secret that makes hashes of zeros equal.
func WeakHash() *Hash { return &Hash{seeded: true} }

// EmptyKeyRefs returns the count of the empty key.
func (h *Hash) EmptyKeyRefs() uint64 { return uint64(h.refs) }

// SetEmptyKeyRefs sets that count.
func (h *Hash) SetEmptyKeyRefs(n uint64) { h.refs = refs(n) }

// Spilled returns the number of keys that are in the radix tree.
func (h *Hash) Spilled() int { return h.spill.tree.Len() }

// Check returns an error if an invariant at the top of a hash file does not hold.
func (h *Hash) Check() error {
	if err := h.checkArena(); err != nil {
		return err
	}
	type entry struct {
		x uint64
		s slot
	}
	slots, places := 0, map[uint32]int{} // the number of slots that lead to each record
	for i := range h.tables {
		t := &h.tables[i]
		m := len(t.lines)
		if m != 1<<(16-t.shift) {
			return fmt.Errorf("table of %d lines has shift %d", m, t.shift)
		}
		used, passed := 0, make([]uint64, m)
		for at, l := range t.lines {
			for lane := range lineSlots {
				s, tag := slot(l[lane]), uint8(l[tagWord]>>(8*lane))
				if s == 0 {
					if tag != 0 {
						return fmt.Errorf("free slot has tag %d", tag)
					}
					continue
				}
				used++
				places[s.ref()]++
				home := int(s>>48) >> t.shift
				away := (at - home) & (m - 1)
				if away >= probes {
					return fmt.Errorf("slot is %d lines from home", away)
				}
				for j := range away {
					passed[(home+j)&(m-1)]++
				}
			}
		}
		for at := range t.lines {
			if got := t.lines[at].passed(); got != passed[at] {
				return fmt.Errorf("line passed by %d, says %d", passed[at], got)
			}
		}
		if used != t.used {
			return fmt.Errorf("table has %d slots, says %d", used, t.used)
		}
		slots += used
	}
	keys, nodes, err := 0, 0, error(nil)
	fail := func(format string, args ...any) {
		if err == nil {
			err = fmt.Errorf(format, args...)
		}
	}
	below, counts := edges{}, map[uint32]uint32{} // slots in each node
	for i := range h.chunks {
		h.records(i, func(ref uint32) {
			home, key := h.home(ref), h.key(ref)
			if home != homeFew && places[ref] != 1 {
				fail("%d slots lead to record %q, home %d", places[ref], key, home)
				return
			}
			switch {
			case isNode(home):
				nodes++
				counts[ref] = binary.LittleEndian.Uint32(h.record(ref))
				return
			case home == homeFew:
				keys++
				found := 0
				for i, r := range h.few.ref[:h.few.n] {
					if r == ref && h.few.words[i].word == firstWord(key) {
						found++
					}
				}
				if found != 1 || places[ref] != 0 {
					fail("%q is %d times among the few, %d slots", key, found, places[ref])
				}
				return
			}
			keys++
			p := h.locate(key)
			if p.ref != ref || p.few || p.home() != home {
				fail("locate(%q) = %d in %d, want %d in %d", key, p.ref, p.home(), ref, home)
				return
			}
			parent := uint32(p.root) // chunk 0 has no record there
			for i := range p.depth {
				below.add(parent, p.nodes[i].ref())
				parent = p.nodes[i].ref()
			}
			below.add(parent, ref)
			if !h.Match(key) {
				fail("Match(%q) = false", key)
			}
		})
	}
	if err != nil {
		return err
	}
	for n, count := range counts {
		if got := len(below[n]); got != int(count) {
			return fmt.Errorf("node has %d slots, counts %d", got, count)
		}
	}
	for i, c := range h.roots {
		if got := len(below[uint32(i)]); c.n != got || i >= h.opened && c.n > 0 {
			return fmt.Errorf("root %d of %d has %d slots, counts %d", i, h.opened, got, c.n)
		}
	}
	if keys != h.keys || slots != keys-h.few.n+nodes {
		return fmt.Errorf("%d keys, %d few, %d nodes, %d slots; %d keys counted", keys, h.few.n, nodes, slots, h.keys)
	}
	for key, n := range h.spill.counts {
		if n < 2 || !h.spill.tree.Match([]byte(key)) {
			return fmt.Errorf("spilled key %q is counted %d times", key, n)
		}
	}
	return nil
}

func (h *Hash) checkArena() error {
	held := 0
	if len(h.sparse) > 0 {
		return fmt.Errorf("%d chunks are to be emptied", len(h.sparse))
	}
	for i, chunk := range h.chunks {
		held += len(chunk)
		live := 0
		h.records(i, func(ref uint32) { live += recordSize(len(h.key(ref))) })
		if live != h.live[i] {
			return fmt.Errorf("chunk %d has %d live bytes, counts %d", i, live, h.live[i])
		}
		if i != h.current && h.tooSparse(i) {
			return fmt.Errorf("chunk %d has %d live bytes of %d", i, live, len(chunk))
		}
	}
	if held != h.held {
		return fmt.Errorf("chunks have %d bytes, %d counted", held, h.held)
	}
	return nil
}

// edges holds the records below each root or node.
type edges map[uint32]map[uint32]bool

func (e edges) add(parent, child uint32) {
	if e[parent] == nil {
		e[parent] = map[uint32]bool{}
	}
	e[parent][child] = true
}

// FillArena leaves no place for another record, here or in the radix tree.
func (h *Hash) FillArena() {
	h.chunks = append(h.chunks, make([][]byte, logChunks-len(h.chunks))...)
	h.live = append(h.live, make([]int, logChunks-len(h.live))...)
	h.end = len(h.chunks[h.current])
	h.spill.tree.mem.fill()
}
