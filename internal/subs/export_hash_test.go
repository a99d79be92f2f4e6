package subs

import (
	"bytes"
	"fmt"
)

// EmptyKeyRefs returns the count of the empty key.
func (h *Hash) EmptyKeyRefs() uint64 { return h.short.tree.EmptyKeyRefs() }

// SetEmptyKeyRefs sets that count.
func (h *Hash) SetEmptyKeyRefs(n uint64) { h.short.tree.SetEmptyKeyRefs(n) }

// Shared returns the number of beginnings whose slots stand for others, too, and of lost tables.
func (h *Hash) Shared() (shared, lost int) {
	if h.short.table.lost {
		lost++
	}
	for i := range h.levels {
		t := &h.levels[i].table
		if t.lost {
			lost++
		}
		for _, s := range t.all() {
			if s.kind() == manySlot && s.many() > 1 {
				shared += s.many()
			}
		}
	}
	return shared, lost
}

// Parts returns the number of parts of each level's table, and of that of short keys.
func (h *Hash) Parts() (levels []int, short int) {
	for i := range h.levels {
		levels = append(levels, len(h.levels[i].table.parts))
	}
	return levels, len(h.short.table.parts)
}

// Built returns with how many keys edges were chosen, or fewer if most are gone.
func (h *Hash) Built() int { return h.built }

// Levels returns the number of keys in each level.
func (h *Hash) Levels() (keys []int) {
	for i := range h.levels {
		keys = append(keys, h.levels[i].tree.Len())
	}
	return keys
}

// all returns the slots of a table by what it knows of their hashes. Slots with
// several are what a level's table must not have, but that of short keys may.
func (t *hashTable) all() map[uint64]slot {
	slots := map[uint64]slot{}
	for i := range t.parts {
		for j := range t.parts[i].lines {
			l := &t.parts[i].lines[j]
			for lane, s := range l.slots {
				if s != 0 {
					slots[uint64(i)<<24|uint64(s>>48)<<8|uint64(l.tag(lane))] = s
				}
			}
		}
	}
	return slots
}

// known returns what of a hash the table knows.
func (t *hashTable) known(x uint64) uint64 { return x>>32&t.mask<<24 | x>>40 }

// check returns an error if an invariant at the top of hash_table.go does not hold.
func (t *hashTable) check() error {
	if t.lost && t.parts != nil {
		return fmt.Errorf("a lost table has %d parts", len(t.parts))
	}
	for i := range t.parts {
		p := &t.parts[i]
		m := len(p.lines)
		if m&(m-1) != 0 || int(p.last) != 64*(m-1) {
			return fmt.Errorf("part of %d lines has its last one at %d", m, p.last)
		}
		used, passed := 0, make([]uint64, m)
		for at := range p.lines {
			l := &p.lines[at]
			for lane, s := range l.slots {
				if s == 0 {
					if l.tag(lane) != 0 {
						return fmt.Errorf("free slot has tag %d", l.tag(lane))
					}
					continue
				}
				used++
				home := int(s>>48) & (m - 1)
				away := (at - home) & (m - 1)
				if away >= probes {
					return fmt.Errorf("slot is %d lines from home", away)
				}
				for j := range away {
					passed[(home+j)&(m-1)]++
				}
			}
		}
		for at := range p.lines {
			if got := p.lines[at].passed(); got != passed[at] {
				return fmt.Errorf("line passed by %d, says %d", passed[at], got)
			}
		}
		if used != int(p.used) {
			return fmt.Errorf("part has %d slots, says %d", used, p.used)
		}
	}
	return nil
}

