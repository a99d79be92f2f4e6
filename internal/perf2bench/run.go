package main

import "fmt"

// A run is what a tool has printed so far.
type run struct {
	line        int // of the message size
	size, count string
	counts      kind // trips or count
	clear       string
	rate        string
}

// figure reads a line of a run of any tool but benchmark_radix_tree. Lines come
// in the order in which the tools print them: size, count, and the figures.
func (c *converter) figure(n int, text string, k kind, number string) {
	r := c.run
	if k == size {
		c.unfinished()
		c.flush()
		c.run, c.skip = &run{line: n, size: number}, false
		return
	}
	if r == nil || !r.next(k) {
		c.stray(n, text)
		return
	}
	switch k {
	case trips, count:
		r.count, r.counts = number, k
	case clear:
		r.clear = number
	case rate:
		r.rate = number
	case latency, megabits:
		c.finish(k, number)
	}
}

// next reports whether a line of the kind k comes next.
func (r *run) next(k kind) bool {
	switch k {
	case trips, count:
		return r.counts == other
	case clear, rate:
		return r.counts == count && r.rate == "" && (k == rate || r.clear == "")
	case latency:
		return r.counts == trips
	case megabits:
		return r.rate != ""
	}
	return false
}

// finish ends the run with its last figure.
func (c *converter) finish(k kind, figure string) {
	r := c.run
	c.run = nil
	cmd, err := c.ran(k, r.size, r.count)
	if err != nil {
		c.fault(r.line, "%v", err)
		return
	}
	e := gather(k, c.file, cmd)
	e.said["size"] = r.size
	if r.clear != "" { // as an inproc_thr prints it that was changed to fill and to pin
		e.tool, e.function = "inproc_thr", "BenchmarkPinned"
		e.said["fill"] = map[string]string{"0": "none", "1": "zero"}[r.clear]
	}
	c.holdFigures(r.line, e, stream{r.size, r.count, r.rate, figure})
}

// holdFigures holds the result of a run with the figures of s. For latencies,
// the last one is that.
func (c *converter) holdFigures(line int, e evidence, s stream) {
	if e.kind == latency {
		iterations, values, err := latencyValues(s.count, s.megabits)
		if _, err := integer("message size", s.size); err != nil {
			c.fault(line, "%v", err)
			return
		}
		c.hold(line, e, iterations, values, err)
		return
	}
	function, err := c.choose(e)
	if err != nil {
		c.fault(line, "%v", err)
		return
	}
	iterations, values, err := s.values(function != "BenchmarkProxy")
	c.hold(line, e, iterations, values, err)
}

// ran takes out of those pending the command that printed a run, or nil if it is
// in none. If several can have printed it, they must agree on what the run is.
func (c *converter) ran(k kind, size, count string) (*command, error) {
	found := -1
	for i, cmd := range c.pending {
		if (toolFunctions[cmd.tool][0] == "BenchmarkLatency") != (k == latency) || !cmd.printed(size, count) {
			continue
		}
		if found < 0 {
			found = i
		} else if first := c.pending[found]; first.tool != cmd.tool || first.transport != cmd.transport || first.mech != cmd.mech {
			return nil, fmt.Errorf("%s of line %d and %s of line %d can both have printed this", first.tool, first.line, cmd.tool, cmd.line)
		}
	}
	if found < 0 {
		return nil, nil
	}
	cmd := c.pending[found]
	c.pending = append(c.pending[:found:found], c.pending[found+1:]...)
	return &cmd, nil
}

// Lookups are the figures of benchmark_radix_tree.
type lookups struct {
	line          int // of the workload
	keys, queries string
	store         string   // that the next figure is of, or empty
	left          []string // stores to come, by what the tool calls them
}

// stores are what the tool measures, in its order, and what the suite calls
// stores of their kind.
var (
	toolStores = []string{"trie", "radix_tree"}
	stores     = map[string]string{"trie": "trie", "radix_tree": "radix"}
)

func (l *lookups) done() bool { return l.store == "" && len(l.left) == 0 }

// keySize is how long the keys of the tool are, and those of topics=random.
const keySize = "20"

// lookup reads a line of a run of benchmark_radix_tree.
func (c *converter) lookup(n int, text string, k kind, numbers []string) {
	l := c.look
	switch {
	case k == workload:
		c.unfinished()
		c.flush()
		c.look, c.skip = &lookups{line: n, keys: numbers[0], queries: numbers[1], left: toolStores}, false
		if numbers[2] != keySize {
			c.fault(n, "key size = %s: those of the tool and of topics=random are of %s characters", numbers[2], keySize)
			c.look, c.skip = nil, true
		}
	case l == nil || l.done() || (k == store) != (l.store == "") || k == store && numbers[0] != l.left[0]:
		c.stray(n, text)
	case k == store:
		l.store, l.left = stores[l.left[0]], l.left[1:]
	default:
		e := gather(lookup, c.file, nil)
		e.said["topics"], e.said["keys"], e.said["hit"], e.said["store"] = "random", l.keys, "100", l.store
		iterations, values, err := lookupValues(l.queries, numbers[0])
		c.hold(n, e, iterations, values, err)
		l.store = ""
	}
}
