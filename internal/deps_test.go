package internal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	module = "zmqbench"
	zmq4   = "github.com/pebbe/zmq4"
	xperf  = "golang.org/x/perf"

	// foreign stands for every package that is not in the standard library.
	foreign = "what is not in the standard library"
)

// commands are filters on the Go benchmark format.
var commands = []string{"internal/perf2bench", "internal/gate", "internal/interleave", "internal/report"}

// plain are the packages that are plain Go. The tests in internal/ itself are
// such a package.
var plain = append([]string{
	"internal",
	"internal/affinity",
	"internal/endpoint",
	"internal/flags",
	"internal/latency",
	"internal/linkage",
	"internal/metric",
	"internal/payload",
	"internal/progress",
	"internal/subs",
	"internal/z85",
}, commands...)

// measuring are the packages that only a benchmark needs.
var measuring = []string{
	"internal/cloop", "internal/endpoint", "internal/flags", "internal/linkage", "internal/payload", "internal/session", "internal/subs", "internal/z85",
}

// A rule says what packages never import, directly or through others.
type rule struct {
	of    []string // packages, as paths in the module; "." is the root
	never []string // import paths, each with what is below it, or foreign
	tests bool     // it holds for the imports of their tests, too
	why   string
}

// rules are the architecture: imports point inwards, never sideways. A package
// that is in none is an error, and one that does not exist is not.
var rules = []rule{
	{plain, []string{"C", zmq4}, true, "plain Go builds and passes its tests with CGO_ENABLED=0, where libzmq is not installed"},
	{plain, []string{"testing"}, false, "what reads or explains results runs outside of go test, and must not have its flags"},
	{[]string{"internal/metric"}, []string{foreign}, false, "everything else may import it: what a unit is must not depend on anything"},
	{[]string{"internal/cloop"}, []string{zmq4}, true, "it is the baseline without the binding"},
	{[]string{"internal/session"}, []string{"zmqbench/internal/cloop", "zmqbench/internal/latency", xperf}, false, "it knows nothing of what is measured in it"},
	{commands, inModule(measuring), false, "commands work on text, and run no benchmark"},
	{commands, inModule(commands), false, "commands share the format that they read and write, and nothing else"},
	{[]string{"."}, inModule(commands), true, "the benchmarks know nothing of what is done with their output"},
}

// inModule returns the import paths of paths in the module.
func inModule(paths []string) []string {
	var full []string
	for _, path := range paths {
		full = append(full, module+"/"+path)
	}
	return full
}

// A node is a package as go list knows it.
type node struct {
	ImportPath                         string
	Standard                           bool
	Imports, TestImports, XTestImports []string
}

// TestImports holds the module against the rules. Cgo is on for the listing
// whatever it is for the test, since without it go list leaves out packages
// that have rules; nothing is compiled.
func TestImports(t *testing.T) {
	cmd := inRoot(t.Context(), "go", "list", "-deps", "-test", "-json=ImportPath,Standard,Imports,TestImports,XTestImports", "./...")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, stderr(err))
	}
	graph := map[string]node{}
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var n node
		if err := dec.Decode(&n); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%v: %v", cmd, err)
		}
		if !strings.Contains(n.ImportPath, " [") { // a variant compiled for a test
			graph[n.ImportPath] = n
		}
	}
	for _, of := range []string{module, module + "/internal/session", zmq4, xperf + "/benchfmt"} {
		if _, ok := graph[of]; !ok {
			t.Errorf("go list shows no %s: the rules are held against too little", of)
		}
	}
	for _, fault := range checkImports(graph) {
		t.Error(fault)
	}
}

// checkImports returns a fault for every import that breaks a rule, with the
// way it came, and for every package of the module without a rule.
func checkImports(graph map[string]node) []string {
	var faults []string
	for _, n := range slices.SortedFunc(maps.Values(graph), func(a, b node) int { return strings.Compare(a.ImportPath, b.ImportPath) }) {
		path, ok := inside(n.ImportPath)
		if !ok {
			continue
		}
		ruled := false
		for _, r := range rules {
			if slices.Contains(r.of, path) {
				ruled = true
				faults = append(faults, r.check(graph, n)...)
			}
		}
		if !ruled {
			faults = append(faults, fmt.Sprintf("%s has no rule: say in deps_test.go what it never imports, and why", path))
		}
	}
	return faults
}

// inside returns the path in the module of a package that is in it.
func inside(importPath string) (path string, ok bool) {
	if importPath == module {
		return ".", true
	}
	path, ok = strings.CutPrefix(importPath, module+"/")
	return path, ok && !strings.HasSuffix(path, ".test")
}

