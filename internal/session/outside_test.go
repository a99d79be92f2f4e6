//go:build cgo

package session

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	zmq "github.com/pebbe/zmq4"

	"zmqbench/internal/cloop"
	"zmqbench/internal/payload"
)

// The binding has no method for libzmq's socket: handle reads its field.
func TestHandleField(t *testing.T) {
	f, ok := reflect.TypeFor[zmq.Socket]().FieldByName("soc")
	if !ok || f.Type != reflect.TypeFor[unsafe.Pointer]() {
		t.Fatalf("zmq4's Socket has no field soc of type unsafe.Pointer, which the loops in C work on: "+
			"find where this zmq4 keeps what zmq_socket(3) returned, and change handle [its fields are %v]",
			reflect.VisibleFields(reflect.TypeFor[zmq.Socket]()))
	}
}

// pushing connects a PUSH and runs send on it.
func pushing(at *Address, send func(*Socket) error) func(*Role) error {
	return func(r *Role) error {
		push, err := r.Connect(zmq.PUSH, at, HWM(10))
		if err == nil {
			err = send(push)
		}
		if err == nil {
			r.AwaitEnd()
		}
		return err
	}
}

// pulling binds a PULL and runs receive on it.
func pulling(at *Address, receive func(*Socket) error) func(*Role) error {
	return func(r *Role) error {
		pull, err := r.Bind(zmq.PULL, at, HWM(10))
		if err != nil {
			return err
		}
		return receive(pull)
	}
}

// receiveC receives n messages in C.
func receiveC(size, n int) func(*Socket) error {
	return func(s *Socket) error {
		loop := cloop.NewLoop(size, 0, 1)
		return s.Outside("recv", loop, func(socket unsafe.Pointer) error { return loop.Receive(socket, n) })
	}
}

// floodC sends n messages in C.
func floodC(size, n int) func(*Socket) error {
	return func(s *Socket) error {
		loop := cloop.NewLoop(size, 0, 1)
		return s.Outside("send", loop, func(socket unsafe.Pointer) error { return loop.Flood(socket, n) })
	}
}

