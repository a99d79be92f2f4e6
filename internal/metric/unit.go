package metric

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Unit is a unit that the suite reports. There are no others than the
// variables of this package; the zero Unit is not declared.
type Unit struct {
	name, better, assume, doc string
}

// The units in use. A new one needs one line here and nothing elsewhere.
var (
	NsPerOp       = declare("ns/op", lower, nothing, "Wall-clock time of one op; the first sentence of a benchmark's comment says what an op is.")
	OneWayNs      = declare("one-way-ns", lower, nothing, "Half of a round trip, as libzmq's latency tools print it; it is not measured one way.")
	P50Ns         = declare("p50-ns", lower, nothing, "Half of the round trips took no longer; in a paced run, counted from the intended start.")
	P90Ns         = declare("p90-ns", lower, nothing, "Nine of ten round trips took no longer.")
	P99Ns         = declare("p99-ns", lower, nothing, "99 of 100 round trips took no longer.")
	P999Ns        = declare("p99.9-ns", lower, nothing, "999 of 1000 round trips took no longer.")
	MaxNs         = declare("max-ns", lower, nothing, "The longest round trip, exact.")
	ServiceP50Ns  = declare("service-p50-ns", lower, nothing, "As p50-ns, counted from when the replier was free for it, as a closed loop would.")
	ServiceP90Ns  = declare("service-p90-ns", lower, nothing, "As p90-ns, counted from when the replier was free for it.")
	ServiceP99Ns  = declare("service-p99-ns", lower, nothing, "As p99-ns, counted from when the replier was free for it.")
	ServiceP999Ns = declare("service-p99.9-ns", lower, nothing, "As p99.9-ns, counted from when the replier was free for it.")
	ServiceMaxNs  = declare("service-max-ns", lower, nothing, "As max-ns, counted from when the replier was free for it.")
	RateMissed    = declare("rate-missed", lower, nothing, "Share of the ops of a paced run that began late by more than one interval.")
	LateP99Ns     = declare("late-p99-ns", lower, nothing, "99 of 100 ops of a paced run began no later than this after their time: the pacer's own error.")
	MsgPerSec     = declare("msg/s", higher, nothing, "Messages that the receiver counted, divided by the time on the receiver's clock.")
	MBPerSec      = declare("MB/s", higher, nothing, "Bytes of message content received in a second, in 10^6 bytes; frame headers are not counted.")
	BytesPerOp    = declare("B/op", lower, nothing, "Bytes of Go heap allocated in an op, by all roles, as the whole process is counted.")
	AllocsPerOp   = declare("allocs/op", lower, nothing, "Go heap allocations in an op, by all roles, as the whole process is counted.")
	CPUNsPerOp    = declare("cpu-ns/op", lower, nothing, "Processor time of an op, user and system, of the whole process: both roles and libzmq's I/O threads.")
	CgoPerOp      = declare("cgo-calls/op", lower, nothing, "Calls from Go into C in an op, by all roles.")
	Fairness      = declare("fairness", higher, nothing, "Jain's index of the messages that came from each sender in the measured time: 1 if as many from all, 1/senders if from one alone.")
	SendNs        = declare("send-ns", lower, nothing, "Time in which a burst was sent, from the beginning of the first call to the end of the last.")
	RecvNs        = declare("recv-ns", lower, nothing, "Time in which a burst was received, from its first message to its last.")
	BytesPerKey   = declare("B/key", lower, exact, "Bytes of memory that a subscription store holds for each of its keys.")
)

// The values that the benchmark format defines for better= and assume=.
const (
	lower   = "lower"
	higher  = "higher"
	nothing = "nothing" // samples vary: compare them without a model
	exact   = "exact"   // samples cannot vary: any difference counts
)

// units lists what was declared, in order.
var units []Unit

// declare adds a unit to the list.
func declare(name, better, assume, doc string) Unit {
	u := Unit{name, better, assume, doc}
	units = append(units, u)
	return u
}

// Units returns every declared unit, in the order of the header. The caller
// owns the slice.
func Units() []Unit { return slices.Clone(units) }

// String returns the name under which u is reported, such as "ns/op".
func (u Unit) String() string { return u.name }

// Better returns which way u improves: "lower" or "higher".
func (u Unit) Better() string { return u.better }

// Assume returns what a comparison may assume of u: "nothing", or "exact" if
// it is the same in every run of the same code.
func (u Unit) Assume() string { return u.assume }

// Doc returns one sentence that says what u measures.
func (u Unit) Doc() string { return u.doc }

// scaled are tokens with a factor in them that benchunit does not know, so
// that benchstat would put a prefix on top of it, as in "5k us".
var scaled = []string{"us", "ms", "s", "kb", "mb", "gb"}

// CheckUnit returns an error that says why name is not a legal unit, or nil.
//
// A unit is words of letters, digits and dots with hyphens between them, and
// perhaps one "/" before the same again. benchunit rewrites the words "ns"
// and "MB" before the "/", and no others: these are therefore the only words
// with a factor, they stand there only, and other words are in small letters,
// except for "B".
func CheckUnit(name string) error {
	numerator, denominator, ratio := strings.Cut(name, "/")
	words := strings.Split(numerator, "-")
	above := len(words)
	if ratio {
		words = append(words, strings.Split(denominator, "-")...)
	}
	for i, word := range words {
		if err := checkWord(word, i < above); err != nil {
			return fmt.Errorf("unit %q: %w", name, err)
		}
	}
	return nil
}

// checkWord is CheckUnit for one word, which is in the numerator or not.
func checkWord(word string, numerator bool) error {
	switch i := strings.IndexFunc(word, notInWord); {
	case word == "":
		return errors.New("a word is missing")
	case i >= 0:
		return fmt.Errorf("illegal character %q (words are joined by hyphens)", []rune(word[i:])[0])
	case word == "ns" || word == "MB":
		if !numerator {
			return fmt.Errorf("%q is not tidied below the line", word)
		}
	case word == "B":
	case word != strings.ToLower(word):
		return fmt.Errorf("%q has a capital letter (only B and MB have)", word)
	case numerator && slices.Contains(scaled, word):
		return fmt.Errorf("%q is not tidied (times are in ns, sizes in B or MB)", word)
	}
	return nil
}

// notInWord reports whether r may not stand in a word of a unit. It is
// stricter than the format, which forbids white space only.
func notInWord(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '.')
}
