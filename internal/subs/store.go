// Package subs holds subscription stores: sets of byte strings that answer
// whether a message begins with one of them.
//
// A ZeroMQ subscription is a prefix. A subscriber asks its store once for each
// message that arrives, and a publisher asks once for each that leaves, so the
// cost of [Store.Match] is the cost of filtering. The stores follow the
// semantics of libzmq's trie_t and radix_tree_t:
//
//   - a key is any sequence of bytes, of any length, the empty one included;
//   - a key added n times is there until it has been removed n times;
//   - a stored key matches every message that it is a prefix of, so the empty
//     key matches all.
//
// Where the two C++ classes differ, the stores agree: each counts distinct
// keys, and each visits them in byte order. None recurses, so that a long key
// cannot exhaust the stack.
//
// [RandomTopics], [TreeTopics], [NumberTopics] and [ShortTopics] make keys and
// messages to measure them with.
package subs

import (
	"fmt"
	"iter"
	"math"
)

// A Store is a set of keys with a count of references to each.
//
// A store that is or was in use must not be copied. Any number of goroutines may call Match, All, Len and Bytes at once. Add and
// Remove must not run while any other method does, nor inside a loop over All.
type Store interface {
	// Add adds a reference to key and reports whether it is the first one.
	// It keeps no part of key's memory.
	//
	// Add panics, and leaves the store as it was, if key has 128 MiB or more, or
	// if its keys or its nodes would need more than the 65 535 chunks of memory,
	// mostly of 64 KiB, that a store can have of each.
	//
	// The count of a key stops at [MaxRefs], and is then never lowered again:
	// how often the key was added is no longer known, so it stays.
	Add(key []byte) bool

	// Remove drops a reference to key and reports whether it was the last one,
	// with which the key leaves the store. For a key that is not in the store
	// it changes nothing and reports false, whatever prefixes or extensions of
	// key are there.
	Remove(key []byte) bool

	// Match reports whether any key in the store is a prefix of data. It does
	// not allocate.
	Match(data []byte) bool

	// All visits each key once, however many references it has, in the order
	// of bytes.Compare: a prefix before its extensions. The slice belongs to
	// the store and is valid until the loop's next step; it must not be
	// modified.
	All() iter.Seq[[]byte]

	// Len returns the number of distinct keys.
	Len() int

	// Bytes returns the memory that the store holds, in bytes: its own header
	// and all that it has asked the allocator for, used or to be used again. It
	// depends on the calls of Add and Remove so far and on nothing else, so the
	// same calls give the same number, but for a [Hash], which has its secret
	// too; without a key it is the header alone.
	// What the heap adds by rounding requests up is not in it.
	Bytes() int
}

// maxKey is the size of the longest key.
const maxKey = 1<<27 - 1

// checkSize panics if key is longer than that.
func checkSize(key []byte) {
	if len(key) > maxKey {
		panic(fmt.Sprintf("subs: a key of %d bytes is too long: give a store keys of at most %d", len(key), maxKey))
	}
}

// MaxRefs is the largest number of references to one key that is counted.
const MaxRefs = math.MaxUint32

// refs is the number of references to a key; 0 means that there is no key.
type refs uint32

// add counts one reference more and reports whether it is the first.
func (r *refs) add() bool {
	if *r == MaxRefs {
		return false
	}
	*r++
	return *r == 1
}

// drop counts one reference less and reports whether it was the last. Without
// a key there is none to drop.
func (r *refs) drop() bool {
	if *r == 0 || *r == MaxRefs {
		return false
	}
	*r--
	return *r == 0
}
