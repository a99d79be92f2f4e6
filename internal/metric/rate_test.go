package metric_test

import (
	"math"
	"testing"
	"time"

	"zmqbench/internal/metric"
)

func TestRate(t *testing.T) {
	for _, c := range []struct {
		count   int64
		elapsed time.Duration
		want    float64
		ok      bool
		reason  string
	}{
		{0, time.Second, 0, false, "one message: no interval (Z07)"},
		{1, time.Second, 1, true, "two messages: one interval, where the C tool says 2 (Z07)"},
		{100, 50 * time.Millisecond, 2000, true, "plain"},
		{1, time.Nanosecond, 1e9, true, "the shortest time"},
		{1, 0, 0, false, "no time has passed"},
		{1, -1, 0, false, "the clock went back"},
		{-1, time.Second, 0, false, "a count that cannot be"},
		{math.MaxInt64, time.Second, math.MaxInt64, true, "the largest count"},
	} {
		got, ok := metric.Rate(c.count, c.elapsed)
		if got != c.want || ok != c.ok {
			t.Errorf("Rate(%d, %v) = %v, %v, want %v, %v (%s)", c.count, c.elapsed, got, ok, c.want, c.ok, c.reason)
		}
	}
}

// In integers this figure wraps round (Z05).
func TestMegabitsLarge(t *testing.T) {
	const count, size = 1<<31 + 1, 1 << 20
	rate, ok := metric.Rate(count, time.Second)
	if !ok {
		t.Fatal("Rate gave no rate")
	}
	got := metric.Megabits(rate, size)
	want := float64(count) * size * 8 / 1e6
	if got <= 0 || math.Abs(got-want)/want > 1e-9 {
		t.Errorf("Megabits(%v, %d) = %v, want %v", rate, size, got, want)
	}
}

// The figures of the seed document (A2): 1 607 251 msg/s of 1000 bytes were
// printed as 12858.015 Mb/s, the rate being cut to an integer first.
func TestMegabitsOfTool(t *testing.T) {
	if got := metric.Megabits(1607251, 1000); math.Abs(got-12858.015) > 0.01 {
		t.Errorf("Megabits = %v, want 12858.01", got)
	}
}
