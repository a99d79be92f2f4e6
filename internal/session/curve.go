//go:build cgo

package session

import (
	"bytes"
	"crypto/ecdh"
	"errors"
	"fmt"

	zmq "github.com/pebbe/zmq4"

	"zmqbench/internal/z85"
)

// A Key is a CURVE key: as a string the 40 characters of its Z85 form (RFC 32),
// as a []byte its 32 bytes. libzmq itself tells the forms apart by length, and
// takes a text that was cut to 32 characters for a raw key.
type Key interface{ string | []byte }

// CurveServer makes the socket the server of the CURVE mechanism
// (zmq_curve(7)), with the secret key of its pair. The server lets in every
// client that knows its public key, unless its role asks who it is
// ([Role.Authenticate]). Which side binds does not matter.
//
// The keys are checked before libzmq is called. The errors name the key and
// show nothing of it.
func CurveServer[K Key](secret K) Option {
	key, bad := curveKey("server secret key", secret)
	return func(z *zmq.Socket) error {
		if bad != nil {
			return bad
		}
		if err := z.SetCurveServer(1); err != nil {
			return explainCurve("server flag", err)
		}
		return explainCurve("server secret key", z.SetCurveSecretkey(string(key)))
	}
}

// CurveClient makes the socket a client of the CURVE mechanism, with the
// public key of its server and both keys of a pair of its own. They are
// checked as those of [CurveServer] are; the pair must be one.
//
// The binding's ClientAuthCurve is not used: it sets the same options and
// drops the error of the last.
func CurveClient[K Key](serverKey, public, secret K) Option {
	keys, bad := clientKeys(serverKey, public, secret)
	return func(z *zmq.Socket) error {
		if bad != nil {
			return bad
		}
		if err := z.SetCurveServerkey(string(keys.server)); err != nil {
			return explainCurve("server key", err)
		}
		if err := z.SetCurvePublickey(string(keys.public)); err != nil {
			return explainCurve("client public key", err)
		}
		return explainCurve("client secret key", z.SetCurveSecretkey(string(keys.secret)))
	}
}

// A clientSet is the three keys of a client, 32 bytes each.
type clientSet struct{ server, public, secret []byte }

// clientKeys returns the keys of a client, or what is wrong with them. It asks
// Go's own X25519 and not zmq_curve_public, which writes beyond its memory when
// a text is too long.
func clientKeys[K Key](serverKey, public, secret K) (keys clientSet, err error) {
	if keys.server, err = curveKey("server key", serverKey); err != nil {
		return clientSet{}, err
	}
	if keys.public, err = curveKey("client public key", public); err != nil {
		return clientSet{}, err
	}
	if keys.secret, err = curveKey("client secret key", secret); err != nil {
		return clientSet{}, err
	}
	own, err := ecdh.X25519().NewPrivateKey(keys.secret)
	if err != nil {
		return clientSet{}, fmt.Errorf("CURVE client secret key: %w", err)
	}
	if !bytes.Equal(own.PublicKey().Bytes(), keys.public) {
		return clientSet{}, errors.New("CURVE client public key: it is not that of the client secret key [are the two swapped?]")
	}
	server, err := ecdh.X25519().NewPublicKey(keys.server)
	if err == nil {
		_, err = own.ECDH(server) // fails if nobody can have the key
	}
	if err != nil {
		return clientSet{}, fmt.Errorf("CURVE server key: %w", err)
	}
	return keys, nil
}

// curveKey returns the 32 bytes of the key of that name, which must be there
// and complete. They are the caller's.
func curveKey[K Key](name string, key K) (raw []byte, err error) {
	name = "CURVE " + name
	if len(key) == 0 {
		return nil, fmt.Errorf("%s: missing", name)
	}
	switch key := any(key).(type) {
	case string:
		if raw, err = z85.DecodeKey(name, key); err != nil {
			return nil, err
		}
	case []byte:
		if len(key) != 32 {
			return nil, fmt.Errorf("%s: %d bytes, want 32 [a key as text is a string]", name, len(key))
		}
		raw = bytes.Clone(key)
	}
	if bytes.Equal(raw, make([]byte, 32)) {
		return nil, fmt.Errorf("%s: all zeros, which is nobody's key", name)
	}
	return raw, nil
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
