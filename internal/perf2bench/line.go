package main

import (
	"regexp"
	"strings"
)

// A kind is what a line is, to a reader of the tools' output.
type kind int

const (
	other    kind = iota // a shell's own, or anything else
	size                 // a run of all tools but one begins with it
	trips                // number of round trips
	count                // number of messages
	clear                // whether the sender writes zeros, as a changed inproc_thr prints it
	latency              // ends a run of remote_lat and inproc_lat
	rate                 // messages in a second
	megabits             // ends a run of local_thr, inproc_thr and proxy_thr
	workload             // a run of benchmark_radix_tree begins with it
	store                // the store that the next look-ups are in
	lookup               // ends the run of a store
	broken               // a line of these, but cut off or damaged
	failure              // what a tool prints when it fails
)

// patterns are the lines of the tools, as libzmq's perf/*.cpp print them. What
// begins with the label must match the pattern.
var patterns = []struct {
	kind    kind
	label   string
	pattern *regexp.Regexp
}{
	line(size, `message size:`, ` (INT) \[B\]`),
	line(trips, `roundtrip count:`, ` (INT)`),
	line(count, `message count:`, ` (INT)`),
	line(clear, `message clear:`, ` (0|1)`),
	line(latency, `average latency:`, ` (INT\.[0-9]{3}) \[us\]`),
	line(rate, `mean throughput:`, ` (INT) \[msg/s\]`),
	line(megabits, `mean throughput:`, ` (INT\.[0-9]{3}) \[Mb/s\]`),
	line(workload, `keys = `, `(INT), queries = (INT), key size = (INT)`),
	line(store, `[trie]`, ``),
	line(store, `[radix_tree]`, ``),
	line(lookup, `Average lookup time =`, ` (INT\.[0-9]) ns`),
}

// line makes an entry of patterns. INT is an integer as %d prints it; what is
// negative is an overflow, and no number.
func line(k kind, label, rest string) (entry struct {
	kind    kind
	label   string
	pattern *regexp.Regexp
}) {
	rest = strings.ReplaceAll(rest, "INT", "(?:0|[1-9][0-9]*)")
	entry.kind, entry.label = k, label
	entry.pattern = regexp.MustCompile("(?:^|[ \t])" + regexp.QuoteMeta(label) + rest + "$")
	return entry
}

// failures are what the tools, libzmq's assertions and the shell print when a
// tool fails.
var failures = regexp.MustCompile(`(^|[ \t])error in (zmq_\w+:|_beginthreadex$|WaitForSingleObject$|CloseHandle$|pthread_\w+:)` +
	`|(^|[ \t])message of incorrect size received$` +
	`|(^|[ \t])usage: (` + tools + `) <` +
	`|(^|[ \t])invalid response (value|length): expected 1, received ` +
	`| failed.*, errno = [0-9]+ \(` +
	`|Assertion .*failed` +
	`|\((\S*/)?src/\w+\.[ch]pp:[0-9]+\)$` +
	`|\b(Killed|Terminated|Aborted|Segmentation fault|Exit [0-9]+)\b.*\b(` + tools + `)\b`)

var (
	escape = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)
	job    = regexp.MustCompile(`^\[[0-9]+\][ +-]`)
)

// clean returns a line without what a terminal makes of it: carriage returns
// with what they overwrite, escape sequences, and blanks at its end.
func clean(text string) string {
	text = strings.TrimRight(text, "\r\n")
	text = text[strings.LastIndexByte(text, '\r')+1:]
	return strings.TrimRight(escape.ReplaceAllString(text, ""), " \t")
}

// classify returns the kind of a clean line and the numbers in it; of a store,
// the number is its label.
//
// A tool's line may follow a prompt, as it does when the tool runs in the
// background; but what the shell traces with set -x is never one. The last line
// of a file that does not end may be cut off within the label.
func classify(text string, last bool) (k kind, numbers []string) {
	switch {
	case strings.HasPrefix(text, "+"):
		return other, nil
	case failures.MatchString(text):
		return failure, nil
	}
	start := strings.TrimLeft(text, " \t")
	for _, p := range patterns {
		if m := p.pattern.FindStringSubmatch(text); m != nil {
			if p.kind == store {
				m = append(m, strings.Trim(p.label, "[]"))
			}
			return p.kind, m[1:]
		}
	}
	for _, p := range patterns {
		cut := last && start != "" || len(start) >= len("message s")
		if strings.HasPrefix(start, p.label) || cut && strings.HasPrefix(p.label, start) {
			return broken, nil
		}
	}
	return other, nil
}
