package latency_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"zmqbench/internal/latency"
)

// ends are durations at which something changes.
var ends = []int64{
	math.MinInt64, -1, 0, // counted in Under
	1, 127, 128, 255, 256, 257, 511, 512, // single values, and the first octave of pairs
	latency.Limit - 1, latency.Limit, // the last bucket
	latency.Limit + 1, math.MaxInt64, // counted in Over
}

// random returns a source of random numbers and logs its seed.
func random(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// magnitude returns a duration of any bit length up to bits with the same
// probability.
func magnitude(r *rand.Rand, bits int) int64 {
	return int64(r.Uint64()>>1|1<<62) >> (63 - 1 - r.IntN(bits))
}

// record returns a histogram of the durations.
func record(durations ...int64) *latency.Histogram {
	h := new(latency.Histogram)
	for _, d := range durations {
		h.Record(d)
	}
	return h
}

// The C layers rely on the layout.
func TestLayout(t *testing.T) {
	var h latency.Histogram
	for _, f := range []struct {
		name      string
		got, want uintptr
	}{
		{"N", unsafe.Offsetof(h.N), 0},
		{"Sum", unsafe.Offsetof(h.Sum), 8},
		{"Max", unsafe.Offsetof(h.Max), 16},
		{"Under", unsafe.Offsetof(h.Under), 24},
		{"Over", unsafe.Offsetof(h.Over), 32},
		{"Counts", unsafe.Offsetof(h.Counts), 40},
		{"the end", unsafe.Sizeof(h), 36904},
		{"the end, from Buckets", unsafe.Sizeof(h), 40 + 8*latency.Buckets},
	} {
		if f.got != f.want {
			t.Errorf("offset of %s = %d, want %d", f.name, f.got, f.want)
		}
	}
}

// walk calls f for each bucket, in order, with its index, its shortest and
// its longest duration. It is the plain twin of the formula: the next bucket
// begins where the last one ends, and the width doubles with each octave.
func walk(f func(i int, low, high int64)) {
	i, low, width := 0, int64(0), int64(1)
	for ; low < 256; low++ {
		f(i, low, low)
		i++
	}
	for low <= latency.Limit {
		width *= 2
		for range 128 {
			f(i, low, low+width-1)
			i++
			low += width
		}
	}
}

// A duration in the wrong bucket cannot hide, as each bucket is to hold as
// many as its index says.
func TestRecord(t *testing.T) {
	var h latency.Histogram
	var n, sum uint64
	walk(func(i int, low, high int64) {
		for j := range i {
			d := low
			if j%2 == 1 {
				d = high
			}
			h.Record(d)
			n++
			sum += uint64(d)
		}
	})
	buckets := 0
	walk(func(i int, low, high int64) {
		buckets++
		if h.Counts[i] != uint64(i) {
			t.Errorf("bucket %d, from %d to %d ns, holds %d, want %d", i, low, high, h.Counts[i], i)
		}
	})
	if buckets != latency.Buckets {
		t.Errorf("%d buckets up to Limit, want %d", buckets, latency.Buckets)
	}
	if h.N != n || h.Sum != sum || h.Max != latency.Limit || h.Under != 0 || h.Over != 0 {
		t.Errorf("N, Sum, Max, Under, Over = %d, %d, %d, %d, %d, want %d, %d, %d, 0, 0",
			h.N, h.Sum, h.Max, h.Under, h.Over, n, sum, int64(latency.Limit))
	}
}

func TestOutside(t *testing.T) {
	h := record(ends...)
	if h.N != uint64(len(ends)) || h.Under != 3 || h.Over != 2 || h.Max != math.MaxInt64 {
		t.Errorf("N, Under, Over, Max = %d, %d, %d, %d, want %d, 3, 2, MaxInt64", h.N, h.Under, h.Over, h.Max, len(ends))
	}
	want := "of 15 durations, 3 were not above 0 and 2 were above 1h13m18.046511103s; they count as 0 and as the longest"
	if got := h.Doubt(); got != want {
		t.Errorf("Doubt = %q, want %q", got, want)
	}
	if got := record(1, latency.Limit).Doubt(); got != "" {
		t.Errorf("Doubt with nothing outside = %q, want none", got)
	}
	if h := record(-5, 0, math.MinInt64); h.Max != 0 || h.Sum != 0 {
		t.Errorf("Max, Sum of durations not above 0 = %d, %d, want 0, 0", h.Max, h.Sum)
	}
}

func TestMean(t *testing.T) {
	if ns, ok := new(latency.Histogram).Mean(); ns != 0 || ok {
		t.Errorf("Mean of none = %v, %v, want 0, false", ns, ok)
	}
	if ns, ok := record(-7, 1000, 1001, 100_001).Mean(); ns != 25500.5 || !ok {
		t.Errorf("Mean = %v, %v, want 25500.5, true", ns, ok)
	}
}

func TestMerge(t *testing.T) {
	r := random(t)
	for range 100 {
		var a, b, both latency.Histogram
		for range r.IntN(1000) {
			h, d := &a, magnitude(r, 63)
			if r.IntN(2) == 0 {
				h = &b
			}
			if r.IntN(50) == 0 {
				d = ends[r.IntN(len(ends))]
			}
			h.Record(d)
			both.Record(d)
		}
		a.Merge(&b)
		if a != both {
			t.Fatalf("merged histogram differs from one of the same %d durations", both.N)
		}
	}
	h, twice := record(ends...), record(append(ends, ends...)...)
	h.Merge(h)
	if *h != *twice {
		t.Errorf("histogram merged with itself differs from one of twice the durations")
	}
}

func TestAllocs(t *testing.T) {
	var h latency.Histogram
	last := latency.Now()
	allocs := testing.AllocsPerRun(1000, func() {
		now := latency.Now()
		h.Record(now - last)
		h.Record(math.MaxInt64)
		last = now
	})
	if allocs != 0 {
		t.Errorf("Now and Record allocate %v times, want 0", allocs)
	}
}
