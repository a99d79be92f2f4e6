package flags_test

import (
	"bytes"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"zmqbench/internal/flags"
)

// defaults is what the flags are if none is given.
var defaults = flags.Flags{HWM: -1, IOThreads: 1, Wait: 10 * time.Second}

// register returns a set whose command line has been parsed, and which must
// not have printed anything.
func register(t *testing.T, args ...string) *flags.Set {
	t.Helper()
	var out bytes.Buffer
	fs := flag.NewFlagSet("zmqbench", flag.ContinueOnError)
	fs.SetOutput(&out)
	set := flags.Register(fs)
	if err := fs.Parse(args); err != nil || out.Len() > 0 {
		t.Fatalf("%q: %v, printed %q, want errors from Set.Parse only", args, err, &out)
	}
	return set
}

// wantRefused checks that args are an error of one line with want in it.
func wantRefused(t *testing.T, args []string, want, reason string) {
	t.Helper()
	got, err := register(t, args...).Parse()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%q: Parse() = %+v, %v, want one line with %q: %s", args, got, err, want, reason)
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		args   []string
		set    func(*flags.Flags)
		reason string
	}{
		{nil, func(f *flags.Flags) {}, "the defaults"},
		{[]string{"-size", "1,100,65536"}, func(f *flags.Flags) { f.Sizes = []int{1, 100, 65536} }, "the form of the README"},
		{[]string{"-size=0"}, func(f *flags.Flags) { f.Sizes = []int{0} }, "an empty message"},
		{[]string{"-size=2147483647"}, func(f *flags.Flags) { f.Sizes = []int{2147483647} }, "Z25: the largest message"},
		{[]string{"-size=100,1"}, func(f *flags.Flags) { f.Sizes = []int{100, 1} }, "the order is the user's"},
		{[]string{"-progress=/dev/tty"}, func(f *flags.Flags) { f.Progress = "/dev/tty" }, "a file that need not be there"},
		{[]string{"-hwm=0"}, func(f *flags.Flags) { f.HWM = 0 }, "no limit"},
		{[]string{"-hwm=2147483647"}, func(f *flags.Flags) { f.HWM = 2147483647 }, "highest"},
		{[]string{"-iothreads=64"}, func(f *flags.Flags) { f.IOThreads = 64 }, "highest"},
		{[]string{"-wait=10ms"}, func(f *flags.Flags) { f.Wait = 10 * time.Millisecond }, "shortest"},
		{[]string{"-wait=1h"}, func(f *flags.Flags) { f.Wait = time.Hour }, "longest"},
		{[]string{"-wait=1m30.5s"}, func(f *flags.Flags) { f.Wait = 90*time.Second + 500*time.Millisecond }, "two units"},
		{[]string{"-wait=1.000000001s"}, func(f *flags.Flags) { f.Wait = time.Second + 1 }, "to the nanosecond"},
		{[]string{"-wait=1.5000000000000s"}, func(f *flags.Flags) { f.Wait = 1500 * time.Millisecond }, "zeros round nothing"},
		{[]string{"-wait=.5s"}, func(f *flags.Flags) { f.Wait = 500 * time.Millisecond }, "as time.Duration reads it"},
		{[]string{"-wait=1.s"}, func(f *flags.Flags) { f.Wait = time.Second }, "as time.Duration reads it"},
		{[]string{"-wait=010s"}, func(f *flags.Flags) { f.Wait = 10 * time.Second }, "decimal, as time.Duration reads it"},
		{[]string{"-wait=20000µs"}, func(f *flags.Flags) { f.Wait = 20 * time.Millisecond }, "U+00B5"},
		{[]string{"-wait=20000μs"}, func(f *flags.Flags) { f.Wait = 20 * time.Millisecond }, "U+03BC"},
		{[]string{"-wait=0.1h"}, func(f *flags.Flags) { f.Wait = 6 * time.Minute }, "not exact in binary, exact in ns"},
		{[]string{"-libzmq=4.3.5"}, func(f *flags.Flags) { f.Libzmq = "4.3.5" }, "the plain case"},
		{[]string{"-libzmq=4.3.10"}, func(f *flags.Flags) { f.Libzmq = "4.3.10" }, "two digits"},
		{[]string{"--size", "1", "-hwm", "5"}, func(f *flags.Flags) { f.Sizes, f.HWM = []int{1}, 5 }, "two flags"},
		{[]string{"-size=1", "--"}, func(f *flags.Flags) { f.Sizes = []int{1} }, "the end of flags, with nothing behind"},
	} {
		want := defaults
		c.set(&want)
		got, err := register(t, c.args...).Parse()
		if err != nil {
			t.Errorf("%q: %v: %s", c.args, err, c.reason)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s (-want +got):\n%s", c.args, c.reason, diff)
		}
	}
}

