// Package linkage finds out which libzmq this process runs with, which others
// the loader knows, and on what machine: the facts without which a figure
// cannot be compared with another.
//
// It asks the operating system and the tools beside it, not libzmq, so that
// it can contradict what libzmq says of itself, and it builds without cgo.
// Most of it reads /proc and is for Linux; elsewhere it returns an error that
// says so.
package linkage

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// Loaded returns the path of the libzmq shared object that this process has
// loaded, with symbolic links resolved, as the kernel gives it in
// /proc/self/maps (proc_pid_maps(5)). It is an error if there is none (libzmq
// may be linked statically), if there is more than one, and if the file was
// deleted or replaced since.
func Loaded() (string, error) {
	objects, err := mapped()
	if err != nil {
		return "", fmt.Errorf("loaded libzmq: %w", err)
	}
	object, err := loadedOf(objects)
	if err != nil {
		return "", fmt.Errorf("loaded libzmq: %w", err)
	}
	return object, nil
}

// notKnown is the error of whatever is known on Linux only.
func notKnown() error {
	return fmt.Errorf("not known on %s", runtime.GOOS)
}

// mapped returns the files that are mapped into this process.
func mapped() ([]string, error) {
	if runtime.GOOS != "linux" {
		return nil, notKnown()
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil, err
	}
	defer maps.Close()
	return parseMaps(maps)
}

// parseMaps returns every file named in a maps file once, in order. A line is
//
//	7f1c8e200000-7f1c8e21d000 r--p 00000000 fe:00 131 /usr/lib/libzmq.so.5.2.4
//
// and a file has a line for each of its segments. The path is all that
// follows the fifth field, blanks included.
func parseMaps(maps io.Reader) ([]string, error) {
	var files []string
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		fields, file, ok := strings.Cut(lines.Text(), "/")
		if !ok || len(strings.Fields(fields)) != 5 || !strings.HasSuffix(fields, " ") {
			continue // anonymous memory, or a name such as [stack]
		}
		if file = "/" + file; !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files, lines.Err()
}

// deleted is what the kernel adds to the path of a file that is no more.
const deleted = " (deleted)"

// soname matches the base name of a libzmq shared object: libzmq.so.5.2.4,
// and libzmq-a4be96a4.so.5.2.5 as Python wheels bundle it.
var soname = regexp.MustCompile(`^libzmq(-[0-9a-f]+)?\.so(\.|$)`)

// loadedOf is Loaded on the list of mapped files.
func loadedOf(files []string) (string, error) {
	var found []string
	for _, file := range files {
		if soname.MatchString(path.Base(strings.TrimSuffix(file, deleted))) {
			found = append(found, file)
		}
	}
	switch {
	case len(found) == 0:
		return "", errors.New("no shared object is mapped (linked statically, or not at all)")
	case len(found) > 1:
		return "", fmt.Errorf("%d shared objects are mapped: %s", len(found), strings.Join(found, ", "))
	case strings.HasSuffix(found[0], deleted):
		return "", fmt.Errorf("%s was deleted or replaced after this process loaded it", strings.TrimSuffix(found[0], deleted))
	}
	return found[0], nil
}
