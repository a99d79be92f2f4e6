package flags_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"zmqbench/internal/affinity"
	"zmqbench/internal/flags"
)

// TestPin: -pin takes two CPUs of those that are allowed, and no others.
func TestPin(t *testing.T) {
	allowed, err := affinity.Allowed()
	if errors.Is(err, errors.ErrUnsupported) {
		wantRefused(t, []string{"-pin=0,1"}, `-pin: "0,1": threads can be pinned on Linux only [leave it out]`, runtime.GOOS)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	first, last := allowed[0], allowed[len(allowed)-1]
	for _, cpus := range [][2]int{{first, first}, {first, last}, {last, first}} {
		want := defaults
		want.Pin = &cpus
		text := fmt.Sprintf("%d,%d", cpus[0], cpus[1])
		set := register(t, "-pin="+text)
		got, err := set.Parse()
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("-pin=%s: %v (-want +got):\n%s", text, err, diff)
		}
		if diff := cmp.Diff([]flags.Setting{{Name: "pin", Value: text}}, set.Changed()); diff != "" {
			t.Errorf("-pin=%s is a setting of the run (-want +got):\n%s", text, diff)
		}
	}
	for cpu := range affinity.Limit {
		if !slices.Contains(allowed, cpu) {
			text := fmt.Sprintf("%d,%d", first, cpu)
			wantRefused(t, []string{"-pin=" + text}, fmt.Sprintf("-pin: %q: CPU %d is not among those that this process may use, %s [choose of these",
				text, cpu, affinity.Text(allowed)), "not allowed")
			break
		}
	}
	const two, plain = "is not two CPUs [write that of the role under the clock", "is not a plain decimal integer from 0 to 1023 "
	one := fmt.Sprint(first)
	for _, c := range []struct{ text, want, reason string }{
		{"", two, "an unset variable of a script"},
		{one, two, "the peer's is missing"},
		{one + "," + one + "," + one, two, "one too many"},
		{one + "-" + one, two, "a range"},
		{one + ";" + one, two, "another separator"},
		{one + ",", `"" ` + plain, "empty item behind"},
		{"," + one, `"" ` + plain, "empty item in front"},
		{one + ", " + one, plain, "blank behind the comma"},
		{one + ",x", `"x" ` + plain, "no number"},
		{one + ",-1", `"-1" ` + plain, "sign"},
		{one + ",01", `"01" ` + plain, "leading zero"},
		{one + ",0x1", `"0x1" ` + plain, "hexadecimal"},
		{one + ",1024", `"1024" is above the limit of 1023`, "more than a set of CPUs holds"},
		{one + ",99999999999999999999", "is above the limit of 1023", "longer than any integer"},
	} {
		wantRefused(t, []string{"-pin=" + c.text}, c.want, c.reason)
		wantRefused(t, []string{"-pin=" + c.text}, "-pin: ", "has the flag's name")
		wantRefused(t, []string{"-pin=" + c.text}, fmt.Sprintf("%q", c.text), "has the value")
	}
}
