package linkage_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"zmqbench/internal/linkage"
)

func TestMachine(t *testing.T) {
	var keys []string
	for _, line := range linkage.Machine() {
		t.Log(line)
		key, value, ok := strings.Cut(line, ": ")
		if !ok || value == "" || strings.Contains(line, "\n") {
			t.Errorf("line %q, want key: value", line)
		}
		keys = append(keys, key)
	}
	want := []string{"go", "kernel", "cpus", "gomaxprocs", "governor", "load"}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Errorf("keys mismatch (-want +got):\n%s", diff)
	}
	if got, want := linkage.Machine()[0], runtime.Version(); !strings.Contains(got, want) {
		t.Errorf("first line = %q, want %s in it", got, want)
	}
}

func TestModel(t *testing.T) {
	for _, c := range []struct{ cpuinfo, want string }{
		{"processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD EPYC 9R14\n\nprocessor\t: 1\n", "AMD EPYC 9R14"},
		{"processor\t: 0\nBogoMIPS\t: 2100.00\n", "unknown"}, // arm64
		{"", "unknown"},
	} {
		if got := linkage.Model(c.cpuinfo); got != c.want {
			t.Errorf("Model(%q) = %q, want %q", c.cpuinfo, got, c.want)
		}
	}
}

func TestLoad(t *testing.T) {
	for loadavg, want := range map[string]string{
		"0.20 0.18 0.12 1/80 11206\n": "0.20 0.18 0.12",
		"":                            "unknown",
	} {
		if got := linkage.Load(loadavg); got != want {
			t.Errorf("Load(%q) = %q, want %q", loadavg, got, want)
		}
	}
}

func TestGovernor(t *testing.T) {
	for _, c := range []struct {
		cpus []string
		want string
	}{
		{nil, "unknown"},
		{[]string{"powersave", "powersave"}, "powersave"},
		{[]string{"powersave", "performance", "powersave"}, "performance, powersave"},
	} {
		dir := t.TempDir()
		for i, governor := range c.cpus {
			name := filepath.Join(dir, fmt.Sprintf("cpu%d", i), "cpufreq", "scaling_governor")
			place(t, name)
			if err := os.WriteFile(name, []byte(governor+"\n"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got := linkage.Governor(dir); got != c.want {
			t.Errorf("governor of %q = %q, want %q", c.cpus, got, c.want)
		}
	}
}