// The rules that hold for the command line and not for one flag.
func TestParseRefused(t *testing.T) {
	for _, c := range []struct {
		args         []string
		want, reason string
	}{
		{[]string{"-size", "1", "100"}, `argument "100" does not belong to a flag [put commas between sizes, and packages before flags]`, "blank for comma"},
		{[]string{"-size", "1,", "100"}, `argument "100"`, "blank behind a comma"},
		{[]string{"-hwm", "5", "./...", "-size=x"}, `argument "./..."`, "package behind flags"},
		{[]string{"-hwm", "5", ""}, `argument ""`, "an unset variable in quotes"},
		{[]string{"-size=1", "-size=100"}, `-size: given 2 times, with "1" and "100" [give it once; there are commas between sizes]`, "package flag keeps the last"},
		{[]string{"-hwm=5", "-hwm=5"}, `-hwm: given 2 times, with "5" and "5"`, "the same value twice"},
		{[]string{"-wait=1s", "-wait=2s", "-wait=3s"}, `-wait: given 3 times`, "three times"},
		{[]string{"-wait=x", "-hwm=y"}, `-hwm: "y"`, "two wrong: the first by name"},
	} {
		wantRefused(t, c.args, c.want, c.reason)
	}
	if _, err := flags.Register(flag.NewFlagSet("", flag.ContinueOnError)).Parse(); err == nil {
		t.Error("Parse before the command line is parsed is taken")
	}
}

func TestChanged(t *testing.T) {
	type settings = []flags.Setting
	for _, c := range []struct {
		args   []string
		want   settings
		reason string
	}{
		{nil, nil, "nothing given"},
		{[]string{"-iothreads=1", "-wait=10s"}, nil, "defaults written out"},
		{[]string{"-hwm=1000"}, settings{{"hwm", "1000"}}, "the proxy's default is another one"},
		{[]string{"-wait=10000ms"}, nil, "a default in another form"},
		{[]string{"-wait=20000ms"}, settings{{"wait", "20000ms"}}, "the value as written"},
		{[]string{"-wait=1m", "-size=1,100", "-hwm=0"}, settings{{"hwm", "0"}, {"size", "1,100"}, {"wait", "1m"}}, "in the order of names"},
		{[]string{"-progress=x"}, nil, "would keep benchstat from comparing what is the same"},
		{[]string{"-libzmq=4.3.5"}, nil, "would hide the header's libzmq line, which is the version loaded"},
	} {
		set := register(t, c.args...)
		if _, err := set.Parse(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, set.Changed()); diff != "" {
			t.Errorf("%q: %s (-want +got):\n%s", c.args, c.reason, diff)
		}
	}
}

func TestSizesOr(t *testing.T) {
	var f flags.Flags
	if got := f.SizesOr(1, 100); !slices.Equal(got, []int{1, 100}) {
		t.Errorf("without -size: %v, want the defaults", got)
	}
	f.Sizes = []int{7, 0}
	got := f.SizesOr(1, 100)
	if !slices.Equal(got, []int{7, 0}) {
		t.Errorf("with -size: %v, want the user's", got)
	}
	got[0] = 8
	if f.Sizes[0] != 7 {
		t.Error("the result shares memory with the flags")
	}
}

// Every flag is listed once, in the order of names, and says its default and
// what its value is.
func TestUsage(t *testing.T) {
	var out bytes.Buffer
	fs := flag.NewFlagSet("zmqbench", flag.ContinueOnError)
	fs.SetOutput(&out)
	flags.Register(fs)
	var names []string
	fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	if diff := cmp.Diff(flags.Names(), names); diff != "" {
		t.Errorf("definitions are not in the order of names (-definitions +sorted):\n%s", diff)
	}
	fs.PrintDefaults()
	for _, want := range []string{"-hwm messages\n", "mostly libzmq's 1000)", "-iothreads threads\n", "(default 1)", "-libzmq version\n", "-pin CPUs\n", "-progress file\n", "-size bytes\n", "-wait duration\n", "(default 10s)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the usage is without %q:\n%s", want, &out)
		}
	}
}
