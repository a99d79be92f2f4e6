package main

import (
	"path"
	"strconv"
	"strings"
)

// tools are libzmq's tools that take arguments, as a regular expression.
const tools = `local_lat|remote_lat|local_thr|remote_thr|inproc_lat|inproc_thr|proxy_thr`

// arguments are the tools that print figures and take arguments: whether the
// first one is an endpoint, and the last one, which may be missing, turns CURVE on.
var arguments = map[string]struct{ endpoint, curve bool }{
	"remote_lat": {endpoint: true},
	"local_thr":  {endpoint: true, curve: true},
	"inproc_lat": {},
	"inproc_thr": {},
	"proxy_thr":  {},
}

// A command is a tool that a shell's line runs, with what its arguments say.
// What they do not say, as they hold a shell's variable, is empty.
type command struct {
	line        int
	tool        string
	transport   string
	mech        string
	size, count string
}

// commands returns the tools that print figures and that a line runs: after a
// prompt, as a trace of set -x, or within a longer command. A word is a tool
// only if the arguments of one follow, and not where its output goes to a file.
func commands(n int, text string) []command {
	if job.MatchString(text) {
		return nil
	}
	var found []command
	words := strings.Fields(text)
	for i, word := range words {
		tool := strings.TrimPrefix(path.Base(strings.Trim(word, `'"()`+"`")), "lt-")
		if _, ok := arguments[tool]; !ok {
			continue
		}
		if c, ok := parse(tool, words[i+1:]); ok {
			c.line = n
			found = append(found, c)
		}
	}
	return found
}

// parse returns the command that runs tool with words, up to the end of the
// command. ok is false if it is none, or its output is not in the log.
func parse(tool string, words []string) (c command, ok bool) {
	args, ok := simple(words)
	want := arguments[tool]
	if !ok || len(args) == 0 {
		return c, false
	}
	c.tool, c.transport, c.mech = tool, "inproc", "null"
	if want.endpoint {
		scheme, _, is := strings.Cut(args[0], "://")
		switch {
		case strings.Contains(args[0], "$"):
			scheme = ""
		case !is:
			return c, false
		}
		c.transport, args = scheme, args[1:]
	}
	if want.curve && len(args) == 3 {
		switch on, ok := number(args[2]); {
		case !ok:
			return c, false
		case on == "":
			c.mech = ""
		case on != "0":
			c.mech = "curve"
		}
		args = args[:2]
	}
	if len(args) != 2 {
		return c, false
	}
	var okSize, okCount bool
	c.size, okSize = number(args[0])
	c.count, okCount = number(args[1])
	return c, okSize && okCount
}

// simple returns the arguments at the beginning of words, without quotes, up to
// the end of the command. ok is false if its output goes to a file.
func simple(words []string) (args []string, ok bool) {
	done := false
	for _, word := range words {
		switch {
		case strings.HasPrefix(word, ">") || strings.HasPrefix(word, "1>") || strings.HasPrefix(word, "&>"):
			return nil, false
		case strings.ContainsAny(word[:1], "&;|)#") || strings.HasPrefix(word, "2>") || strings.HasPrefix(word, "<"):
			if done = true; strings.ContainsAny(word[:1], "&;|)#") {
				return args, true
			}
		case !done:
			end := strings.TrimRight(word, "&;)`")
			args = append(args, strings.Trim(end, `'"`))
			if end != word {
				return args, true
			}
		}
	}
	return args, true
}

// number returns a word as an integer in its plain form, or empty if it holds a
// variable. ok is false if it is neither.
func number(word string) (plain string, ok bool) {
	if strings.Contains(word, "$") {
		return "", true
	}
	n, err := strconv.ParseInt(word, 10, 32)
	return strconv.FormatInt(n, 10), err == nil
}

// printed reports whether c can be what printed size and count.
func (c command) printed(size, count string) bool {
	return (c.size == "" || c.size == size) && (c.count == "" || c.count == count)
}
