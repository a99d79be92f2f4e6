package linkage_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"zmqbench/internal/linkage"
)

// fakeTool writes a shell script and returns its path.
func fakeTool(t *testing.T, script string) string {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no /bin/sh")
	}
	name := filepath.Join(t.TempDir(), "pkgconf")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+script), 0o777); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestPkgConfig(t *testing.T) {
	t.Setenv("PKG_CONFIG", fakeTool(t, `test "$*" = "--modversion libzmq" && echo 4.3.5`))
	if got, err := linkage.PkgConfig(); got != "4.3.5" || err != nil {
		t.Errorf("PkgConfig() = %q, %v, want 4.3.5 from $PKG_CONFIG", got, err)
	}
}

// Each error names the package to install (Z87).
func TestPkgConfigErrors(t *testing.T) {
	failing := fakeTool(t, "echo \"Package libzmq was not found\nin the search path\" >&2; exit 1")
	for _, c := range []struct{ tool, want, reason string }{
		{"no-such-pkg-config", "(install the package pkg-config)", "no such tool on PATH"},
		{"/no/such/pkg-config", "(install the package pkg-config)", "no such file"},
		{failing, ": exit status 1: Package libzmq was not found in the search path (install the package libzmq3-dev)",
			"no libzmq.pc"},
	} {
		t.Setenv("PKG_CONFIG", c.tool)
		got, err := linkage.PkgConfig()
		if got != "" || !strings.HasSuffix(errorText(err), c.want) {
			t.Errorf("PkgConfig() = %q, %v, want an error that ends in %q (%s)", got, err, c.want, c.reason)
		}
	}
}

// The real tool, if it is there: it finds libzmq, and does not where it is
// told to look elsewhere (Z87).
func TestPkgConfigInstalled(t *testing.T) {
	t.Setenv("PKG_CONFIG", "")
	if err := exec.Command("pkg-config", "--exists", "libzmq").Run(); err != nil {
		t.Skip("pkg-config does not know libzmq here: ", err)
	}
	if got, err := linkage.PkgConfig(); err != nil || !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(got) {
		t.Errorf("PkgConfig() = %q, %v, want the form 4.3.5", got, err)
	}
	t.Setenv("PKG_CONFIG_LIBDIR", t.TempDir())
	t.Setenv("PKG_CONFIG_PATH", "")
	if got, err := linkage.PkgConfig(); err == nil || !strings.Contains(err.Error(), "libzmq3-dev") {
		t.Errorf("PkgConfig() without libzmq.pc = %q, %v, want an error that names libzmq3-dev", got, err)
	}
}
