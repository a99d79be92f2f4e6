package subs

import (
	"fmt"
	"slices"
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
			if n != node(moreNode<<61|uint64(n.ref())) || words[0] == 0 || words[0] > MaxRefs || afterMore {
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
	type step struct {
		at int
		c  byte
	}
	live, keys := newLive(&r.mem), 0
	todo := []struct {
		t     twig
		from  int // places where keys part, and ends of keys, are not before
		steps []step
		may   bool // be none
	}{{t: twig(r.root), may: true}}
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch next := v; v.t.kind() {
		case none:
			if v.t != none || !v.may {
				return fmt.Errorf("a twig %#x that should not be none", uint64(v.t))
			}
		case leaf:
			keys++
			size := v.t.size()
			if size < v.from {
				return fmt.Errorf("a key of %d bytes where there are none of less than %d", size, v.from)
			}
			if size == 0 {
				break
			}
			words := r.mem.block(v.t.ref())
			live.add(v.t.ref(), wordsFor(size))
			for _, s := range v.steps {
				if got := byteAt(words, s.at); got != s.c {
					return fmt.Errorf("a key has %#x at %d, and %#x leads to it", got, s.at, s.c)
				}
			}
			if used := size % 8; used > 0 && words[size/8]>>(8*used) != 0 {
				return fmt.Errorf("no zeros after a key of %d bytes", size)
			}
		case more:
			live.add(v.t.ref(), 3)
			words := r.mem.block(v.t.ref())
			own, rest := twig(words[1]), twig(words[2])
			if own.kind() != leaf || words[0] == 0 || words[0] == 1 && rest == none {
				return fmt.Errorf("a more with %d references, leaf %#x, rest %#x", words[0], words[1], words[2])
			}
			next.t, next.may = own, false
			todo = append(todo, next)
			next.t, next.may, next.from = rest, true, own.size()+1
			todo = append(todo, next)
			if rest.kind() == branch && rest.at() == own.size() {
				todo[len(todo)-1].from-- // longer than at all the same
			}
		case branch:
			twigs := r.twigs(v.t)
			words := r.mem.block(v.t.ref())[:v.t.lanes()]
			live.add(v.t.ref(), len(words)+len(twigs))
			if len(twigs) < 2 || uint32(words[0]) == 0 || uint32(words[len(words)-1]) == 0 || v.t.at() < v.from {
				return fmt.Errorf("a branch at %d, not before %d, has lanes %#x and %d twigs", v.t.at(), v.from, words, len(twigs))
			}
			i := 0
			for c := range 256 {
				p := r.follow(v.t, byte(c))
				if p == nil {
					continue
				}
				if p != &twigs[i] {
					return fmt.Errorf("byte %#x does not lead to twig %d", c, i)
				}
				i++
				next.t, next.may, next.from = twig(*p), false, v.t.at()+1
				next.steps = append(slices.Clip(v.steps), step{v.t.at(), byte(c)})
				todo = append(todo, next)
			}
			if i != len(twigs) {
				return fmt.Errorf("%d bytes lead to %d twigs", i, len(twigs))
			}
		}
	}
	if keys != r.keys {
		return fmt.Errorf("%d keys counted, %d found", r.keys, keys)
	}
	return live.check()
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
	for i := at; i < at+size; i++ {
		if isSet(l.words[c], i) {
			l.err = fmt.Errorf("word %d of chunk %d is in two blocks", i, c)
		}
		l.words[c][i/64] |= 1 << (i % 64)
	}
}

// check returns an error if an invariant at the top of arena.go does not hold.
func (l *live) check() error {
	a, held, loose, listed := l.a, 0, 0, 0
	if l.err != nil {
		return l.err
	}
	for c, chunk := range a.chunks {
		switch words := l.words[ref(c)]; {
		case chunk == nil:
			continue
		case words == nil:
			return fmt.Errorf("nothing of chunk %d is in use", c)
		case len(chunk) > chunkSize:
			held += 8 * (len(chunk) + len(a.gaps[c]))
		default:
			held += 8 * (len(chunk) + len(a.gaps[c]))
			for i := range chunk {
				switch free := isSet(a.gaps[c], i); {
				case free == isSet(words, i):
					return fmt.Errorf("word %d of chunk %d: in a gap and in use are both %v", i, c, free)
				case free:
					loose++
				}
				if one := isSet(a.gaps[c], i); one && (i == 0 || !isSet(a.gaps[c], i-1)) && (i+1 == len(chunk) || !isSet(a.gaps[c], i+1)) {
					listed++ // a gap of one word is in no list
				}
			}
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

// NewMinstd returns the workloads' generator, started from seed.
func NewMinstd(seed uint64) func() int {
	g := minstd(seed)
	return g.next
}
