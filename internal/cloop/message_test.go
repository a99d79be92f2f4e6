//go:build cgo

package cloop_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"zmqbench/internal/cloop"
	"zmqbench/internal/payload"
)

// raw returns the socket of an End for Go, which t closes.
func raw(t *testing.T, e *cloop.End) *os.File {
	t.Helper()
	fd, err := syscall.Dup(e.Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), e.Where())
	t.Cleanup(func() { f.Close() })
	return f
}

// frame is msg as it is sent over a stream.
func frame(msg []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(msg))), msg...)
}

// What C floods is what Go writes, and passes the check of Go.
func TestMessagesFromC(t *testing.T) {
	for _, transport := range []string{"ipc", "tcp"} {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s/%d", transport, size), func(t *testing.T) {
				near, far := pair(t, transport, size)
				n := amount(size)
				done := run(func() error { return near.Flood(n) })
				in, c, w := raw(t, far), payload.NewChecker(size, 1), payload.NewWriter(size, 0)
				got := make([]byte, 4+size)
				for i := range n {
					if _, err := io.ReadFull(in, got); err != nil {
						t.Fatal(err)
					}
					if length := binary.LittleEndian.Uint32(got); length != uint32(size) {
						t.Fatalf("frame %d begins with the length %d, want %d", i, length, size)
					}
					if err := c.Check(got[4:]); err != nil {
						t.Fatal(err)
					}
					if want := w.Next(); string(got[4:]) != string(want) {
						t.Fatalf("message %d is not what Go would send", i)
					}
				}
				if err := wait(t, "flood", done, near); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// What Go writes passes the check of C.
func TestMessagesFromGo(t *testing.T) {
	for _, transport := range []string{"ipc", "tcp"} {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s/%d", transport, size), func(t *testing.T) {
				var messages [][]byte
				for w := payload.NewWriter(size, 0); len(messages) < amount(size); {
					messages = append(messages, slices.Clone(w.Next()))
				}
				if err := receive(t, transport, size, 1, messages); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// receive has C receive messages that Go sends.
func receive(t *testing.T, transport string, size, senders int, messages [][]byte) error {
	t.Helper()
	near, far := pair(t, transport, size)
	near.Share(size, senders)
	out := raw(t, far)
	sent := run(func() error {
		for _, msg := range messages {
			if _, err := out.Write(frame(msg)); err != nil {
				return err
			}
		}
		return nil
	})
	err := wait(t, "receive", run(func() error { return near.Receive(len(messages)) }), near)
	near.Close()
	if sendErr := wait(t, "send", sent, near); err == nil && sendErr != nil {
		t.Error(sendErr)
	}
	return err
}

// check is what Go finds in messages.
func check(size, senders int, messages [][]byte) error {
	c := payload.NewChecker(size, senders)
	for _, msg := range messages {
		if err := c.Check(msg); err != nil {
			return err
		}
	}
	return nil
}

// stream returns the first 40 messages, from that many senders in turn.
func stream(size, senders int) [][]byte {
	var writers []*payload.Writer
	for sender := range senders {
		writers = append(writers, payload.NewWriter(size, sender))
	}
	var messages [][]byte
	for i := range 40 {
		messages = append(messages, slices.Clone(writers[i%senders].Next()))
	}
	return messages
}

// Each fault is the same one to C and to Go.
func TestFaults(t *testing.T) {
	flip := func(at, bit int) func([][]byte) [][]byte {
		return func(m [][]byte) [][]byte { m[25][at] ^= 1 << bit; return m }
	}
	length := func(n int) func([][]byte) [][]byte {
		return func(m [][]byte) [][]byte { m[25] = append(m[25], make([]byte, 100)...)[:n]; return m }
	}
	for _, fault := range []struct {
		name  string
		kind  payload.Kind
		spoil func(m [][]byte) [][]byte
	}{
		{"drop", payload.Lost, func(m [][]byte) [][]byte { return slices.Delete(m, 25, 26) }},
		{"drop many", payload.Lost, func(m [][]byte) [][]byte { return slices.Delete(m, 5, 36) }},
		{"repeat", payload.Repeated, func(m [][]byte) [][]byte { return slices.Insert(m, 26, m[25]) }},
		{"repeat the first", payload.Repeated, func(m [][]byte) [][]byte { return slices.Insert(m, 26, m[0]) }},
		{"swap", payload.Lost, func(m [][]byte) [][]byte { m[25], m[27] = m[27], m[25]; return m }},
		{"number up", payload.Lost, flip(3, 1)},
		{"number down", payload.Repeated, flip(0, 3)},
		{"sender", payload.Damaged, flip(7, 5)},
		{"first byte of the body", payload.Damaged, flip(8, 0)},
		{"last byte", payload.Damaged, flip(99, 7)},
		{"two bytes", payload.Damaged, func(m [][]byte) [][]byte { return flip(90, 1)(flip(50, 0)(m)) }},
		{"cut by one", payload.WrongSize, length(99)},
		{"cut to less than a number", payload.WrongSize, length(7)},
		{"empty", payload.WrongSize, length(0)},
		{"too long by one", payload.WrongSize, length(101)},
		{"too long", payload.WrongSize, length(200)},
	} {
		for _, senders := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s/%d", fault.name, senders), func(t *testing.T) {
				messages := fault.spoil(stream(100, senders))
				want, got := check(100, senders, messages), receive(t, "ipc", 100, senders, messages)
				if f, ok := errors.AsType[*payload.Fault](want); !ok || f.Kind != fault.kind {
					t.Errorf("Go finds %v, want kind %d", want, fault.kind)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("fault mismatch (-Go +C):\n%s", diff)
				}
			})
		}
	}
}

// A change of any one bit from some message on, at any size, is found in the same
// message by C and by Go, where the window of the check comes past it; half of
// the changes are where a window may begin or end.
func TestAnyBit(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	found := 0
	for i := range 300 {
		size := 1 + r.IntN(40<<r.IntN(10))
		messages := stream(size, 1)
		at, bit := r.IntN(size), r.IntN(8)
		if i%2 == 0 {
			at = min(size-1, 8+4096*r.IntN(5)-r.IntN(2))
		}
		for _, msg := range messages[r.IntN(len(messages)):] {
			msg[at] ^= 1 << bit
		}
		want, got := check(size, 1, messages), receive(t, "ipc", size, 1, messages)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("fault of byte %d of %d mismatch (-Go +C):\n%s", at, size, diff)
		}
		if want != nil {
			found++
		}
	}
	if found < 200 {
		t.Errorf("%d of 300 changes were found, want nearly all", found)
	}
}
