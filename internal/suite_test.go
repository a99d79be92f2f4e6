// Package internal_test runs the benchmark suite from outside, as a user does,
// and checks what it prints, what it refuses and how it ends. The rules of what
// imports what are here too.
//
// Nothing here needs C: where the suite cannot be built, for want of cgo or of
// libzmq, its tests are skipped and say so. (The suite's own package fails
// there; that is where a missing library shows.)
package internal_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// root is the directory of the module, where the suite is run.
const root = ".."

// scratch is a directory for the suite's binary.
var scratch string

func TestMain(m *testing.M) {
	flag.Parse() // a flag that is the root package's ends the process here
	os.Exit(func() int {
		var err error
		if scratch, err = os.MkdirTemp("", "zmqbench"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(scratch)
		return m.Run()
	}())
}

// inRoot returns a command that runs in the root and ends with ctx.
func inRoot(ctx context.Context, name string, args ...string) *exec.Cmd {
	readModule()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = root
	return cmd
}

// readModule reads the directories of the module. The go command shows an old
// result again if nothing has changed that the test opened; what the programs
// that the test starts have opened, it does not know.
var readModule = sync.OnceFunc(func() {
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.Name() == ".git" {
			os.Stat(filepath.Join(path, "index")) // it changes with what git has
			if d.IsDir() {
				return fs.SkipDir
			}
		}
		return err
	})
})

// errNoSuite is why the suite cannot be built here, where that is no fault.
var errNoSuite = errors.New("the suite cannot be built")

// build builds the suite, once. It is built without the race detector also if
// this test has it: that is twenty seconds more, and the suite's own package
// has its race detector in go test -race ./... anyway.
var build = sync.OnceValues(func() (binary string, err error) {
	cgo, err := command("go", "env", "CGO_ENABLED")
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(cgo) != "1" {
		return "", fmt.Errorf("%w: cgo is off, or there is no C compiler", errNoSuite)
	}
	pkgConfig, err := command("go", "env", "PKG_CONFIG")
	if err != nil {
		return "", err
	}
	if out, err := command(strings.TrimSpace(pkgConfig), "--exists", "--print-errors", "libzmq"); err != nil {
		return "", fmt.Errorf("%w: no libzmq: %v: %s", errNoSuite, err, out)
	}
	binary = filepath.Join(scratch, "suite.test")
	if out, err := command("go", "test", "-c", "-o", binary, "."); err != nil {
		return "", fmt.Errorf("go test -c: %w\n%s", err, out)
	}
	return binary, nil
})

// command runs a command in the root and returns what it printed.
func command(name string, args ...string) (string, error) {
	out, err := inRoot(context.Background(), name, args...).CombinedOutput()
	return string(out), err
}

// suite returns the suite's binary, or skips the test where there can be none.
func suite(t *testing.T) string {
	t.Helper()
	binary, err := build()
	if errors.Is(err, errNoSuite) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// longest is how long a run of the suite may take before it is killed. It
// keeps a run that hangs from hanging the test, and measures nothing.
const longest = 2 * time.Minute

// A run is one execution of the suite, to its end.
type run struct {
	output string // stdout and stderr as they came, in which go test merges them
	status int    // -1 if it was killed
	state  *os.ProcessState
}

// execute runs the suite without its tests.
func execute(t *testing.T, args ...string) run {
	t.Helper()
	return finish(t, suite(t), append([]string{"-test.run=^$"}, args...)...)
}

// executeWith is execute with at most so many descriptors, which is a hard
// limit: the Go runtime lifts a soft one.
func executeWith(t *testing.T, descriptors int, args ...string) run {
	t.Helper()
	script := fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, descriptors)
	return finish(t, "sh", append([]string{"-c", script, suite(t), "-test.run=^$"}, args...)...)
}

// finish runs a command in the root to its end.
func finish(t *testing.T, name string, args ...string) run {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	var out bytes.Buffer
	cmd := inRoot(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		t.Fatalf("%v was killed after %v, having printed:\n%s", cmd, longest, &out)
	}
	return run{out.String(), cmd.ProcessState.ExitCode(), cmd.ProcessState}
}
