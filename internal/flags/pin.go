package flags

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"zmqbench/internal/affinity"
)

// parsePin takes two CPUs, which may be the same one: all on one CPU is where
// layers compare best. Only this process's own may be named.
func parsePin(f *Flags, text string) error {
	items := strings.Split(text, ",")
	if len(items) != 2 {
		return fmt.Errorf("%q is not two CPUs [write that of the role under the clock, a comma and that of its peers, as in 0,1 or 0,0]", text)
	}
	allowed, err := affinity.Allowed()
	if errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("%q: threads can be pinned on Linux only [leave it out]", text)
	}
	if err != nil {
		return fmt.Errorf("%q: %w [leave it out]", text, err)
	}
	var cpus [2]int
	for i, item := range items {
		if cpus[i], err = number(item, 0, affinity.Limit-1); err != nil {
			return fmt.Errorf("in %q: %w", text, err)
		}
		if !slices.Contains(allowed, cpus[i]) {
			return fmt.Errorf("%q: CPU %d is not among those that this process may use, %s [choose of these; taskset changes them]",
				text, cpus[i], affinity.Text(allowed))
		}
	}
	f.Pin = &cpus
	return nil
}
