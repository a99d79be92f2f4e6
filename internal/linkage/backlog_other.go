//go:build !linux

package linkage

import "fmt"

// Backlog returns an error: the backlog of a listening TCP port is known on
// Linux only.
func Backlog(port int) (int, error) {
	return 0, fmt.Errorf("backlog of tcp port %d: %w", port, notKnown())
}
