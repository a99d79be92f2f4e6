package metric

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Header is what a run says of itself before its first result.
//
// Whatever is a configuration line keeps benchstat from comparing runs in
// which it differs. Therefore the version of libzmq and the flags are such
// lines, and all else that is worth knowing is a comment.
type Header struct {
	LibZMQ string    // version of the libzmq loaded at run time, such as "4.3.5"
	Flags  []Setting // flags set away from their defaults, in the order to print
	Facts  []string  // one line each, such as "kernel: 6.1.0", without "# "
}

// A Setting is a flag and its value.
type Setting struct {
	Name  string // without the hyphen: a small letter, then small letters, digits and hyphens
	Value string // any text
}

// maxLine is the longest line that Write prints, in bytes. It is far below
// the 64 KiB at which benchfmt stops reading a file.
const maxLine = 8 << 10

// reserved are configuration keys that are not for flags: the first is
// Write's own, and the others are printed by testing.
var reserved = []string{"libzmq", "goos", "goarch", "pkg", "cpu"}

// Write prints the header to w, in one call of w.Write: a Unit line for each
// of [Units], the line "libzmq: VERSION", a line "name: value" for each flag,
// and a line "# fact" for each fact.
//
// A value or a fact that would not be read back as it stands, because it is
// empty, breaks the line, begins or ends in a blank or begins with a quote, is
// printed as a quoted Go string.
//
// Write prints nothing and returns an error if there is no version; if the
// name of a flag is malformed, is given twice or is a key that is printed
// anyway; or if a line gets longer than 8 KiB.
func (h Header) Write(w io.Writer) error {
	var buf bytes.Buffer
	for _, u := range units {
		fmt.Fprintf(&buf, "Unit %s better=%s assume=%s\n", u.name, u.better, u.assume)
	}
	if h.LibZMQ == "" {
		return errors.New("header: the version of libzmq is missing")
	}
	fmt.Fprintf(&buf, "libzmq: %s\n", oneLine(h.LibZMQ))
	seen := slices.Clone(reserved)
	for _, s := range h.Flags {
		if err := checkFlag(s.Name, seen); err != nil {
			return fmt.Errorf("header: flag -%s: %w", s.Name, err)
		}
		seen = append(seen, s.Name)
		fmt.Fprintf(&buf, "%s: %s\n", s.Name, oneLine(s.Value))
	}
	for _, fact := range h.Facts {
		fmt.Fprintf(&buf, "# %s\n", oneLine(fact))
	}
	for line := range bytes.Lines(buf.Bytes()) {
		if len(line) > maxLine {
			return fmt.Errorf("header: a line of %d bytes, want at most %d: %.40s…", len(line), maxLine, line)
		}
	}
	_, err := w.Write(buf.Bytes())
	return err
}

// checkFlag returns an error if name cannot be a configuration key, or is
// one of those seen before.
func checkFlag(name string, seen []string) error {
	bad := func(r rune) bool { return !('a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-') }
	switch {
	case name == "" || name[0] < 'a' || name[0] > 'z':
		return errors.New("the name does not begin with a small letter")
	case strings.ContainsFunc(name, bad):
		return errors.New("the name holds more than small letters, digits and hyphens")
	case slices.Contains(seen, name):
		return fmt.Errorf("the header or testing already prints a line %q", name+":")
	}
	return nil
}

// oneLine returns text if a reader of the format gets the same text back
// from a line, and else text as a quoted Go string.
func oneLine(text string) string {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	if text == "" || text != strings.TrimSpace(text) || text[0] == '"' ||
		!utf8.ValidString(text) || strings.ContainsFunc(text, unprintable) {
		return strconv.Quote(text)
	}
	return text
}
