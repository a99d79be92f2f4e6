package linkage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// library is the name under which programs ask the loader for libzmq 4.
const library = "libzmq.so.5"

// Known returns every libzmq.so.5 that the loader can find, the one it takes
// first: those in the directories of LD_LIBRARY_PATH, then those of the
// loader's cache (ldconfig -p); see ld.so(8). Symbolic links are resolved and
// a file is listed once, so that more than one path means more than one
// libzmq. A run path inside a program or library, which comes before the
// cache, is not looked at.
func Known() ([]string, error) {
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("known libzmq: %w", notKnown())
	}
	cache, err := ldconfig()
	if err != nil {
		return nil, fmt.Errorf("known libzmq: %w", err)
	}
	names := append(inDirectories(os.Getenv("LD_LIBRARY_PATH")), inCache(cache, runtime.GOARCH)...)
	return distinct(names), nil
}

// toolLimit is how long a tool may take; those here take milliseconds.
const toolLimit = 10 * time.Second

// ldconfig returns the loader's cache as ldconfig -p prints it. The tool is
// often in a directory that is on the path of root only.
func ldconfig() (string, error) {
	tool, err := exec.LookPath("ldconfig")
	for _, place := range []string{"/sbin/ldconfig", "/usr/sbin/ldconfig"} {
		if err != nil {
			tool, err = exec.LookPath(place)
		}
	}
	if err != nil {
		return "", errors.New("ldconfig is neither on PATH nor in /sbin or /usr/sbin")
	}
	ctx, cancel := context.WithTimeout(context.Background(), toolLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, tool, "-p").Output()
	if err != nil {
		return "", fmt.Errorf("%s -p: %w", tool, err)
	}
	return string(out), nil
}

// inDirectories returns the libraries in a list of directories of the form
// of LD_LIBRARY_PATH, where colons and semicolons separate and an empty entry
// is the current directory.
func inDirectories(list string) []string {
	if list == "" {
		return nil
	}
	var found []string
	for _, dir := range strings.Split(strings.ReplaceAll(list, ";", ":"), ":") {
		name := filepath.Join(dir, library)
		if info, err := os.Stat(name); err == nil && !info.IsDir() {
			found = append(found, name)
		}
	}
	return found
}

// cacheMarks are how ldconfig marks the libraries of an architecture, in
// caches that hold those of several.
var cacheMarks = map[string]string{"amd64": "x86-64", "arm64": "AArch64"}

// inCache returns the libraries in the output of ldconfig -p, whose lines are
//
//	libzmq.so.5 (libc6,x86-64) => /lib/x86_64-linux-gnu/libzmq.so.5
//
// leaving out those for another architecture than goarch.
func inCache(cache, goarch string) []string {
	var found []string
	for line := range strings.Lines(cache) {
		entry, file, ok := strings.Cut(strings.TrimSpace(line), " => ")
		name, marks, _ := strings.Cut(entry, " ")
		if ok && name == library && strings.Contains(marks, cacheMarks[goarch]) {
			found = append(found, file)
		}
	}
	return found
}

// distinct resolves the symbolic links of names and returns each file once,
// where it is first. A name that leads nowhere is left out, as the loader
// passes over it.
func distinct(names []string) []string {
	var files []string
	for _, name := range names {
		file, err := filepath.EvalSymlinks(name)
		if err != nil {
			continue
		}
		if file, err = filepath.Abs(file); err == nil && !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files
}
