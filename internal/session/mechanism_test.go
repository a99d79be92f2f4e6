//go:build cgo

package session

import (
	"strings"
	"testing"
	"time"

	zmq "github.com/pebbe/zmq4"
)

// mechanism makes a mechanism, or skips the test where libzmq has none.
func mechanism(t *testing.T, name string) Mechanism {
	t.Helper()
	m, err := NewMechanism(name)
	if err == ErrNoCurve {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestMechanisms exchanges a message with each mechanism. Connect returns only
// when the bound side has seen the handshake, too.
func TestMechanisms(t *testing.T) {
	for name, want := range map[string]zmq.Mechanism{"null": zmq.NULL, "plain": zmq.PLAIN, "curve": zmq.CURVE} {
		m := mechanism(t, name)
		for _, transport := range []string{"ipc", "tcp"} {
			t.Run(transport+"/"+name, func(t *testing.T) {
				s := Open(t, Config{Transport: transport, Mechanism: m})
				at := s.Address()
				for range 2 {
					s.Go("sender", func(r *Role) error {
						push, err := r.Connect(zmq.PUSH, at)
						if err != nil {
							return err
						}
						if got, err := push.z.GetMechanism(); got != want || err != nil {
							t.Errorf("the mechanism of the client is %v, %v, want %v", got, err, want)
						}
						if ok, _ := at.seen.have(1); !ok {
							t.Error("connected, and no handshake was seen at the bound side")
						}
						if err := push.Send([]byte("message")); err != nil {
							return err
						}
						r.AwaitEnd()
						return nil
					})
				}
				s.Run("receiver", func(r *Role) error {
					pull, err := r.Bind(zmq.PULL, at)
					if err != nil {
						return err
					}
					if got, err := pull.z.GetMechanism(); got != want || err != nil {
						t.Errorf("the mechanism of the server is %v, %v, want %v", got, err, want)
					}
					for range 2 {
						if _, err := pull.Recv(); err != nil {
							return err
						}
					}
					return nil
				})
			})
		}
	}
}

// TestMechanismsApart has the client of one mechanism come to the server of
// another of the same name, whose keys or password are others.
func TestMechanismsApart(t *testing.T) {
	for name, want := range map[string]string{
		"plain": "handshake failed: not authenticated, ZAP status 400", // both sides learn, and either may be first
		"curve": "receiver: handshake failed: protocol error 0x11000001 (cryptographic: a key is wrong)",
	} {
		m, other := mechanism(t, name), mechanism(t, name)
		m.client = other.client
		report := record(func(tb TB) {
			s := Open(tb, Config{Transport: "tcp", Mechanism: m, Wait: time.Second})
			at := s.Address()
			s.Go("sender", func(r *Role) error {
				_, err := r.Connect(zmq.PUSH, at)
				return err
			})
			s.Run("receiver", func(r *Role) error {
				pull, err := r.Bind(zmq.PULL, at)
				if err == nil {
					_, err = pull.Recv()
				}
				return err
			})
		})
		wantReport(t, report, want)
	}
}

// TestMechanismUnseen connects where the bound side does not see the handshake: the
// client's word is not enough.
func TestMechanismUnseen(t *testing.T) {
	m := mechanism(t, "plain")
	report := record(func(tb TB) {
		s := Open(tb, Config{Transport: "tcp", Mechanism: m, Wait: short})
		at := s.Address()
		s.Go("receiver", func(r *Role) error {
			_, err := r.Bind(zmq.PULL, at)
			r.AwaitEnd()
			return err
		})
		s.Run("sender", func(r *Role) error {
			<-at.bound
			at.seen = &handshakes{} // at which nobody counts
			_, err := r.Connect(zmq.PUSH, at)
			return err
		})
	})
	wantReport(t, report, "sender: await tcp://", "no progress for 200ms", "waiting for the handshake at the bound side")
}

// TestMechanismRefused asks for mechanisms that are none, or over inproc (Z38).
func TestMechanismRefused(t *testing.T) {
	if _, err := NewMechanism("CURVE"); err == nil || err.Error() != `session: mechanism "CURVE" is not one of null, plain, curve` {
		t.Errorf("NewMechanism(CURVE): %v", err)
	}
	for _, name := range []string{"plain", "curve"} {
		m := mechanism(t, name)
		report := record(func(tb TB) { Open(tb, Config{Transport: "inproc", Mechanism: m}) })
		if want := strings.ToUpper(name) + " over inproc measures no encryption"; !strings.Contains(report, want) {
			t.Errorf("report %q, want %q in it", report, want)
		}
	}
}
