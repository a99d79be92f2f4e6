package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write what the command prints into the cases of testdata")

// TestCases runs the cases of testdata. A case begins with what it is about and
// ends that with the command:
//
//	$ perf2bench ARGUMENTS
//	$ perf2bench ARGUMENTS < FILE
//
// Its files are the input and, as stdout and stderr, what the command prints. The
// error that it returns is the last line of stderr, as main prints it.
func TestCases(t *testing.T) {
	cases, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatalf("there are no cases: %v", err)
	}
	for _, path := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { testCase(t, path) })
	}
}

func testCase(t *testing.T, path string) {
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	args, stdin, ok := commandLine(string(archive.Comment))
	if !ok {
		t.Fatalf("%s: the comment has no line that begins with $ perf2bench", path)
	}
	t.Chdir(t.TempDir())
	want, input := map[string]string{"stdout": "", "stderr": ""}, archive.Files[:0:0]
	for _, f := range archive.Files {
		if _, ok := want[f.Name]; ok {
			want[f.Name] = string(f.Data)
			continue
		}
		input = append(input, f)
		if err := os.WriteFile(f.Name, unescape(f.Data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	stdout, stderr := execute(t, args, stdin)
	if diff := cmp.Diff(want, map[string]string{"stdout": stdout, "stderr": stderr}); diff != "" && *update {
		archive.Files = append(input, txtar.File{Name: "stdout", Data: []byte(stdout)}, txtar.File{Name: "stderr", Data: []byte(stderr)})
		if err := os.WriteFile(path, txtar.Format(archive), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if diff != "" {
		t.Errorf("perf2bench %q mismatch (-want +got):\n%s", args, diff)
	}
	checkOutput(t, stdout)
}

// escaped is what a file of a case cannot hold well: escapes, \r, tabs, and the end of a line
// that is missing are written in it as ⟨ESC⟩, ⟨CR⟩, ⟨TAB⟩ and ⟨EOF⟩.
var escaped = strings.NewReplacer("⟨ESC⟩", "\x1b", "⟨CR⟩", "\r", "⟨TAB⟩", "\t", "⟨EOF⟩\n", "")

func unescape(data []byte) []byte { return []byte(escaped.Replace(string(data))) }

var commandRE = regexp.MustCompile(`(?m)^\t*\$ (?:go tool )?perf2bench ?([^<\n]*?)(?: < (\S+))?$`)

// commandLine returns the arguments and the file at standard input of the first
// command in text.
func commandLine(text string) (args []string, stdin string, ok bool) {
	m := commandRE.FindStringSubmatch(text)
	if m == nil {
		return nil, "", false
	}
	for _, arg := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(m[1], -1) {
		args = append(args, strings.Trim(arg, "'"))
	}
	return args, m[2], true
}

// execute runs the command as main does, and returns what it prints.
func execute(t *testing.T, args []string, stdin string) (stdout, stderr string) {
	t.Helper()
	var in []byte
	if stdin != "" {
		var err error
		if in, err = os.ReadFile(stdin); err != nil {
			t.Fatal(err)
		}
	}
	var out, faults bytes.Buffer
	if err := perf2bench(bytes.NewReader(in), &out, &faults, args); err != nil {
		fmt.Fprintln(&faults, "perf2bench:", err)
	}
	return out.String(), faults.String()
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
func (f failing) Read([]byte) (int, error)  { return 0, f.err }

// TestBroken: what cannot be written or read to its end is an error.
func TestBroken(t *testing.T) {
	broken := failing{errors.New("no space left")}
	run := "message size: 1 [B]\nroundtrip count: 1\naverage latency: 1.000 [us]\n"
	if err := perf2bench(strings.NewReader(run), broken, io.Discard, []string{"-set", "transport=tcp"}); !errors.Is(err, broken.err) {
		t.Errorf("perf2bench into a full disk = %v, want %v", err, broken.err)
	}
	var stdout, stderr bytes.Buffer
	err := perf2bench(io.MultiReader(strings.NewReader(run), broken), &stdout, &stderr, []string{"-set", "transport=tcp"})
	if err == nil || stderr.String() != "stdin:4: no space left\n" || !strings.Contains(stdout.String(), "2000 ns/op") {
		t.Errorf("perf2bench of a broken pipe = %v, %q, want an error and line 4", err, stderr.String())
	}
	stderr.Reset()
	err = perf2bench(strings.NewReader(run+strings.Repeat("x", maxLine+1)), io.Discard, &stderr, []string{"-set", "transport=tcp"})
	if want := "stdin:4: the line is longer than 1048576 bytes: what comes from here is not read\n"; err == nil || stderr.String() != want {
		t.Errorf("perf2bench of a long line = %v, %q, want an error and %q", err, stderr.String(), want)
	}
	if err := perf2bench(nil, io.Discard, io.Discard, []string{"no such file"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("perf2bench of no file = %v, want %v", err, os.ErrNotExist)
	}
}
