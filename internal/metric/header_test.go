package metric_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"

	"zmqbench/internal/metric"
)

func TestHeaderText(t *testing.T) {
	h := metric.Header{
		LibZMQ: "4.3.5",
		Flags:  []metric.Setting{{Name: "size", Value: "1,100"}},
		Facts:  []string{"kernel: 6.1.0", "load: 0.1 0.2 0.3"},
	}
	want := `Unit ns/op better=lower assume=nothing
Unit one-way-ns better=lower assume=nothing
Unit p50-ns better=lower assume=nothing
Unit p90-ns better=lower assume=nothing
Unit p99-ns better=lower assume=nothing
Unit p99.9-ns better=lower assume=nothing
Unit max-ns better=lower assume=nothing
Unit service-p50-ns better=lower assume=nothing
Unit service-p90-ns better=lower assume=nothing
Unit service-p99-ns better=lower assume=nothing
Unit service-p99.9-ns better=lower assume=nothing
Unit service-max-ns better=lower assume=nothing
Unit rate-missed better=lower assume=nothing
Unit late-p99-ns better=lower assume=nothing
Unit msg/s better=higher assume=nothing
Unit MB/s better=higher assume=nothing
Unit B/op better=lower assume=nothing
Unit allocs/op better=lower assume=nothing
Unit cpu-ns/op better=lower assume=nothing
Unit cgo-calls/op better=lower assume=nothing
Unit fairness better=higher assume=nothing
Unit send-ns better=lower assume=nothing
Unit recv-ns better=lower assume=nothing
Unit B/key better=lower assume=exact
libzmq: 4.3.5
size: 1,100
# kernel: 6.1.0
# load: 0.1 0.2 0.3
`
	var got strings.Builder
	if err := h.Write(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("Write mismatch (-want +got):\n%s", diff)
	}
}

// hostile are texts that would be something else than a value, if they were
// printed as they stand.
var hostile = []string{
	"1\nBenchmarkFake 1 1 ns/op",
	"1\r\ngoos: plan9",
	"\nUnit ns/op better=higher",
	"1\u2028goarch: none",
	"1\u0085cpu: none",
	" leading and trailing ",
	"",
	`"quoted"`,
	"\xff\x00",
	"ends in a tab\t",
}

// Whatever is in a header, benchfmt reads back the units and the
// configuration, and nothing else.
func TestHeaderReadBack(t *testing.T) {
	h := metric.Header{LibZMQ: "4.3.4", Facts: append([]string{"load: 1.0", "Unit x", "pkg: none"}, hostile...)}
	wantConfig := map[string]string{"libzmq": "4.3.4"}
	for i, value := range append([]string{"1,100,65536", "tcp://[::1]:*", "größe: 1 # 2"}, hostile...) {
		name := "flag-" + string(rune('a'+i))
		h.Flags = append(h.Flags, metric.Setting{Name: name, Value: value})
		wantConfig[name] = value
	}
	config, units := read(t, h)

	// What would not be read back as it stands is read back as a Go string,
	// one line and without a blank at either end.
	for name, value := range config {
		if value == wantConfig[name] {
			continue
		}
		if !strings.HasPrefix(value, `"`) || !strings.HasSuffix(value, `"`) {
			t.Errorf("%s: read back %q, wrote %q", name, value, wantConfig[name])
		}
		wantConfig[name] = value
	}
	if diff := cmp.Diff(wantConfig, config); diff != "" {
		t.Errorf("configuration mismatch (-want +got):\n%s", diff)
	}
	wantUnits := map[string]int{
		"ns/op": -1, "one-way-ns": -1, "p50-ns": -1, "p90-ns": -1, "p99-ns": -1, "p99.9-ns": -1, "max-ns": -1,
		"service-p50-ns": -1, "service-p90-ns": -1, "service-p99-ns": -1, "service-p99.9-ns": -1, "service-max-ns": -1,
		"rate-missed": -1, "late-p99-ns": -1, "msg/s": +1, "MB/s": +1, "B/op": -1, "allocs/op": -1,
		"cpu-ns/op": -1, "cgo-calls/op": -1, "fairness": +1, "send-ns": -1, "recv-ns": -1, "B/key": -1,
	}
	if diff := cmp.Diff(wantUnits, units); diff != "" {
		t.Errorf("directions mismatch (-want +got):\n%s", diff)
	}
}

// read writes h and a result line after it, and returns what benchfmt makes
// of them: the configuration of the result, and the direction of each unit.
func read(t *testing.T, h metric.Header) (config map[string]string, units map[string]int) {
	t.Helper()
	var text bytes.Buffer
	if err := h.Write(&text); err != nil {
		t.Fatal(err)
	}
	text.WriteString("BenchmarkKeypair 1 2 ns/op\n")

	config, units = map[string]string{}, map[string]int{}
	results := 0
	r := benchfmt.NewReader(&text, "header")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			results++
			for _, c := range rec.Config {
				config[c.Key] = string(c.Value)
			}
		case *benchfmt.UnitMetadata:
			units[rec.OrigUnit] = r.Units().GetBetter(rec.OrigUnit)
		default:
			t.Errorf("unexpected record: %v", rec)
		}
	}
	if err := r.Err(); err != nil || results != 1 {
		t.Errorf("read %d results, %v, want 1", results, err)
	}
	return config, units
}

func TestHeaderErrors(t *testing.T) {
	flag := func(name, value string) metric.Header {
		return metric.Header{LibZMQ: "4.3.5", Flags: []metric.Setting{{Name: name, Value: value}}}
	}
	twice := flag("size", "1")
	twice.Flags = append(twice.Flags, twice.Flags...)
	long := flag("size", strings.Repeat("1,", 5000))
	for _, c := range []struct {
		header metric.Header
		err    string
		reason string
	}{
		{metric.Header{}, "header: the version of libzmq is missing", "benchfmt deletes a key without a value"},
		{flag("", "1"), "header: flag -: the name does not begin with a small letter", "no name"},
		{flag("Size", "1"), "header: flag -Size: the name does not begin with a small letter", "read as no key"},
		{flag("io threads", "1"), "header: flag -io threads: the name holds more than small letters, digits and hyphens", "read as no key"},
		{flag("a: b", "1"), "header: flag -a: b: the name holds more than small letters, digits and hyphens", "another key"},
		{flag("libzmq", "4.3.5"), `header: flag -libzmq: the header or testing already prints a line "libzmq:"`, "would hide the loaded one"},
		{flag("cpu", "2"), `header: flag -cpu: the header or testing already prints a line "cpu:"`, "testing prints it"},
		{twice, `header: flag -size: the header or testing already prints a line "size:"`, "the second would hide the first"},
		{long, "header: a line of 10007 bytes, want at most 8192: size: 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,…",
			"a line above 64 KiB would end the reading of the file"},
	} {
		var got bytes.Buffer
		if err := c.header.Write(&got); errorText(err) != c.err || got.Len() > 0 {
			t.Errorf("Write = %v and %d bytes, want no bytes, %s (%s)", err, got.Len(), c.err, c.reason)
		}
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestHeaderWriteError(t *testing.T) {
	full := errors.New("disk full")
	if err := (metric.Header{LibZMQ: "4.3.5"}).Write(brokenWriter{full}); !errors.Is(err, full) {
		t.Errorf("Write = %v, want %v", err, full)
	}
}
