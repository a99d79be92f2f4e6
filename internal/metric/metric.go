// Package metric holds what the suite promises to those who read its output:
// every unit that is reported, with the better direction and what to assume
// of it; the header of a run; the rates behind the figures; and the rule for
// the names of benchmarks.
//
// The output is the Go benchmark format,
// https://golang.org/design/14313-benchmark-format. benchstat and other
// readers pass units through golang.org/x/perf/benchunit, which shows ns as
// sec and MB as B; [CheckUnit] states what follows for the choice of a unit.
//
// The package imports neither C nor testing, so that the commands that read
// the output can share it.
package metric

import (
	"fmt"
	"math"
	"slices"
)

// A Reporter takes a measured value. *testing.B is one.
type Reporter interface {
	ReportMetric(n float64, unit string)
}

// Report gives value to r in the unit u. A value that is infinite or not a
// number is left out: it would be printed, and then be comparable to
// nothing.
//
// Report panics if u is not one of [Units], since the header of the run has
// then said nothing of it.
func Report(r Reporter, value float64, u Unit) {
	if !slices.Contains(units, u) {
		panic(fmt.Sprintf("metric: unit %q is not declared", u.name))
	}
	if math.IsInf(value, 0) || math.IsNaN(value) {
		return
	}
	r.ReportMetric(value, u.name)
}
