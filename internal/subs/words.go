package subs

// Bytes of keys are kept in words: eight in each, the first in the lowest
// bits, and zeros after the last. So bytes are compared eight at a time, and a
// place where they differ is found by counting zero bits.

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// wordsFor returns the number of words that hold size bytes.
func wordsFor(size int) int { return (size + 7) / 8 }

// word returns the up to eight bytes of data from i on; i < len(data).
func word(data []byte, i int) uint64 {
	switch {
	case i+8 <= len(data):
		return binary.LittleEndian.Uint64(data[i:])
	case len(data) >= 8: // the last eight, without those before i
		return binary.LittleEndian.Uint64(data[len(data)-8:]) >> (8 * (i + 8 - len(data)))
	}
	var w uint64
	for n := len(data) - 1; n >= i; n-- {
		w = w<<8 | uint64(data[n])
	}
	return w
}

// pack writes data into words.
func pack(words []uint64, data []byte) {
	for i := 0; i < len(data); i += 8 {
		words[i/8] = word(data, i)
	}
}

// unpack appends size bytes from words to data. It writes whole words, so data has room for the
// last one, too.
func unpack(data []byte, words []uint64, size int) []byte {
	from, words := len(data), words[:wordsFor(size)]
	data = slices.Grow(data, 8*len(words))
	to := data[from : from+8*len(words)]
	for _, w := range words {
		binary.LittleEndian.PutUint64(to[:8], w)
		to = to[8:]
	}
	return data[:from+size]
}

// byteAt returns byte i of words.
func byteAt(words []uint64, i int) byte { return byte(words[i/8] >> (i % 8 * 8)) }

// common returns how many of the first size bytes of words are those that data
// begins with.
func common(words []uint64, size int, data []byte) int {
	size = min(size, len(data))
	data = data[:size]
	for i := 0; i < size; i += 8 {
		if differ := words[i/8] ^ word(data, i); differ != 0 {
			return min(i+bits.TrailingZeros64(differ)/8, size)
		}
	}
	return size
}

// leads reports whether data begins with the size bytes of words.
func leads(words []uint64, size int, data []byte) bool {
	if size > len(data) {
		return false
	}
	i := 0
	for ; i+8 <= size; i += 8 {
		if words[i/8] != binary.LittleEndian.Uint64(data[i:]) {
			return false
		}
	}
	switch {
	case i == size:
		return true
	case i+8 <= len(data): // compare all eight, and shift out those that are not the key's
		return (words[i/8]^binary.LittleEndian.Uint64(data[i:]))<<(8*(i+8-size)) == 0
	}
	return words[i/8] == word(data[:size], i)
}
