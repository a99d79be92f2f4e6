package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"

	"zmqbench/internal/metric"
)

// documents has the figures that were printed in the documents.
const documents = "../../testdata/documents.txt"

// A figure is a result line as it should be, from what was printed.
type figure struct {
	name  string
	iters int
	units map[string]float64
}

// latencyFigure is what a latency tool printed: microseconds for half a round trip.
func latencyFigure(transport string, size, trips int, us float64) figure {
	name := fmt.Sprintf("BenchmarkLatency/transport=%s/mech=null/size=%d/layer=perf", transport, size)
	return figure{name, trips, map[string]float64{"ns/op": 2 * us * 1000, "one-way-ns": us * 1000}}
}

// streamFigure is the rate of a stream of which the clock has seen iters of count.
func streamFigure(name string, size, count, iters int, rate float64) figure {
	rate = rate * float64(iters) / float64(count)
	return figure{name, iters, map[string]float64{"ns/op": 1e9 / rate, "MB/s": rate * float64(size) / 1e6, "msg/s": rate}}
}

// burstFigure is milliseconds.
func burstFigure(transport string, count int, start string, send, receive, total float64) figure {
	name := fmt.Sprintf("BenchmarkBurst/transport=%s/count=%d/start=%s", transport, count, start)
	return figure{name, 1, map[string]float64{"ns/op": total * 1e6, "send-ns": send * 1e6, "recv-ns": receive * 1e6}}
}

// printed are the figures of the documents, typed off again.
func printed() []figure {
	const random = "BenchmarkMatch/topics=random/keys=10000/hit=100/store="
	figures := []figure{
		latencyFigure("tcp", 1, 10_000, 53.402),
		latencyFigure("inproc", 100, 100_000, 16.127),
		streamFigure("BenchmarkThroughput/transport=tcp/mech=null/size=1000/layer=perf", 1000, 100_000, 99_999, 1_607_251),
		streamFigure("BenchmarkThroughput/transport=inproc/mech=null/size=100/layer=perf", 100, 100_000, 99_999, 3_294_024),
		streamFigure("BenchmarkProxy/pattern=pubsub/size=100/layer=perf", 100, 100_000, 100_000, 6_069_802),
		{random + "trie/layer=perf", 1_000_000, map[string]float64{"ns/op": 116.2}},
		{random + "radix/layer=perf", 1_000_000, map[string]float64{"ns/op": 107.0}},
	}
	for _, table := range []struct {
		fill  string
		rates [6]float64
	}{
		{"none", [6]float64{4_152_871, 2_525_915, 2_594_865, 2_325_507, 2_510_163, 2_411_668}},
		{"zero", [6]float64{3_697_188, 2_317_762, 2_445_809, 2_100_720, 2_158_671, 2_147_783}},
	} {
		for i, size := range []int{64, 128, 256, 400, 500, 700} {
			name := fmt.Sprintf("BenchmarkPinned/fill=%s/size=%d/layer=perf", table.fill, size)
			figures = append(figures, streamFigure(name, size, 200_000_000, 199_999_999, table.rates[i]))
		}
	}
	for _, second := range []struct {
		transport string
		window    int
		rate      float64
	}{
		{"tcp", 227692, 227695}, {"tcp", 219203, 219240}, {"tcp", 228324, 228304}, {"tcp", 217374, 217408},
		{"ipc", 214872, 214957}, {"ipc", 382175, 382203}, {"ipc", 399387, 399368},
	} {
		name := "BenchmarkSenders/transport=" + second.transport + "/senders=4"
		figures = append(figures, streamFigure(name, 100, 1, 1, second.rate))
		figures[len(figures)-1].iters = second.window
	}
	return append(figures,
		burstFigure("inproc", 100_000, "cold", 39, 39, 39), burstFigure("tcp", 100_000, "cold", 23, 25, 25),
		burstFigure("inproc", 100_000, "warm", 21, 21, 21), burstFigure("tcp", 100_000, "warm", 23, 25, 25),
		burstFigure("inproc", 1_000_000, "cold", 325, 325, 325), burstFigure("tcp", 1_000_000, "cold", 252, 251, 251),
		burstFigure("inproc", 1_000_000, "warm", 225, 225, 225), burstFigure("tcp", 1_000_000, "warm", 266, 254, 266))
}

// TestDocuments derives every value of the file again from what the documents
// printed.
func TestDocuments(t *testing.T) {
	f, err := os.Open(documents)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := printed()
	r := benchfmt.NewReader(f, documents)
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Error(rec)
		case *benchfmt.Result:
			if len(want) == 0 {
				t.Fatalf("%s: there is more than the documents print", rec.Name)
			}
			checkFigure(t, rec, want[0])
			want = want[1:]
		}
	}
	if err := r.Err(); err != nil || len(want) > 0 {
		t.Errorf("%v; missing: %v", err, want)
	}
}

