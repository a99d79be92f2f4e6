package linkage

import (
	"debug/elf"
	"debug/gosym"
	"os"
	"runtime/debug"
	"strings"
)

// binding is the module that the suite drives ZeroMQ through.
const binding = "github.com/pebbe/zmq4"

// ZMQ4 returns the version of the Go binding in this program, such as
// "v1.4.0". A replaced module gives the version, and else the directory, of
// its replacement. It is "unknown" if the program does not use the binding,
// and may be in a test on a system whose programs are not ELF files.
//
// go build writes the versions of all modules into a program, but go test
// leaves them out (as of Go 1.26). There the version is taken from the paths
// of source files that the program has for its stack traces.
func ZMQ4() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		if version := recorded(info, binding); version != "" {
			return version
		}
	}
	program, err := os.Executable()
	if err != nil {
		return unknown
	}
	if version := compiled(program, binding); version != "" {
		return version
	}
	return unknown
}

// recorded returns the version of a module in the record of go build, or
// nothing.
func recorded(info *debug.BuildInfo, module string) string {
	for _, m := range info.Deps {
		switch {
		case m.Path != module:
		case m.Replace == nil:
			return m.Version
		case m.Replace.Version != "":
			return m.Replace.Version
		default:
			return m.Replace.Path
		}
	}
	return ""
}

// compiled returns the version of a module in the line table of a Go
// program, or nothing. The table is there even if the program is stripped.
func compiled(program, module string) string {
	file, err := elf.Open(program)
	if err != nil {
		return ""
	}
	defer file.Close()
	section := file.Section(".gopclntab")
	if section == nil {
		return ""
	}
	data, err := section.Data()
	if err != nil {
		return ""
	}
	// Only the names of files are looked at, so no address matters.
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, 0))
	if err != nil {
		return ""
	}
	for source := range table.Files {
		if version := versionIn(source, module); version != "" {
			return version
		}
	}
	return ""
}

// versionIn returns the version of a module in the path of one of its source
// files, as the module cache and -trimpath have it, or nothing:
//
//	/root/go/pkg/mod/github.com/pebbe/zmq4@v1.4.0/zmq4.go
func versionIn(source, module string) string {
	before, rest, ok := strings.Cut(source, module+"@")
	if !ok || before != "" && !strings.HasSuffix(before, "/") {
		return ""
	}
	version, _, _ := strings.Cut(rest, "/")
	return version
}
