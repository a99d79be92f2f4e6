//go:build cgo

package session

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"strings"

	zmq "github.com/pebbe/zmq4"
)

// A Mechanism secures all connections of a session ([Config]): its sockets that
// bind are servers of the mechanism, and those that connect are clients. The
// zero value is NULL, no security, and nobody watches the handshakes at bound
// sockets.
type Mechanism struct {
	name   string
	server []Option
	client []Option
	allow  func(Request) bool // whom the roles with servers let in; nil if nobody asks
}

// NewMechanism returns the mechanism that has this name in results, null, plain
// or curve, with keys or a password of its own. It is called before a session
// is open: libzmq may crash if keys are made while a context is terminated.
//
// With curve the server lets in whoever knows its key, and nobody asks who that
// is. With plain a ZAP handler compares name and password, since without one
// PLAIN lets in nobody.
func NewMechanism(name string) (Mechanism, error) {
	switch name {
	case "null":
		return Mechanism{name: name}, nil
	case "plain":
		user, password := "zmqbench", rand.Text()
		return Mechanism{
			name:   name,
			server: []Option{PlainServer()},
			client: []Option{PlainClient(user, password)},
			allow: func(q Request) bool {
				return q.Mechanism == "PLAIN" && len(q.Credentials) == 2 && string(q.Credentials[0]) == user &&
					subtle.ConstantTimeCompare(q.Credentials[1], []byte(password)) == 1
			},
		}, nil
	case "curve":
		return newCurve()
	}
	return Mechanism{}, fmt.Errorf("session: mechanism %q is not one of null, plain, curve", name)
}

// newCurve returns CURVE with two new pairs of keys.
func newCurve() (Mechanism, error) {
	if !zmq.HasCurve() {
		return Mechanism{}, ErrNoCurve
	}
	serverPublic, serverSecret, err := zmq.NewCurveKeypair()
	if err != nil {
		return Mechanism{}, fmt.Errorf("CURVE server keys: %w", err)
	}
	public, secret, err := zmq.NewCurveKeypair()
	if err != nil {
		return Mechanism{}, fmt.Errorf("CURVE client keys: %w", err)
	}
	return Mechanism{
		name:   "curve",
		server: []Option{CurveServer(serverSecret)},
		client: []Option{CurveClient(serverPublic, public, secret)},
	}, nil
}

// serve makes the socket, which is about to be bound, a server of the session's
// mechanism.
func (s *Socket) serve() error {
	m := &s.role.session.conf.Mechanism
	if m.allow != nil && !s.role.asks {
		if err := s.role.Authenticate(m.allow); err != nil {
			return err
		}
	}
	return s.set(m.server)
}

// set sets options of a socket that is not bound or connected yet.
func (s *Socket) set(options []Option) error {
	for _, set := range options {
		if err := set(s.z); err != nil {
			return err
		}
	}
	return nil
}

// checkSecurity refuses a security mechanism over inproc, where libzmq takes
// the options and ignores them: it would be measured as if it cost nothing.
func (s *Socket) checkSecurity(endpoint string) error {
	if !strings.HasPrefix(endpoint, "inproc:") {
		return nil
	}
	mechanism, err := s.z.GetMechanism()
	if err == nil && mechanism != zmq.NULL {
		err = insecure(mechanism.String())
	}
	return err
}

// secures reports whether the mechanism is any but NULL.
func (m *Mechanism) secures() bool { return len(m.client) > 0 }

// insecure is why a mechanism over inproc is refused.
func insecure(mechanism string) error {
	return fmt.Errorf("%v over inproc measures no encryption: libzmq ignores security there [use ipc or tcp]", mechanism)
}
