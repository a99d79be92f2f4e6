//go:build cgo

package session

import (
	"fmt"

	zmq "github.com/pebbe/zmq4"
)

// PlainServer makes the socket the server of the PLAIN mechanism
// (zmq_plain(7)), which encrypts nothing. It lets in only whom its role says
// ([Role.Authenticate]), and without that nobody.
func PlainServer() Option {
	return func(z *zmq.Socket) error { return explainPlain("server flag", z.SetPlainServer(1)) }
}

// PlainClient makes the socket a client of the PLAIN mechanism with that user
// name and password, of 1 to 255 bytes each. To libzmq an empty one means no
// security at all. The errors show nothing of either.
func PlainClient(user, password string) Option {
	bad := checkPlain("user name", user)
	if bad == nil {
		bad = checkPlain("password", password)
	}
	return func(z *zmq.Socket) error {
		if bad != nil {
			return bad
		}
		if err := z.SetPlainUsername(user); err != nil {
			return explainPlain("user name", err)
		}
		return explainPlain("password", z.SetPlainPassword(password))
	}
}

// checkPlain returns an error unless PLAIN can carry the text.
func checkPlain(name, text string) error {
	switch n := len(text); {
	case n == 0:
		return fmt.Errorf("PLAIN %s: missing", name)
	case n > 255:
		return fmt.Errorf("PLAIN %s: %d bytes, want 255 at most", name, n)
	}
	return nil
}

// explainPlain says which setting an error is of.
func explainPlain(setting string, err error) error {
	if err != nil {
		return fmt.Errorf("PLAIN %s: %w", setting, err)
	}
	return nil
}
