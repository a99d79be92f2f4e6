package internal_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestOutput reads the output of every benchmark as benchstat and others do:
// it is nothing but the format, all names and units are as promised, and no
// benchmark is missing (Z70, Z75, Z76). With two of them benchstat prints a
// table of every row.
func TestOutput(t *testing.T) {
	t.Parallel()
	want := strings.Fields(execute(t, "-test.list=^Benchmark").output)
	slices.Sort(want)
	var files, names []string
	for i, file := range []string{"old.txt", "new.txt"} {
		out := checkedRun(t, 2, 2-i)
		if strings.Contains(out.text, "\n# crypto: none\n") { // a libzmq without CURVE, for which it is skipped
			want = slices.DeleteFunc(want, func(f string) bool { return f == "BenchmarkKeypair" })
		}
		if strings.Contains(out.text, "\n# pin: BenchmarkPinned is skipped: ") { // there is one CPU
			want = slices.DeleteFunc(want, func(f string) bool { return f == "BenchmarkPinned" })
		}
		if diff := cmp.Diff(want, out.functions()); diff != "" {
			t.Errorf("benchmarks that have results mismatch (-want +got):\n%s", diff)
		}
		names = slices.Sorted(maps.Keys(out.count()))
		path := filepath.Join(t.TempDir(), file)
		if err := os.WriteFile(path, []byte(out.text), 0o666); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	cmd := inRoot(t.Context(), "go", append([]string{"tool", "benchstat"}, files...)...)
	var warnings strings.Builder
	cmd.Stderr = &warnings
	table, err := cmd.Output()
	if err != nil || warnings.Len() > 0 {
		t.Errorf("%v: %v; it warns: %s", cmd, err, &warnings)
	}
	for _, fault := range checkTable(string(table), names, 2) {
		t.Error(fault)
	}
}

// TestOutputAfterTests runs tests before the benchmarks, as go test -bench=. does:
// the lines that say what the results were taken on must still be there, or
// benchstat compares such a run with no other.
func TestOutputAfterTests(t *testing.T) {
	t.Parallel()
	r := execute(t, "-test.run=.", "-test.bench=^BenchmarkMatch$", "-test.benchtime=1x", "-test.count=1")
	for _, label := range []string{"goos: ", "goarch: ", "pkg: zmqbench\n", "cpu: "} {
		if n := len(regexp.MustCompile(`(?m)^`+label).FindAllString(r.output, -1)); n != 1 {
			t.Errorf("%d lines begin with %q, want 1; status %d, output:\n%s", n, label, r.status, r.output)
		}
	}
}

// TestOutputWithOneP: names have no suffix with GOMAXPROCS=1, and read the same
// as those that have one (Z75). No benchmark hangs (Z28).
func TestOutputWithOneP(t *testing.T) {
	t.Parallel()
	checkedRun(t, 1, 1)
}

// TestDescriptors repeats all benchmarks with a limit on descriptors that is
// below what they would need together (Z11, Z24), once with one P (Z28).
func TestDescriptors(t *testing.T) {
	t.Parallel()
	for _, procs := range []int{1, 2} {
		t.Run(fmt.Sprintf("GOMAXPROCS=%d", procs), func(t *testing.T) {
			t.Parallel()
			r := executeWith(t, 256, "-test.bench=.", "-test.short", "-test.benchtime=20x", fmt.Sprintf("-test.cpu=%d", procs))
			checkOutput(t, r, procs, 1)
		})
	}
}

// checkedRun runs every benchmark for one op, count times, and checks what that
// prints.
func checkedRun(t *testing.T, procs, count int) output {
	t.Helper()
	r := execute(t, "-test.bench=.", "-test.short", "-test.benchtime=1x", fmt.Sprintf("-test.count=%d", count), fmt.Sprintf("-test.cpu=%d", procs))
	return checkOutput(t, r, procs, count)
}

// TestBenchtime: what a benchmark of the stores does beside its ops is bounded
// by -benchtime, too, and does not grow with the number of ops (Z78). It is
// counted in time on the CPU, of one P: that does not depend on what else the
// machine does. (For the benchmarks with sockets see TestSignals.)
func TestBenchtime(t *testing.T) {
	t.Parallel()
	const benchtime = 200 * time.Millisecond
	for _, bench := range []string{
		"Match/topics=tree/keys=10000/hit=100/store=trie", "Add/topics=tree/keys=10000/store=trie", "Remove/topics=tree/keys=10000/store=trie",
	} {
		used := func(benchtime string) time.Duration {
			r := execute(t, "-test.bench=^Benchmark"+bench+"$", "-test.benchtime="+benchtime, "-test.cpu=1")
			if r.status != 0 || strings.Count(r.output, "\nBenchmark") != 1 {
				t.Fatalf("status %d, want 0 and one result:\n%s", r.status, r.output)
			}
			return r.state.UserTime() + r.state.SystemTime()
		}
		setUp, all := used("1x"), used(benchtime.String())
		if all > setUp+3*benchtime {
			t.Errorf("%s: %v on the CPU for -benchtime=%v, want at most three times that after a set-up of %v", bench, all, benchtime, setUp)
		}
	}
}
