package internal_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWithoutCgo: with CGO_ENABLED=0, or no C compiler, the packages in plain Go
// build, and build constraints leave out the others (Z87).
func TestWithoutCgo(t *testing.T) {
	t.Parallel()
	without := func(args ...string) []byte {
		cmd := inRoot(t.Context(), "go", args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("CGO_ENABLED=0 %v: %v\n%s", cmd, err, stderr(err))
		}
		return out
	}
	without("vet", "./...")

	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"zmqbench/internal"}
	for _, e := range entries {
		// peers is a module of its own.
		if e.IsDir() && e.Name() != "session" && e.Name() != "cloop" && e.Name() != "peers" {
			want = append(want, "zmqbench/internal/"+e.Name())
		}
	}
	if diff := cmp.Diff(want, strings.Fields(string(without("list", "./...")))); diff != "" {
		t.Errorf("packages without cgo mismatch (-want +got):\n%s", diff)
	}
}

// notFound is what implementations of pkg-config say of a package that they do
// not know.
var notFound = regexp.MustCompile(`(?m)^.*(libzmq was not found|No package 'libzmq' found).*$`)

// TestWithoutLibzmq builds the binding where pkg-config has no libzmq. That is
// the first error people meet, and the README has it in the words in which it
// comes, with what to install (Z87).
func TestWithoutLibzmq(t *testing.T) {
	t.Parallel()
	suite(t) // all else that it takes to build the binding is here
	empty := t.TempDir()
	// A failure is never cached, so the option, which changes nothing, keeps the
	// go command from finding the package built.
	cmd := inRoot(t.Context(), "go", "build", "-gcflags=-D=uncached", "-o", filepath.Join(empty, "out"), zmq4)
	cmd.Env = append(os.Environ(), "PKG_CONFIG_PATH="+empty, "PKG_CONFIG_LIBDIR="+empty)
	out, err := cmd.CombinedOutput()
	if _, ok := errors.AsType[*exec.ExitError](err); !ok {
		t.Fatalf("%v: %v, want it to fail\n%s", cmd, err, out)
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range checkHelp(string(out), string(readme)) {
		t.Error(fault)
	}
}

// checkHelp checks that a reader of the README who looks for what a failed
// build said finds it, and what to do.
func checkHelp(build, readme string) []string {
	var faults []string
	line := notFound.FindString(build)
	if line == "" {
		faults = append(faults, "the build does not say that libzmq was not found: "+build)
	}
	for _, want := range []string{line, "libzmq.pc", "libzmq3-dev", "PKG_CONFIG_PATH"} {
		if !strings.Contains(readme, want) {
			faults = append(faults, "README.md has no "+want)
		}
	}
	return faults
}

func TestCheckHelp(t *testing.T) {
	const build = "# [pkg-config --cflags  -- libzmq]\nPackage libzmq was not found in the pkg-config search path.\n"
	const readme = "Package libzmq was not found in the pkg-config search path.\nIt means libzmq.pc: install libzmq3-dev or set PKG_CONFIG_PATH."
	for _, c := range []struct {
		name, build, readme string
		want                []string
	}{
		{"good", build, readme, nil},
		{"another error", "no space left on device", readme, []string{"the build does not say that libzmq was not found: no space left on device"}},
		{"other words", build, strings.Replace(readme, "was not found", "is missing", 1),
			[]string{"README.md has no Package libzmq was not found in the pkg-config search path."}},
		{"no remedy", build, strings.Replace(readme, "libzmq3-dev", "it", 1), []string{"README.md has no libzmq3-dev"}},
	} {
		if diff := cmp.Diff(c.want, checkHelp(c.build, c.readme)); diff != "" {
			t.Errorf("%s: checkHelp() mismatch (-want +got):\n%s", c.name, diff)
		}
	}
}
