//go:build unix

package subs_test

import (
	"bytes"
	"fmt"
	"syscall"
	"testing"

	"zmqbench/internal/subs"
)

// TestMatchReadsNoFurther has messages end where memory ends, so that a read beyond them,
// by a single byte, ends the process. Messages are keys, what they begin with, and
// what begins with them, of 0 to 300 bytes.
func TestMatchReadsNoFurther(t *testing.T) {
	page := syscall.Getpagesize()
	memory, err := syscall.Mmap(-1, 0, 2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(memory)
	if err := syscall.Mprotect(memory[page:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	random := seeded(t)
	for _, set := range []struct {
		name string
		key  func() []byte
	}{
		{"numbers", func() []byte { return fmt.Appendf(nil, "%08d", random.IntN(10_000)) }},
		{"counters", func() []byte { return fmt.Appendf(nil, "%0*d", 1+random.IntN(12), random.IntN(1000)) }},
		{"words", func() []byte { return []byte("subscription")[:2+random.IntN(10)] }},
		{"random", func() []byte { return subs.RandomTopics(1+random.IntN(3), 1).Keys[0] }},
		{"families", func() []byte { return family(random) }},
		{"long", func() []byte {
			key := bytes.Repeat([]byte("level/"), 50)
			key[random.IntN(len(key))]++
			return key[:250+random.IntN(50)]
		}},
	} {
		for _, count := range []int{1, 5, 12, 70, 700} {
			t.Run(fmt.Sprintf("%s/keys=%d", set.name, count), func(t *testing.T) {
				each(t, func(t *testing.T, empty func() store) {
					s, want := empty(), plain{}
					for range count {
						key := set.key()
						s.Add(key)
						want.Add(key)
					}
					for range 20 {
						text := append(set.key(), set.key()...)
						for size := range min(len(text), 300) + 1 {
							data := memory[page-size : page : page]
							copy(data, text)
							if got := s.Match(data); got != want.Match(data) {
								t.Fatalf("Match(%q) = %v, want %v", data, got, !got)
							}
							if h, ok := s.(*subs.Hash); ok {
								hits := make([]bool, 1)
								if h.MatchAll([][]byte{data}, hits); hits[0] != want.Match(data) {
									t.Fatalf("MatchAll(%q) = %v, want %v", data, hits[0], !hits[0])
								}
							}
						}
					}
				})
			})
		}
	}
}
