package linkage_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"zmqbench/internal/linkage"
)

// A program of the system is linked with the C library.
func TestNeeds(t *testing.T) {
	const program = "/bin/sh"
	got, err := linkage.Needs(program)
	if err != nil {
		t.Skip("no dynamically linked ELF file to look at: ", err)
	}
	isLibc := func(name string) bool { return strings.HasPrefix(name, "libc.") }
	if !slices.ContainsFunc(got, isLibc) {
		t.Errorf("Needs(%s) = %q, want the C library among them", program, got)
	}
}

func TestNeedsErrors(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no ELF file at all"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, want, reason string }{
		{"/no/such/file", "no such file or directory", "nothing there"},
		{text, "bad magic number", "not an ELF file"},
	} {
		got, err := linkage.Needs(c.path)
		if got != nil || err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.path) {
			t.Errorf("Needs(%s) = %q, %v, want %q (%s)", c.path, got, err, c.want, c.reason)
		}
	}
}
