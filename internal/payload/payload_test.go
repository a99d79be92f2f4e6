package payload

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// sizes are where the layout changes: no bytes, no header, header alone, one
// window, several windows.
var sizes = []int{0, 1, 7, 8, 9, 100, window, window + header, window + header + 1, 65536}

// stream returns the first n messages of one sender.
func stream(n, size, sender int) [][]byte {
	w := NewWriter(size, sender)
	var msgs [][]byte
	for range n {
		msgs = append(msgs, slices.Clone(w.Next()))
	}
	return msgs
}

// receive checks msgs in order and explains the first fault.
func receive(c *Checker, msgs [][]byte) error {
	for i, msg := range msgs {
		if err := c.Check(msg); err != nil {
			rest := msgs[i+1:]
			return Explain(err, func() ([]byte, error) {
				if len(rest) == 0 {
					return nil, errors.New("no more messages")
				}
				next := rest[0]
				rest = rest[1:]
				return next, nil
			})
		}
	}
	return nil
}

func TestWholeStreamPasses(t *testing.T) {
	for _, size := range sizes {
		c := NewChecker(size, 1)
		if err := receive(c, stream(40, size, 0)); err != nil {
			t.Errorf("size %d: %v, want no fault", size, err)
		}
		if got := c.Received(); got != 40 {
			t.Errorf("size %d: Received() = %d, want 40", size, got)
		}
	}
}

func TestEachSenderHasItsOwnSequence(t *testing.T) {
	a, b := stream(3, 16, 0), stream(3, 16, 1)
	c := NewChecker(16, 2)
	if err := receive(c, [][]byte{b[0], a[0], b[1], b[2], a[1], a[2]}); err != nil {
		t.Errorf("interleaved senders: %v, want no fault", err)
	}
	if err := NewChecker(16, 1).Check(b[0]); err == nil {
		t.Error("a sender that is not expected passed the check")
	}
}

// TestFaults drops, repeats, reorders and damages one message each (Z09, and
// the rule that a lossless pattern that does so fails).
func TestFaults(t *testing.T) {
	flip := func(i, bit int) func([][]byte) [][]byte {
		return func(m [][]byte) [][]byte { m[5][i] ^= 1 << bit; return m }
	}
	for _, test := range []struct {
		name   string
		spoil  func(m [][]byte) [][]byte
		want   string
		reason string
	}{
		{"drop", func(m [][]byte) [][]byte { return slices.Delete(m, 5, 6) },
			"message 5 of sender 0 is lost", "the next number tells"},
		{"drop two", func(m [][]byte) [][]byte { return slices.Delete(m, 5, 7) },
			"message 5 of sender 0 is lost", "the first missing one is named"},
		{"repeat", func(m [][]byte) [][]byte { return slices.Insert(m, 6, m[5]) },
			"message 5 of sender 0 is repeated", "a number that was there before"},
		{"repeat late", func(m [][]byte) [][]byte { return slices.Insert(m, 9, m[5]) },
			"message 5 of sender 0 is repeated", "not only the last one"},
		{"reorder", func(m [][]byte) [][]byte { m[5], m[6] = m[6], m[5]; return m },
			"message 5 of sender 0 is out of order", "neighbours swapped"},
		{"delay", func(m [][]byte) [][]byte { x := m[5]; return slices.Insert(slices.Delete(m, 5, 6), 12, x) },
			"message 5 of sender 0 is out of order", "it turns up some messages later"},
		{"damage number up", flip(3, 1), "message 5 is damaged: its number reads", "successor comes, it does not"},
		{"damage number by one", flip(0, 1), "message 5 is damaged: its number reads 7", "a small change of the number"},
		{"damage number down", flip(0, 0), "message 5 is damaged: its number reads 4", "looks like a repeat at first"},
		{"damage sender", flip(7, 0), "message 5 is damaged: its number reads 5 of sender 1", "no such sender"},
		{"damage body", flip(8, 0), "message 5 is damaged: byte 8 is", "first byte of the pattern"},
		{"damage last byte", flip(99, 7), "message 5 is damaged: byte 99 is", "last byte of the pattern"},
		{"cut", func(m [][]byte) [][]byte { m[5] = m[5][:99]; return m },
			"message 5 has the wrong size: got 99 bytes, want 100", "one byte short"},
		{"empty", func(m [][]byte) [][]byte { m[5] = nil; return m },
			"message 5 has the wrong size: got 0 bytes, want 100", "nothing at all"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := receive(NewChecker(100, 1), test.spoil(stream(40, 100, 0)))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q (%s)", err, test.want, test.reason)
			}
		})
	}
}