// Check returns an error if an invariant at the top of hash.go does not hold, or one
// of the tables and trees.
func (h *Hash) Check() error {
	if err := h.short.check(h.secret); err != nil {
		return err
	}
	rest := map[*family]uint32{}
	for i := range h.levels {
		v := &h.levels[i]
		if err := v.check(h.secret); err != nil {
			return fmt.Errorf("level %d: %w", i, err)
		}
		for key := range v.tree.All() {
			if got := h.levelOf(key); got != i {
				return fmt.Errorf("%.40q is in level %d, and belongs to %d", key, i, got)
			}
			for j := range h.levels[:i] {
				_, _, f := h.levels[j].edge(key, h.secret)
				rest[f]++
			}
			if !h.Match(key) {
				return fmt.Errorf("Match(%.40q) = false", key)
			}
		}
	}
	for i := range h.levels {
		v := &h.levels[i]
		families := []*family{&v.one}
		for j := range v.families {
			if v.families != nil {
				families = append(families, &v.families[j])
			}
		}
		for _, f := range families {
			if f.rest != rest[f] {
				return fmt.Errorf("a family of level %d has %d keys further on, says %d", i, rest[f], f.rest)
			}
		}
		if last := i == len(h.levels)-1; last && (v.families != nil || v.all != windowTo(minLong)) {
			return fmt.Errorf("the last level has the edge %d", v.all.edge())
		}
	}
	if _, lost := h.Shared(); (lost > 0) != h.lost || h.lost && h.first != nil {
		return fmt.Errorf("%d lost tables, but lost = %v, and looked at: %v", lost, h.lost, h.first != nil)
	}
	return nil
}

// check compares the table of a level with what follows from its tree.
func (v *level) check(secret uint64) error {
	if err := v.tree.Check(); err != nil {
		return err
	}
	if err := v.table.check(); err != nil {
		return err
	}
	if v.table.lost {
		return nil
	}
	type beginning struct {
		n    int
		slot slot
	}
	want, before := map[uint64]beginning{}, []byte(nil)
	for key := range v.tree.All() {
		edge, seed, _ := v.edge(key, secret)
		if !bytes.HasPrefix(before, key[:edge]) {
			x := v.table.known(hashOf(key, edge, seed, secret))
			want[x] = beginning{want[x].n + 1, v.slotOf(twig(*v.tree.place(key[:edge], edge)))}
		}
		before = append(before[:0], key...)
	}
	slots := v.table.all()
	if len(slots) != len(want) {
		return fmt.Errorf("%d slots, want %d", len(slots), len(want))
	}
	for x, b := range want {
		s := slots[x] & slotBits
		if b.n == 1 && s != b.slot && s != manySlot|1 || b.n > 1 && s != manySlot|slot(b.n) {
			return fmt.Errorf("slot %#x for %d beginnings, of which one has %#x", uint64(s), b.n, uint64(b.slot))
		}
	}
	return nil
}

// check compares the table of short keys with their tree.
func (s *short) check(secret uint64) error {
	if err := s.tree.Check(); err != nil {
		return err
	}
	if err := s.table.check(); err != nil {
		return err
	}
	var sizes [maxShort + 1]int
	few, keys := 0, 0
	for key := range s.tree.All() {
		sizes[len(key)]++
		if len(key) == 0 {
			continue
		}
		if keys++; len(s.table.parts) == 0 {
			for _, f := range s.few[:s.n] {
				if f.word == firstWord(key) && f.mask == maskOf(len(key)) {
					few++
				}
			}
		} else if x, w := s.hash(key, secret); s.table.find(x, w, slotBits) == nil {
			return fmt.Errorf("%q is not in the table", key)
		}
	}
	used := 0
	for i := range s.table.parts {
		used += int(s.table.parts[i].used)
	}
	any := 0
	for size, n := range sizes {
		if size > 0 && n > 0 {
			if any++; any > len(s.any) || s.any[any-1] != newShortSize(size, secret) {
				return fmt.Errorf("%d keys of %d bytes are not looked for", n, size)
			}
		}
	}
	switch {
	case any != len(s.any):
		return fmt.Errorf("%d sizes are looked for, there are %d", len(s.any), any)
	case sizes != s.sizes:
		return fmt.Errorf("keys of sizes %v, counted %v", sizes, s.sizes)
	case len(s.table.parts) == 0 && !s.table.lost && (few != keys || s.n != keys):
		return fmt.Errorf("%d keys, %d of them among %d", keys, few, s.n)
	case len(s.table.parts) > 0 && (used != keys || s.n != 0):
		return fmt.Errorf("%d keys, %d in the table, %d not", keys, used, s.n)
	}
	return nil
}

// FillArena leaves no place for another chunk.
func (h *Hash) FillArena() {
	if h.levels == nil {
		h.levels = newLevels()
	}
	h.short.tree.FillArena()
	for i := range h.levels {
		h.levels[i].tree.FillArena()
	}
}
