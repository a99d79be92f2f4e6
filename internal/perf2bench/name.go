package main

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"zmqbench/internal/metric"
)

// Evidence is what is known of a run whose figures are to be named.
type evidence struct {
	kind     kind              // of the figures: latency, megabits or lookup
	function string            // that the tool is, or empty if the text is that of several
	tool     string            // that the function comes from, for messages
	said     map[string]string // keys of the name, from the text and the command line
	assumed  map[string]string // keys of the name, unless the user sets them
}

// files are the files of generate_csv.sh, without their ending: it names them
// after what it runs, and turns no CURVE on.
var files = map[string]evidence{
	"pushpull_tcp_thr_results":       {megabits, "BenchmarkThroughput", "local_thr", nil, map[string]string{"transport": "tcp", "mech": "null"}},
	"pushpull_inproc_thr_results":    {megabits, "BenchmarkThroughput", "inproc_thr", nil, map[string]string{"transport": "inproc", "mech": "null"}},
	"pubsubproxy_inproc_thr_results": {megabits, "BenchmarkProxy", "proxy_thr", nil, map[string]string{}},
	"reqrep_tcp_lat_results":         {latency, "BenchmarkLatency", "remote_lat", nil, map[string]string{"transport": "tcp", "mech": "null"}},
}

// toolFunctions are the benchmarks that a tool can be; inproc_thr is that of the
// pinned one, too, if the user says so.
var toolFunctions = map[string][]string{
	"remote_lat": {"BenchmarkLatency"},
	"inproc_lat": {"BenchmarkLatency"},
	"local_thr":  {"BenchmarkThroughput"},
	"inproc_thr": {"BenchmarkThroughput", "BenchmarkPinned"},
	"proxy_thr":  {"BenchmarkProxy"},
}

// gather returns what is known of figures of a kind, in a file of that name,
// that command printed, or nil.
func gather(k kind, file string, c *command) evidence {
	e := evidence{kind: k, said: map[string]string{}, assumed: map[string]string{}}
	base := path.Base(strings.ReplaceAll(file, `\`, "/"))
	if f, ok := files[strings.TrimSuffix(base, path.Ext(base))]; ok && f.kind == k {
		e.function, e.tool, e.assumed = f.function, f.tool, f.assumed
	}
	if c == nil {
		return e
	}
	e.function, e.tool, e.assumed = toolFunctions[c.tool][0], c.tool, map[string]string{}
	for key, v := range map[string]string{"transport": c.transport, "mech": c.mech} {
		if v != "" && key == "mech" && c.tool != "local_thr" {
			e.assumed[key] = v // the tool has no CURVE; a changed one may have
		} else if v != "" {
			e.said[key] = v
		}
	}
	return e
}

// name returns the name of the benchmark that the evidence is of, with what the
// user set.
func (s settings) name(e evidence) (string, error) {
	function, err := s.choose(e)
	if err != nil {
		return "", err
	}
	keys, _ := metric.Keys(function)
	name := function
	for _, key := range keys {
		v, err := s.value(function, key, e)
		if err != nil {
			return "", err
		}
		if v != "" {
			name += "/" + key + "=" + v
		}
	}
	return name, metric.CheckName(name)
}

// choose returns the benchmark: what the user named, what the tool is, or the
// only one that has the keys that the user set.
func (s settings) choose(e evidence) (string, error) {
	possible := printing[e.kind]
	if e.tool != "" {
		possible = toolFunctions[e.tool]
	}
	switch {
	case s.function != "" && !slices.Contains(possible, s.function):
		return "", fmt.Errorf("-name %s, but these are figures of %s",
			strings.TrimPrefix(s.function, "Benchmark"), orOf(e.tool, possible))
	case s.function != "":
		return s.function, nil
	case e.function != "":
		return e.function, nil
	case len(possible) == 1:
		return possible[0], nil
	}
	var chosen []string
	for _, function := range possible {
		keys, _ := metric.Keys(function)
		if slices.ContainsFunc(keys, func(key string) bool { return s.keys[key] != "" }) {
			chosen = append(chosen, function)
		}
	}
	if len(chosen) != 1 {
		return "", errors.New("local_thr, inproc_thr and proxy_thr print the same text: say which it was " +
			"(add -set transport=tcp, ipc or inproc for the first two, -name Proxy for the third, or the command line to the text)")
	}
	return chosen[0], nil
}

// orOf returns the tool, or what could have printed the figures.
func orOf(tool string, possible []string) string {
	if tool != "" {
		return tool
	}
	return strings.TrimPrefix(strings.Join(possible, " or "), "Benchmark")
}

// value returns the value of a key of the name. It is an error if it is not
// known, or if the user contradicts the log.
func (s settings) value(function, key string, e evidence) (string, error) {
	if key == "layer" {
		return "perf", nil
	}
	said, set, assumed := e.said[key], s.keys[key], e.assumed[key]
	switch {
	case said != "" && set != "" && said != set:
		return "", fmt.Errorf("-set %s=%s, but the text says %s", key, set, said)
	case said != "":
		return said, nil
	case set != "":
		return set, nil
	case assumed != "":
		return assumed, nil
	case key == "batch":
		return "", nil // only the suite has it
	case key == "pattern":
		return "pubsub", nil // proxy_thr has no other
	case key == "mech" && (function == "BenchmarkLatency" || e.said["transport"]+s.keys["transport"] == "inproc"):
		return "null", nil // remote_lat has no CURVE, and inproc no security
	case key == "mech":
		return "", errors.New("the text does not say whether local_thr's fourth argument turned CURVE on (add -set mech=null, or -set mech=curve)")
	case key == "transport":
		return "", errors.New("the text does not say the transport (add -set transport=tcp, ipc or inproc, or the command line to the text)")
	}
	return "", fmt.Errorf("the text does not say the %s (add -set %s=…)", key, key)
}
