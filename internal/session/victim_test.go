//go:build cgo

package session

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	zmq "github.com/pebbe/zmq4"
)

// A victim is a bound socket of a kind that the suite binds, and its good peer,
// which exchanges messages with it when it is told to. Every message of theirs
// is known by a tag that nobody else knows, and numbered: one that is lost,
// repeated, out of order or changed ends the session.
type victim struct {
	kind, peer zmq.Type
	fits       string // the type of socket that a stranger claims to be
	tag        []byte

	at     *Address       // of the bound socket
	via    *Address       // where its good peer connects
	orders chan order     // to the good peer
	asks   chan ask       // to a bound socket that begins an exchange
	got    chan struct{}  // one for each message that a bound socket has received
	next   [senders]int32 // number of the next message, by sender, where it is received
	sent   [senders]int32 // the same where it is sent

	ordered  int          // messages that were to be exchanged
	verified atomic.Int64 // messages that were received and found right
	foreign  atomic.Int64 // messages of strangers that the bound socket received
}

const (
	theGood  = iota // the peer that is there all the time
	newcomer        // a peer that comes, exchanges messages and goes
	senders
)

// An order is to exchange n messages and to say so. A newcomer makes a connection
// for it, which it then ends.
type order struct {
	n, sender int
	done      chan<- struct{}
}

// An ask is for n messages, when the subscription to them has arrived if the
// sender is a publisher with a new subscriber.
type ask struct {
	n, sender  int
	subscribed bool
}

// roles are the kinds of sockets that the suite binds, with the peers that
// connect to them there.
var roles = []struct {
	kind, peer zmq.Type
	fits       string
}{
	{zmq.REP, zmq.REQ, "REQ"},
	{zmq.ROUTER, zmq.REQ, "DEALER"},
	{zmq.PULL, zmq.PUSH, "PUSH"},
	{zmq.XSUB, zmq.XPUB, "PUB"},
	{zmq.XPUB, zmq.SUB, "SUB"},
	{zmq.PUSH, zmq.PULL, "PULL"},
	{zmq.DEALER, zmq.REP, "REP"},
}

// shares reports whether the socket deals out what it sends among its peers: who
// joins gets a share, whoever it is.
func (v *victim) shares() bool { return v.kind == zmq.PUSH || v.kind == zmq.DEALER }

// message is the next message of a sender.
func (v *victim) message(sender int) []byte {
	msg := append(bytes.Clone(v.tag), byte(sender))
	msg = binary.BigEndian.AppendUint32(msg, uint32(v.sent[sender]))
	v.sent[sender]++
	return append(msg, "after it comes what is the same in all of them"...)
}

// topic is how the messages of a sender begin.
func (v *victim) topic(sender int) string { return string(v.tag) + string(rune(sender)) }

// verify reports whether a message is of a good peer, and what is wrong with it.
func (v *victim) verify(msg []byte) (good bool, err error) {
	if !bytes.HasPrefix(msg, v.tag) {
		return false, nil
	}
	rest := msg[len(v.tag):]
	if len(rest) < 5 || rest[0] >= senders || string(rest[5:]) != "after it comes what is the same in all of them" {
		return true, fmt.Errorf("a good message is damaged: %q", rest)
	}
	sender, number := rest[0], int32(binary.BigEndian.Uint32(rest[1:]))
	if want := v.next[sender]; number != want {
		return true, fmt.Errorf("message %d of sender %d comes, want %d", number, sender, want)
	}
	v.next[sender]++
	v.verified.Add(1)
	return true, nil
}

// bound is the role that binds the socket.
func (v *victim) bound(r *Role) error {
	var options []Option
	if v.kind == zmq.XPUB { // which else tells of no newcomer whose forerunner it has not seen go
		options = append(options, func(z *zmq.Socket) error { return z.SetXpubVerbose(1) })
	}
	b, err := r.Bind(v.kind, v.at, options...)
	if err != nil {
		return err
	}
	switch v.kind {
	case zmq.REP, zmq.ROUTER:
		return v.echo(b)
	case zmq.XSUB:
		if err := b.Send([]byte{1}); err != nil { // to everything
			return err
		}
		return v.collect(b)
	case zmq.PULL:
		return v.collect(b)
	case zmq.DEALER:
		return v.answer(b, func(ask) error { return v.request(b) })
	default:
		return v.answer(b, func(a ask) error { return b.Send(v.message(a.sender)) })
	}
}

// parts receives the parts of the next message, and tells whose it is.
func (v *victim) parts(b *Socket) (parts [][]byte, good bool, err error) {
	b.check()
	if parts, err = b.z.RecvMessageBytes(0); err != nil {
		return nil, false, b.fault("recv", err)
	}
	if len(parts) > 0 {
		if good, err = v.verify(parts[len(parts)-1]); err != nil {
			return nil, true, b.Fault(err)
		}
	}
	if !good {
		v.foreign.Add(1)
	}
	return parts, good, nil
}

