//go:build cgo

package session

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	zmq "github.com/pebbe/zmq4"
)

// A context is a ZeroMQ context that any goroutine may terminate, once, while
// others use its sockets or try to open more.
type context struct {
	name  string // of the role that made it
	z     *zmq.Context
	ended chan struct{} // closed when zmq_ctx_term has returned

	mu         sync.Mutex
	terminated bool
	open       int  // sockets
	owed       bool // sockets were closed whose descriptors may not be back
}

// room is how many descriptors must be free before a context is made, besides
// two for each I/O thread. libzmq ends the process with an assertion where it
// gets none for a poll set, a name look-up or an ipc connection. The contexts
// of the benchmarks take 10 or less.
const room = 32

// newContext makes a context. Its sockets do not linger unless told to, and
// calls that a signal interrupts are taken up again.
func newContext(name string, ioThreads int) (*context, error) {
	if n, ok := free(); ok && n < room+2*ioThreads {
		return nil, fmt.Errorf("%d file descriptors are free, want %d for a context [raise the limit: ulimit -n]",
			max(n, 0), room+2*ioThreads)
	}
	z, err := zmq.NewContext()
	if err != nil {
		return nil, fmt.Errorf("cannot make a context: %w", err)
	}
	z.SetRetryAfterEINTR(true)
	c := &context{name: name, z: z, ended: make(chan struct{})}
	if err := z.SetIoThreads(ioThreads); err != nil {
		z.Term()
		return nil, fmt.Errorf("cannot have %d I/O threads: %w", ioThreads, err)
	}
	if err := c.start(); err != nil {
		z.Term()
		return nil, err
	}
	return c, nil
}

// start makes libzmq start the context's threads and take the descriptors for
// them, which it does at the first socket: who looks for free ones next must
// not count these.
func (c *context) start() error {
	first, err := c.socket(zmq.PAIR)
	if err != nil {
		return fmt.Errorf("cannot open a socket: %w", err)
	}
	c.close(first)
	return nil
}

// spare is how many descriptors must be free before a socket is opened, or those
// of closed sockets are waited for. A socket with a monitor, its connection and
// the other end take 5. A pair of roles leaves that many where there was room for
// a context.
const spare = 16

// awaitSpare waits for descriptors of sockets that were closed. zmq_close returns
// at once, and libzmq's own thread closes them later, so who opens and closes
// sockets without a pause may get far ahead of it, and run out.
func (c *context) awaitSpare() {
	c.mu.Lock()
	owed := c.owed
	c.mu.Unlock()
	if !owed {
		return
	}
	for limit := time.Now().Add(settle); time.Now().Before(limit); {
		if n, ok := free(); !ok || n >= spare {
			return
		}
		noneSpare()
		runtime.Gosched()
	}
	c.mu.Lock()
	c.owed = false
	c.mu.Unlock()
}

var noneSpare = func() {} // for a test

// socket opens a socket. After terminate it returns ETERM.
func (c *context) socket(t zmq.Type) (*zmq.Socket, error) {
	c.awaitSpare()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.terminated {
		return nil, zmq.ETERM
	}
	z, err := c.z.NewSocket(t)
	if err != nil {
		return nil, err
	}
	if err := z.SetLinger(0); err != nil {
		z.Close()
		return nil, err
	}
	c.open++
	return z, nil
}

// connect connects a socket over inproc; after terminate it returns ETERM. A
// socket that finds nobody there waits inside libzmq for a bind. zmq_ctx_term
// lets go of those that wait when it begins, and hangs for ever on one that
// comes while it is at work, so the two exclude each other.
func (c *context) connect(z *zmq.Socket, to string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.terminated {
		return zmq.ETERM
	}
	return z.Connect(to)
}

// close closes a socket that socket opened.
func (c *context) close(z *zmq.Socket) {
	z.Close()
	c.mu.Lock()
	c.open--
	c.owed = true
	c.mu.Unlock()
}

// sockets is how many are open.
func (c *context) sockets() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open
}

// terminate makes every call on the context's sockets return ETERM and returns
// at once; the context ends when the last of its sockets is closed.
func (c *context) terminate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.terminated {
		return
	}
	c.terminated = true
	go func() {
		c.z.Term()
		close(c.ended)
	}()
}

// Usable reports whether contexts with that many I/O threads and sockets can be
// opened at all. The binding refuses every one if it does not know the version of
// libzmq that is loaded; a suite that asks first says so once.
func Usable(ioThreads int) error {
	c, err := newContext("zmqbench", ioThreads)
	if err != nil {
		return err
	}
	return c.z.Term()
}