// TestFill: what is written beside the number is what Fill says, and so is what
// the receiver notices of it.
func TestFill(t *testing.T) {
	w, c := Zero.NewWriter(100, 3), Zero.NewChecker(100, 4)
	for i := range 2 * zeroEvery {
		msg := w.Next()
		if slices.Max(msg[header:]) != 0 {
			t.Fatalf("message %d is not zero: %v", i, msg)
		}
		if err := c.Check(msg); err != nil {
			t.Fatal(err)
		}
		copy(msg[header:], "what the next message must not have")
	}
	if got := c.From(3); got != 2*zeroEvery || c.From(0) != 0 {
		t.Errorf("From(3) = %d, From(0) = %d, want %d and 0", got, c.From(0), 2*zeroEvery)
	}
	for _, test := range []struct {
		fill Fill
		at   int // the message whose last byte is changed
		want string
	}{
		{None, 0, ""}, {None, 1, ""}, {None, zeroEvery, ""},
		{Zero, 0, "message 0 is damaged: byte 99 is 0x01, want 0x00"}, {Zero, 1, ""}, {Zero, zeroEvery - 1, ""},
		{Zero, zeroEvery, "message 1024 is damaged: byte 99 is 0x01, want 0x00"},
	} {
		w, c := test.fill.NewWriter(100, 0), test.fill.NewChecker(100, 1)
		var got string
		for i := 0; i <= zeroEvery && got == ""; i++ {
			msg := slices.Clone(w.Next())
			if i == test.at {
				msg[99] = 1
			}
			if err := c.Check(msg); err != nil {
				got = err.Error()
			}
		}
		if got != test.want {
			t.Errorf("fill=%v, a byte of message %d: %q, want %q", test.fill, test.at, got, test.want)
		}
	}
	for _, fill := range []Fill{Pattern, None, Zero} { // the numbers are seen whatever the fill
		var msgs [][]byte
		for w := fill.NewWriter(64, 0); len(msgs) < 40; {
			msgs = append(msgs, slices.Clone(w.Next()))
		}
		if err := receive(fill.NewChecker(64, 1), slices.Delete(msgs, 5, 6)); err == nil || !strings.Contains(err.Error(), "message 5 of sender 0 is lost") {
			t.Errorf("fill=%v: %v, want message 5 lost", fill, err)
		}
	}
}

func TestSmallMessagesAreComparedWhole(t *testing.T) {
	for size := 1; size < header; size++ {
		msgs := stream(3, size, 0)
		msgs[1][size-1] ^= 0x10
		err := receive(NewChecker(size, 1), msgs)
		if err == nil || !strings.Contains(err.Error(), "message 1 is damaged: byte") {
			t.Errorf("size %d: got %v, want message 1 damaged", size, err)
		}
	}
}

// TestWindowReachesEveryByte damages one byte of every message of a stream:
// within size/window messages the moving window must have come past it.
func TestWindowReachesEveryByte(t *testing.T) {
	const size = 3*window + 100
	for _, at := range []int{header, window, window + header, 2*window + 1, size - 1} {
		c := NewChecker(size, 1)
		w := NewWriter(size, 0)
		found := false
		for range size/window + 1 {
			msg := slices.Clone(w.Next())
			msg[at] ^= 1
			if err := c.Check(msg); err != nil {
				found = true
			}
		}
		if !found {
			t.Errorf("a change of byte %d in every message was not found", at)
		}
	}
}

// BenchmarkCheck: one op is one message written and checked, which is what a
// role adds to each message beside the calls it measures.
func BenchmarkCheck(b *testing.B) {
	for _, size := range []int{1, 100, 1000, 65536} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			w, c := NewWriter(size, 0), NewChecker(size, 1)
			b.ReportAllocs()
			for b.Loop() {
				if err := c.Check(w.Next()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
