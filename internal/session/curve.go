//go:build cgo

package session

import (
	"bytes"
	"crypto/ecdh"
	"errors"
	"fmt"
	"strings"

	zmq "github.com/pebbe/zmq4"

	"zmqbench/internal/z85"
)

// CurveServer makes the socket the server of the CURVE mechanism
// (zmq_curve(7)), with the secret key of its pair in Z85. The server lets in
// every client that knows its public key: traffic is encrypted, and nobody is
// authenticated; no ZAP domain is set. Which side binds does not matter.
//
// The keys are checked before libzmq is called. The errors name the key and
// show nothing of it.
func CurveServer(secret string) Option {
	_, bad := curveKey("server secret key", secret)
	return func(z *zmq.Socket) error {
		if bad != nil {
			return bad
		}
		if err := z.SetCurveServer(1); err != nil {
			return explainCurve("server flag", err)
		}
		return explainCurve("server secret key", z.SetCurveSecretkey(secret))
	}
}

// CurveClient makes the socket a client of the CURVE mechanism, with the
// public key of its server and both keys of a pair of its own, in Z85. They
// are checked as those of [CurveServer] are; the pair must be one.
//
// The binding's ClientAuthCurve is not used: it sets the same options and
// drops the error of the last.
func CurveClient(serverKey, public, secret string) Option {
	bad := checkClient(serverKey, public, secret)
	return func(z *zmq.Socket) error {
		if bad != nil {
			return bad
		}
		if err := z.SetCurveServerkey(serverKey); err != nil {
			return explainCurve("server key", err)
		}
		if err := z.SetCurvePublickey(public); err != nil {
			return explainCurve("client public key", err)
		}
		return explainCurve("client secret key", z.SetCurveSecretkey(secret))
	}
}

// checkClient reports what is wrong with the three keys of a client.
func checkClient(serverKey, public, secret string) error {
	theirs, err := curveKey("server key", serverKey)
	if err != nil {
		return err
	}
	ours, err := curveKey("client public key", public)
	if err != nil {
		return err
	}
	raw, err := curveKey("client secret key", secret)
	if err != nil {
		return err
	}
	own, err := ecdh.X25519().NewPrivateKey(raw)
	if err != nil {
		return fmt.Errorf("CURVE client secret key: %w", err)
	}
	if !bytes.Equal(own.PublicKey().Bytes(), ours) {
		return errors.New("CURVE client public key: it is not that of the client secret key [are the two swapped?]")
	}
	server, err := ecdh.X25519().NewPublicKey(theirs)
	if err == nil {
		_, err = own.ECDH(server) // fails if the key is that of nobody, such as all zeros
	}
	if err != nil {
		return fmt.Errorf("CURVE server key: %w", err)
	}
	return nil
}

// curveKey returns the bytes of the key of that name, which must be there and
// complete.
func curveKey(name, text string) ([]byte, error) {
	name = "CURVE " + name
	if text == "" {
		return nil, fmt.Errorf("%s: missing", name)
	}
	return z85.DecodeKey(name, text)
}

// explainCurve adds to the error of a CURVE option what it means: libzmq
// answers EINVAL both to a bad key and when it was built without CURVE.
func explainCurve(setting string, err error) error {
	switch {
	case err == nil:
		return nil
	case !zmq.HasCurve():
		return fmt.Errorf("CURVE %s: %w [this libzmq was built without CURVE]", setting, err)
	}
	return fmt.Errorf("CURVE %s: %w [bad key]", setting, err)
}

// checkSecurity refuses a security mechanism over inproc, where libzmq takes
// the options and ignores them: it would be measured as if it cost nothing.
func (s *Socket) checkSecurity(endpoint string) error {
	if !strings.HasPrefix(endpoint, "inproc:") {
		return nil
	}
	mechanism, err := s.z.GetMechanism()
	if err == nil && mechanism != zmq.NULL {
		err = fmt.Errorf("%v over inproc measures no encryption: libzmq ignores security there [use ipc or tcp]", mechanism)
	}
	return err
}
