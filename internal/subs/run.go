package subs

// This file changes the runs and tables of a [Trie].

// nodes returns the nodes of a table.
func (t *Trie) nodes(n node) []uint64 { return t.mem.block(n.ref())[:n.last()+1] }

// entry returns the place for byte c in a table, or nil if c is outside.
func (t *Trie) entry(n node, c byte) *uint64 {
	if i := int(c) - n.first(); i >= 0 && i <= n.last() {
		return &t.nodes(n)[i]
	}
	return nil
}

// newTable returns a table for bytes low to high, all holes.
func (t *Trie) newTable(low, high int) (n uint64, nodes []uint64) {
	p := t.mem.alloc(high - low + 1)
	nodes = t.mem.block(p)[:high-low+1]
	clear(nodes)
	return newNode(table, p) | uint64(low)<<8 | uint64(high-low), nodes
}

// resize makes the table at p one for bytes low to high. Beyond them it has no
// nodes but holes.
func (t *Trie) resize(p *uint64, low, high int) {
	n := node(*p)
	next, nodes := t.newTable(low, high)
	old := t.nodes(n)
	if from := n.first() - low; from >= 0 {
		copy(nodes[from:], old)
	} else {
		copy(nodes, old[-from:])
	}
	t.mem.release(n.ref(), len(old))
	*p = next
}

// widen extends the table at p to byte c, which is outside it.
func (t *Trie) widen(p *uint64, c byte) {
	low := node(*p).first()
	t.resize(p, min(low, int(c)), max(low+node(*p).last(), int(c)))
}

func (t *Trie) newMore(count refs, next uint64) uint64 {
	p := t.mem.alloc(2)
	words := t.mem.block(p)
	words[0], words[1] = uint64(count), next
	return newNode(moreNode, p)
}

// lead returns a node from which data leads to next. A run that is next
// becomes one with data, if it is not too long.
func (t *Trie) lead(data []byte, next uint64) uint64 {
	if len(data) == 0 {
		return next
	}
	if n := node(next); n.kind() == run && len(data)+n.size() <= maxRun {
		words := t.mem.block(n.ref())
		data = unpack(append(make([]byte, 0, maxRun+8), data...), words[1:], n.size())
		next = words[0]
		t.dropRun(n)
	}
	p := t.mem.alloc(1 + wordsFor(len(data)))
	words := t.mem.block(p)
	words[0] = next
	pack(words[1:], data)
	return newNode(run, p) | uint64(len(data))
}

func (t *Trie) dropRun(n node) { t.mem.release(n.ref(), 1+wordsFor(n.size())) }

// chain returns a node from which key leads to a first reference.
func (t *Trie) chain(key []byte) uint64 {
	n := newEnd(1)
	for len(key) > 0 {
		from := (len(key) - 1) / maxRun * maxRun // all runs but the last are full
		n = t.lead(key[from:], n)
		key = key[:from]
	}
	return n
}

// split adds the key of which the run at p has no more than the first same bytes.
func (t *Trie) split(p *uint64, key []byte, same int) {
	n := node(*p)
	words := t.mem.block(n.ref())
	data, next := unpack(make([]byte, 0, maxRun+8), words[1:], n.size()), words[0]
	t.dropRun(n)
	if same == len(key) {
		*p = t.lead(data[:same], t.newMore(1, t.lead(data[same:], next)))
		return
	}
	old, c := int(data[same]), int(key[same])
	fork, nodes := t.newTable(min(old, c), max(old, c))
	nodes[max(0, old-c)] = t.lead(data[same+1:], next)
	nodes[max(0, c-old)] = t.chain(key[same+1:])
	*p = t.lead(data[:same], fork)
}

// join makes the run at before and the one at p, right after it, one run, if both
// are runs and not too long.
func (t *Trie) join(before, p *uint64) {
	if before == nil || node(*p).kind() != run || node(*before).size()+node(*p).size() > maxRun {
		return
	}
	n := node(*before)
	words := t.mem.block(n.ref())
	data := unpack(make([]byte, 0, maxRun+8), words[1:], n.size())
	*before = t.lead(data, *p)
	t.dropRun(n)
}

// prune takes out the one key to which c, or longer keys, lead from the table or
// more at keep; if keep is nil, from the root.
func (t *Trie) prune(keep *uint64, c byte) {
	if keep == nil {
		t.dropChain(t.root)
		t.root = hole
		return
	}
	n := node(*keep)
	if n.kind() == moreNode {
		words := t.mem.block(n.ref())
		t.dropChain(words[1])
		*keep = newEnd(refs(words[0]))
		t.mem.release(n.ref(), 2)
		return
	}
	p, nodes := t.entry(n, c), t.nodes(n)
	t.dropChain(*p)
	*p = hole
	low, high := 0, len(nodes)-1
	for nodes[low] == hole {
		low++
	}
	for nodes[high] == hole {
		high--
	}
	switch {
	case low == high:
		*keep = t.lead([]byte{byte(n.first() + low)}, nodes[low])
		t.mem.release(n.ref(), len(nodes))
	case high-low < len(nodes)-1:
		t.resize(keep, n.first()+low, n.first()+high)
	}
}

// dropChain gives back the runs of a key that leaves the trie.
func (t *Trie) dropChain(next uint64) {
	for n := node(next); n.kind() == run; n = node(next) {
		next = t.mem.block(n.ref())[0]
		t.dropRun(n)
	}
}
