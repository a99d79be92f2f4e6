//go:build cgo

package session

import zmq "github.com/pebbe/zmq4"

// An Option sets one option of a socket that has just been opened. There is no
// way to set one later.
type Option func(*zmq.Socket) error

// HWM limits the messages that the socket queues for sending and for receiving
// to n each; 0 is no limit. libzmq's own default is 1000.
func HWM(n int) Option {
	return func(z *zmq.Socket) error {
		if err := z.SetSndhwm(n); err != nil {
			return err
		}
		return z.SetRcvhwm(n)
	}
}

// NoDrop makes an XPUB wait at its HWM instead of dropping messages.
func NoDrop() Option {
	return func(z *zmq.Socket) error { return z.SetXpubNodrop(true) }
}

// Mandatory makes a ROUTER wait at the HWM of a peer instead of dropping
// messages, and fail for a peer that is not there.
func Mandatory() Option {
	return func(z *zmq.Socket) error { return z.SetRouterMandatory(1) }
}

// Subscribe makes a SUB receive the messages that begin with prefix.
func Subscribe(prefix string) Option {
	return func(z *zmq.Socket) error { return z.SetSubscribe(prefix) }
}
