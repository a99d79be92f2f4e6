package flags

import (
	"fmt"
	"slices"
	"strings"
)

// parseSizes takes plain decimal integers with commas between them. The same
// size twice would give two benchmarks one name.
func parseSizes(f *Flags, text string) error {
	var sizes []int
	for item := range strings.SplitSeq(text, ",") {
		size, err := number(item, 0, maxInt)
		if err == nil && slices.Contains(sizes, size) {
			err = fmt.Errorf("%q is given twice [take one out]", item)
		}
		if err != nil && item != text {
			err = fmt.Errorf("in %q: %w", text, err)
		}
		if err != nil {
			return err
		}
		sizes = append(sizes, size)
	}
	f.Sizes = sizes
	return nil
}
