package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := perf2bench(os.Stdin, os.Stdout, os.Stderr, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "perf2bench:", err)
		os.Exit(1)
	}
}

// perf2bench is the command. What is wrong with the input goes to stderr, and
// makes it return an error at the end.
func perf2bench(stdin io.Reader, stdout, stderr io.Writer, args []string) error {
	c := converter{settings: settings{keys: map[string]string{}}, out: stdout, faultsTo: stderr}
	flags := flag.NewFlagSet("perf2bench", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Func("name", "the `benchmark` that the figures are of: Latency, Throughput, Proxy, Pinned or Match", c.setName)
	flags.Func("set", "`key=value` of what the text does not say: transport, mech, pattern, fill; or of a configuration line", c.set)
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(stderr, "usage: perf2bench [-name benchmark] [-set key=value]... [file]...")
		flags.SetOutput(stderr)
		flags.PrintDefaults()
		return nil
	} else if err != nil {
		return err
	}
	files := flags.Args()
	if len(files) == 0 {
		files = []string{"-"}
	}
	for _, file := range files {
		if err := c.open(stdin, file); err != nil {
			return err
		}
	}
	switch {
	case c.err != nil:
		return c.err
	case c.faults > 0:
		return fmt.Errorf("faults in the input: %d, results: %d", c.faults, c.results)
	case c.results == 0:
		return errors.New("there is no result of libzmq's tools in the input")
	}
	return nil
}

// open converts a file, or stdin if it is "-".
func (c *converter) open(stdin io.Reader, file string) error {
	if file == "-" {
		c.convert("stdin", stdin)
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	c.convert(file, f)
	return nil
}
