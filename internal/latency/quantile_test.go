package latency_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"zmqbench/internal/latency"
)

// plain is what Quantile is compared with: the duration of the nearest rank
// in a sorted list, for q in thousandths, where those not above 0 count as 0.
func plain(sorted []int64, mille int) (ns int64, ok bool) {
	n := len(sorted)
	rank := (n*mille + 999) / 1000
	if n == 0 || mille < 1000 && n*(1000-mille) < 1000 {
		return 0, false
	}
	return max(sorted[max(rank, 1)-1], 0), true
}

// check compares the quantiles of the durations, for q in thousandths, with
// the plain ones: none is off by more than 1/256, the maximum not at all; none is
// below the quantile of a smaller q, or above the maximum.
func check(t *testing.T, durations []int64, milles ...int) {
	t.Helper()
	h := record(durations...)
	sorted := slices.Sorted(slices.Values(durations))
	last := int64(0)
	for _, mille := range milles {
		q := float64(mille) / 1000
		got, ok := h.Quantile(q)
		want, wantOK := plain(sorted, mille)
		slack := want / 256
		if want > latency.Limit || wantOK && mille == 1000 {
			want, slack = h.Max, 0
		}
		if ok != wantOK || absDiff(got, want) > slack {
			t.Errorf("Quantile(%v) of %d durations = %d, %v, want %d, %v", q, len(sorted), got, ok, want, wantOK)
		}
		if !ok {
			continue
		}
		if got < last || got > h.Max {
			t.Errorf("Quantile(%v) of %d durations = %d, want from %d, as for a smaller q, to %d",
				q, len(sorted), got, last, h.Max)
		}
		last = got
	}
}

func absDiff(a, b int64) int64 { return max(a, b) - min(a, b) }

// thousandths returns 0 to 1000.
func thousandths() []int {
	list := make([]int, 1001)
	for i := range list {
		list[i] = i
	}
	return list
}

// Where a bucket is one value, each quantile is a rank and nothing is lost
// to rounding: 0.07 of 100 is rank 7.
func TestRanks(t *testing.T) {
	var durations []int64
	for n := range 256 {
		check(t, durations, thousandths()...)
		if ns, ok := record(durations...).Quantile(0.07); ok && ns != max(1, (int64(n)*7+99)/100) {
			t.Errorf("Quantile(0.07) of 1 to %d = %d", n, ns)
		}
		durations = append(durations, int64(n+1))
	}
}

func TestQuantile(t *testing.T) {
	r := random(t)
	for _, n := range []int{1, 2, 3, 9, 10, 11, 99, 100, 101, 999, 1000, 1001, 20_000} {
		for _, shape := range []struct {
			name string
			next func() int64
		}{
			{"any magnitude", func() int64 { return magnitude(r, latency.RangeBits) }},
			{"one value", func() int64 { return 25_000 }},
			{"round trips", func() int64 { return int64(25_000 * math.Exp(0.3*r.NormFloat64())) }},
			{"two humps", func() int64 { return 20_000 + r.Int64N(2)*10_000_000 }},
			{"around the ends", func() int64 { return ends[r.IntN(len(ends))] }},
			{"partly above the range", func() int64 { return magnitude(r, 63) << r.IntN(2) }},
			{"not above 0", func() int64 { return -r.Int64N(3) }},
		} {
			t.Run(fmt.Sprintf("n=%d/%s", n, shape.name), func(t *testing.T) {
				durations := make([]int64, n)
				for i := range durations {
					durations[i] = shape.next()
				}
				check(t, durations, thousandths()...)
			})
		}
	}
}

// The error bound, at the ends of every bucket and at random durations. The
// second duration keeps Max from making the first one exact.
func TestErrorBound(t *testing.T) {
	worst := 0.0
	try := func(d int64) {
		got, ok := record(d, latency.Limit).Quantile(0)
		if !ok {
			t.Fatalf("no quantile of %d and Limit", d)
		}
		worst = max(worst, math.Abs(float64(got-d))/float64(d))
		if absDiff(got, d) > d/256 {
			t.Errorf("%d ns is reported as %d, want at most 1/256 off", d, got)
		}
	}
	walk(func(i int, low, high int64) {
		if low > 0 {
			try(low)
			try(high)
		}
	})
	r := random(t)
	for range 20_000 {
		try(magnitude(r, latency.RangeBits))
	}
	t.Logf("largest error: %.4f %%", 100*worst)
	if worst < 0.0035 {
		t.Errorf("largest error = %v, want nearly 1/256, or nothing was tested", worst)
	}
}

func TestTooFew(t *testing.T) {
	for _, c := range []struct {
		q    float64
		need int // smallest number of durations that have this quantile
	}{
		{0, 1}, {0.001, 2}, {0.5, 2}, {0.9, 10}, {0.99, 100}, {0.999, 1000}, {0.9999, 10_000}, {1, 1},
	} {
		var h latency.Histogram
		for n := range c.need + 1 {
			if _, ok := h.Quantile(c.q); ok != (n >= c.need) {
				t.Errorf("Quantile(%v) of %d durations: ok = %v, want %v", c.q, n, ok, !ok)
			}
			h.Record(int64(n + 1))
		}
	}
	for _, q := range []float64{-1, -1e-300, 1 + 1e-15, 50, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if ns, ok := record(make([]int64, 2000)...).Quantile(q); ns != 0 || ok {
			t.Errorf("Quantile(%v) = %d, %v, want 0, false", q, ns, ok)
		}
	}
}

// Counts far beyond what can be recorded one by one do not overflow: of
// 2^64-1 durations, the median has rank 2^63.
func TestHugeCounts(t *testing.T) {
	h := record(100, 200)
	h.N = math.MaxUint64
	for short, want := range map[uint64]int64{1<<63 - 1: 200, 1 << 63: 100} {
		h.Counts[100], h.Counts[200] = short, h.N-short
		for q, want := range map[float64]int64{0: 100, 0.499999999: 100, 0.5: want, 0.999999999: 200, 1: 200} {
			if ns, ok := h.Quantile(q); ns != want || !ok {
				t.Errorf("Quantile(%v) with %d durations of 100 ns = %d, %v, want %d, true", q, short, ns, ok, want)
			}
		}
	}
}

// A q of nine decimals is that many billionths, also where its product with a
// billion falls short of the integer or exceeds it, as one in thirty does.
func TestDecimals(t *testing.T) {
	h := record(100, 200)
	h.N = 1_000_000_000
	for part := range uint64(1_000_000) {
		part = part*997 + 1
		h.Counts[100], h.Counts[200] = part, h.N-part
		if ns, ok := h.Quantile(float64(part) / 1e9); ns != 100 || !ok {
			t.Fatalf("Quantile(%d/1e9) = %d, %v, want 100, true", part, ns, ok)
		}
		h.Counts[100], h.Counts[200] = part-1, h.N-part+1
		if ns, ok := h.Quantile(float64(part) / 1e9); ns != 200 || !ok {
			t.Fatalf("Quantile(%d/1e9) above %d durations = %d, %v, want 200, true", part, part-1, ns, ok)
		}
	}
}
