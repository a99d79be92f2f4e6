//go:build cgo

package session

import (
	"runtime"
	"strings"
	"testing"

	zmq "github.com/pebbe/zmq4"
)

// TestStrangerRefused lets a stranger fail the handshake at a bound socket with
// CURVE. It ends the session at once where only the session's own roles are
// expected and none is in. Once one is, and where the user chose the endpoint,
// the round trips go on, and a role that still misses its peer tells of it.
func TestStrangerRefused(t *testing.T) {
	pairs := newPairs(t, 2)
	server, client := pairs[0], pairs[1]
	fail := func(at *Address) error {
		s, err := call(at.peer)
		if err == nil {
			err = s.say(greeting(3, 1, "NULL", 0), ready("REQ"))
		}
		if err == nil {
			err = s.hungUpOn()
		}
		return err
	}
	for _, test := range []struct {
		name        string
		chosen      bool   // the endpoint
		first, then bool   // the stranger comes before the requester, after it
		want        string // if it is not empty, no requester comes
	}{
		{name: "own, before", first: true, want: "replier: handshake failed: protocol error 0x11000002 (the mechanisms differ)"},
		{name: "own, after", then: true},
		{name: "chosen, before and after", chosen: true, first: true, then: true},
		{name: "chosen, alone", chosen: true, first: true,
			want: "refused a peer: handshake failed: protocol error 0x11000002 (the mechanisms differ); replier: recv tcp://"},
	} {
		t.Run(test.name, func(t *testing.T) {
			report := record(func(tb TB) {
				s := Open(tb, Config{Transport: "tcp", Wait: short})
				at := s.Address()
				if test.chosen {
					var err error
					if at, err = s.AddressAt("tcp://127.0.0.1:*"); err != nil {
						tb.Fatal(err)
					}
				}
				s.Go("replier", func(r *Role) error {
					rep, err := r.Bind(zmq.REP, at, CurveServer(server.secret))
					for err == nil {
						var msg []byte
						if msg, err = rep.Recv(); err == nil {
							err = rep.Send(msg)
						}
					}
					return err
				})
				s.Run("requester", func(r *Role) error {
					<-at.bound
					if test.first {
						if err := fail(at); err != nil {
							return err
						}
					}
					if test.want != "" {
						for !s.isOver() && s.roles[0].refused.Load() == nil {
							runtime.Gosched()
						}
						r.parked.Store(true)
						<-s.over
						return nil
					}
					req, err := r.Connect(zmq.REQ, at, CurveClient(server.public, client.public, client.secret))
					for i := range 20 {
						if i == 10 && test.then && err == nil {
							err = fail(at)
						}
						if err == nil {
							err = req.Send([]byte("request"))
						}
						if err == nil {
							_, err = req.Recv()
						}
					}
					return err
				})
			})
			if !strings.Contains(report, test.want) || (report == "") != (test.want == "") {
				t.Errorf("report %q, want %q", report, test.want)
			}
		})
	}
}
