package metric_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchunit"

	"zmqbench/internal/metric"
)

// The table of units in DESIGN.md: what benchstat shows, which way is
// better, and what is assumed.
func TestUnits(t *testing.T) {
	type row struct{ Name, Shown, Better, Assume string }
	want := []row{
		{"ns/op", "sec/op", "lower", "nothing"},
		{"one-way-ns", "one-way-sec", "lower", "nothing"},
		{"p50-ns", "p50-sec", "lower", "nothing"},
		{"p90-ns", "p90-sec", "lower", "nothing"},
		{"p99-ns", "p99-sec", "lower", "nothing"},
		{"p99.9-ns", "p99.9-sec", "lower", "nothing"},
		{"max-ns", "max-sec", "lower", "nothing"},
		{"service-p50-ns", "service-p50-sec", "lower", "nothing"},
		{"service-p90-ns", "service-p90-sec", "lower", "nothing"},
		{"service-p99-ns", "service-p99-sec", "lower", "nothing"},
		{"service-p99.9-ns", "service-p99.9-sec", "lower", "nothing"},
		{"service-max-ns", "service-max-sec", "lower", "nothing"},
		{"rate-missed", "rate-missed", "lower", "nothing"},
		{"late-p99-ns", "late-p99-sec", "lower", "nothing"},
		{"msg/s", "msg/s", "higher", "nothing"},
		{"MB/s", "B/s", "higher", "nothing"},
		{"B/op", "B/op", "lower", "nothing"},
		{"allocs/op", "allocs/op", "lower", "nothing"},
		{"cpu-ns/op", "cpu-sec/op", "lower", "nothing"},
		{"cgo-calls/op", "cgo-calls/op", "lower", "nothing"},
		{"fairness", "fairness", "higher", "nothing"},
		{"send-ns", "send-sec", "lower", "nothing"},
		{"recv-ns", "recv-sec", "lower", "nothing"},
		{"B/key", "B/key", "lower", "exact"},
	}
	var got []row
	for _, u := range metric.Units() {
		_, shown := benchunit.Tidy(1, u.String())
		got = append(got, row{u.String(), shown, u.Better(), u.Assume()})
		if err := metric.CheckUnit(u.String()); err != nil {
			t.Error(err)
		}
		if doc := u.Doc(); !strings.HasSuffix(doc, ".") {
			t.Errorf("Doc of %s = %q, want a sentence", u, doc)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("units mismatch (-want +got):\n%s", diff)
	}
}

// Two units that are shown under one name would be mixed up, and benchfmt
// would report contradicting metadata.
func TestUnitsShownApart(t *testing.T) {
	seen := map[string]metric.Unit{}
	for _, u := range metric.Units() {
		_, shown := benchunit.Tidy(1, u.String())
		if first, ok := seen[shown]; ok {
			t.Errorf("%s and %s are both shown as %s", first, u, shown)
		}
		seen[shown] = u
	}
}

func TestCheckUnit(t *testing.T) {
	for _, c := range []struct {
		unit, err string // err is empty for a legal unit
		reason    string
	}{
		{"p99.9-ns", "", "the dot of a percentile"},
		{"cpu-ns/op", "", "a word before ns"},
		{"cgo-calls/op", "", "a word that is not a factor"},
		{"lost", "", "no ratio"},
		{"MB/op", "", "MB is tidied"},
		{"", `unit "": a word is missing`, "no unit at all"},
		{"msg per s", `unit "msg per s": illegal character ' ' (words are joined by hyphens)`, "panics in ReportMetric (Z76)"},
		{"msg\u00a0/s", `unit "msg\u00a0/s": illegal character '\u00a0' (words are joined by hyphens)`, "white space too (Z76)"},
		{"p50_ns", `unit "p50_ns": illegal character '_' (words are joined by hyphens)`, "not tidied: one token"},
		{"us", `unit "us": "us" is not tidied (times are in ns, sizes in B or MB)`, "shown as 5k us"},
		{"p50-ms", `unit "p50-ms": "ms" is not tidied (times are in ns, sizes in B or MB)`, "the same after a hyphen"},
		{"µs/op", `unit "µs/op": illegal character 'µ' (words are joined by hyphens)`, "not ASCII"},
		{"Mb/s", `unit "Mb/s": "Mb" has a capital letter (only B and MB have)`, "megabits are not tidied, and look like MB"},
		{"MiB", `unit "MiB": "MiB" has a capital letter (only B and MB have)`, "binary factor"},
		{"Msg/s", `unit "Msg/s": "Msg" has a capital letter (only B and MB have)`, "a prefix, or a capital letter?"},
		{"msg/ns", `unit "msg/ns": "ns" is not tidied below the line`, "shown as it is"},
		{"keys/MB", `unit "keys/MB": "MB" is not tidied below the line`, "shown as it is"},
		{"B/", `unit "B/": a word is missing`, "divided by nothing"},
		{"/op", `unit "/op": a word is missing`, "nothing divided"},
		{"p50--ns", `unit "p50--ns": a word is missing`, "a hyphen too many"},
		{"B/op/s", `unit "B/op/s": illegal character '/' (words are joined by hyphens)`, "two ratios"},
	} {
		err := metric.CheckUnit(c.unit)
		if got := errorText(err); got != c.err {
			t.Errorf("CheckUnit(%q) = %s, want %s (%s)", c.unit, got, c.err, c.reason)
		}
	}
}

// errorText returns err's message, or nothing for nil.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
