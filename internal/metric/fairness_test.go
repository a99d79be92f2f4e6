package metric_test

import (
	"math"
	"testing"

	"zmqbench/internal/metric"
)

func TestJain(t *testing.T) {
	for _, c := range []struct {
		counts []int64
		want   float64
		ok     bool
	}{
		{nil, 0, false},
		{[]int64{0, 0}, 0, false},
		{[]int64{7}, 1, true},
		{[]int64{1, 1, 1, 1}, 1, true},
		{[]int64{1, 0, 0, 0}, 0.25, true},
		{[]int64{0, 0, 0, 5}, 0.25, true},
		{[]int64{1, 1, 0, 0}, 0.5, true},
		{[]int64{1, 2, 3}, 36. / 42, true},
		{[]int64{1 << 62, 1 << 62}, 1, true}, // their sum is no int64
	} {
		got, ok := metric.Jain(c.counts)
		if ok != c.ok || math.Abs(got-c.want) > 1e-12 {
			t.Errorf("Jain(%v) = %v, %v, want %v, %v", c.counts, got, ok, c.want, c.ok)
		}
	}
}
