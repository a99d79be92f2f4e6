package latency_test

import (
	"testing"
	"time"

	"zmqbench/internal/latency"
)

func TestNow(t *testing.T) {
	wall := time.Now()
	start := latency.Now()
	time.Sleep(20 * time.Millisecond)
	elapsed := latency.Now() - start
	outer := time.Since(wall)
	if elapsed < int64(20*time.Millisecond) || elapsed > int64(outer) {
		t.Errorf("%d ns passed in a sleep of 20 ms, want from 20 ms to %v", elapsed, outer)
	}
	if start <= 0 {
		t.Errorf("Now = %d, want the time since the process started", start)
	}
}

func TestNowMonotonic(t *testing.T) {
	last := latency.Now()
	for range 100_000 {
		now := latency.Now()
		if now < last {
			t.Fatalf("Now = %d after %d", now, last)
		}
		last = now
	}
}
