package metric

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// dimensions lists for every benchmark the keys of its name, in order. Names
// are an interface: files of different days are compared by them. A key in
// brackets may be missing.
var dimensions = map[string]string{
	"BenchmarkLatency":    "transport mech size layer",
	"BenchmarkPaced":      "transport size rate",
	"BenchmarkThroughput": "transport mech size layer",
	"BenchmarkPinned":     "fill size layer",
	"BenchmarkSenders":    "transport senders",
	"BenchmarkBurst":      "transport count start",
	"BenchmarkProxy":      "pattern size layer",
	"BenchmarkMatch":      "[topics] keys [hit] [batch] store [layer]",
	"BenchmarkAdd":        "[topics] keys [hit] [batch] store",
	"BenchmarkRemove":     "[topics] keys [hit] [batch] store",
	"BenchmarkFilter":     "keys hit",
	"BenchmarkHandshake":  "transport mech",
	"BenchmarkKeypair":    "",
}

// values lists what a key may be, in words, if it is one of a few.
var values = map[string][]string{
	"transport": {"inproc", "ipc", "tcp"},
	"mech":      {"null", "plain", "curve"},
	"store":     {"trie", "radix", "hash"},
	"fill":      {"none", "zero"},
	"pattern":   {"pubsub", "pushpull", "reqrep"},
	"start":     {"cold", "warm"},
	"layer":     {"zmq4", "batch", "libzmq", "kernel", "perf"},
}

// numeric lists the keys whose values are plain decimal integers, so that
// benchstat's @num sorts them.
var numeric = []string{"size", "rate", "senders", "count", "keys", "hit", "batch"}

var (
	plainInteger = regexp.MustCompile(`^(0|[1-9][0-9]*)$`)
	plainWord    = regexp.MustCompile(`^[a-z0-9._-]+$`)
	procsSuffix  = regexp.MustCompile(`-[0-9]+$`)
)

// Keys returns the keys of the name of a benchmark such as "BenchmarkLatency",
// in their order, with those that may be missing. ok is false if there is no
// such benchmark.
func Keys(function string) (keys []string, ok bool) {
	table, ok := dimensions[function]
	for _, key := range strings.Fields(table) {
		keys = append(keys, strings.Trim(key, "[]"))
	}
	return keys, ok
}

// CheckName returns an error that says why name is not the full name of a
// benchmark of this suite, such as
//
//	BenchmarkLatency/transport=tcp/mech=null/size=1/layer=zmq4
//
// or nil. The suffix -N that testing adds for GOMAXPROCS is no part of the
// name: the caller cuts it off.
//
// The parts after the function are key=value, with the keys of that function
// in their order, which puts layer and store innermost. A value is small
// letters, digits and ". _ -", so that it can hold no endpoint and needs no
// quotes in a filter; it never ends in a hyphen and digits, which is how a
// reader knows GOMAXPROCS. With inproc the mechanism is null, as libzmq
// ignores security there. A store has no layer, unless it is libzmq's own as
// its tool measures it: that is layer=perf.
func CheckName(name string) error {
	function, rest, hasParts := strings.Cut(name, "/")
	table, ok := dimensions[function]
	if !ok {
		return fmt.Errorf("name %q: there is no benchmark %q", name, function)
	}
	var parts []string
	if hasParts {
		parts = strings.Split(rest, "/")
	}
	set := map[string]string{}
	for _, part := range parts {
		key, value, ok := strings.Cut(part, "=")
		if !ok {
			return fmt.Errorf("name %q: part %q is not key=value", name, part)
		}
		if err := CheckValue(key, value); err != nil {
			return fmt.Errorf("name %q: %w", name, err)
		}
		set[key] = value
	}
	if err := checkKeys(strings.Fields(table), parts); err != nil {
		return fmt.Errorf("name %q: %w", name, err)
	}
	if err := checkCell(function, set); err != nil {
		return fmt.Errorf("name %q: %w", name, err)
	}
	return nil
}

// CheckValue returns an error if value is not one that key can have.
func CheckValue(key, value string) error {
	switch words := values[key]; {
	case procsSuffix.MatchString(value):
		return fmt.Errorf("%s=%s ends in a hyphen and digits, which is read as GOMAXPROCS", key, value)
	case !plainWord.MatchString(value):
		return fmt.Errorf("%s=%s: the value holds more than small letters, digits and . _ -, or nothing", key, value)
	case words != nil && !slices.Contains(words, value):
		return fmt.Errorf("%s=%s: want one of %s", key, value, strings.Join(words, ", "))
	case slices.Contains(numeric, key) && !plainInteger.MatchString(value):
		return fmt.Errorf("%s=%s: want a plain decimal integer", key, value)
	}
	return nil
}

// checkKeys returns an error unless the keys of parts are those of the table,
// in its order.
func checkKeys(table, parts []string) error {
	for _, want := range table {
		key, optional := strings.CutPrefix(want, "[")
		key = strings.TrimSuffix(key, "]")
		switch {
		case len(parts) > 0 && strings.HasPrefix(parts[0], key+"="):
			parts = parts[1:]
		case optional:
		case len(parts) > 0:
			return fmt.Errorf("%s where %s= should be (the keys are: %s)", parts[0], key, strings.Join(table, " "))
		default:
			return fmt.Errorf("%s= is missing", key)
		}
	}
	if len(parts) > 0 {
		return fmt.Errorf("%s is one part too many (the keys are: %s)", parts[0], strings.Join(table, " "))
	}
	return nil
}

// checkCell returns an error for combinations that no benchmark can measure.
func checkCell(function string, set map[string]string) error {
	if set["transport"] == "inproc" && set["mech"] != "" && set["mech"] != "null" {
		return errors.New("libzmq ignores security over inproc, so mech is null there")
	}
	if set["layer"] == "batch" && function != "BenchmarkThroughput" {
		return errors.New("layer=batch is for BenchmarkThroughput only")
	}
	if layer := set["layer"]; function == "BenchmarkMatch" && layer != "" && layer != "perf" {
		return fmt.Errorf("layer=%s: a store has no layer, or it is libzmq's own and has layer=perf", layer)
	}
	return nil
}
