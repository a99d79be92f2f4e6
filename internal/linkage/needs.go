package linkage

import (
	"debug/elf"
	"fmt"
)

// Needs returns the shared objects that the ELF file at path asks the loader
// for (its DT_NEEDED entries, as ldd and readelf -d show them), in order:
// names such as "libzmq.so.5", not paths. It is an error if the file needs
// none, which is to say that it is not dynamically linked.
func Needs(path string) ([]string, error) {
	file, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("shared objects needed by %s: %w", path, err)
	}
	defer file.Close()
	needed, err := file.ImportedLibraries()
	if err != nil {
		return nil, fmt.Errorf("shared objects needed by %s: %w", path, err)
	}
	if len(needed) == 0 {
		return nil, fmt.Errorf("shared objects needed by %s: none (it is not dynamically linked)", path)
	}
	return needed, nil
}
