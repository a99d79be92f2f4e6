package internal_test

import (
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"zmqbench/internal/affinity"
	"zmqbench/internal/metric"
)

// tooFew are descriptors enough to load a program with, and too few for a
// ZeroMQ context. A refusal under this limit came before there was any socket.
const tooFew = 4

// TestFlagsRefused gives every flag wrong values. Each is refused with one line
// that has the flag and the value, and status 2; nothing else is printed, not
// the page of usage and not the header of a run, and no socket was opened.
func TestFlagsRefused(t *testing.T) {
	t.Parallel()
	if r := executeWith(t, tooFew, "-test.bench=."); r.status == 0 || !regexp.MustCompile("(?i)descriptors|open files").MatchString(r.output) {
		t.Fatalf("with %d descriptors and no wrong flag: status %d, output %q; want a failure for want of descriptors, "+
			"or the rest of this test does not see whether a socket was opened", tooFew, r.status, r.output)
	}
	for _, c := range []struct{ flag, value string }{
		{"size", "1e3"},        // would be 1000, or 1
		{"size", "0x10"},       // would be 16, or 0
		{"size", "010"},        // would be 8, or 10
		{"size", "1_000"},      // would be 1000
		{"size", "-1"},         // would be a huge one in C
		{"size", "+1"},         // would be 1
		{"size", "1k"},         // would be 1000, or 1024
		{"size", "1.5"},        // would be 1
		{"size", "2147483648"}, // would be -2147483648 in C
		{"size", "18446744073709551617"},
		{"size", "1,,2"},
		{"size", "1,"},
		{"size", "1, 2"},
		{"size", "1,2,1"}, // would be two benchmarks with one name
		{"size", ""},
		{"hwm", "x"},
		{"hwm", "-1"},
		{"hwm", "010"},
		{"hwm", "2147483648"},
		{"iothreads", "0"}, // would hang over tcp and ipc
		{"iothreads", "65"},
		{"iothreads", "1e1"},
		{"wait", "10"}, // of what?
		{"wait", "0s"},
		{"wait", "-1s"},
		{"wait", "1h1s"},
		{"wait", "forever"},
		{"pin", "0"}, // would be one CPU for all, or one role left free
		{"pin", "0,1,2"},
		{"pin", "0-1"},
		{"pin", "0,x"},
		{"pin", "0,1023"}, // is not there
		{"progress", ""},
		{"progress", "nowhere/at/all"},
		{"progress", "internal"}, // a directory
		{"progress", "/dev/stdout"},
		{"libzmq", "4.3"},
		{"libzmq", "4.3.5-1"},
		{"libzmq", ""},
	} {
		r := executeWith(t, tooFew, "-test.bench=.", fmt.Sprintf("-%s=%s", c.flag, c.value))
		for _, fault := range checkRefusal(r, "-"+c.flag+": ", c.value) {
			t.Errorf("-%s=%s: %s", c.flag, c.value, fault)
		}
	}
	r := executeWith(t, tooFew, "-test.bench=.", "-size=1", "100")
	for _, fault := range checkRefusal(r, "argument ", "100") {
		t.Errorf("-size=1 100: %s", fault)
	}
}

// checkRefusal checks that a run ended with one line about a wrong value, which
// begins so and says how to do it right.
func checkRefusal(r run, begin, value string) []string {
	var faults []string
	want := "^zmqbench: " + begin + ".*" + regexp.QuoteMeta(fmt.Sprintf("%q", value)) + `.* \[.*\]\n$`
	if r.status != 2 {
		faults = append(faults, fmt.Sprintf("status %d, want 2", r.status))
	}
	if !regexp.MustCompile(want).MatchString(r.output) {
		faults = append(faults, fmt.Sprintf("output %q, want one line like %s", r.output, want))
	}
	return faults
}

func TestCheckRefusal(t *testing.T) {
	const line = `zmqbench: -size: "1e3" is not a plain decimal integer [write digits only]` + "\n"
	for _, c := range []struct {
		name   string
		r      run
		faults int
	}{
		{"good", run{output: line, status: 2}, 0},
		{"as a failed test", run{output: line, status: 1}, 1},
		{"accepted", run{output: "PASS\n"}, 2},
		{"after the header", run{output: "libzmq: 4.3.5\n" + line, status: 2}, 1},
		{"with the usage", run{output: line + "Usage of suite.test:\n  -hwm messages\n", status: 2}, 1},
		{"another flag", run{output: strings.Replace(line, "-size", "-hwm", 1), status: 2}, 1},
		{"another value", run{output: strings.Replace(line, "1e3", "1000", 1), status: 2}, 1},
		{"no remedy", run{output: strings.Replace(line, " [write digits only]", "", 1), status: 2}, 1},
	} {
		if faults := checkRefusal(c.r, "-size: ", "1e3"); len(faults) != c.faults {
			t.Errorf("%s: faults %q, want %d", c.name, faults, c.faults)
		}
	}
}

