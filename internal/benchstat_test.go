package internal_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checkTable checks that benchstat printed one table of times, in which there
// is a row for each name.
func checkTable(table string, names []string, procs int) []string {
	var rows, want, faults []string
	tables, inside := 0, false
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || fields[0] == "geomean":
			inside = false
		case inside:
			rows = append(rows, fields[0])
		case fields[0] == "│" && slices.Contains(fields, "sec/op"):
			inside = true
			tables++
		}
	}
	if tables != 1 {
		faults = append(faults, fmt.Sprintf("benchstat printed %d tables of sec/op, want 1", tables))
	}
	for _, name := range names {
		want = append(want, fmt.Sprintf("%s-%d", strings.TrimPrefix(name, "Benchmark"), procs))
	}
	slices.Sort(rows)
	slices.Sort(want)
	if diff := cmp.Diff(want, rows); diff != "" {
		faults = append(faults, fmt.Sprintf("rows of sec/op mismatch (-want +got):\n%s", diff))
	}
	return faults
}

// TestCheckTable looks for rows in tables that benchstat could print.
func TestCheckTable(t *testing.T) {
	const (
		head  = "goos: linux\n            │   old.txt   │      new.txt       │\n            │   sec/op    │   sec/op   vs base │\n"
		rows  = "Keypair-2     34.88µ ± ∞ ¹   64.44µ ± ∞ ¹\nAdd/store=a-2 43.62µ ± ∞ ¹   33.15µ ± ∞ ¹\n"
		foot  = "geomean       39.01µ         46.22µ\n¹ need >= 6 samples for confidence interval\n\n"
		other = "            │ old.txt │ new.txt │\n            │ cpu-sec/op │ cpu-sec/op │\nElse-2  1 2\n"
	)
	for _, c := range []struct{ name, table, want string }{
		{"good", head + rows + foot + other, ""},
		{"nothing", "", "printed 0 tables of sec/op, want 1"},
		{"files that do not compare", head + rows + foot + head + rows, "printed 2 tables of sec/op, want 1"},
		{"a row is missing", head + strings.Replace(rows, "Keypair-2", "Add/store=a-2", 1) + foot, `Keypair-2`},
		{"a row is another's", head + strings.Replace(rows, "Keypair-2", "Keypair", 1) + foot, `Keypair-2`},
	} {
		faults := strings.Join(checkTable(c.table, []string{"BenchmarkKeypair", "BenchmarkAdd/store=a"}, 2), "\n")
		if c.want == "" && faults != "" || !strings.Contains(faults, c.want) {
			t.Errorf("%s: faults %q, want %q among them", c.name, faults, c.want)
		}
	}
}
