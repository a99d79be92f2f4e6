//go:build cgo

package session

import (
	"bytes"
	"io"
	"net"
	"sync"
	"time"
)

// A relay is a stranger in the middle: a good peer connects to it, and it to a
// bound socket. It keeps what the good peer says.
type relay struct {
	listener net.Listener
	wg       sync.WaitGroup
	mu       sync.Mutex
	heard    bytes.Buffer
}

// newRelay listens on a port of 127.0.0.1 and passes connections on to an
// endpoint.
func newRelay(to string) (*relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relay{listener: l}
	r.wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := call(to)
			if err != nil {
				client.Close()
				continue
			}
			server.SetDeadline(time.Time{}) // the good peer may stay for long
			r.wg.Go(func() { pass(server, client, r) })
			r.wg.Go(func() { pass(client, server, io.Discard) })
		}
	})
	return r, nil
}

// pass passes on what comes from one to the other, until either ends.
func pass(to, from net.Conn, record io.Writer) {
	defer to.Close()
	defer from.Close()
	io.Copy(io.MultiWriter(record, to), from)
}

// Write keeps what the good peer said.
func (r *relay) Write(data []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.heard.Write(data)
}

// record is what the good peer has said so far.
func (r *relay) record() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.heard.Bytes())
}

// at is where good peers connect.
func (r *relay) at(s *Session) (*Address, error) {
	return s.Far("tcp://" + r.listener.Addr().String())
}

// close ends the relay. Those that it connected must have gone.
func (r *relay) close() {
	r.listener.Close()
	r.wg.Wait()
}

// frames cuts what a peer of version 3 said into its greeting and its frames.
func frames(data []byte) (parts [][]byte) {
	if len(data) < 64 {
		return [][]byte{data}
	}
	parts, data = append(parts, data[:64]), data[64:]
	for len(data) > 1 {
		n := 2 + int(data[1])
		if data[0]&long != 0 && len(data) > 8 {
			n = 9 + int(data[7])<<8 + int(data[8])
		}
		n = min(n, len(data))
		parts, data = append(parts, data[:n]), data[n:]
	}
	return parts
}
