package internal_test

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"

	"zmqbench/internal/metric"
)

// checkOutput fails t unless the run went well, every benchmark has count
// results in it, and every line is as it should be. The run must have been too
// short for a rate.
func checkOutput(t *testing.T, r run, procs, count int, settings ...metric.Setting) output {
	t.Helper()
	out := readOutput(r.output, procs, settings)
	out.checkCount(count)
	out.checkNoRate()
	for _, fault := range out.faults {
		t.Error(fault)
	}
	if r.status != 0 || t.Failed() {
		t.Fatalf("status %d, output:\n%s", r.status, r.output)
	}
	return out
}

// An output is what a run of benchmarks printed, and what is wrong with it.
type output struct {
	text    string
	results []result
	faults  []string
}

// A result is a result line.
type result struct {
	name  string // in full, without the suffix for GOMAXPROCS
	units []string
}

// kinds are the lines of an output, in the order in which they come.
var kinds = []struct {
	name    string
	pattern *regexp.Regexp // nil for a setting: it is one that the caller expects
}{
	{"unit", regexp.MustCompile(`^Unit \S+ better=(lower|higher) assume=(nothing|exact)$`)},
	{"version", regexp.MustCompile(`^libzmq: [0-9]+\.[0-9]+\.[0-9]+$`)},
	{"setting", nil},
	{"comment", regexp.MustCompile(`^# \S.*$`)},
	{"configuration", regexp.MustCompile(`^(goos|goarch|pkg|cpu): \S.*$`)},
	{"result", regexp.MustCompile(`^Benchmark\S+ *\t *[0-9]+\t.*$`)},
	{"end", regexp.MustCompile(`^PASS$`)},
}

// kind returns which of kinds a line is, or -1.
func kind(line string, settings []metric.Setting) int {
	for i, k := range kinds {
		isSetting := func(s metric.Setting) bool { return line == s.Name+": "+s.Value }
		if k.pattern == nil && slices.ContainsFunc(settings, isSetting) || k.pattern != nil && k.pattern.MatchString(line) {
			return i
		}
	}
	return -1
}

// readOutput reads what a run printed with that GOMAXPROCS. The settings are
// the flags that the run was given.
func readOutput(text string, procs int, settings []metric.Setting) output {
	out := output{text: text}
	out.checkLines(settings)
	r := benchfmt.NewReader(strings.NewReader(text), "output")
	var config []string
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			out.fault("%v", rec)
		case *benchfmt.Result:
			out.read(rec, procs)
			config = nil
			for _, c := range rec.Config {
				config = append(config, c.Key)
			}
		}
	}
	if err := r.Err(); err != nil {
		out.fault("%v", err)
	}
	want := []string{"libzmq", "goos", "goarch", "pkg"}
	for _, s := range settings {
		want = append(want, s.Name)
	}
	config = slices.DeleteFunc(config, func(key string) bool { return key == "cpu" }) // not on every machine
	if diff := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(config))); diff != "" {
		out.fault("configuration of the last result mismatch (-want +got):\n%s", diff)
	}
	return out
}

func (o *output) fault(format string, args ...any) {
	o.faults = append(o.faults, fmt.Sprintf(format, args...))
}

// checkLines holds the lines against kinds: each is of one, they come in order,
// and the header, which is complete, is first.
func (o *output) checkLines(settings []metric.Setting) {
	var units []string
	before, last := 0, ""
	for i, line := range strings.Split(strings.TrimSuffix(o.text, "\n"), "\n") {
		k := kind(line, settings)
		switch {
		case k < 0:
			o.fault("output:%d: %q is nothing that a run prints", i+1, line)
			continue
		case k < before:
			o.fault("output:%d: a line of the kind %q comes after one of the kind %q", i+1, kinds[k].name, kinds[before].name)
		case kinds[k].name == "unit":
			units = append(units, line)
		}
		before, last = max(before, k), line
	}
	var want []string
	for _, u := range metric.Units() {
		want = append(want, fmt.Sprintf("Unit %v better=%s assume=%s", u, u.Better(), u.Assume()))
	}
	if diff := cmp.Diff(want, units); diff != "" {
		o.fault("Unit lines mismatch (-want +got):\n%s", diff)
	}
	if last != "PASS" {
		o.fault("the last line is %q, want PASS", last)
	}
}

// read adds a result.
func (o *output) read(rec *benchfmt.Result, procs int) {
	name := "Benchmark" + rec.Name.String()
	if procs > 1 {
		var ok bool
		if name, ok = strings.CutSuffix(name, "-"+strconv.Itoa(procs)); !ok {
			o.fault("%s does not end in -%d, the number of procs", name, procs)
		}
	}
	if err := metric.CheckName(name); err != nil {
		o.fault("%v", err)
	}
	res := result{name: name}
	for _, v := range rec.Values {
		unit := v.Unit
		if v.OrigUnit != "" {
			unit = v.OrigUnit
		}
		declared := slices.ContainsFunc(metric.Units(), func(u metric.Unit) bool { return u.String() == unit })
		switch err := metric.CheckUnit(unit); {
		case err != nil:
			o.fault("%s: %v", name, err)
		case !declared:
			o.fault("%s: unit %q is not declared in package metric", name, unit)
		case slices.Contains(res.units, unit):
			o.fault("%s: unit %q comes twice", name, unit)
		case math.IsInf(v.Value, 0) || math.IsNaN(v.Value):
			o.fault("%s: %v %s is no value", name, v.Value, unit)
		}
		res.units = append(res.units, unit)
	}
	o.results = append(o.results, res)
}

// count returns how many results there are of each name.
func (o *output) count() map[string]int {
	count := map[string]int{}
	for _, r := range o.results {
		count[r.name]++
	}
	return count
}

