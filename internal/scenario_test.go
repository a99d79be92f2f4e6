package internal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"zmqbench/internal/affinity"
	"zmqbench/internal/metric"
)

// progressLine is what -progress writes after the name of a benchmark.
var progressLine = regexp.MustCompile(`^\[[0-9.]+s\] window=[0-9]+ msgs  rate=[0-9]+ msgs/s  total=[0-9]+$`)

// checkProgress returns what is wrong with the lines of a run that has measured
// the streams of these names, each for more than a second.
func checkProgress(text string, names ...string) []string {
	var faults, got []string
	windows := 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n") // a terminal adds the \r
		switch {
		case progressLine.MatchString(line):
			windows++
		case strings.HasPrefix(line, "Benchmark"):
			got = append(got, line)
		default:
			faults = append(faults, fmt.Sprintf("line %q is neither a name nor a window", line))
		}
	}
	if diff := cmp.Diff(names, slices.Compact(got)); diff != "" {
		faults = append(faults, "names mismatch (-want +got):\n"+diff)
	}
	if windows < 2*len(names) {
		faults = append(faults, fmt.Sprintf("%d windows, want one a second and the rest", windows))
	}
	return faults
}

// streamOnly measures a stream through one layer for a little more than a second.
func streamOnly(layer string) []string {
	return []string{"-test.bench=^BenchmarkThroughput/transport=ipc/mech=null/size=100/layer=" + layer + "$", "-test.benchtime=1100ms", "-test.cpu=2", "-size=100"}
}

// TestProgress has lines written to a file that holds something already, while a
// stream is measured. The file keeps that; the output is that of any other run,
// and has no setting: benchstat compares it with those without.
func TestProgress(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "progress")
	if err := os.WriteFile(file, []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := execute(t, append(streamOnly("libzmq"), "-progress="+file)...)
	out := readOutput(r.output, 2, []metric.Setting{{Name: "size", Value: "100"}})
	out.checkCount(1)
	if len(out.faults) > 0 || r.status != 0 || len(out.results) != 1 {
		t.Errorf("status %d, %d results, faults %q; output:\n%s", r.status, len(out.results), out.faults, r.output)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	added, ok := strings.CutPrefix(string(text), "mine\n")
	if !ok {
		t.Error("the file does not begin with what it held")
	}
	for _, fault := range checkProgress(added, "BenchmarkThroughput/transport=ipc/mech=null/size=100/layer=libzmq") {
		t.Errorf("%s; the file:\n%s", fault, text)
	}
}

func TestCheckProgress(t *testing.T) {
	const good = "BenchmarkX\n[1s] window=10 msgs  rate=10 msgs/s  total=10\n[1.2s] window=2 msgs  rate=10 msgs/s  total=12\n"
	for _, c := range []struct {
		name, text string
		faults     int
	}{
		{"good", good, 0},
		{"from a terminal", strings.ReplaceAll(good, "\n", "\r\n"), 0},
		{"another name", strings.Replace(good, "X", "Y", 1), 1},
		{"no name", good[len("BenchmarkX\n"):], 1},
		{"a window only", good[:strings.Index(good, "[1.2s]")], 1},
		{"no rate", strings.Replace(good, "rate=10", "rate=NaN", 1), 2},
		{"a log line", good + "warning: slow\n", 1},
		{"nothing", "", 2},
	} {
		if faults := checkProgress(c.text, "BenchmarkX"); len(faults) != c.faults {
			t.Errorf("%s: faults %q, want %d", c.name, faults, c.faults)
		}
	}
}

// TestPinnedPlaces looks from outside at the threads of a run that measures
// pinned roles: they are where its header says.
func TestPinnedPlaces(t *testing.T) {
	t.Parallel()
	if cpus, err := affinity.Allowed(); len(cpus) < 2 {
		t.Skip("two roles cannot have a CPU each: ", cpus, err)
	}
	var during []affinity.Thread
	r := interrupted(t, socketDir(t), os.Interrupt, func(pid int) {
		var err error
		if during, err = affinity.ThreadsOf(pid); err != nil {
			t.Error(err)
		}
	}, "-test.bench=^BenchmarkPinned/fill=zero/size=64/layer=zmq4$", "-test.benchtime=2m", "-wait=2m")
	where := regexp.MustCompile(`(?m)^# pin: BenchmarkPinned only: the role under the clock is on CPU (\d+), its peers on CPU (\d+); .* over inproc all on CPU (\d+)$`).FindStringSubmatch(r.output)
	if where == nil {
		t.Fatalf("the header does not say where roles are:\n%s", r.output)
	}
	got := map[string]int{}
	for _, thread := range during {
		if strings.HasPrefix(thread.Name, "ZMQbg") {
			thread.CPUs += " of libzmq"
		}
		got[thread.CPUs]++
	}
	all, err := affinity.Allowed()
	if err != nil {
		t.Fatal(err)
	}
	delete(got, affinity.Text(all)) // those of the Go runtime
	want := map[string]int{where[1]: 1, where[2]: 1, where[3] + " of libzmq": 2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("threads by CPU mismatch (-want +got):\n%s\nthe header: %s", diff, where[0])
	}
}
