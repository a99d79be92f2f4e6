package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// FuzzConvert: whatever the input, all that is printed is of the format, with names
// and units of the suite and finite values; and if anything is not as it should
// be, the command says where, and fails.
func FuzzConvert(f *testing.F) {
	cases, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(cases) == 0 {
		f.Fatalf("there are no cases: %v", err)
	}
	for _, path := range cases {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			f.Add(unescape(file.Data), byte(len(file.Data)))
		}
	}
	flags := [][]string{
		nil,
		{"-set", "transport=tcp", "-set", "mech=null"},
		{"-set", "transport=inproc", "-set", "libzmq=4.3.5"},
		{"-name", "Proxy"},
		{"-name", "Pinned", "-set", "fill=zero"},
	}
	f.Fuzz(func(t *testing.T, input []byte, which byte) {
		var stdout, stderr bytes.Buffer
		err := perf2bench(bytes.NewReader(input), &stdout, &stderr, flags[int(which)%len(flags)])
		results := checkOutput(t, stdout.String())
		if ok := results > 0 && stderr.Len() == 0; ok != (err == nil) {
			t.Errorf("perf2bench = %v with %d results and faults:\n%s", err, results, &stderr)
		}
		for line := range strings.Lines(stderr.String()) {
			if !strings.HasPrefix(line, "stdin:") {
				t.Errorf("a fault without file and line: %q", line)
			}
		}
	})
}
