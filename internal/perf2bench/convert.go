package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"zmqbench/internal/metric"
)

// A converter reads files and writes result lines.
type converter struct {
	settings
	out, faultsTo io.Writer

	results, faults int // counted over all files
	err             error

	// All below is of one file.
	file    string
	run     *run      // whose lines come, or nil
	look    *lookups  // whose lines come, or nil
	held    *result   // the last one, until it is clear that no line of it is another's
	skip    bool      // the lines of this run are not read, as a fault was reported
	pending []command // of which no output came yet
	csv     kind      // of the rows that come: latency, megabits, or other if none do
}

// A result is a result line that is about to be written.
type result struct {
	line int // where it begins
	text string
}

// maxLine is the longest line that is read, in bytes.
const maxLine = 1 << 20

// convert reads one file.
func (c *converter) convert(file string, r io.Reader) {
	*c = converter{settings: c.settings, out: c.out, faultsTo: c.faultsTo, results: c.results, faults: c.faults, err: c.err, file: file}
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, maxLine)
	ended := true // whether the last line ends
	scanner.Split(func(data []byte, eof bool) (int, []byte, error) {
		advance, token, err := bufio.ScanLines(data, eof)
		if eof && token != nil {
			ended = bytes.IndexByte(data, '\n') >= 0
		}
		return advance, token, err
	})
	n := 0
	for scanner.Scan() {
		n++
		c.line(n, clean(scanner.Text()), !ended)
	}
	if err := scanner.Err(); errors.Is(err, bufio.ErrTooLong) {
		c.fault(n+1, "the line is longer than %d bytes: what comes from here is not read", maxLine)
	} else if err != nil {
		c.fault(n+1, "%v", err)
	}
	c.end()
}

// line reads a clean line.
func (c *converter) line(n int, text string, last bool) {
	if c.row(n, text) {
		return
	}
	switch k, numbers := classify(text, last); k {
	case other:
		c.pending = append(c.pending, commands(n, text)...)
	case failure:
		c.fault(n, "the tool failed: %s", text)
		c.unfinished()
		c.drop(n)
	case broken:
		c.fault(n, "%q is damaged, cut off or no number: the run is not converted", text)
		c.drop(n)
	case workload, store, lookup:
		c.lookup(n, text, k, numbers)
	default:
		c.figure(n, text, k, numbers[0])
	}
}

// end is the end of the file.
func (c *converter) end() {
	c.unfinished()
	c.flush()
	for _, cmd := range c.pending {
		c.fault(cmd.line, "no result of this %s follows", cmd.tool)
	}
}

// drop gives up the run whose lines come, after a fault at a line. Which of the
// commands before it had the fault, the text does not say: what they printed is
// not known from now on.
func (c *converter) drop(n int) {
	c.flush()
	c.run, c.look, c.skip = nil, nil, true
	c.forget(n)
}

// forget takes the commands before a line out of those pending.
func (c *converter) forget(n int) {
	c.pending = slices.DeleteFunc(c.pending, func(cmd command) bool { return cmd.line < n })
}

// unfinished reports the run whose lines come, if there is one.
func (c *converter) unfinished() {
	if c.run != nil {
		c.fault(c.run.line, "message size %s [B]: the run has no result (it did not end, or the text is cut off)", c.run.size)
		c.forget(c.run.line)
	}
	if c.look != nil && !c.look.done() {
		c.fault(c.look.line, "keys = %s: the result of a store is missing", c.look.keys)
	}
	c.run, c.look = nil, nil
}

// fault reports what is wrong with the input at a line.
func (c *converter) fault(line int, format string, args ...any) {
	c.faults++
	fmt.Fprintf(c.faultsTo, "%s:%d: %s\n", c.file, line, fmt.Sprintf(format, args...))
}

// stray reports a line that cannot be of the run in which it stands. The result
// before it may be made of two runs' lines, and is not written.
func (c *converter) stray(n int, text string) {
	if c.skip {
		return
	}
	c.fault(n, "%q has no place here: lines are missing before it, or those of two runs are mixed", text)
	if c.held != nil {
		c.fault(c.held.line, "the run here may be mixed with it, and is not converted")
		c.held = nil
	}
	c.drop(n)
}

// hold keeps a result, after writing the one before.
func (c *converter) hold(line int, e evidence, iterations *big.Rat, values []value, err error) {
	c.flush()
	var name string
	if err == nil {
		name, err = c.name(e)
	}
	if err != nil {
		c.fault(line, "%v", err)
		return
	}
	text := fmt.Sprintf("%s\t%8s", name, iterations.Num())
	for _, v := range values {
		text += fmt.Sprintf("\t%s %s", v, v.unit)
	}
	c.held = &result{line, text}
}

// flush writes the result that is held, and before the first one what is to be
// known of all: which way the units are better, and what the user set.
func (c *converter) flush() {
	if c.held == nil {
		return
	}
	var text strings.Builder
	if c.results == 0 {
		for _, u := range []metric.Unit{metric.NsPerOp, metric.OneWayNs, metric.MBPerSec, metric.MsgPerSec} {
			fmt.Fprintf(&text, "Unit %s better=%s assume=%s\n", u, u.Better(), u.Assume())
		}
		for _, s := range c.config {
			fmt.Fprintf(&text, "%s: %s\n", s.Name, s.Value)
		}
	}
	text.WriteString(c.held.text + "\n")
	if _, err := io.WriteString(c.out, text.String()); err != nil && c.err == nil {
		c.err = err
	}
	c.results++
	c.held = nil
}