// checkFigure compares a result line with a figure, and looks at what the documents
// say of the machine.
func checkFigure(t *testing.T, rec *benchfmt.Result, want figure) {
	t.Helper()
	if name := "Benchmark" + rec.Name.String(); name != want.name || rec.Iters != want.iters {
		t.Fatalf("%s of %d iterations, want %s of %d", name, rec.Iters, want.name, want.iters)
	}
	if err := metric.CheckName(want.name); err != nil {
		t.Error(err)
	}
	if len(rec.Values) != len(want.units) {
		t.Errorf("%s: %d values, want %d", want.name, len(rec.Values), len(want.units))
	}
	for _, v := range rec.Values {
		got, unit := v.Value, v.Unit
		if v.OrigUnit != "" {
			got, unit = v.OrigValue, v.OrigUnit
		}
		if w, ok := want.units[unit]; !ok || math.Abs(got/w-1) > 1e-9 {
			t.Errorf("%s: %v %s, want %v", want.name, got, unit, w)
		}
	}
	for _, key := range []string{"libzmq", "machine"} {
		if rec.GetConfig(key) == "" {
			t.Errorf("%s: there is no configuration line %q", want.name, key)
		}
	}
}

// TestDocumentsText converts again what stands above the lines of libzmq's tools, and
// holds the others against what stands above them.
func TestDocumentsText(t *testing.T) {
	data, err := os.ReadFile(documents)
	if err != nil {
		t.Fatal(err)
	}
	var text, want strings.Builder
	last := ""
	for line := range strings.Lines(string(data)) {
		switch quoted, ok := strings.CutPrefix(line, "# | "); {
		case ok:
			last = quoted
			text.WriteString(quoted)
		case strings.HasPrefix(line, "Benchmark") && strings.Contains(line, "/layer=perf\t"):
			want.WriteString(line)
		case strings.HasPrefix(line, "Benchmark"):
			checkQuoted(t, line, last)
		}
	}
	var got, stderr bytes.Buffer
	perf2bench(strings.NewReader(text.String()), &got, &stderr, nil)
	if i := strings.Index(got.String(), "Benchmark"); i < 0 || got.String()[i:] != want.String() || stderr.Len() > 0 {
		t.Errorf("perf2bench makes of the text, with the faults %s:\n%s\nwant\n%s", &stderr, &got, &want)
	}
}

// checkQuoted checks that the figures of a line of no tool of libzmq are in what stands
// above it: the count and the rate of a second, or milliseconds.
func checkQuoted(t *testing.T, line, above string) {
	t.Helper()
	fields := strings.Fields(line)
	value := map[string]float64{}
	for i := 2; i+1 < len(fields); i += 2 {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		value[fields[i+1]] = v
	}
	want := fmt.Sprintf(`window=%s msgs  rate=%.0f msgs/s `, fields[1], value["msg/s"])
	if m := regexp.MustCompile(`transport=(\w+)/count=(\d+)/start=(\w+)`).FindStringSubmatch(fields[0]); m != nil {
		want = fmt.Sprintf("%s messages, %s, %s: send %v ms, receive %v ms, total %v ms\n", m[2], m[1], m[3],
			value["send-ns"]/1e6, value["recv-ns"]/1e6, value["ns/op"]/1e6)
	}
	if !strings.Contains(above, want) {
		t.Errorf("above %q stands %q, want %q", line, above, want)
	}
}

// TestReadme: the comparison in the README is what benchstat prints of the files.
func TestReadme(t *testing.T) {
	t.Chdir("../..")
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?m)^\\$ go (tool benchstat .* testdata/documents.txt .*)\n((?s:.*?))^```$").FindStringSubmatch(string(readme))
	if m == nil {
		t.Fatal("README.md does not compare testdata/documents.txt with anything")
	}
	var args []string
	for _, arg := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(m[1], -1) {
		args = append(args, strings.Trim(arg, "'"))
	}
	out, err := exec.CommandContext(t.Context(), "go", args...).Output()
	if err != nil {
		t.Fatalf("go %q: %v", args, err)
	}
	got := regexp.MustCompile(`(?m) +$`).ReplaceAllString(string(out), "")
	if diff := cmp.Diff(m[2], got); diff != "" {
		t.Errorf("go %s, in the README and now (-want +got):\n%s", m[1], diff)
	}
}
