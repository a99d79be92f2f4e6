package main

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"

	"zmqbench/internal/metric"
)

// maxInt is the greatest number that the tools print with %d.
const maxInt = 1<<31 - 1

// A value is a figure in a unit of the suite. It is exact, so that nothing is
// lost on the way from a decimal figure to another one.
type value struct {
	unit metric.Unit
	v    *big.Rat
}

// String returns the value as it stands in a result line: an integer, or else
// the decimal that reads back as the nearest float64.
func (v value) String() string {
	if v.v.IsInt() {
		return v.v.Num().String()
	}
	f, _ := v.v.Float64()
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// integer returns what a tool printed with %d as a number. The text is digits.
func integer(what, text string) (*big.Rat, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n > maxInt {
		return nil, fmt.Errorf("%s %s: no tool prints more than %d", what, text, maxInt)
	}
	return big.NewRat(n, 1), nil
}

// decimal returns what a tool printed with %.1f or %.3f as a number. The text
// is digits with a point in it.
func decimal(what, text string) (*big.Rat, error) {
	if len(text) > 24 {
		return nil, fmt.Errorf("%s %.24s…: no tool prints so many digits", what, text)
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, fmt.Errorf("%s %s: this is no number", what, text)
	}
	return r, nil
}

// mul returns the product of a and b1/b2.
func mul(a *big.Rat, b1, b2 int64) *big.Rat { return new(big.Rat).Mul(a, big.NewRat(b1, b2)) }

// latencyValues returns the values of round trips of which half takes us
// microseconds. The tool divides the whole time by twice the number of round
// trips: ns/op undoes it.
func latencyValues(trips, us string) (iterations *big.Rat, values []value, err error) {
	if iterations, err = integer("roundtrip count", trips); err != nil {
		return nil, nil, err
	}
	half, err := decimal("average latency", us)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case iterations.Sign() == 0:
		return nil, nil, errors.New("no round trip was made")
	case half.Sign() == 0:
		return nil, nil, errors.New("average latency 0.000 [us]: no time passed on the tool's clock (give it more round trips)")
	}
	return iterations, []value{{metric.NsPerOp, mul(half, 2000, 1)}, {metric.OneWayNs, mul(half, 1000, 1)}}, nil
}

// A stream is what a tool prints of one, as text.
type stream struct{ size, count, rate, megabits string }

// values returns the values of a stream.
//
// local_thr and inproc_thr start the clock when the first message is there, and
// divide all messages by the time of those after it; with first set, values
// divides those after it, as the suite does. proxy_thr starts its clock before
// there are any publishers, and what it prints stays as it is.
//
// The tool prints a rate without its fraction. That stays as printed: it is up
// to 1 msg/s too low.
func (s stream) values(first bool) (iterations *big.Rat, values []value, err error) {
	var n [3]*big.Rat
	for i, f := range []struct{ what, text string }{{"message size", s.size}, {"message count", s.count}, {"mean throughput", s.rate}} {
		if n[i], err = integer(f.what, f.text); err != nil {
			return nil, nil, err
		}
	}
	size, count, rate := n[0], n[1], n[2]
	switch one := big.NewRat(1, 1); {
	case count.Cmp(big.NewRat(2, 1)) < 0:
		return nil, nil, fmt.Errorf("message count %s: there is no rate of fewer than two messages (give the tool more)", s.count)
	case rate.Sign() == 0:
		return nil, nil, errors.New("mean throughput 0 [msg/s]: nothing is left of the rate without its fraction (give the tool fewer messages)")
	case rate.Cmp(mul(count, 1_000_000, 1)) >= 0:
		return nil, nil, fmt.Errorf("mean throughput %s [msg/s] of %s messages: no time passed on the tool's clock (give it more)", s.rate, s.count)
	case first:
		iterations = new(big.Rat).Sub(count, one)
	default:
		iterations = count
	}
	if err := s.checkMegabits(rate, size); err != nil {
		return nil, nil, err
	}
	rate = new(big.Rat).Quo(rate.Mul(rate, iterations), count)
	values = []value{{metric.NsPerOp, new(big.Rat).Quo(big.NewRat(1e9, 1), rate)}}
	if size.Sign() > 0 { // as testing does, which prints no MB/s of nothing
		values = append(values, value{metric.MBPerSec, mul(new(big.Rat).Mul(rate, size), 1, 1e6)})
	}
	return iterations, append(values, value{metric.MsgPerSec, rate}), nil
}

// checkMegabits returns an error unless the two rates are of the same stream:
// [Mb/s] is 10^6 bits, taken from the rate with its fraction (local_thr) or
// without it (inproc_thr, proxy_thr), and rounded to three digits.
func (s stream) checkMegabits(rate, size *big.Rat) error {
	megabits, err := decimal("mean throughput", s.megabits)
	if err != nil {
		return err
	}
	bits := mul(size, 8, 1e6)
	low := new(big.Rat).Mul(rate, bits)
	high := new(big.Rat).Add(low, bits)
	rounding := new(big.Rat).Add(big.NewRat(5, 10_000), mul(low, 1, 1e12)) // and that of a float64
	if megabits.Cmp(low.Sub(low, rounding)) < 0 || megabits.Cmp(high.Add(high, rounding)) > 0 {
		want, _ := new(big.Rat).Mul(rate, bits).Float64()
		return fmt.Errorf("mean throughput %s [Mb/s] contradicts %s [msg/s] of %s bytes, which is %.3f", s.megabits, s.rate, s.size, want)
	}
	return nil
}

// lookupValues returns the value of a look-up that takes ns nanoseconds.
func lookupValues(queries, ns string) (iterations *big.Rat, values []value, err error) {
	if iterations, err = integer("queries", queries); err != nil {
		return nil, nil, err
	}
	v, err := decimal("average lookup time", ns)
	switch {
	case err != nil:
		return nil, nil, err
	case iterations.Sign() == 0 || v.Sign() == 0:
		return nil, nil, fmt.Errorf("average lookup time %s ns of %s queries is no measurement", ns, queries)
	}
	return iterations, []value{{metric.NsPerOp, v}}, nil
}
