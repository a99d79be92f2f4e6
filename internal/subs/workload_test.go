package subs_test

import (
	"crypto/sha256"
	"fmt"
	"math"
	"strings"
	"testing"

	"zmqbench/internal/subs"
)

// TestZ58Generator checks the value that the C++ standard requires of minstd_rand.
func TestZ58Generator(t *testing.T) {
	next, got := subs.NewMinstd(1), 0
	for range 10_000 {
		got = next()
	}
	if want := 399268537; got != want {
		t.Errorf("the 10000th number from seed 1 is %d, want %d", got, want)
	}
}

// TestZ58ToolWorkload compares with what the tool's own loops make with
// libstdc++ (g++ 12).
func TestZ58ToolWorkload(t *testing.T) {
	w := subs.RandomTopics(subs.ToolKeys, subs.ToolQueries)
	check := func(what string, got []byte, want string) {
		t.Helper()
		if string(got) != want {
			t.Errorf("%s is %q, want %q", what, got, want)
		}
	}
	check("key 0", w.Keys[0], "gtl8lf0wf8xelerxhv1s")
	check("key 1", w.Keys[1], "we6f7o5fvxnqu46b5reb")
	check("key 9999", w.Keys[9999], "xuc1u1kdbq1swyjdytqf")
	check("query 0", w.Hits[0], "y42szdagfpy6uazt5w29")
	check("query 1", w.Hits[1], "vo9to1nm05g8v1qma7w2")
	check("query 2", w.Hits[2], "10j5d3mvq5vlur0lkrah")
	check("query 999999", w.Hits[999_999], "7y3sfi0jyqg26umm5z39")
	check("the checksum over all queries", fmt.Appendf(nil, "%x", checksum(w.Hits)), "a0efec12d06dae4a7d43508655634405cc5fc13a461ecd68e4e1362877daf295")
}

// checksum returns the SHA-256 of messages, one after the other.
func checksum(messages [][]byte) []byte {
	h := sha256.New()
	for _, message := range messages {
		h.Write(message)
	}
	return h.Sum(nil)
}

// TestMix checks that half of the messages hit when half should.
func TestMix(t *testing.T) {
	w := subs.NumberTopics(100, 10_000)
	stored := plain{}
	for _, key := range w.Keys {
		stored.Add(key)
	}
	for _, percent := range []int{0, 50, 100} {
		messages, hit := w.Mix(percent)
		hits := 0
		for i, message := range messages {
			if got := stored.Match(message); got != hit[i] {
				t.Fatalf("Mix(%d): Match(%q) = %v, want %v", percent, message, got, hit[i])
			}
			if hit[i] {
				hits++
			}
		}
		if got, want := float64(hits)/float64(len(messages)), float64(percent)/100; math.Abs(got-want) > 0.02 {
			t.Errorf("Mix(%d): %.3f of the messages hit", percent, got)
		}
	}
}

// TestWorkloads checks that keys are distinct, that hits hit and that misses
// miss. The plain store looks at every key, so it answers only some.
func TestWorkloads(t *testing.T) {
	const queries = 100_000
	for name, w := range map[string]subs.Workload{
		"topics=random": subs.RandomTopics(subs.ToolKeys, queries),
		"topics=tree":   subs.TreeTopics(subs.ToolKeys, queries),
		"topics=number": subs.NumberTopics(subs.ToolKeys, queries),
		"topics=short":  subs.ShortTopics(5, queries),
		"topics=one":    subs.ShortTopics(1, queries),
	} {
		check := func(t *testing.T, s subs.Store, queries int) {
			for _, key := range w.Keys {
				if !s.Add(key) {
					t.Fatalf("Add(%q) = false, want true", key)
				}
			}
			for i := range queries {
				if !s.Match(w.Hits[i]) {
					t.Fatalf("Match(%q) = false, want true", w.Hits[i])
				}
				if s.Match(w.Misses[i]) {
					t.Fatalf("Match(%q) = true, want false", w.Misses[i])
				}
			}
		}
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, empty func() store) { check(t, empty(), queries) })
			t.Run("store=plain", func(t *testing.T) { check(t, plain{}, 100) })
		})
	}
}

// TestTreeTopics checks that topics have the lengths that TreeTopics promises,
// and that look-ups are topics with a payload.
func TestTreeTopics(t *testing.T) {
	w := subs.TreeTopics(subs.ToolKeys, 1000)
	stored, shortest, longest := plain{}, len(w.Keys[0]), 0
	for _, key := range w.Keys {
		stored.Add(key)
		shortest, longest = min(shortest, len(key)), max(longest, len(key))
	}
	if shortest != 13 || longest != 43 {
		t.Errorf("topics are %d to %d bytes long, want 13 to 43", shortest, longest)
	}
	for i, hit := range w.Hits {
		if topic := string(hit[:len(hit)-16]); stored[topic] == 0 {
			t.Errorf("hit %d is %q, want a key and 16 bytes", i, hit)
		}
	}
}

// TestWorkloadRefuses shows what a workload must not be asked for.
func TestWorkloadRefuses(t *testing.T) {
	for name, make := range map[string]func(){
		"no random topic":    func() { subs.RandomTopics(0, 1) },
		"a topic less":       func() { subs.TreeTopics(-1, 1) },
		"too many numbers":   func() { subs.NumberTopics(60_000_000, 1) },
		"six of five topics": func() { subs.ShortTopics(6, 1) },
	} {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.Contains(text, "ask for 1 to") {
					t.Errorf("%s: %s", name, text)
				}
			}()
			make()
		}()
	}
}