// functions returns the functions that have results, in order.
func (o *output) functions() []string {
	var functions []string
	for _, r := range o.results {
		f, _, _ := strings.Cut(r.name, "/")
		functions = append(functions, f)
	}
	slices.Sort(functions)
	return slices.Compact(functions)
}

// checkCount checks that there are results, want of each name.
func (o *output) checkCount(want int) {
	if len(o.results) == 0 {
		o.fault("there are no results")
	}
	for name, got := range o.count() {
		if got != want {
			o.fault("%s has %d results, want %d", name, got, want)
		}
	}
}

// checkNoRate checks that there is no rate: so few messages come out of queues
// that were full before the clock started.
func (o *output) checkNoRate() {
	for _, r := range o.results {
		for _, rate := range []metric.Unit{metric.MsgPerSec, metric.MBPerSec} {
			if slices.Contains(r.units, rate.String()) {
				o.fault("%s has %v, from too few messages for a rate", r.name, rate)
			}
		}
	}
}

// good is an output without a fault, with GOMAXPROCS=2.
func good(t *testing.T) string {
	var text strings.Builder
	h := metric.Header{LibZMQ: "4.3.5", Flags: []metric.Setting{{Name: "size", Value: "1"}}, Facts: []string{"load: 0.5"}}
	if err := h.Write(&text); err != nil {
		t.Fatal(err)
	}
	text.WriteString("goos: linux\ngoarch: amd64\npkg: zmqbench\ncpu: made up\n")
	for _, name := range []string{"Latency/transport=ipc/mech=null/size=1/layer=zmq4", "Keypair"} {
		text.WriteString(strings.Repeat("Benchmark"+name+"-2  \t       1\t     40410 ns/op\t     160 B/op\n", 2))
	}
	return text.String() + "PASS\n"
}

// TestReadOutput spoils a good output in every way that has a check.
func TestReadOutput(t *testing.T) {
	const first = "BenchmarkLatency/transport=ipc/mech=null/size=1/layer=zmq4"
	for _, c := range []struct{ name, old, new, want string }{
		{"good", "", "", ""},
		{"a log line", "goos:", "2026/01/02 15:04:05 accepted\ngoos:", `"2026/01/02 15:04:05 accepted" is nothing that a run prints`},
		{"a line that reads as configuration", "goos:", "warning: slow\ngoos:", `"warning: slow" is nothing that a run prints`},
		{"a flag that was not given", "size: 1\n", "size: 2\n", `"size: 2" is nothing that a run prints`},
		{"a result that is split", "-2  \t       1", "-2  \tlog\n       1", "parsing iteration count"},
		{"a figure that is cut", "     160 B/op\n", "     160\n", "missing units"},
		{"a unit twice", "160 B/op", "160 B/op\t 320 B/op", `unit "B/op" comes twice`},
		{"a result without figures", "-2  \t       1\t     40410 ns/op\t     160 B/op", "-2", "is nothing that a run prints"},
		{"two results on a line", "B/op\n", "B/op\t", "parsing measurement"},
		{"a failure", "PASS", "--- FAIL: BenchmarkKeypair\nFAIL", `"--- FAIL: BenchmarkKeypair" is nothing that a run prints`},
		{"a run that was killed", "PASS\n", "", "the last line is "},
		{"something after the end", "PASS\n", "PASS\nUnit ns/op better=lower assume=nothing\n", `"unit" comes after one of the kind "end"`},
		{"a header in the middle", "cpu: made up\n", "cpu: made up\nlibzmq: 4.3.5\n", `"version" comes after one of the kind "configuration"`},
		{"an incomplete header", "Unit B/key better=lower assume=exact\n", "", "Unit lines mismatch"},
		{"the wrong direction", "Unit msg/s better=higher", "Unit msg/s better=lower", "Unit lines mismatch"},
		{"no version", "libzmq: 4.3.5\n", "", "configuration of the last result mismatch"},
		{"a unit that benchstat scales twice", "160 B/op", "160 us/op", `unit "us/op": "us" is not tidied`},
		{"a unit that nobody declared", "160 B/op", "160 lost/op", `unit "lost/op" is not declared`},
		{"an infinite value", "160 B/op", "+Inf B/op", "+Inf B/op is no value"},
		{"no number", "160 B/op", "NaN B/op", "NaN B/op is no value"},
		{"a rate", "160 B/op", "160 msg/s", first + " has msg/s, from too few messages"},
		{"the suffix of another GOMAXPROCS", "layer=zmq4-2", "layer=zmq4-4", "does not end in -2"},
		{"no suffix", "layer=zmq4-2", "layer=zmq4", "does not end in -2"},
		{"a name that ends in a number", "size=1/layer=zmq4-2", "size=1-2/layer=zmq4-2", "size=1-2 ends in a hyphen and digits"},
		{"a benchmark that is none of ours", "BenchmarkKeypair", "BenchmarkMine", `there is no benchmark "BenchmarkMine"`},
		{"a result too many", first, "BenchmarkKeypair-2 \t 1\t 5 ns/op\n" + first, "BenchmarkKeypair has 3 results, want 2"},
		{"no results", "Benchmark", "# Benchmark", "there are no results"},
	} {
		times := 1
		if c.name == "no results" {
			times = -1
		}
		out := readOutput(strings.Replace(good(t), c.old, c.new, times), 2, []metric.Setting{{Name: "size", Value: "1"}})
		out.checkCount(2)
		out.checkNoRate()
		if faults := strings.Join(out.faults, "\n"); c.want == "" && faults != "" || !strings.Contains(faults, c.want) {
			t.Errorf("%s: faults %q, want %q among them", c.name, faults, c.want)
		}
	}
}
