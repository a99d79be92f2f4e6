//go:build cgo

package session

import (
	"errors"
	"fmt"
	"slices"

	zmq "github.com/pebbe/zmq4"
)

// zapEndpoint is where libzmq looks for a ZAP handler, in each context apart.
const zapEndpoint = "inproc://zeromq.zap.01"

// A Request is what libzmq asks a ZAP handler (RFC 27,
// https://rfc.zeromq.org/spec/27/) during a handshake.
type Request struct {
	Domain      string   // of the socket, see [ZAPDomain]
	Address     string   // of the client: its IP address, or over ipc what the system knows of it
	RoutingID   string   // of the socket that asks
	Mechanism   string   // NULL, PLAIN or CURVE
	Credentials [][]byte // none; user name and password; the client's public key, 32 bytes
}

// ZAPDomain sets the domain that the socket's requests to a ZAP handler name. A
// socket without security asks only if it has one. The empty domain is none
// and leaves the option alone, which libzmq would answer with EINVAL.
func ZAPDomain(domain string) Option {
	return func(z *zmq.Socket) error {
		switch n := len(domain); {
		case n == 0:
			return nil
		case n > 255:
			return fmt.Errorf("ZAP domain: %d bytes, want 255 at most", n)
		}
		return z.SetZapDomain(domain)
	}
}

// Authenticate makes the role decide who may connect to its sockets: allow is
// called for each client during the handshake, on a goroutine of its own, one
// at a time. It is called before a socket is bound, once a role.
//
// It serves the sockets of the role's own context and no others, as libzmq asks
// in each context apart. The binding's own handler is not used: it serves the
// default context only, in which no role has a socket, its lists must not
// change while it runs, and a request it does not know ends the process.
func (r *Role) Authenticate(allow func(Request) bool) error {
	return r.handleZAP(func(q Request) [][]byte {
		if allow(q) {
			return zapReply("200", "OK")
		}
		return zapReply("400", "not listed")
	})
}

// zapReply is a reply after the request's version and id.
func zapReply(status, text string) [][]byte {
	return [][]byte{[]byte(status), []byte(text), nil, nil} // with no user id and no metadata
}

// handleZAP has requests answered until the session ends. The answer is the
// frames after the version and the id; nil is none at all.
func (r *Role) handleZAP(answer func(Request) [][]byte) error {
	return r.bindZAP(func(asked [][]byte) (reply [][]byte) {
		const fixed = 6 // version, id, domain, address, routing id, mechanism
		if len(asked) < fixed || string(asked[0]) != "1.0" {
			return nil // nobody but libzmq asks, and it asks so
		}
		answered := answer(Request{
			Domain: string(asked[2]), Address: string(asked[3]), RoutingID: string(asked[4]),
			Mechanism: string(asked[5]), Credentials: asked[fixed:],
		})
		if answered == nil {
			return nil
		}
		return slices.Concat(asked[:2], answered)
	})
}

// bindZAP binds a ZAP handler in the role's context, and has handle reply to
// frames with frames, on a goroutine of its own that owns the socket.
func (r *Role) bindZAP(handle func(asked [][]byte) (reply [][]byte)) error {
	c, err := r.context()
	if err != nil {
		return fmt.Errorf("%s: authenticate: %w", r.name, err)
	}
	bound := make(chan error)
	r.session.peers.Go(func() {
		z, err := c.socket(zmq.ROUTER)
		if err != nil {
			bound <- err
			return
		}
		defer c.close(z)
		err = z.Bind(zapEndpoint)
		bound <- err
		for err == nil {
			err = replyZAP(z, handle)
		}
	})
	if err := <-bound; err != nil {
		if errors.Is(err, zmq.EADDRINUSE) {
			err = fmt.Errorf("%w [the context has a ZAP handler already]", err)
		}
		return fmt.Errorf("%s: authenticate: %w", r.name, err)
	}
	r.asks = true
	return nil
}

// replyZAP replies to one request, if the handler wants to. It fails when the
// context ends.
func replyZAP(z *zmq.Socket, handle func([][]byte) [][]byte) error {
	asked, err := z.RecvMessageBytes(0)
	if err != nil || len(asked) < 2 { // who asks, and an empty frame
		return err
	}
	reply := handle(asked[2:])
	if reply == nil {
		return nil
	}
	for i, frame := range slices.Concat(asked[:2], reply) {
		flag := zmq.SNDMORE
		if i == len(reply)+1 {
			flag = 0
		}
		if _, err := z.SendBytes(frame, flag); err != nil {
			return err
		}
	}
	return nil
}
