package internal_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// top is all that the top level of the repository has.
var top = []string{
	"lat_test.go", "thr_test.go", "proxy_test.go", "radix_test.go", "curve_test.go",
	"go.mod", "go.sum", "README.md", "LICENSE", ".gitignore", ".ci", "internal", "testdata",
}

// TestTopLevel looks at what git has in the root.
func TestTopLevel(t *testing.T) {
	cmd := inRoot(t.Context(), "git", "ls-files", "-z")
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("this is no checkout that git can read: %v: %v %s", cmd, err, stderr(err))
	}
	if diff := cmp.Diff([]string(nil), strays(strings.Split(strings.Trim(string(out), "\x00"), "\x00"))); diff != "" {
		t.Errorf("the root holds what DESIGN.md has no place for (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"main.go", "docs"}, strays([]string{"go.mod", "main.go", "internal/x.go", ".ci/run", "docs/a.md", "docs/b.md"})); diff != "" {
		t.Errorf("strays() mismatch (-want +got):\n%s", diff)
	}
}

// strays returns what is at the top of the tree of files and not in top.
func strays(files []string) []string {
	var found []string
	for _, file := range files {
		first, _, _ := strings.Cut(filepath.ToSlash(file), "/")
		if !slices.Contains(top, first) && !slices.Contains(found, first) {
			found = append(found, first)
		}
	}
	return found
}