// TestFlagUnknown: a flag that is misspelt is not a benchmark with defaults.
func TestFlagUnknown(t *testing.T) {
	t.Parallel()
	r := execute(t, "-test.bench=.", "-sizes=1")
	if want := "flag provided but not defined: -sizes\n"; r.status != 2 || !strings.HasPrefix(r.output, want) || strings.Contains(r.output, "libzmq: ") {
		t.Errorf("status %d, output %q; want 2, and that it begins with %q and has no header", r.status, r.output, want)
	}
}

// TestFlagSize: the sizes of -size are measured and no others, an empty
// message among them, and the run says that they were set.
func TestFlagSize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ size, benchtime string }{
		{"0", "1x"}, {"0", "1000x"}, {"1,100,65536", "1x"},
	} {
		t.Run(c.size+"/"+c.benchtime, func(t *testing.T) {
			t.Parallel()
			r := execute(t, "-test.bench=^Benchmark(Latency|Throughput|Proxy)$", "-test.benchtime="+c.benchtime, "-test.cpu=2",
				"-size="+c.size, "-wait=10000ms") // the default of -wait in other words is no setting
			out := checkOutput(t, r, 2, 1, metric.Setting{Name: "size", Value: c.size})
			sizes := map[string][]string{}
			for _, res := range out.results {
				before, after, _ := strings.Cut(res.name, "/size=")
				size, _, _ := strings.Cut(after, "/")
				sizes[before] = append(sizes[before], size)
			}
			for before, got := range sizes {
				got = slices.Compact(got) // the layers of one size stand side by side
				if diff := cmp.Diff(strings.Split(c.size, ","), got); diff != "" {
					t.Errorf("sizes of %s mismatch (-want +got):\n%s", before, diff)
				}
			}
			if got := out.functions(); !slices.Equal(got, []string{"BenchmarkLatency", "BenchmarkProxy", "BenchmarkThroughput"}) {
				t.Errorf("benchmarks that have results: %q, want the three that have sockets", got)
			}
		})
	}
}

// TestFlagSettings: every flag that is set away from its default is in the
// header, so that benchstat compares no such run with one that is without.
func TestFlagSettings(t *testing.T) {
	t.Parallel()
	args := []string{"-test.bench=Latency/transport=tcp", "-test.benchtime=1x", "-test.cpu=2", "-hwm=10", "-iothreads=2", "-size=8", "-wait=5s"}
	settings := []metric.Setting{{Name: "hwm", Value: "10"}, {Name: "iothreads", Value: "2"}}
	if cpus, err := affinity.Allowed(); err == nil {
		pin := fmt.Sprintf("%d,%d", cpus[0], cpus[0])
		args = append(args, "-pin="+pin)
		settings = append(settings, metric.Setting{Name: "pin", Value: pin})
	}
	settings = append(settings, metric.Setting{Name: "size", Value: "8"}, metric.Setting{Name: "wait", Value: "5s"})
	checkOutput(t, execute(t, args...), 2, 1, settings...)
}

// TestFlagSizeMemory: messages of the largest size pass as a value, but not in a
// stream that would hold thousands of them at once. Every transport refuses
// them before it takes the memory for one.
func TestFlagSizeMemory(t *testing.T) {
	t.Parallel()
	r := execute(t, "-test.bench=^BenchmarkThroughput$", "-size=2147483647")
	refusal := regexp.MustCompile(`-size: "2147483647" with -hwm 1000: .* GiB, more than the limit of 4 GiB \[use a smaller -size.*\]`)
	if got := len(refusal.FindAllString(r.output, -1)); r.status != 1 || got != 12+2 || strings.Contains(r.output, "\nBenchmark") {
		t.Errorf("status %d and %d refusals, want 1, one for each transport and layer and two with CURVE, and no result:\n%s", r.status, got, r.output)
	}
	usage, ok := r.state.SysUsage().(*syscall.Rusage)
	if !ok || runtime.GOOS != "linux" {
		return // the unit of Maxrss is another
	}
	if most := usage.Maxrss << 10; most > 1<<30 {
		t.Errorf("the run took %d bytes of memory, half of a message or more", most)
	}
}
