package main

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"zmqbench/internal/metric"
)

// checkOutput reads what the command printed as benchstat does: everything is of
// the format, with the suite's names and units, and finite.
func checkOutput(t *testing.T, stdout string) (results int) {
	t.Helper()
	r := benchfmt.NewReader(strings.NewReader(stdout), "stdout")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Errorf("%v in:\n%s", rec, stdout)
		case *benchfmt.Result:
			results++
			checkResult(t, rec)
		}
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	if lines := strings.Count("\n"+stdout, "\nBenchmark"); lines != results {
		t.Errorf("benchfmt reads %d results in %d lines of:\n%s", results, lines, stdout)
	}
	return results
}

func checkResult(t *testing.T, rec *benchfmt.Result) {
	t.Helper()
	name := "Benchmark" + rec.Name.String()
	if err := metric.CheckName(name); err != nil {
		t.Error(err)
	}
	if !strings.HasSuffix(name, "/layer=perf") {
		t.Errorf("%s: want layer=perf, as no benchmark of the suite measured it", name)
	}
	if rec.Iters < 1 {
		t.Errorf("%s: %d iterations", name, rec.Iters)
	}
	for _, v := range rec.Values {
		unit := v.Unit
		if v.OrigUnit != "" {
			unit = v.OrigUnit
		}
		if !slices.ContainsFunc(metric.Units(), func(u metric.Unit) bool { return u.String() == unit }) {
			t.Errorf("%s: unit %q is not declared in package metric", name, unit)
		}
		if math.IsInf(v.Value, 0) || math.IsNaN(v.Value) || v.Value <= 0 {
			t.Errorf("%s: %v %s", name, v.Value, unit)
		}
	}
}

// TestBenchstat has benchstat put a converted line beside one of the suite's: the
// layers are columns of one row.
func TestBenchstat(t *testing.T) {
	const ours = "libzmq: 4.3.5\ngoos: linux\n" +
		"BenchmarkLatency/transport=tcp/mech=null/size=1/layer=libzmq-2 \t 10000 \t 50000 ns/op \t 25000 one-way-ns\n" +
		"BenchmarkThroughput/transport=tcp/mech=null/size=1000/layer=zmq4-2 \t 99999 \t 2000 ns/op \t 500.00 MB/s \t 500000 msg/s\n" +
		"BenchmarkMatch/topics=random/keys=10000/hit=100/store=radix-2 \t 1000000 \t 100.0 ns/op \t 40.5 B/key\n" +
		"BenchmarkMatch/topics=random/keys=10000/hit=100/store=trie-2 \t 1000000 \t 110.0 ns/op \t 80.5 B/key\n"
	const session = "+ ./remote_lat tcp://127.0.0.1:5555 1 10000\nmessage size: 1 [B]\nroundtrip count: 10000\naverage latency: 53.402 [us]\n" +
		"+ ./local_thr tcp://127.0.0.1:5555 1000 100000\nmessage size: 1000 [B]\nmessage count: 100000\nmean throughput: 1607251 [msg/s]\nmean throughput: 12858.015 [Mb/s]\n" +
		"keys = 10000, queries = 1000000, key size = 20\n[trie]\nAverage lookup time = 116.2 ns\n[radix_tree]\nAverage lookup time = 107.0 ns\n"
	var converted, stderr bytes.Buffer
	if err := perf2bench(strings.NewReader(session), &converted, &stderr, []string{"-set", "libzmq=4.3.5", "-set", "goos=linux"}); err != nil || stderr.Len() > 0 {
		t.Fatalf("perf2bench: %v, %s", err, &stderr)
	}
	file := filepath.Join(t.TempDir(), "all.txt")
	if err := os.WriteFile(file, append([]byte(ours), converted.Bytes()...), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "tool", "benchstat", "-format", "csv", "-col", "/layer", "-ignore", "/gomaxprocs", file)
	cmd.Stderr = &stderr
	table, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, &stderr)
	}
	for _, want := range []string{
		`Latency/transport=tcp/mech=null/size=1,5e-05,.*,0\.000106804,`,
		`Throughput/transport=tcp/mech=null/size=1000,.*,2\.0*3?e-06,.*,6\.2218657\d*e-07,`,
		`Match/topics=random/keys=10000/hit=100/store=radix,.*,1\.0*1?e-07,.*,1\.07e-07,`,
		`Match/topics=random/keys=10000/hit=100/store=trie,.*,1\.1e-07,.*,1\.1620*1?e-07,`,
	} {
		if !regexp.MustCompile(`(?m)^` + want).Match(table) {
			t.Errorf("%v printed no row %s:\n%s%s", cmd, want, table, &stderr)
		}
	}
}
