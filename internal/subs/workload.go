package subs

import (
	"fmt"
	"math"
	"slices"
)

// A Workload is a set of keys to store and messages to look up. It is the same
// in every run. The functions that make one panic without a key, and if asked for
// more than they have names for.
type Workload struct {
	Keys   [][]byte // distinct, in the order in which to add them
	Hits   [][]byte // messages that a key is a prefix of
	Misses [][]byte // messages that no key is a prefix of
}

// The sizes that libzmq's benchmark_radix_tree works with.
const (
	ToolKeys    = 10_000
	ToolQueries = 1_000_000
)

const toolSeed = 123456789

// RandomTopics returns the workload of libzmq's perf/benchmark_radix_tree.cpp
// (v4.3.5) when keys is ToolKeys and queries is ToolQueries: byte for byte the
// same keys, and as Hits the same look-ups in the same order. The keys are 20
// characters from a-z and 0-9 each; the look-ups are drawn from the keys.
//
// The tool looks up nothing that is missing. Misses are drawn in the same way
// as Hits, from as many further keys that the generator goes on to make.
func RandomTopics(keys, queries int) Workload {
	g := newMinstd(keys, math.MaxInt32)
	stored := make([][]byte, keys)
	for i := range stored {
		stored[i] = g.key()
	}
	hits := g.draw(stored, queries)
	set := setOf(stored)
	missing := g.distinct(keys, g.key, func(key []byte) bool { return !set.match(key) })
	return Workload{stored, hits, g.draw(missing, queries)}
}

// TreeTopics returns a workload of topics as applications name them, 13 to 43
// bytes long, about a third of each kind:
//
//	market.nasdaq.AAPL.trade                   some of all of a symbol: market.lse.VOD.
//	sensor.eu-west-1.rack12.node225.disk.read
//	orders.us-west-2.cust001234.fill
//
// A look-up is a topic followed by 16 random bytes of payload. Hits are drawn
// from the topics that are keys, Misses from as many topics that are not,
// and that no key is a prefix of.
func TreeTopics(keys, queries int) Workload {
	g, all := newMinstd(keys, 5_000_000), func([]byte) bool { return true }
	symbols := g.distinct(500, g.symbol, all)
	topic := func() []byte { return g.topic(symbols) }
	stored := g.distinct(keys, topic, all)
	set := setOf(stored)
	missing := g.distinct(keys, topic, func(key []byte) bool { return !set.match(key) })
	hits := g.draw(g.messages(stored), queries)
	return Workload{stored, hits, g.draw(g.messages(missing), queries)}
}

// NumberTopics returns a workload of numbers with eight decimal digits, such as
// those of instruments or devices. A look-up is just a number. Hits are drawn from
// the numbers that are keys, Misses from as many that are not.
func NumberTopics(keys, queries int) Workload {
	g := newMinstd(keys, 25_000_000)
	number := func() []byte { return fmt.Appendf(nil, "%08d", g.below(1e8)) }
	all := g.distinct(2*keys, number, func([]byte) bool { return true })
	hits := g.draw(all[:keys], queries)
	return Workload{all[:keys], hits, g.draw(all[keys:], queries)}
}

// ShortTopics returns a workload of one to five keys of one to four bytes, as a
// socket with few subscriptions has them. A look-up is eight bytes: of Hits, a
// key and what fills it up; of Misses, bytes of which one or two are like a key's.
func ShortTopics(keys, queries int) Workload {
	g := newMinstd(keys, 5)
	stored := [][]byte{[]byte("TICK"), []byte("log"), []byte("ctl"), []byte("md"), []byte("x")}[:keys]
	message := func(topic string) []byte { return slices.Concat([]byte(topic), g.key()[:8-len(topic)]) }
	var hits, misses [][]byte
	for range 1000 {
		hits = append(hits, message(string(stored[g.below(keys)])))
		misses = append(misses, message(g.oneOf("TOCK", "TICS", "lag", "cat", "me", "y")))
	}
	return Workload{stored, g.draw(hits, queries), g.draw(misses, queries)}
}

