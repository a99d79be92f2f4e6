package subs

import (
	"errors"
	"fmt"
	"math/bits"
)

// Check returns an error if an invariant at the top of trie.go, or of arena.go,
// does not hold.
func (t *Trie) Check() error {
	type visit struct {
		n      node
		before node // what leads here, if it is a run or a more
	}
	live, keys := newLive(&t.mem), 0
	for todo := []visit{{n: node(t.root)}}; len(todo) > 0; {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		afterRun, afterMore := v.before.kind() == run, v.before.kind() == moreNode
		switch n := v.n; n.kind() {
		case hole:
			if n != hole || afterRun || afterMore {
				return fmt.Errorf("a node %#x after %#x that should not be a hole", uint64(n), uint64(v.before))
			}
		case end:
			keys++
			if n != node(newEnd(n.refs())) || n.refs() == 0 || afterMore {
				return fmt.Errorf("an end %#x after %#x", uint64(n), uint64(v.before))
			}
		case moreNode:
			keys++
			live.add(n.ref(), 2)
			words := t.mem.block(n.ref())
			if n != node(newNode(moreNode, n.ref())) || words[0] == 0 || words[0] > MaxRefs || afterMore {
				return fmt.Errorf("a more %#x with %d references after %#x", uint64(n), words[0], uint64(v.before))
			}
			todo = append(todo, visit{node(words[1]), n})
		case run:
			size := n.size()
			live.add(n.ref(), 1+wordsFor(size))
			words := t.mem.block(n.ref())
			switch {
			case size == 0 || size > maxRun:
				return fmt.Errorf("a run of %d bytes", size)
			case afterRun && size+v.before.size() <= maxRun:
				return fmt.Errorf("a run of %d bytes after one of %d", size, v.before.size())
			case size%8 > 0 && words[1+size/8]>>(8*(size%8)) != 0:
				return fmt.Errorf("no zeros after a run of %d bytes", size)
			}
			todo = append(todo, visit{node(words[0]), n})
		case table:
			nodes := t.nodes(n)
			live.add(n.ref(), len(nodes))
			if n.last() == 0 || n.first()+n.last() > 255 || nodes[0] == hole || nodes[n.last()] == hole {
				return fmt.Errorf("a table %#x with nodes %#x", uint64(n), nodes)
			}
			for _, next := range nodes {
				todo = append(todo, visit{node(next), n})
			}
		}
	}
	if keys != t.keys {
		return fmt.Errorf("%d keys counted, %d found", t.keys, keys)
	}
	return live.check()
}

// Check returns an error if an invariant at the top of radix.go, or of
// arena.go, does not hold.
func (r *Radix) Check() error {
	type visit struct {
		t    twig
		from int  // the keys are not shorter, and do not part before
		may  bool // be none
	}
	live, text, keys := newLive(&r.mem), newLive(&r.text), 0
	for todo := []visit{{t: twig(r.root), may: true}}; len(todo) > 0; {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch t := v.t; t.kind() {
		case none:
			if t != none || !v.may {
				return fmt.Errorf("a twig %#x that should not be none", uint64(t))
			}
		case leaf:
			keys++
			size := t.size()
			if size < v.from {
				return fmt.Errorf("a key of %d bytes where there are none of less than %d", size, v.from)
			}
			if size > 0 {
				text.add(t.ref(), wordsFor(size))
			}
			if used := size % 8; used > 0 && r.text.block(t.ref())[size/8]>>(8*used) != 0 {
				return fmt.Errorf("no zeros after a key of %d bytes", size)
			}
		case more:
			live.add(t.ref(), 3)
			words := r.mem.block(t.ref())
			own, rest := twig(words[1]), twig(words[2])
			if own.kind() != leaf || words[0] == 0 || words[0] > MaxRefs || words[0] == 1 && rest == none {
				return fmt.Errorf("a more with %d references, leaf %#x, rest %#x", words[0], words[1], words[2])
			}
			if rest != none && (r.same(own, r.lowest(rest)) != own.size() || r.lowest(rest).size() == own.size()) {
				return fmt.Errorf("a key of %d bytes is no proper prefix of its rest", own.size())
			}
			todo = append(todo, visit{own, v.from, false}, visit{rest, own.size(), true})
		case branch:
			twigs, at := r.twigs(t), t.at()
			lanes := r.mem.block(t.ref())[:t.lanes()]
			live.add(t.ref(), len(lanes)+len(twigs))
			if len(twigs) < 2 || uint32(lanes[0]) == 0 || uint32(lanes[len(lanes)-1]) == 0 || at < v.from {
				return fmt.Errorf("a branch at %d, not before %d, has lanes %#x and %d twigs", at, v.from, lanes, len(twigs))
			}
			i, lowest, lead := 0, r.lowest(t), r.bytesOf(t)
			for c := range 256 {
				if lead[c>>5]>>(c&31)&1 == 0 {
					continue
				}
				switch p := r.follow(t, byte(c)); {
				case i == len(twigs) || p != &twigs[i]:
					return fmt.Errorf("byte %#x does not lead to twig %d", c, i)
				case r.byteOf(r.lowest(twig(*p)), at) != byte(c) || i > 0 && r.same(lowest, r.lowest(twig(*p))) != at:
					return fmt.Errorf("byte %#x leads to a key that does not have it at %d, or parts before", c, at)
				}
				todo = append(todo, visit{twig(twigs[i]), at + 1, false})
				i++
			}
			if i != len(twigs) {
				return fmt.Errorf("%d bytes lead to %d twigs", i, len(twigs))
			}
		}
	}
	if keys != r.keys {
		return fmt.Errorf("%d keys counted, %d found", r.keys, keys)
	}
	return errors.Join(live.check(), text.check())
}

