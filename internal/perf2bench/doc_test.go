package main

import (
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDoc runs the examples of the documentation: each is the command with what it
// prints, and after "where FILE is" its input.
func TestDoc(t *testing.T) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	text := f.Doc.Text()
	t.Chdir(t.TempDir())
	for _, m := range regexp.MustCompile(`where (\S+) is\n\n((?:\t.*\n)+)`).FindAllStringSubmatch(text, -1) {
		if err := os.WriteFile(m[1], []byte(unindent(m[2])), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	examples := regexp.MustCompile(`(?m)^\t\$ perf2bench .*\n((?:\t.*\n)+)`).FindAllStringSubmatch(text, -1)
	if len(examples) != 2 {
		t.Errorf("the documentation has %d examples, want 2", len(examples))
	}
	for _, m := range examples {
		args, stdin, _ := commandLine(m[0])
		stdout, stderr := execute(t, args, stdin)
		if diff := cmp.Diff(unindent(m[1]), stdout); diff != "" || stderr != "" {
			t.Errorf("perf2bench %q printed %s on stderr; stdout mismatch (-want +got):\n%s", args, stderr, diff)
		}
	}
	if got := doc.Synopsis(text); !strings.HasPrefix(got, "Perf2bench turns ") {
		t.Errorf("the documentation begins with %q", got)
	}
}

// unindent takes the tab off the beginning of each line.
func unindent(text string) string { return regexp.MustCompile(`(?m)^\t`).ReplaceAllString(text, "") }
