package endpoint

import (
	"runtime"
	"strings"
)

// pathLimit returns the longest socket path in bytes on an operating system:
// the size of sun_path less the NUL at its end. What is not Linux has the
// size that macOS and the BSDs share.
func pathLimit(goos string) int {
	if goos == "linux" {
		return 107
	}
	return 103
}

func parseIPC(s, path string, to side) (Endpoint, error) {
	limit := pathLimit(runtime.GOOS)
	switch {
	case path == "":
		return Endpoint{}, refuse(s, "write ipc://PATH", "has no path")
	case path == "*" && to == bind:
		// libzmq makes a directory and a socket of its own choice.
	case strings.HasPrefix(path, "*") && to == bind:
		return Endpoint{}, refuse(s, "write ipc://*, or ./ before the *", "libzmq drops what follows the wildcard *")
	case strings.HasPrefix(path, "*"):
		return Endpoint{}, refuse(s, "write the path that the peer has bound", "cannot connect to the wildcard *")
	case path == "@":
		return Endpoint{}, refuse(s, "write ipc://@NAME", "has no name")
	case path[0] == '@' && runtime.GOOS != "linux":
		return Endpoint{}, refuse(s, "write the path of a file", "%s has no abstract sockets", runtime.GOOS)
	case len(path) > limit:
		return Endpoint{}, refuse(s, "use a shorter path", "path %q has %d bytes, more than the limit of %d", path, len(path), limit)
	}
	return Endpoint{Transport: "ipc", Path: path}, nil
}

// hasFile reports whether e's path is that of a file: it is not for an
// abstract name, nor before libzmq has chosen a path in place of the wildcard.
func (e Endpoint) hasFile() bool {
	return e.Transport == "ipc" && e.Path != "*" && !strings.HasPrefix(e.Path, "@")
}