// echo returns every request to whom it came from.
func (v *victim) echo(b *Socket) error {
	for {
		parts, _, err := v.parts(b)
		if err != nil {
			return err
		}
		if _, err := b.z.SendMessage(parts); err != nil {
			return b.fault("send", err)
		}
	}
}

// collect receives messages and tells of each good one.
func (v *victim) collect(b *Socket) error {
	for {
		_, good, err := v.parts(b)
		if err != nil {
			return err
		}
		if good {
			v.got <- struct{}{}
		}
	}
}

// answer does send n times whenever it is asked.
func (v *victim) answer(b *Socket, send func(ask) error) error {
	for {
		a, ok := next(b.role, v.asks)
		if !ok {
			return nil
		}
		for a.subscribed {
			b.check()
			frame, err := b.z.RecvBytes(0)
			if err != nil {
				return b.fault("recv", err)
			}
			a.subscribed = string(frame) != "\x01"+v.topic(a.sender)
		}
		for range a.n {
			if err := send(a); err != nil {
				return err
			}
		}
	}
}

// request sends a request of the good peer's and takes the reply.
func (v *victim) request(b *Socket) error {
	msg := v.message(theGood)
	if _, err := b.z.SendMessage("", msg); err != nil {
		return b.fault("send", err)
	}
	for {
		if _, good, err := v.parts(b); good || err != nil {
			return err
		}
	}
}

// next waits for the next thing that a role has to do. The session's limit is
// not for that, and its end ends it.
func next[T any](r *Role, from <-chan T) (t T, ok bool) {
	r.parked.Store(true)
	defer r.parked.Store(false)
	select {
	case t = <-from:
		return t, true
	case <-r.session.over:
		return t, false
	}
}

// good is the role of the good peer, and of the newcomers.
func (v *victim) good(r *Role) error {
	main, err := v.connect(r, theGood, v.via)
	if err != nil {
		return err
	}
	subscribed := v.kind == zmq.XPUB
	for {
		o, ok := next(r, v.orders)
		if !ok {
			return nil
		}
		switch o.sender {
		case theGood:
			err = v.exchange(main, o, subscribed)
			subscribed = false
		default:
			err = v.visit(r, o)
		}
		if err != nil {
			return err
		}
		o.done <- struct{}{}
	}
}

// visit has a newcomer carry out an order.
func (v *victim) visit(r *Role, o order) error {
	s, err := v.connect(r, o.sender, v.at)
	if err == nil {
		err = v.exchange(s, o, v.kind == zmq.XPUB)
	}
	if err == nil {
		r.sockets = r.sockets[:len(r.sockets)-1]
		s.close(false)
	}
	return err
}

// connect opens a connection for a sender.
func (v *victim) connect(r *Role, sender int, at *Address) (*Socket, error) {
	var options []Option
	if v.peer == zmq.SUB {
		options = append(options, Subscribe(v.topic(sender)))
	}
	s, err := r.Connect(v.peer, at, options...)
	if err == nil && v.peer == zmq.XPUB {
		var frame []byte
		if frame, err = s.Recv(); err == nil && string(frame) != "\x01" {
			err = s.Fault(fmt.Errorf("subscription frame %q", frame))
		}
	}
	return s, err
}

// exchange exchanges messages with the bound socket.
func (v *victim) exchange(s *Socket, o order, subscribed bool) error {
	switch v.peer {
	case zmq.SUB, zmq.PULL, zmq.REP:
		v.asks <- ask{o.n, o.sender, subscribed}
	}
	for range o.n {
		if err := v.one(s, o.sender); err != nil {
			return err
		}
	}
	switch v.peer {
	case zmq.PUSH, zmq.XPUB:
		for range o.n {
			if _, ok := next(s.role, v.got); !ok {
				return errors.New("the session is over before all messages have come")
			}
		}
	}
	return nil
}

// one sends, receives or returns a message.
func (v *victim) one(s *Socket, sender int) error {
	switch v.peer {
	case zmq.PUSH, zmq.XPUB:
		return s.Send(v.message(sender))
	case zmq.REQ:
		msg := v.message(sender)
		if err := s.Send(msg); err != nil {
			return err
		}
		reply, err := s.Recv()
		if err == nil && !bytes.Equal(reply, msg) {
			err = s.Fault(fmt.Errorf("reply %q, want %q", reply, msg))
		}
		return err
	}
	msg, err := s.Recv()
	if err != nil || v.peer == zmq.REP {
		if err == nil {
			err = s.Send(msg) // the bound socket verifies what comes back
		}
		return err
	}
	good, err := v.verify(msg)
	if err == nil && !good {
		err = fmt.Errorf("got %q, which nobody sends", msg)
	}
	if err != nil {
		return s.Fault(err)
	}
	return nil
}
