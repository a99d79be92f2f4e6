// Package flags holds the command-line flags of the benchmark suite.
//
// Every flag is registered as text, since the number parsing of package flag
// reads 010 as 8 and takes 0x10 and 1_000; here a number is a plain decimal
// integer or it is an error, never another number. A wrong value is an error
// of one line from [Set.Parse], without a page of usage.
//
// To add a flag, add a field to [Flags], a line to definitions, and the
// function that turns its text into the field.
package flags

import (
	"errors"
	"flag"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// Flags holds the values of the flags, every one of them in its range.
type Flags struct {
	// Sizes are the message sizes of -size in bytes, 0 to 2147483647, in the
	// order given and without duplicates. It is empty if -size is not given.
	Sizes []int

	// HWM is the high-water mark of every socket in messages, 0 to
	// 2147483647; 0 means no limit. It is -1 if -hwm is not given: then each
	// benchmark has its own, see [Flags.HWMOr].
	HWM int

	// IOThreads is the number of I/O threads of each context, 1 to 64.
	IOThreads int

	// Wait is how long any role waits for the other before it fails, 10ms to
	// an hour.
	Wait time.Duration

	// Pin is the CPU of the role under the clock and that of its peers, both of
	// them allowed for this process. It is nil if -pin is not given.
	Pin *[2]int

	// Progress is the file that gets a line a second while a stream is measured,
	// or empty if none does. Nobody has opened it yet.
	Progress string

	// Libzmq is the version that the version test demands, as in "4.3.5", or
	// empty if any will do.
	Libzmq string
}

// SizesOr returns the sizes of -size, or defaults if it was not given.
func (f Flags) SizesOr(defaults ...int) []int {
	if len(f.Sizes) == 0 {
		return defaults
	}
	return slices.Clone(f.Sizes)
}

// HWMOr returns the high-water mark of -hwm, or otherwise if it was not given.
func (f Flags) HWMOr(otherwise int) int {
	if f.HWM < 0 {
		return otherwise
	}
	return f.HWM
}

// none is the flags before any is parsed.
func none() Flags { return Flags{HWM: -1} }

// A definition is one flag.
type definition struct {
	name  string
	value string // what it is if not given; empty for nothing
	usage string

	// aside marks a flag that changes no measurement, only what is demanded or
	// seen of the run: it is not part of the configuration.
	aside bool

	// parse sets the flag's field, or says what is wrong with the text.
	parse func(f *Flags, text string) error
}

// definitions are the flags in the order of their names.
var definitions = []definition{
	{name: "hwm", parse: parseHWM,
		usage: "high-water mark of every socket in `messages`, 0 for no limit (default: each benchmark's own, mostly libzmq's 1000)"},
	{name: "iothreads", value: "1", parse: parseIOThreads,
		usage: "I/O `threads` of each context, 1 to 64"},
	{name: "libzmq", aside: true, parse: parseLibzmq,
		usage: "fail unless exactly this `version` of libzmq is loaded, as in 4.3.5"},
	{name: "pin", parse: parsePin,
		usage: "`CPUs` of the role under the clock and of its peers, with a comma between them, as in 2,3 (default: no role is pinned but those of BenchmarkPinned)"},
	{name: "progress", aside: true, parse: parseProgress,
		usage: "`file` that gets a line a second while a stream is measured: what came, its rate, and the total; it may be /dev/tty"},
	{name: "size", parse: parseSizes,
		usage: "message sizes in `bytes`, with commas between them, as in 1,100,65536 (default: each benchmark's own)"},
	{name: "wait", value: "10s", parse: parseWait,
		usage: "how long any role waits for the other before it fails, a `duration` from 10ms to 1h"},
}

// A Set is the flags as registered with a flag.FlagSet.
type Set struct {
	fs     *flag.FlagSet
	values map[string]*value
}

// Register defines every flag on fs. Call it before fs is parsed.
func Register(fs *flag.FlagSet) *Set {
	s := &Set{fs, make(map[string]*value)}
	for _, d := range definitions {
		v := &value{unset: d.value}
		s.values[d.name] = v
		fs.Var(v, d.name, d.usage)
	}
	return s
}

// Parse returns the values of all flags, or the first error in the order of
// their names. It is an error if anything is left behind the flags, and if a
// flag is given twice, since the first value would be lost. Call it after the
// flag.FlagSet has been parsed.
func (s *Set) Parse() (Flags, error) {
	if !s.fs.Parsed() {
		return Flags{}, errors.New("flags: Parse is called before the command line is parsed [call flag.Parse first]")
	}
	if args := s.fs.Args(); len(args) > 0 {
		return Flags{}, fmt.Errorf("argument %q does not belong to a flag [put commas between sizes, and packages before flags]", args[0])
	}
	f := none()
	for _, d := range definitions {
		if err := s.values[d.name].parse(d, &f); err != nil {
			return Flags{}, fmt.Errorf("-%s: %w", d.name, err)
		}
	}
	return f, nil
}

// A Setting is a flag and its value as written.
type Setting struct {
	Name, Value string
}

// Changed returns the flags that change what is measured and whose value is
// not the default, in the order of their names. A default that is written out,
// in whatever form, is no change: -wait 10000ms is 10s. Nor is -libzmq, which
// demands and does not set (the header of a run has the version as "libzmq"), nor
// -progress.
// The flags must have passed [Set.Parse].
func (s *Set) Changed() []Setting {
	var changed []Setting
	for _, d := range definitions {
		if d.aside {
			continue
		}
		v := s.values[d.name]
		unset := &value{unset: d.value}
		now, before := none(), none()
		if errors.Join(v.parse(d, &now), unset.parse(d, &before)) == nil && !reflect.DeepEqual(now, before) {
			changed = append(changed, Setting{d.name, v.String()})
		}
	}
	return changed
}
