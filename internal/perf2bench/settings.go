package main

import (
	"fmt"
	"slices"
	"strings"

	"zmqbench/internal/metric"
)

// Settings are what the user says of all runs.
type settings struct {
	function string            // "BenchmarkPinned", or empty
	keys     map[string]string // of names
	config   []metric.Setting  // configuration lines, in the order given
}

// printing lists for each kind of figure the benchmarks that it can be of.
var printing = map[kind][]string{
	latency:  {"BenchmarkLatency"},
	megabits: {"BenchmarkThroughput", "BenchmarkProxy", "BenchmarkPinned"},
	lookup:   {"BenchmarkMatch"},
}

var (
	// settable are the keys of names that the text may not say.
	settable = []string{"transport", "mech", "pattern", "fill"}

	// configKeys are those of the suite's own output that a user may want to
	// have in the converted one, as benchstat compares nothing across them.
	configKeys = []string{"libzmq", "goos", "goarch", "pkg", "cpu"}
)

// setName takes the flag -name.
func (s *settings) setName(name string) error {
	function := "Benchmark" + strings.TrimPrefix(name, "Benchmark")
	var known []string
	for _, k := range []kind{latency, megabits, lookup} {
		for _, f := range printing[k] {
			known = append(known, strings.TrimPrefix(f, "Benchmark"))
		}
	}
	if !slices.Contains(known, strings.TrimPrefix(function, "Benchmark")) {
		return fmt.Errorf("no tool measures that: want one of %s", strings.Join(known, ", "))
	}
	s.function = function
	return nil
}

// set takes one flag -set.
func (s *settings) set(text string) error {
	key, v, ok := strings.Cut(text, "=")
	_, twice := s.keys[key]
	switch {
	case !ok:
		return fmt.Errorf("want key=value")
	case twice || slices.ContainsFunc(s.config, func(c metric.Setting) bool { return c.Name == key }):
		return fmt.Errorf("%s is set twice", key)
	case slices.Contains(configKeys, key):
		if v == "" || v != strings.TrimSpace(v) || strings.ContainsAny(v, "\r\n") {
			return fmt.Errorf("%s: the value is empty, or has blanks around it or lines in it", key)
		}
		s.config = append(s.config, metric.Setting{Name: key, Value: v})
		return nil
	case !slices.Contains(settable, key):
		return fmt.Errorf("%s cannot be set (%s go into names, %s into configuration lines)",
			key, strings.Join(settable, ", "), strings.Join(configKeys, ", "))
	}
	if err := metric.CheckValue(key, v); err != nil {
		return err
	}
	s.keys[key] = v
	return nil
}
