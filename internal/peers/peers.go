// Package peers makes subscription stores of other people's data structures, to
// measure beside those of package subs. It is a module of its own, so that the
// suite depends on none of them.
//
// A library that finds the keys on the way down to a message finds prefixes by
// itself. One that only finds a key (a map, an ART, a B-tree) is asked once for
// each length that any key has, shortest first, which is what a program would
// do with it. References are counted in the value, in the same way for all.
package peers

import (
	"maps"
	"slices"

	"github.com/armon/go-radix"
	"github.com/gammazero/radixtree"
	iradix "github.com/hashicorp/go-immutable-radix/v2"
	art "github.com/plar/go-adaptive-radix-tree/v2"
	"github.com/tchap/go-patricia/v2/patricia"
	"github.com/tidwall/btree"
)

// A Store is the part of [zmqbench/internal/subs.Store] that every library can
// have. What its methods do is said there.
type Store interface {
	Add(key []byte) bool
	Remove(key []byte) bool
	Match(data []byte) bool
	Len() int
}

// A Library is one under its name in results.
type Library struct {
	Name  string
	Empty func() Store
}

// Stores are the libraries, by the name they have in results.
var Stores = []Library{
	{"map", func() Store { return &exact{table: goMap{}} }},
	{"armon", func() Store { return &counted{table: armon{radix.New()}} }},
	{"plar", func() Store { return &exact{table: plar{art.New()}} }},
	{"iradix", func() Store { return &counted{table: &immutable{iradix.New[*int]()}} }},
	{"btree", func() Store { return &exact{table: bTree{new(btree.Map[string, *int])}} }},
	{"patricia", func() Store { return &counted{table: &tchap{Trie: patricia.NewTrie()}} }},
	{"gammazero", func() Store { return &counted{table: gammazero{radixtree.New[*int]()}} }},
}

// A table is what a library does. A value is the number of references to its
// key.
type table interface {
	get(key []byte) *int // or nil
	put(key []byte, refs *int)
	remove(key []byte)
	size() int
}

// A matcher is a table that finds prefixes.
type matcher interface {
	table
	match(data []byte) bool
}

// add adds a reference to key in t.
func add(t table, key []byte) bool {
	if refs := t.get(key); refs != nil {
		*refs++
		return false
	}
	one := 1
	t.put(key, &one)
	return true
}

// drop drops a reference to key in t.
func drop(t table, key []byte) bool {
	refs := t.get(key)
	if refs == nil {
		return false
	}
	if *refs--; *refs > 0 {
		return false
	}
	t.remove(key)
	return true
}

// counted is a store over a library that finds prefixes.
type counted struct{ table matcher }

func (s *counted) Add(key []byte) bool    { return add(s.table, key) }
func (s *counted) Remove(key []byte) bool { return drop(s.table, key) }
func (s *counted) Match(data []byte) bool { return s.table.match(data) }
func (s *counted) Len() int               { return s.table.size() }

// exact is a store over a library that finds keys: it is asked about every
// length of which there is a key.
type exact struct {
	table   table
	keys    map[int]int // of each length
	lengths []int       // in order
}

func (s *exact) Add(key []byte) bool {
	if !add(s.table, key) {
		return false
	}
	if s.keys == nil {
		s.keys = map[int]int{}
	}
	if s.keys[len(key)]++; s.keys[len(key)] == 1 {
		s.lengths = slices.Sorted(maps.Keys(s.keys))
	}
	return true
}

func (s *exact) Remove(key []byte) bool {
	if !drop(s.table, key) {
		return false
	}
	if s.keys[len(key)]--; s.keys[len(key)] == 0 {
		delete(s.keys, len(key))
		s.lengths = slices.Sorted(maps.Keys(s.keys))
	}
	return true
}

func (s *exact) Match(data []byte) bool {
	for _, n := range s.lengths {
		if n > len(data) {
			return false
		}
		if s.table.get(data[:n]) != nil {
			return true
		}
	}
	return false
}

func (s *exact) Len() int { return s.table.size() }
