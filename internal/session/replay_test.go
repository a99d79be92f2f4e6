//go:build cgo

package session

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	zmq "github.com/pebbe/zmq4"
)

// TestHostileReplay has a stranger say to each bound socket what a good peer has said
// to it before, handshake and messages. With CURVE it gets no further than the
// second step, whose answer depends on what the server said, and no message
// comes twice. With PLAIN it is let in: that this is found shows that the test
// looks.
func TestHostileReplay(t *testing.T) {
	for _, transport := range []string{"ipc", "tcp"} {
		if transport == "ipc" && !*hostileAll {
			continue
		}
		t.Run(transport+"/curve", func(t *testing.T) {
			a := newArena(t, transport, "curve")
			recorded := a.relayed()
			a.each(func(v *victim) error {
				said := recorded[v].record()
				parts := frames(said)
				if len(parts) < 3 || !bytes.HasPrefix(parts[1][2:], []byte("\x05HELLO")) {
					return fmt.Errorf("the relay heard %d bytes, which begin with %q", len(said), parts[:min(2, len(parts))])
				}
				return errors.Join(replay(v, said), replay(v, parts...), a.exchange(v, newcomer), a.exchange(v, theGood))
			})
			a.close()
		})
	}
	t.Run("tcp/plain", func(t *testing.T) {
		var a *arena
		report := record(func(tb TB) {
			a = openArena(t, tb, "tcp", "plain")
			recorded := a.relayed()
			for _, v := range a.victims {
				if v.kind != zmq.PULL {
					continue
				}
				if err := replay(v, frames(recorded[v].record())...); err != nil {
					t.Error(err)
				}
			}
			<-a.s.over
		})
		if want := fmt.Sprintf("message 0 of sender 0 comes, want %d", some); !strings.Contains(report, want) {
			t.Errorf("report %q, want %q", report, want)
		}
	})
}

// replay says parts one after the other, or all as one part. It waits for the
// answers to the first two, the greeting and HELLO, and at last for the end.
func replay(v *victim, parts ...[]byte) error {
	s, err := call(v.at.peer)
	if err != nil {
		return err
	}
	for i, part := range parts {
		if err := s.say(part); err != nil {
			return err
		}
		switch {
		case len(parts) == 1:
		case i == 0:
			_, err = s.hear(64)
		case i == 1: // HELLO
			var welcome []byte
			if welcome, err = s.command(); err == nil && !bytes.HasPrefix(welcome, []byte("\x07WELCOME")) {
				err = fmt.Errorf("the answer to HELLO is %q", welcome)
			}
		}
		if err != nil {
			return err
		}
	}
	return s.hungUpOn()
}

// relayed lets the good peers connect through relays.
func (a *arena) relayed() map[*victim]*relay {
	relays := map[*victim]*relay{}
	for _, v := range a.victims {
		r, err := newRelay(v.at.peer)
		if err == nil {
			v.via, err = r.at(a.s)
		}
		if err != nil {
			a.t.Fatal(err)
		}
		a.s.Cleanup(r.close)
		relays[v] = r
	}
	a.welcome()
	return relays
}
