//go:build cgo

package cloop_test

import (
	"regexp"
	"strings"
	"testing"

	"zmqbench/internal/cloop"
)

var form = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`)

// The loaded library may be newer than the header, but not of another major
// version: the soname differs then.
func TestVersions(t *testing.T) {
	header, loaded := cloop.HeaderVersion(), cloop.Version()
	t.Logf("header %s, loaded %s", header, loaded)
	for _, v := range []string{header, loaded} {
		if !form.MatchString(v) {
			t.Errorf("version = %q, want the form 4.3.5", v)
		}
	}
	wantMajor, _, _ := strings.Cut(header, ".")
	if major, _, _ := strings.Cut(loaded, "."); major != wantMajor {
		t.Errorf("loaded libzmq = %s, want the major version of the header, %s", loaded, header)
	}
}
