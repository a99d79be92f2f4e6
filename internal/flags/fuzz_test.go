package flags_test

import (
	"strconv"
	"strings"
	"testing"
	"time"
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
