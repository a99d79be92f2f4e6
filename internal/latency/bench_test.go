package latency_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"zmqbench/internal/latency"
)

// trips are durations like those of round trips over tcp.
func trips() []int64 {
	r := rand.New(rand.NewPCG(1, 2))
	list := make([]int64, 1024)
	for i := range list {
		list[i] = int64(25_000 * math.Exp(0.3*r.NormFloat64()))
	}
	return list
}

// One op is one duration recorded, of 1024 different ones in turn.
func BenchmarkRecord(b *testing.B) {
	var h latency.Histogram
	durations := trips()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		h.Record(durations[i%1024])
		i++
	}
	if h.N != uint64(i) {
		b.Fatalf("N = %d, want %d", h.N, i)
	}
}

// One op is one reading of the clock.
func BenchmarkNow(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		latency.Now()
	}
}

// One op is what a round trip pays for its duration: the clock read before
// and after, and the difference recorded.
func BenchmarkOp(b *testing.B) {
	var h latency.Histogram
	b.ReportAllocs()
	for b.Loop() {
		start := latency.Now()
		h.Record(latency.Now() - start)
	}
	if h.Doubt() != "" {
		b.Log(h.Doubt())
	}
}
