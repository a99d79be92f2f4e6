package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestFlags: what is wrong with a flag is said before any input is read.
func TestFlags(t *testing.T) {
	const run = "message size: 1 [B]\nroundtrip count: 1\naverage latency: 1.000 [us]\n"
	for _, c := range []struct{ args, err string }{
		{"-set transport=tcp", ""},
		{"-name Latency -set transport=tcp", ""},
		{"-name=BenchmarkLatency -set=transport=tcp", ""},
		{"-set transport", "want key=value"},
		{"-set transport=", "transport=: the value holds more than"},
		{"-set transport=udp", "transport=udp: want one of inproc, ipc, tcp"},
		{"-set transprot=tcp", "transprot cannot be set (transport, mech, pattern, fill go into names, libzmq, goos, goarch, pkg, cpu into configuration lines)"},
		{"-set size=100", "size cannot be set"},
		{"-set layer=zmq4", "layer cannot be set"},
		{"-set transport=tcp -set transport=tcp", "transport is set twice"},
		{"-set libzmq=4.3.5 -set libzmq=4.3.4", "libzmq is set twice"},
		{"-set libzmq=", "libzmq: the value is empty"},
		{"-set goos=linux\nBenchmarkFake", "goos: the value is empty, or has blanks around it or lines in it"},
		{"-name Lat", "no tool measures that: want one of Latency, Throughput, Proxy, Pinned, Match"},
		{"-name Burst", "no tool measures that"},
		{"-format csv", "flag provided but not defined: -format"},
	} {
		var stdout, stderr bytes.Buffer
		err := perf2bench(strings.NewReader(run), &stdout, &stderr, strings.Split(c.args, " "))
		if c.err == "" && err == nil && stdout.Len() > 0 {
			continue
		}
		if c.err == "" || err == nil || !strings.Contains(err.Error(), c.err) || stdout.Len() > 0 {
			t.Errorf("perf2bench %q = %v and %q, want %q and nothing", c.args, err, &stdout, c.err)
		}
	}
	var stdout, stderr bytes.Buffer
	if err := perf2bench(nil, &stdout, &stderr, []string{"-h"}); err != nil || !strings.Contains(stderr.String(), "-set key=value") {
		t.Errorf("perf2bench -h = %v and %q, want the usage", err, &stderr)
	}
}
