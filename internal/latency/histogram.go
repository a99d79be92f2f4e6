// Package latency is where each duration goes: a histogram, and its
// quantiles.
//
// A duration is an int64 count of nanoseconds, as [Now] gives them. Loops in
// C record into the same [Histogram] by the same rule, so that the tails of
// two layers can be compared.
package latency

import (
	"fmt"
	"math/bits"
	"time"
)

// A duration v from 1 to Limit is counted in the bucket of its leading bits.
// Where these are bits 7 to 0, or lower ones, a bucket is one value wide;
// above, the bit length of v selects an octave of 2^SubBits buckets, and the
// SubBits bits behind the leading one select the bucket in it:
//
//	e     = bit length of (v | 1<<SubBits) - 1 - SubBits    bits dropped
//	index = e<<SubBits + v>>e                               bucket of v
//
// The bit that is or-ed in makes e = 0 for all v below 2^(SubBits+1), and
// there index = v. In C, with a 64-bit v:
//
//	e     = 56 - __builtin_clzll(v | 128)
//	index = (e << 7) + (v >> e)
//
// For example:
//
//	                01100011   v = 99, e = 0
//	                ^-------
//	                └ bits 7 to 0, all kept    index = 0<<7 + 99 = 99
//
//	              1111101010   v = 1002, e = 2
//	              ^-------^-
//	              │       └ 2 bits dropped: 1000 to 1003 share the bucket
//	              └ 8 bits kept: 250           index = 2<<7 + 250 = 506
//
//	11111111 … (34 bits more)  v = Limit, e = 34
//	^------- ^
//	│        └ 34 bits dropped
//	└ 8 bits kept: 255                         index = 34<<7 + 255 = 4607
//
// v>>e has its leading bit at SubBits if e > 0. Therefore the octaves adjoin:
// the last index of e, e<<SubBits + 2^(SubBits+1)-1, is one below the first of
// e+1, (e+1)<<SubBits + 2^SubBits.
//
// Bucket (e, m), where m = v>>e, holds the values from m<<e to m<<e + 2^e - 1,
// and a quantile reports m<<e + 2^e/2 (rounded down, so for e = 0 it is v
// itself). It lies no further than 2^(e-1) from any of them, and none of them
// is below 2^(SubBits+e):
//
//	error / v  ≤  2^(e-1) / 2^(SubBits+e)  =  1 / 2^(SubBits+1)  =  0.4 %
//
// That a quantile is never more than Max only brings it nearer to v ≤ Max.
const (
	// SubBits is how many bits behind the leading one select a bucket.
	SubBits = 7

	// RangeBits is the bit length of the longest duration that has a bucket.
	RangeBits = 42

	// Limit is the longest duration that has a bucket, in ns: 1h13m18s. It is
	// above an hour, and far above every time limit of the suite.
	Limit = 1<<RangeBits - 1

	// Buckets is the number of buckets. The largest index is that of Limit.
	Buckets = (RangeBits - SubBits + 1) << SubBits
)

// A Histogram counts durations in buckets, each within 0.4 % of any duration
// in it. The zero Histogram is empty and ready for use.
//
// One goroutine or thread at a time may use it. Its fields are its layout in
// memory, which C shares: eight bytes each, no pointer and no padding, 36904
// bytes in all. They are for reading; only [Histogram.Record],
// [Histogram.Merge] and their like in C change them.
//
//	offset   0   8    16   24     32    40                      36904
//	         ┌───┬────┬────┬──────┬─────┬──────────┬──── … ──────┐
//	         │ N │Sum │Max │Under │Over │Counts[0] │ … [Buckets-1]
//	         └───┴────┴────┴──────┴─────┴──────────┴──── … ──────┘
//
// Each duration is counted in exactly one place:
//
//	N = Under + Counts[0] + … + Counts[Buckets-1] + Over
type Histogram struct {
	// N is the number of durations recorded.
	N uint64

	// Sum is the sum of the durations in ns, where those counted in Under
	// add nothing. It is exact up to 2^64 ns, which is 584 years, and wraps.
	Sum uint64

	// Max is the longest duration in ns, exact, or 0 if none is above 0.
	Max int64

	// Under counts the durations of 0 and less. A round trip does not take
	// them, but a clock may say so: to drop them would hide that. In
	// quantiles and in Sum they are 0.
	Under uint64

	// Over counts the durations above Limit. In quantiles they are Max.
	Over uint64

	// Counts are the buckets. Counts[0] stays 0, as 0 is counted in Under.
	Counts [Buckets]uint64
}

// Record counts a duration of ns nanoseconds, whatever its value. It
// allocates nothing.
//
// It is inlined and takes 2 ns where its bucket is in the cache; with the two
// calls of [Now] that a duration needs, 55 ns. (Medians of BenchmarkRecord
// and BenchmarkOp on an AMD EPYC that reads the clock without a system call.)
func (h *Histogram) Record(ns int64) {
	h.N++
	if ns <= 0 {
		h.Under++
		return
	}
	h.Sum += uint64(ns)
	h.Max = max(h.Max, ns)
	if i := index(uint64(ns)); i < Buckets {
		h.Counts[i]++
	} else {
		h.Over++
	}
}

// index returns the bucket of v, or Buckets or more if v is above Limit.
func index(v uint64) uint64 {
	e := bits.Len64(v|1<<SubBits) - 1 - SubBits
	return uint64(e)<<SubBits + v>>e
}

// middle returns the duration that stands for those in bucket i, in ns.
func middle(i int) int64 {
	e := max(i>>SubBits-1, 0)
	m := i - e<<SubBits
	return int64(m)<<e + 1<<e/2
}

// Merge adds what other has recorded to h. The result is the same as if all
// of it had been recorded in h.
func (h *Histogram) Merge(other *Histogram) {
	h.N += other.N
	h.Sum += other.Sum
	h.Max = max(h.Max, other.Max)
	h.Under += other.Under
	h.Over += other.Over
	for i, n := range &other.Counts {
		h.Counts[i] += n
	}
}

// Mean returns the mean duration in ns, exact but for the division. It
// returns false if h is empty.
func (h *Histogram) Mean() (ns float64, ok bool) {
	if h.N == 0 {
		return 0, false
	}
	return float64(h.Sum) / float64(h.N), true
}

// Doubt returns one sentence that says how many durations were outside the
// range of the buckets, to be shown beside the quantiles, or "" if none was.
func (h *Histogram) Doubt() string {
	if h.Under == 0 && h.Over == 0 {
		return ""
	}
	return fmt.Sprintf("of %d durations, %d were not above 0 and %d were above %v; they count as 0 and as the longest",
		h.N, h.Under, h.Over, time.Duration(Limit))
}
