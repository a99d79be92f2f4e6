package main

import (
	"maps"
	"regexp"
	"strings"
)

// headers are the first lines of generate_csv.sh's files. The rows have what the
// tools print, without the text.
var headers = map[string]kind{
	"# message_size,message_count,PPS[msg/s],throughput[Mb/s]": megabits,
	"# message_size,message_count,latency[us]":                 latency,
}

// rows are what a row must be.
var rows = map[kind]*regexp.Regexp{
	megabits: regexp.MustCompile(`^(0|[1-9][0-9]*),(0|[1-9][0-9]*),(0|[1-9][0-9]*),((?:0|[1-9][0-9]*)\.[0-9]{3})$`),
	latency:  regexp.MustCompile(`^(0|[1-9][0-9]*),(0|[1-9][0-9]*),((?:0|[1-9][0-9]*)\.[0-9]{3})$`),
}

// rowLike is what should be one.
var rowLike = regexp.MustCompile(`^[0-9.,]+$|^[0-9.]*,.*$|^[0-9.]+[^ ]*,.*$`)

// row reads a line of a file of generate_csv.sh, and reports whether it is one.
func (c *converter) row(n int, text string) bool {
	k, header := headers[text]
	switch {
	case header:
		c.unfinished()
		c.flush()
		c.csv = k
	case strings.HasPrefix(text, "# message_size,"):
		c.fault(n, "%q is no header that generate_csv.sh writes: its rows are not converted", text)
		c.csv = broken
	case c.csv == broken && rowLike.MatchString(text):
	case c.csv != other && rowLike.MatchString(text):
		c.unfinished()
		m := rows[c.csv].FindStringSubmatch(text)
		if m == nil {
			c.fault(n, "%q is damaged, cut off or no number: the row is not converted", text)
			return true
		}
		e := gather(c.csv, c.file, nil)
		e.said["size"] = m[1]
		e.assumed = maps.Clone(e.assumed)
		e.assumed["mech"] = "null" // the script has no CURVE
		s := stream{size: m[1], count: m[2], megabits: m[len(m)-1]}
		if c.csv == megabits {
			s.rate = m[3]
		}
		c.holdFigures(n, e, s)
		c.flush()
	default:
		return false
	}
	return true
}