// lowest returns the leaf of the lowest key below a twig.
func (r *Radix) lowest(t twig) twig {
	for {
		switch t.kind() {
		case branch:
			t = twig(r.twigs(t)[0])
		case more:
			t = twig(r.mem.block(t.ref())[1])
		default:
			return t
		}
	}
}

// same returns how many bytes the keys of two leaves have in common.
func (r *Radix) same(t, u twig) int {
	if u.size() == 0 {
		return 0
	}
	return r.common(t, unpack(nil, r.text.block(u.ref()), u.size()))
}

// live is what a store uses of its arena: a bit for each word.
type live struct {
	a     *arena
	words map[ref][]uint64 // by chunk
	err   error
}

func newLive(a *arena) *live { return &live{a: a, words: map[ref][]uint64{}} }

// add counts a block as in use.
func (l *live) add(r ref, size int) {
	c, at := r>>chunkBits, int(r%chunkSize)
	switch {
	case int(c) >= len(l.a.chunks) || at+size > len(l.a.chunks[c]):
		l.err = fmt.Errorf("a block of %d words at %#x is not in the arena", size, r)
		return
	case l.words[c] == nil:
		l.words[c] = make([]uint64, (len(l.a.chunks[c])+63)/64)
	}
	for i, end := at, at+size; i < end; {
		next := min(end, i|63+1)
		bits := uint64(1<<(next-i)-1) << (i % 64)
		if l.words[c][i/64]&bits != 0 {
			l.err = fmt.Errorf("words %d to %d of chunk %d are in two blocks", i, next, c)
		}
		l.words[c][i/64] |= bits
		i = next
	}
}

// check returns an error if an invariant at the top of arena.go does not hold.
func (l *live) check() error {
	a, held, loose, listed := l.a, 0, 0, 0
	if l.err != nil {
		return l.err
	}
	for c, chunk := range a.chunks {
		if chunk == nil {
			continue
		}
		words, gaps := l.words[ref(c)], a.gaps[c]
		held += 8 * (len(chunk) + len(gaps))
		switch {
		case words == nil:
			return fmt.Errorf("nothing of chunk %d is in use", c)
		case len(chunk) > chunkSize:
			continue
		}
		for i, gap := range gaps {
			all := ^uint64(0)
			if left := len(chunk) - 64*i; left < 64 {
				all = 1<<left - 1
			}
			if gap^words[i] != all {
				return fmt.Errorf("words of chunk %d from %d on are in gaps %#x and in use %#x", c, 64*i, gap, words[i])
			}
			before, after := uint64(0), uint64(0)
			if i > 0 {
				before = gaps[i-1]
			}
			if i+1 < len(gaps) {
				after = gaps[i+1]
			}
			loose += bits.OnesCount64(gap)
			// A gap of one word is in no list.
			listed += bits.OnesCount64(gap &^ (gap<<1 | before>>63) &^ (gap>>1 | after<<63))
		}
	}
	for k, first := range a.lists {
		if (first != 0) != (a.listed>>k&1 != 0) {
			return fmt.Errorf("list %d begins at %#x, but its bit is not like that", k, first)
		}
		for r, previous := first, ref(0); r != 0; {
			words := a.block(r)
			gap := int(words[1])
			if gap < 2 || gap > len(words) || int(words[gap-1]) != gap || class(gap) != k || ref(words[0]) != previous {
				return fmt.Errorf("a gap of %d words at %#x, in list %d after %#x", gap, r, k, previous)
			}
			listed += gap
			r, previous = ref(words[0]>>32), r
		}
	}
	if held != a.held || loose != listed {
		return fmt.Errorf("%d bytes held, %d counted; %d words in gaps, %d in lists", held, a.held, loose, listed)
	}
	return nil
}

// EmptyKeyRefs returns the count of the empty key, which is the only key.
func (t *Trie) EmptyKeyRefs() uint64 { return uint64(node(t.root).refs()) }

// SetEmptyKeyRefs sets that count.
func (t *Trie) SetEmptyKeyRefs(n uint64) { t.root = newEnd(refs(n)) }

// EmptyKeyRefs returns the count of the empty key, which is in the tree twice or more.
func (r *Radix) EmptyKeyRefs() uint64 { return r.mem.block(twig(r.root).ref())[0] }

// SetEmptyKeyRefs sets that count.
func (r *Radix) SetEmptyKeyRefs(n uint64) { r.mem.block(twig(r.root).ref())[0] = n }

// FillArena leaves no place for another chunk.
func (t *Trie) FillArena() { t.mem.fill() }

// FillArena leaves no place for another chunk in either arena.
func (r *Radix) FillArena() {
	r.mem.fill()
	r.text.fill()
}

func (a *arena) fill() {
	a.chunks = append(a.chunks, make([][]uint64, maxChunks-len(a.chunks))...)
	a.gaps = append(a.gaps, make([][]uint64, maxChunks-len(a.gaps))...)
}

// NewMinstd returns the workloads' generator, started from seed.
func NewMinstd(seed uint64) func() int {
	g := minstd(seed)
	return g.next
}
