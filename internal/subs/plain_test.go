package subs_test

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"zmqbench/internal/subs"
)

// A plain store is what the others are compared with: a count for each key,
// and every question answered by looking at all of them.
type plain map[string]int

var _ subs.Store = plain{}

func (p plain) Add(key []byte) bool {
	p[string(key)]++
	return p[string(key)] == 1
}

func (p plain) Remove(key []byte) bool {
	switch p[string(key)] {
	case 0:
		return false
	case 1:
		delete(p, string(key))
		return true
	default:
		p[string(key)]--
		return false
	}
}

func (p plain) Match(data []byte) bool {
	for key := range p {
		if strings.HasPrefix(string(data), key) {
			return true
		}
	}
	return false
}

func (p plain) All() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, key := range slices.Sorted(maps.Keys(p)) {
			if !yield([]byte(key)) {
				return
			}
		}
	}
}

func (p plain) Len() int { return len(p) }

// Bytes means nothing for a plain store.
func (p plain) Bytes() int { return 0 }
