package linkage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// PkgConfig returns the version of libzmq that programs are compiled against:
// what pkg-config --modversion libzmq prints. The tool is $PKG_CONFIG if that
// is set, as for cgo. The error says which package to install; the names are
// Debian's.
func PkgConfig() (string, error) {
	tool := "pkg-config"
	if words := strings.Fields(os.Getenv("PKG_CONFIG")); len(words) > 0 {
		tool = words[0]
	}
	ctx, cancel := context.WithTimeout(context.Background(), toolLimit)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, tool, "--modversion", "libzmq")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	switch err := cmd.Run(); {
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist):
		return "", fmt.Errorf("version of libzmq to compile against: %w (install the package pkg-config)", err)
	case err != nil:
		said := strings.Join(strings.Fields(stderr.String()), " ")
		return "", fmt.Errorf("version of libzmq to compile against: %s: %w: %s (install the package libzmq3-dev)", tool, err, said)
	}
	return strings.TrimSpace(stdout.String()), nil
}
