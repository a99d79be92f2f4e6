package flags

import "fmt"

// A value is the text of one flag. It is a flag.Value that takes everything
// and remembers it: an error from its Set would print a page of usage.
type value struct {
	unset string   // the text that holds if none is given
	given []string // every text given, in order
}

// String returns the text that holds. Package flag also calls it on a zero
// value, to find out whether there is a default to print.
func (v *value) String() string {
	if n := len(v.given); n > 0 {
		return v.given[n-1]
	}
	return v.unset
}

// Set remembers text. It never fails.
func (v *value) Set(text string) error {
	v.given = append(v.given, text)
	return nil
}

// parse sets the field of d in f, unless there is no text for it.
func (v *value) parse(d definition, f *Flags) error {
	switch {
	case len(v.given) > 1:
		return fmt.Errorf("given %d times, with %q and %q [give it once; there are commas between sizes]",
			len(v.given), v.given[0], v.given[1])
	case len(v.given) == 0 && v.unset == "":
		return nil
	}
	return d.parse(f, v.String())
}
