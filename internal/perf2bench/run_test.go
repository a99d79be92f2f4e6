package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// latencyRuns and streamRuns are two runs each, of which no line is the same.
var (
	latencyRuns = [2]string{
		"message size: 1 [B]\nroundtrip count: 1000\naverage latency: 53.402 [us]\n",
		"message size: 100 [B]\nroundtrip count: 2000\naverage latency: 16.127 [us]\n",
	}
	streamRuns = [2]string{
		"message size: 1000 [B]\nmessage count: 100000\nmean throughput: 1607251 [msg/s]\nmean throughput: 12858.015 [Mb/s]\n",
		"message size: 100 [B]\nmessage count: 200000\nmean throughput: 3294024 [msg/s]\nmean throughput: 2635.219 [Mb/s]\n",
	}
)

// convertInproc returns the result lines and the faults of a text.
func convertInproc(text string) (results []string, faults string) {
	var stdout, stderr bytes.Buffer
	perf2bench(strings.NewReader(text), &stdout, &stderr, []string{"-set", "transport=inproc"})
	for line := range strings.Lines(stdout.String()) {
		if strings.HasPrefix(line, "Benchmark") {
			results = append(results, line)
		}
	}
	return results, stderr.String()
}

// TestMixedRuns mixes the lines of two tools that print at the same time in every
// way that they can be mixed. No result may be made of the lines of both.
func TestMixedRuns(t *testing.T) {
	for _, runs := range [][2]string{latencyRuns, streamRuns, {latencyRuns[0], streamRuns[0]}, {latencyRuns[0] + latencyRuns[1], latencyRuns[0]}} {
		want, faults := convertInproc(runs[0] + runs[1])
		if faults != "" {
			t.Fatalf("faults in %q:\n%s", runs[0]+runs[1], faults)
		}
		a, b := slices.Collect(strings.Lines(runs[0])), slices.Collect(strings.Lines(runs[1]))
		ways := 0
		mix(nil, a, b, func(lines []string) {
			ways++
			text := strings.Join(lines, "")
			got, faults := convertInproc(text)
			for _, line := range got {
				if !slices.Contains(want, line) {
					t.Errorf("the lines of two runs make\n%s\n%s", line, text)
				}
			}
			if len(got) < len(want) && faults == "" {
				t.Errorf("%d results and no fault in\n%s", len(got), text)
			}
		})
		if ways < 20 {
			t.Errorf("%d ways to mix %d and %d lines", ways, len(a), len(b))
		}
	}
}

// mix calls f with every order of the lines of a and b in which those of each are
// in theirs.
func mix(done, a, b []string, f func(lines []string)) {
	if len(a) == 0 || len(b) == 0 {
		f(slices.Concat(done, a, b))
		return
	}
	mix(append(slices.Clip(done), a[0]), a[1:], b, f)
	mix(append(slices.Clip(done), b[0]), a, b[1:], f)
}

// TestCutAnywhere cuts a log off after every byte: nothing is made of half a run,
// and what is lost is reported.
func TestCutAnywhere(t *testing.T) {
	log := latencyRuns[0] + streamRuns[0] +
		"keys = 10000, queries = 1000000, key size = 20\n[trie]\nAverage lookup time = 116.2 ns\n[radix_tree]\nAverage lookup time = 107.0 ns\n" + latencyRuns[1]
	want, _ := convertInproc(log)
	if len(want) != 5 {
		t.Fatalf("%d results of the whole log, want 5", len(want))
	}
	starts := []int{0, len(latencyRuns[0]), len(latencyRuns[0] + streamRuns[0]), len(log) - len(latencyRuns[1])}
	for cut := range len(log) + 1 {
		got, faults := convertInproc(log[:cut])
		if !slices.Equal(got, want[:len(got)]) {
			t.Errorf("cut off at %q: results %q, want the first ones of %q", log[:cut], got, want)
		}
		between := slices.Contains(starts, cut) || cut == len(log) ||
			slices.Contains(starts, cut+1) || cut+1 == len(log) // where only the end of the line is missing
		if between != (faults == "") {
			t.Errorf("cut off at %q: faults %q, want some: %v", log[:cut], faults, !between)
		}
	}
}
