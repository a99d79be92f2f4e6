package latency

import (
	"math"
	"math/bits"
)

// parts is how finely a quantile is told apart: a billion of them make 1.
const parts = 1e9

// Quantile returns the duration of rank ceil(q*N), in ns, where rank 1 is
// the shortest of the N durations recorded and rank N the longest ("nearest
// rank"). q is from 0 to 1, and is taken to the nearest billionth, so that
// 0.07 of 100 is 7 and not 8, as floating point has it; q = 0 is rank 1.
//
// The result is within 0.4 % of that duration, and never above Max. Among
// the durations counted in Under it is 0; at rank N, and among those counted
// in Over, it is Max.
//
// Quantile returns false if there are too few durations: at least one must
// rank above the quantile, for else it would be the maximum under another
// name. That is
//
//	N - ceil(q*N) ≥ 1, or the same, N * (1-q) ≥ 1
//
// so the median needs 2 durations, p90 10, p99 100 and p99.9 1000. Only
// q = 1, which is the maximum, needs no more than one. It also returns false
// if q is not from 0 to 1, or not a number.
func (h *Histogram) Quantile(q float64) (ns int64, ok bool) {
	if !(0 <= q && q <= 1) || h.N == 0 {
		return 0, false
	}
	part := uint64(math.Round(q * parts))
	rank := ceilMulDiv(part, h.N, parts)
	if rank == h.N && q < 1 {
		return 0, false
	}
	return h.ranked(max(rank, 1)), true
}

// ceilMulDiv returns a*b/c, rounded up, for a ≤ c.
func ceilMulDiv(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	lo, carry := bits.Add64(lo, c-1, 0)
	quo, _ := bits.Div64(hi+carry, lo, c) // hi+carry < c, as a*b+c-1 < c<<64
	return quo
}

// ranked returns the duration of a rank from 1 to N, in ns, as [Quantile]
// describes it.
//
// [Quantile]: Histogram.Quantile
func (h *Histogram) ranked(rank uint64) int64 {
	if rank == h.N {
		return h.Max
	}
	seen := h.Under
	if rank <= seen {
		return 0
	}
	for i, n := range &h.Counts {
		if seen += n; rank <= seen {
			return min(middle(i), h.Max)
		}
	}
	return h.Max
}

// A Percentile is a quantile by the name that reports give it.
type Percentile struct {
	Name string // "p50", "p90", "p99", "p99.9" or "max"
	NS   int64  // duration in ns
}

// percentiles are the quantiles that are reported.
var percentiles = []struct {
	name string
	q    float64
}{
	{"p50", 0.50},
	{"p90", 0.90},
	{"p99", 0.99},
	{"p99.9", 0.999},
	{"max", 1},
}

// Percentiles returns p50, p90, p99, p99.9 and the maximum, in this order,
// less those for which [Histogram.Quantile] finds too few durations. If h is
// empty there are none.
func (h *Histogram) Percentiles() []Percentile {
	var list []Percentile
	for _, p := range percentiles {
		if ns, ok := h.Quantile(p.q); ok {
			list = append(list, Percentile{p.name, ns})
		}
	}
	return list
}
