package flags_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"zmqbench/internal/flags"
)

// FuzzSizes holds -size to this: the sizes that are taken, written again with
// commas between them, are the very text.
func FuzzSizes(f *testing.F) {
	for _, text := range []string{"1,100,65536", "0", "2147483647", "2147483648", "1e3", "007", "1,,2", "1,1", " 1", "+1", "1_0", "0x1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := register(t, "-size="+text).Parse()
		if err != nil {
			return
		}
		var items []string
		for _, size := range got.Sizes {
			items = append(items, strconv.Itoa(size))
		}
		if again := strings.Join(items, ","); again != text {
			t.Errorf("%q is taken as %q", text, again)
		}
	})
}

// FuzzWait holds -wait to this: what is taken is in range and is what
// time.ParseDuration reads.
func FuzzWait(f *testing.F) {
	for _, text := range []string{"10s", "10", "1m30.5s", ".5s", "1.s", ".s", "1h1ns", "20000µs", "20000μs", "1.0000000001s", "-1s", "010s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := register(t, "-wait="+text).Parse()
		if err != nil {
			return
		}
		want, err := time.ParseDuration(text)
		if err != nil || got.Wait != want || want < 10*time.Millisecond || want > time.Hour {
			t.Errorf("%q is taken as %v, want %v, %v", text, got.Wait, want, err)
		}
	})
}

// FuzzNumbers holds the flags of one number, and of a version, to this: what is
// taken, written again, is the very text, and in range; what is not is an error
// of one line that names the flag.
func FuzzNumbers(f *testing.F) {
	for _, text := range []string{"0", "1", "64", "65", "1000", "2147483647", "2147483648", "00", "01", "-1", "+1", "1e3", "0x10", "1_0", "4.3.5", "4.3", "4..5", "4.3.05", "9223372036854775808", "１", "1\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, again := range map[string]func(flags.Flags) (string, bool){
			"hwm": func(f flags.Flags) (string, bool) { return strconv.Itoa(f.HWM), f.HWM >= 0 && f.HWM <= math.MaxInt32 },
			"iothreads": func(f flags.Flags) (string, bool) {
				return strconv.Itoa(f.IOThreads), f.IOThreads >= 1 && f.IOThreads <= 64
			},
			"libzmq": func(f flags.Flags) (string, bool) {
				var major, minor, patch int
				fmt.Sscanf(f.Libzmq, "%d.%d.%d", &major, &minor, &patch)
				return fmt.Sprintf("%d.%d.%d", major, minor, patch), true
			},
		} {
			got, err := register(t, "-"+name+"="+text).Parse()
			if err != nil {
				if line := err.Error(); !strings.HasPrefix(line, "-"+name+": ") || strings.Contains(line, "\n") {
					t.Errorf("-%s %q: error %q", name, text, line)
				}
				continue
			}
			if written, ok := again(got); written != text || !ok {
				t.Errorf("-%s %q is taken as %q", name, text, written)
			}
		}
	})
}