// check returns a fault for every package that n must not import and does. It
// does not look at what the standard library imports, as only that knows C
// and testing for reasons of its own.
func (r rule) check(graph map[string]node, n node) []string {
	var faults []string
	seen := map[string]bool{}
	var visit func(way, imports []string)
	visit = func(way, imports []string) {
		for _, path := range imports {
			if seen[path] || path == n.ImportPath {
				continue
			}
			seen[path] = true
			next := graph[path]
			way := append(slices.Clip(way), path)
			if r.forbids(path, next) {
				faults = append(faults, fmt.Sprintf("%s: %s", strings.Join(way, " imports "), r.why))
			} else if !next.Standard {
				visit(way, next.Imports)
			}
		}
	}
	visit([]string{n.ImportPath}, n.Imports)
	if r.tests {
		visit([]string{"a test of " + n.ImportPath}, slices.Concat(n.TestImports, n.XTestImports))
	}
	return faults
}

// forbids reports whether the rule forbids path, which n is.
func (r rule) forbids(path string, n node) bool {
	for _, never := range r.never {
		if path == never || strings.HasPrefix(path, never+"/") || never == foreign && !n.Standard {
			return true
		}
	}
	return false
}

// TestImportsOfOthers holds made-up modules against the rules.
func TestImportsOfOthers(t *testing.T) {
	std := func(path string) node {
		return node{ImportPath: path, Standard: true, Imports: []string{"C", "testing"}}
	}
	for _, c := range []struct {
		name  string
		nodes []node
		want  []string
	}{
		{"the standard library may do what it does", []node{
			{ImportPath: "zmqbench/internal/metric", Imports: []string{"net"}, XTestImports: []string{"testing", xperf}}, std("net"), std("testing"),
		}, nil},
		{"a new package", []node{
			{ImportPath: "zmqbench/internal/util"}, {ImportPath: "zmqbench/internal/util.test"}, {ImportPath: "example.com/internal/util"},
		}, []string{"internal/util has no rule: say in deps_test.go what it never imports, and why"}},
		{"C, where it is not seen at first", []node{
			{ImportPath: "zmqbench/internal/subs", Imports: []string{"example.com/fast"}}, {ImportPath: "example.com/fast", Imports: []string{"C"}},
		}, []string{"zmqbench/internal/subs imports example.com/fast imports C: " + rules[0].why}},
		{"the binding, in a test", []node{
			{ImportPath: "zmqbench/internal/z85", XTestImports: []string{"testing", zmq4}}, {ImportPath: zmq4, Imports: []string{"C"}}, std("testing"),
		}, []string{"a test of zmqbench/internal/z85 imports github.com/pebbe/zmq4: " + rules[0].why}},
		{"testing, and below it", []node{
			{ImportPath: "zmqbench/internal/gate", Imports: []string{"testing", "testing/fstest"}}, std("testing"), std("testing/fstest"),
		}, []string{"zmqbench/internal/gate imports testing: " + rules[1].why, "zmqbench/internal/gate imports testing/fstest: " + rules[1].why}},
		{"metric, something else of the module", []node{
			{ImportPath: "zmqbench/internal/metric", Imports: []string{"zmqbench/internal/subs"}}, {ImportPath: "zmqbench/internal/subs"},
		}, []string{"zmqbench/internal/metric imports zmqbench/internal/subs: " + rules[2].why}},
		{"cloop, the binding", []node{
			{ImportPath: "zmqbench/internal/cloop", Imports: []string{"C"}, TestImports: []string{zmq4}}, {ImportPath: zmq4},
		}, []string{"a test of zmqbench/internal/cloop imports github.com/pebbe/zmq4: " + rules[3].why}},
		{"session, a thing below x/perf", []node{
			{ImportPath: "zmqbench/internal/session", Imports: []string{zmq4, "golang.org/x/perf/benchunit"}}, {ImportPath: zmq4}, {ImportPath: "golang.org/x/perf/benchunit"},
		}, []string{"zmqbench/internal/session imports golang.org/x/perf/benchunit: " + rules[4].why}},
		{"a command, an endpoint", []node{
			{ImportPath: "zmqbench/internal/perf2bench", Imports: []string{"zmqbench/internal/endpoint"}}, {ImportPath: "zmqbench/internal/endpoint"},
		}, []string{"zmqbench/internal/perf2bench imports zmqbench/internal/endpoint: " + rules[5].why}},
		{"a command, a command", []node{
			{ImportPath: "zmqbench/internal/gate", Imports: []string{"zmqbench/internal/perf2bench"}}, {ImportPath: "zmqbench/internal/perf2bench"},
		}, []string{"zmqbench/internal/gate imports zmqbench/internal/perf2bench: " + rules[6].why}},
		{"the root, a command", []node{
			{ImportPath: "zmqbench", TestImports: []string{"zmqbench/internal/report"}}, {ImportPath: "zmqbench/internal/report"},
		}, []string{"a test of zmqbench imports zmqbench/internal/report: " + rules[7].why}},
	} {
		graph := map[string]node{}
		for _, n := range c.nodes {
			graph[n.ImportPath] = n
		}
		if diff := cmp.Diff(c.want, checkImports(graph)); diff != "" {
			t.Errorf("%s: checkImports() mismatch (-want +got):\n%s", c.name, diff)
		}
	}
}

// stderr is what a command that failed with err printed there.
func stderr(err error) string {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(exit.Stderr)
	}
	return ""
}
