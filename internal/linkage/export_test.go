package linkage

import "io"

// LoadedIn is Loaded on the text of a maps file.
func LoadedIn(maps io.Reader) (string, error) {
	files, err := parseMaps(maps)
	if err != nil {
		return "", err
	}
	return loadedOf(files)
}

// CryptoIn is Crypto(true) on the text of a maps file.
func CryptoIn(maps io.Reader, needs func(string) ([]string, error)) (string, error) {
	files, err := parseMaps(maps)
	if err != nil {
		return "", err
	}
	return cryptoOf(files, needs), nil
}

var (
	InDirectories = inDirectories
	InCache       = inCache
	Distinct      = distinct
	Model         = model
	Governor      = governor
	Load          = load
	Recorded      = recorded
	Compiled      = compiled
	VersionIn     = versionIn
)
