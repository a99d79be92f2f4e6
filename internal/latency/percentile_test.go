package latency_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"zmqbench/internal/latency"
)

func TestPercentiles(t *testing.T) {
	var h latency.Histogram
	for n := range 1000 {
		h.Record(int64(n%200 + 1))
		switch n + 1 {
		case 1:
			diff(t, h, latency.Percentile{Name: "max", NS: 1})
		case 10:
			diff(t, h, latency.Percentile{Name: "p50", NS: 5}, latency.Percentile{Name: "p90", NS: 9},
				latency.Percentile{Name: "max", NS: 10})
		}
	}
	h.Record(900)
	diff(t, h, latency.Percentile{Name: "p50", NS: 101}, latency.Percentile{Name: "p90", NS: 181},
		latency.Percentile{Name: "p99", NS: 199}, latency.Percentile{Name: "p99.9", NS: 200},
		latency.Percentile{Name: "max", NS: 900})
	diff(t, latency.Histogram{})
}

// diff compares the percentiles of h with those wanted.
func diff(t *testing.T, h latency.Histogram, want ...latency.Percentile) {
	t.Helper()
	if d := cmp.Diff(want, h.Percentiles()); d != "" {
		t.Errorf("Percentiles of %d durations mismatch (-want +got):\n%s", h.N, d)
	}
}

// One slow reply in a hundred, which the mean spreads over all, stands
// apart (Z82). It is not in p99: 99 in a hundred are as fast as that.
func TestOneInAHundred(t *testing.T) {
	var h latency.Histogram
	for i := range 1000 {
		if i%100 == 99 {
			h.Record(10_000_000)
		} else {
			h.Record(200)
		}
	}
	diff(t, h, latency.Percentile{Name: "p50", NS: 200}, latency.Percentile{Name: "p90", NS: 200},
		latency.Percentile{Name: "p99", NS: 200}, latency.Percentile{Name: "p99.9", NS: 9_994_240},
		latency.Percentile{Name: "max", NS: 10_000_000})
}
