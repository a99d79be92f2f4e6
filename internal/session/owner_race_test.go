//go:build cgo && race

package session

import (
	"fmt"
	"strings"
	"testing"

	zmq "github.com/pebbe/zmq4"
)

// slowdown is how many times fewer repeats a test makes under the race
// detector.
const slowdown = 20

// Z16: in a build with the race detector every method of a socket panics with
// a Go message when a goroutine calls it that does not own the socket. libzmq
// would end the process with an assertion, now and then.
func TestOwner(t *testing.T) {
	s := Open(t, Config{Transport: "inproc"})
	at := s.Address()
	s.Run("receiver", func(r *Role) error {
		pull, err := r.Bind(zmq.PULL, at)
		if err != nil {
			return err
		}
		ready := make(chan struct{})
		close(ready)
		for name, use := range map[string]func(){
			"Send":    func() { pull.Send(nil) },
			"Recv":    func() { pull.Recv() },
			"Single":  func() { pull.Single() },
			"Await":   func() { pull.Await(ready, "nothing") },
			"Bind":    func() { pull.Bind(at) },
			"Connect": func() { pull.Connect(at) },
			"Proxy":   func() { r.Proxy(pull, pull) },
		} {
			said := make(chan string)
			go func() {
				defer func() { said <- fmt.Sprint(recover()) }()
				use()
			}()
			if text := <-said; !strings.HasPrefix(text, "session: a socket of goroutine ") ||
				!strings.Contains(text, " was used by goroutine ") {
				t.Errorf("%s by another goroutine: panic %q, want one that names both", name, text)
			}
		}
		return pull.Await(ready, "nothing") // its owner may still use it
	})
}
