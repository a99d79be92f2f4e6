package linkage_test

import (
	"debug/elf"
	"os"
	"runtime/debug"
	"testing"

	_ "github.com/google/go-cmp/cmp" // a module to look for

	"zmqbench/internal/linkage"
)

const zmq4 = "github.com/pebbe/zmq4"

func TestRecorded(t *testing.T) {
	record := func(replace *debug.Module) *debug.BuildInfo {
		return &debug.BuildInfo{Deps: []*debug.Module{
			{Path: "github.com/google/go-cmp", Version: "v0.7.0"},
			{Path: zmq4, Version: "v1.4.0", Replace: replace},
		}}
	}
	for _, c := range []struct {
		info         *debug.BuildInfo
		want, reason string
	}{
		{record(nil), "v1.4.0", "the usual case"},
		{record(&debug.Module{Path: "example.com/fork", Version: "v1.5.0"}), "v1.5.0", "replaced by a fork"},
		{record(&debug.Module{Path: "../zmq4"}), "../zmq4", "replaced by a directory, which has no version"},
		{&debug.BuildInfo{}, "", "the record of go test has no modules"},
	} {
		if got := linkage.Recorded(c.info, zmq4); got != c.want {
			t.Errorf("recorded = %q, want %q (%s)", got, c.want, c.reason)
		}
	}
}

func TestVersionIn(t *testing.T) {
	for _, c := range []struct{ source, want, reason string }{
		{"/root/go/pkg/mod/github.com/pebbe/zmq4@v1.4.0/zmq4.go", "v1.4.0", "the module cache"},
		{"github.com/pebbe/zmq4@v1.4.0/zmq4.go", "v1.4.0", "-trimpath"},
		{"/root/go/pkg/mod/github.com/pebbe/zmq4@v1.4.0/draft/x.go", "v1.4.0", "a package inside the module"},
		{"/x/vendor/github.com/pebbe/zmq4/zmq4.go", "", "vendored: no version in the path"},
		{"/root/go/pkg/mod/mygithub.com/pebbe/zmq4@v9/zmq4.go", "", "another module with a longer name"},
		{"/root/go/pkg/mod/github.com/pebbe/zmq4/v2@v2.0.0/zmq4.go", "", "another module, by its path"},
	} {
		if got := linkage.VersionIn(c.source, zmq4); got != c.want {
			t.Errorf("version in %q = %q, want %q (%s)", c.source, got, c.want, c.reason)
		}
	}
}

// This test is plain Go, so the binding is not in it; go-cmp is.
func TestCompiled(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	file, err := elf.Open(program)
	if err != nil {
		t.Skip("programs are not ELF files here: ", err)
	}
	file.Close()
	for module, want := range map[string]string{
		"github.com/google/go-cmp": "v0.7.0", // as in go.mod
		zmq4:                       "",
	} {
		if got := linkage.Compiled(program, module); got != want {
			t.Errorf("version of %s in this program = %q, want %q", module, got, want)
		}
	}
	if got := linkage.Compiled("/bin/sh", zmq4); got != "" {
		t.Errorf("version in /bin/sh = %q, want none", got)
	}
	if got := linkage.ZMQ4(); got != "unknown" {
		t.Errorf("ZMQ4() = %q, want unknown", got)
	}
}
