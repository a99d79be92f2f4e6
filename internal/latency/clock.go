package latency

import "time"

// epoch is when the process started, or soon after.
var epoch = time.Now()

// Now returns the time since the process started, in ns, by the monotonic
// clock: it does not jump when the clock on the wall is set. Only the
// difference of two calls means anything: another process, and a loop in C,
// count from another start.
//
// It takes 26 ns, by BenchmarkNow on the machine of [Histogram.Record].
func Now() int64 { return int64(time.Since(epoch)) }
