//go:build cgo

package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A stranger is a connection to a bound socket that libzmq's own code is not
// at the other end of: it writes what it likes.
type stranger struct {
	net.Conn
	to   string
	rude bool // it resets the connection when it goes
}

// patience is how long a stranger waits for the bound socket. It ends a test
// that hangs, and measures nothing.
const patience = 20 * time.Second

// call connects a stranger to an endpoint of a session on this host.
func call(endpoint string) (*stranger, error) {
	network, address, _ := strings.Cut(endpoint, "://")
	if network == "ipc" {
		network = "unix"
	}
	c, err := net.Dial(network, address)
	for limit := time.Now().Add(patience); errors.Is(err, syscall.EAGAIN) && time.Now().Before(limit); {
		runtime.Gosched() // too many wait to be accepted at a Unix socket, and the kernel does not wait for us
		c, err = net.Dial(network, address)
	}
	if err != nil {
		return nil, fmt.Errorf("stranger: %w", err)
	}
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	return &stranger{Conn: c, to: endpoint}, nil
}

// say writes data. That the bound socket has hung up meanwhile is no error:
// it may do that to a stranger at any time.
func (s *stranger) say(data ...[]byte) error {
	_, err := s.Write(slices.Concat(data...))
	if hungUp(err) {
		return nil
	}
	return err
}

// hear reads the next n bytes.
func (s *stranger) hear(n int) ([]byte, error) {
	data := make([]byte, n)
	_, err := io.ReadFull(s, data)
	if err != nil {
		return nil, fmt.Errorf("stranger at %s waits for %d bytes: %w", s.to, n, err)
	}
	return data, nil
}

// leave says no more and waits until the bound socket has hung up. Libzmq
// closes its descriptor when it does, so none is left behind by this stranger.
func (s *stranger) leave() error {
	s.Conn.(interface{ CloseWrite() error }).CloseWrite()
	return s.hungUpOn()
}

// hungUpOn waits until the bound socket has hung up, whatever it still says.
func (s *stranger) hungUpOn() error {
	defer s.Close()
	if _, err := io.Copy(io.Discard, s); err != nil && !hungUp(err) {
		return fmt.Errorf("%s keeps a stranger that it should not: %w", s.to, err)
	}
	return nil
}

// reset ends the connection without a word, as a host that goes down and
// comes up again does.
func (s *stranger) reset() {
	if tcp, ok := s.Conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	s.Close()
}

// hungUp reports whether err is what a connection that the other side has
// ended returns.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// The bytes of ZMTP, the protocol of ZeroMQ over a stream: RFC 37 (version 3.1)
// at https://rfc.zeromq.org/spec/37/, and before it 23 (3.0), 15 (2.0), 13 (1.0).

// signature begins the greeting of every version but the first, which takes it
// for the head of a long message.
var signature = []byte{0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f}

// greeting is the 64 bytes with which a peer of version 3 introduces itself.
func greeting(major, minor byte, mechanism string, asServer byte) []byte {
	g := make([]byte, 64)
	copy(g, signature)
	g[10], g[11] = major, minor
	copy(g[12:32], mechanism)
	g[32] = asServer
	return g
}

// greeting2 is how a peer of version 2.0 introduces itself, and with revision 0
// one of the last of version 1.0; kind is its socket's number in zmq.h.
func greeting2(revision byte, kind byte) []byte {
	return append(slices.Clone(signature), revision, kind)
}

// The flags of a frame.
const (
	more    = 1 // the message has more parts
	long    = 2 // its size has eight bytes
	command = 4
)

// frame is a frame of versions 2 and 3.
func frame(flags byte, body []byte) []byte {
	if len(body) > 255 {
		return append(announce(flags, uint64(len(body))), body...)
	}
	return append([]byte{flags, byte(len(body))}, body...)
}

// announce is the head of a frame of size bytes, which may never follow.
func announce(flags byte, size uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{flags | long}, size)
}

// frame1 is a frame of version 1.0, whose size counts the byte of its flags.
func frame1(flags byte, body []byte) []byte {
	return append([]byte{byte(len(body) + 1), flags}, body...)
}

// announce1 is the head of a frame of version 1.0.
func announce1(flags byte, size uint64) []byte {
	return append(binary.BigEndian.AppendUint64([]byte{0xff}, size), flags)
}

// zmtpCommand is a command of version 3 with its name and data.
func zmtpCommand(name string, data ...byte) []byte {
	return frame(command, append(append([]byte{byte(len(name))}, name...), data...))
}

// property is a name and a value of the metadata in READY.
func property(name, value string) []byte {
	p := append([]byte{byte(len(name))}, name...)
	p = binary.BigEndian.AppendUint32(p, uint32(len(value)))
	return append(p, value...)
}

// ready is the command that ends the handshake of a NULL peer.
func ready(kind string) []byte {
	return zmtpCommand("READY", slices.Concat(property("Socket-Type", kind), property("Identity", ""))...)
}

// join makes the whole NULL handshake for a socket of the given type and
// returns when the bound socket has made its own.
func (s *stranger) join(kind string) error {
	if err := s.say(greeting(3, 1, "NULL", 0), ready(kind)); err != nil {
		return err
	}
	if _, err := s.hear(64); err != nil {
		return err
	}
	_, err := s.command()
	return err
}

// command reads the frame that the bound socket sends next.
func (s *stranger) command() ([]byte, error) {
	head, err := s.hear(2)
	if err != nil {
		return nil, err
	}
	n := uint64(head[1])
	if head[0]&long != 0 {
		rest, err := s.hear(7)
		if err != nil {
			return nil, err
		}
		n = binary.BigEndian.Uint64(append(head[1:], rest...))
	}
	if n > 1<<20 {
		return nil, errors.New("the bound socket announces too much")
	}
	return s.hear(int(n))
}