// Mix returns as many messages as w has hits, of which about percent are hits
// in random order, and for each whether it is one.
func (w Workload) Mix(percent int) (messages [][]byte, hit []bool) {
	g := minstd(toolSeed)
	messages, hit = make([][]byte, len(w.Hits)), make([]bool, len(w.Hits))
	for i := range messages {
		if hit[i] = g.below(100) < percent; hit[i] {
			messages[i] = w.Hits[i]
		} else {
			messages[i] = w.Misses[i]
		}
	}
	return messages, hit
}

// A minstd is the multiplicative generator that C++ calls std::minstd_rand:
// x ← 48271·x mod 2³¹−1.
type minstd uint64

// newMinstd returns the generator for a workload of keys, of which there are at most most.
func newMinstd(keys, most int) minstd {
	if keys < 1 || keys > most {
		panic(fmt.Sprintf("subs: a workload of %d keys: ask for 1 to %d", keys, most))
	}
	return toolSeed
}

func (g *minstd) next() int {
	*g = *g * 48271 % (1<<31 - 1)
	return int(*g)
}

// below returns a number from 0 to n−1, in the tool's way.
func (g *minstd) below(n int) int { return g.next() % n }

// oneOf returns one of names.
func (g *minstd) oneOf(names ...string) string { return names[g.below(len(names))] }

// key returns one of the tool's keys.
func (g *minstd) key() []byte {
	const chars = "abcdefghijklmnopqrstuvwxyz0123456789"
	key := make([]byte, 20)
	for i := range key {
		key[i] = chars[g.below(len(chars))]
	}
	return key
}

// draw returns n of keys, any of them any number of times.
func (g *minstd) draw(keys [][]byte, n int) [][]byte {
	drawn := make([][]byte, n)
	for i := range drawn {
		drawn[i] = keys[g.below(len(keys))]
	}
	return drawn
}

// distinct returns the first n different results of generate that are wanted.
func (g *minstd) distinct(n int, generate func() []byte, wanted func([]byte) bool) [][]byte {
	keys, seen := make([][]byte, 0, n), make(set, n)
	for len(keys) < n {
		if key := generate(); !seen[string(key)] && wanted(key) {
			seen[string(key)] = true
			keys = append(keys, key)
		}
	}
	return keys
}

// symbol returns the name of something traded.
func (g *minstd) symbol() []byte {
	symbol := make([]byte, 1+g.below(4))
	for i := range symbol {
		symbol[i] = 'A' + byte(g.below(26))
	}
	return symbol
}

// topic returns one of TreeTopics' topics.
func (g *minstd) topic(symbols [][]byte) []byte {
	switch g.below(3) {
	case 0:
		exchange := g.oneOf("nasdaq", "nyse", "lse", "xetra", "tse", "euronext")
		topic := fmt.Appendf(nil, "market.%s.%s.", exchange, symbols[g.below(len(symbols))])
		if g.below(20) > 0 {
			topic = append(topic, g.oneOf("trade", "quote", "book", "status")...)
		}
		return topic
	case 1:
		node := g.below(400)
		return fmt.Appendf(nil, "sensor.%s.rack%d.node%d.%s.%s", g.region(), 1+node/20, 1+node,
			g.oneOf("cpu", "mem", "disk", "net"), g.oneOf("read", "write", "load", "temp"))
	default:
		return fmt.Appendf(nil, "orders.%s.cust%06d.%s", g.region(), g.below(1e6),
			g.oneOf("new", "fill", "cancel", "reject"))
	}
}

// region returns where something is.
func (g *minstd) region() string {
	return g.oneOf("us-east-1", "us-west-2", "eu-west-1", "ap-south-1")
}

// messages returns each topic with a payload after it.
func (g *minstd) messages(topics [][]byte) [][]byte {
	messages := make([][]byte, len(topics))
	for i, topic := range topics {
		messages[i] = slices.Grow(slices.Clone(topic), 16)
		for range 16 {
			messages[i] = append(messages[i], byte(g.next()))
		}
	}
	return messages
}

// A set holds keys, and finds prefixes by trying every length.
type set map[string]bool

func setOf(keys [][]byte) set {
	s := make(set, len(keys))
	for _, key := range keys {
		s[string(key)] = true
	}
	return s
}

// match reports whether any key of s is a prefix of data.
func (s set) match(data []byte) bool {
	for size := range len(data) + 1 {
		if s[string(data[:size])] {
			return true
		}
	}
	return false
}