// What handle returns is the role's socket: what C sends on it, Go receives at
// the other side and finds in order, and the other way round.
func TestOutside(t *testing.T) {
	for _, transport := range transports {
		for _, size := range []int{0, 7, 8, 100, 4104, 65536} {
			t.Run(fmt.Sprintf("%s/%d", transport, size), func(t *testing.T) {
				const n = 100
				s := Open(t, Config{Transport: transport})
				at := s.Address()
				s.Go("sender", pushing(at, floodC(size, n)))
				s.Run("receiver", pulling(at, func(pull *Socket) error {
					c := payload.NewChecker(size, 1)
					for range n {
						msg, err := pull.Recv()
						if err == nil {
							err = c.Check(msg)
						}
						if err != nil {
							return err
						}
					}
					return nil
				}))
				var messages [][]byte
				for w := payload.NewWriter(size, 0); len(messages) < n; {
					messages = append(messages, slices.Clone(w.Next()))
				}
				if err := receivedC(transport, size, messages); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// receivedC is what C finds wrong with messages that Go sends.
func receivedC(transport string, size int, messages [][]byte) (found error) {
	record(func(tb TB) {
		s := Open(tb, Config{Transport: transport, Wait: short})
		at := s.Address()
		s.Go("sender", pushing(at, func(push *Socket) error {
			for _, msg := range messages {
				if err := push.Send(msg); err != nil {
					return err
				}
			}
			return nil
		}))
		s.Run("receiver", pulling(at, func(pull *Socket) error {
			found = receiveC(size, len(messages))(pull)
			return found
		}))
	})
	return found
}

// Each fault that Go finds, C finds too.
func TestOutsideFaults(t *testing.T) {
	for name, spoil := range map[string]func(m [][]byte) [][]byte{
		"drop":   func(m [][]byte) [][]byte { return slices.Delete(m, 5, 6) },
		"repeat": func(m [][]byte) [][]byte { return slices.Insert(m, 6, m[5]) },
		"number": func(m [][]byte) [][]byte { m[5][3] ^= 2; return m },
		"sender": func(m [][]byte) [][]byte { m[5][7] ^= 2; return m },
		"body":   func(m [][]byte) [][]byte { m[5][99] ^= 2; return m },
		"short":  func(m [][]byte) [][]byte { m[5] = m[5][:99]; return m },
		"long":   func(m [][]byte) [][]byte { m[5] = append(m[5], make([]byte, 100)...); return m },
		"empty":  func(m [][]byte) [][]byte { m[5] = nil; return m },
	} {
		for _, transport := range transports {
			t.Run(transport+"/"+name, func(t *testing.T) {
				var messages [][]byte
				for w := payload.NewWriter(100, 0); len(messages) < 20; {
					messages = append(messages, slices.Clone(w.Next()))
				}
				messages = spoil(messages)
				var want error
				for c, i := payload.NewChecker(100, 1), 0; want == nil && i < len(messages); i++ {
					want = c.Check(messages[i])
				}
				got, _ := errors.AsType[*payload.Fault](receivedC(transport, 100, messages))
				if diff := cmp.Diff(want, error(got)); want == nil || diff != "" {
					t.Errorf("fault mismatch (-Go +C):\n%s", diff)
				}
			})
		}
	}
}

// A loop in C without its peer, or with one that stands still, is struck like
// one in Go, with its counts.
func TestOutsideAlone(t *testing.T) {
	for _, transport := range transports {
		for _, test := range []struct {
			name string
			run  func(*Session)
			want []string
		}{
			{"receiver", func(s *Session) { s.Run("receiver", pulling(s.Address(), receiveC(100, 1))) },
				[]string{"receiver: recv " + transport + "://", "no message for 200ms", "(0 sent, 0 received)"}},
			{"sender", func(s *Session) {
				at := s.Address()
				s.Go("receiver", pulling(at, func(pull *Socket) error { pull.role.AwaitEnd(); return nil }))
				s.Run("sender", pushing(at, floodC(1<<20, 1000)))
			}, []string{"sender: send " + transport + "://", "no room to send for 200ms", " sent, 0 received)"}},
			{"after some", func(s *Session) {
				at := s.Address()
				s.Go("sender", pushing(at, floodC(100, 50)))
				s.Run("receiver", pulling(at, receiveC(100, 51)))
			}, []string{"receiver: recv " + transport + "://", "no message for 200ms", "(0 sent, 50 received)"}},
		} {
			t.Run(transport+"/"+test.name, func(t *testing.T) {
				start := time.Now()
				text := record(func(tb TB) { test.run(Open(tb, Config{Transport: transport, Wait: short})) })
				wantReport(t, text, test.want...)
				within(t, short, start)
			})
		}
	}
}

// A peer that dies releases a loop in C: by its error, or by the limit.
func TestOutsidePeerDies(t *testing.T) {
	for _, transport := range transports {
		for _, with := range []error{nil, errors.New("replier: out of paper")} {
			t.Run(fmt.Sprintf("%s/%v", transport, with), func(t *testing.T) {
				start := time.Now()
				text := record(func(tb TB) {
					s := Open(tb, Config{Transport: transport, Wait: short})
					at := s.Address()
					s.Go("replier", func(r *Role) error {
						rep, err := r.Bind(zmq.REP, at)
						for i := 0; err == nil; i++ {
							var msg []byte
							if msg, err = rep.Recv(); err == nil && i == 5 {
								return with
							} else if err == nil {
								err = rep.Send(msg)
							}
						}
						return err
					})
					s.Run("requester", func(r *Role) error {
						req, err := r.Connect(zmq.REQ, at)
						if err != nil {
							return err
						}
						loop := cloop.NewLoop(100, 0, 1)
						return req.Outside("recv", loop, func(socket unsafe.Pointer) error { return loop.Request(socket, 10, nil) })
					})
				})
				want := []string{"no message for 200ms", "(6 sent, 5 received)"}
				if with != nil {
					want = []string{with.Error() + "\n", "ended with the session (6 sent, 5 received)"}
				}
				wantReport(t, text, want...)
				within(t, short, start)
			})
		}
	}
}
