package linkage

import (
	"path"
	"slices"
	"strings"
)

// Crypto returns what the loaded libzmq encrypts CURVE traffic with, since
// figures differ tenfold: "libsodium"; "builtin", which is the tweetnacl
// inside libzmq; "none"; or "unknown". Whether libzmq has CURVE at all is for
// the caller to ask of it: hasCurve is zmq_has("curve"), see zmq_has(3).
//
// The answer comes from what the shared object of libzmq asks the loader
// for. A libzmq that was linked with libsodium.a shows as "builtin".
func Crypto(hasCurve bool) string {
	if !hasCurve {
		return "none"
	}
	files, err := mapped()
	if err != nil {
		return unknown
	}
	return cryptoOf(files, Needs)
}

// cryptoOf is Crypto on the list of mapped files and for a libzmq that has
// CURVE; needs is [Needs].
func cryptoOf(files []string, needs func(path string) ([]string, error)) string {
	isSodium := func(file string) bool { return strings.HasPrefix(path.Base(file), "libsodium") }
	libzmq, err := loadedOf(files)
	if err == nil {
		if needed, err := needs(libzmq); err == nil {
			if slices.ContainsFunc(needed, isSodium) {
				return "libsodium"
			}
			return "builtin"
		}
	}
	// With no file of libzmq to read, a libsodium in the process is most
	// likely there for it, and the lack of one proves nothing.
	if slices.ContainsFunc(files, isSodium) {
		return "libsodium"
	}
	return unknown
}
