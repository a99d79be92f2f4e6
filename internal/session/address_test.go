//go:build cgo

package session

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	zmq "github.com/pebbe/zmq4"
)

// meet makes one round trip over an endpoint that a user wrote, and returns
// what a peer on this host connects to.
func meet(t *testing.T, transport, text string) string {
	t.Helper()
	s := Open(t, Config{Transport: transport})
	at, err := s.AddressAt(text)
	if err != nil {
		t.Fatal(err)
	}
	s.Go("replier", replier(at))
	s.Run("requester", requester(at, 1))
	return at.peer
}

// Z61, Z65: the peer gets an address and a port that it can connect to.
func TestAddressWildcard(t *testing.T) {
	for _, text := range []string{"tcp://*:*", "tcp://0.0.0.0:*", "tcp://localhost:*", "tcp://127.0.0.1:*", "tcp://lo:*"} {
		if _, err := net.InterfaceByName("lo"); err != nil && text == "tcp://lo:*" {
			continue
		}
		peer := meet(t, "tcp", text)
		if ok, _ := regexp.MatchString(`^tcp://127\.0\.0\.1:[1-9][0-9]*$`, peer); !ok {
			t.Errorf("%s: the peer gets %q, want a port of 127.0.0.1", text, peer)
		}
	}
}

// Z66: an address in brackets switches IPv6 on for the socket that it is for,
// on either side, and for no other.
func TestAddressIPv6(t *testing.T) {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("this host has no ::1: ", err)
	}
	l.Close()
	for _, text := range []string{"tcp://[::1]:*", "tcp://[::]:*"} {
		if peer := meet(t, "tcp", text); !strings.HasPrefix(peer, "tcp://[::1]:") {
			t.Errorf("%s: the peer gets %q, want a port of ::1", text, peer)
		}
	}
	s := Open(t, Config{Transport: "tcp"})
	six, err := s.AddressAt("tcp://[::1]:*")
	if err != nil {
		t.Fatal(err)
	}
	four := s.Address()
	both := func(open func(zmq.Type, *Address, ...Option) (*Socket, error), kind zmq.Type) error {
		for at, want := range map[*Address]bool{six: true, four: false} {
			s, err := open(kind, at)
			if err != nil {
				return err
			}
			if on, err := s.z.GetIpv6(); err != nil || on != want {
				t.Errorf("%v %s: IPv6 is %t (%v), want %t", kind, s.where(), on, err, want)
			}
		}
		return nil
	}
	s.Go("receiver", func(r *Role) error {
		err := both(r.Bind, zmq.PULL)
		if err == nil {
			r.AwaitEnd()
		}
		return err
	})
	s.Run("sender", func(r *Role) error { return both(r.Connect, zmq.PUSH) })
}

// Z61, Z64, Z67, Z68: what cannot work is refused before there is a socket,
// with the remedy where there is one.
func TestAddressRefused(t *testing.T) {
	s := Open(t, Config{Transport: "tcp"})
	for _, test := range []struct {
		text          string
		binds, meets  bool   // whether it can be bound, and connected to
		reason, where string // in the error
	}{
		{"", false, false, "is empty", ""},
		{"127.0.0.1:5555", false, false, "has no transport [begin with tcp://, ipc:// or inproc://]", ""},
		{"foo://x", false, false, `transport "foo" is not supported [use tcp, ipc or inproc]`, ""},
		{"pgm://eth0;239.192.1.1:5555", false, false, `transport "pgm" is not supported [use tcp, ipc or inproc]`, ""},
		{"tcp://", false, false, "has no host and no port [write tcp://HOST:PORT]", ""},
		{"ipc://", false, false, "has no path [write ipc://PATH]", ""},
		{"inproc://", false, false, "has no name [write inproc://NAME]", ""},
		{"tcp://127.0.0.1:5555x", false, false, `port "5555x" is not a number`, ""},
		{"ipc:///nonexistent/x", false, false, "cannot use the directory", "/nonexistent"},
		{"ipc://" + strings.Repeat("x", 200), false, false, "has 200 bytes, more than the limit of", ""},
		{"tcp://nosuchinterface:5555", false, true, `cannot bind to "nosuchinterface"`, ""},
		{"tcp://*:5555", true, false, "cannot connect to the wildcard * [use 127.0.0.1 or the host's name]", ""},
		{"tcp://0.0.0.0:5555", true, false, "cannot connect to the wildcard 0.0.0.0 [use 127.0.0.1", ""},
		{"tcp://127.0.0.1:*", true, false, "cannot connect to port * [write the port that the peer has bound]", ""},
		{"ipc://*", true, false, "cannot connect to the wildcard *", ""},
	} {
		for what, try := range map[string]struct {
			good bool
			of   func(string) (*Address, error)
		}{"AddressAt": {test.binds, s.AddressAt}, "Far": {test.meets, s.Far}} {
			at, err := try.of(test.text)
			switch {
			case try.good && (err != nil || at == nil):
				t.Errorf("%s(%q) = %v, %v, want an address", what, test.text, at, err)
			case !try.good && (err == nil || at != nil):
				t.Errorf("%s(%q) = %v, %v, want an error", what, test.text, at, err)
			case !try.good && (!strings.Contains(err.Error(), test.reason) || !strings.Contains(err.Error(), test.where) ||
				!strings.HasPrefix(err.Error(), fmt.Sprintf("endpoint %q: ", test.text))):
				t.Errorf("%s(%q): error %q, want the endpoint and %q in it", what, test.text, err, test.reason)
			}
		}
	}
	if n := len(s.contexts); n != 0 {
		t.Errorf("%d contexts were made, want none", n)
	}
}

// Z68: what cannot be known at once is found by the limit.
func TestFarNotThere(t *testing.T) {
	for _, to := range []string{
		"tcp://nosuchhost.invalid:5555",
		"tcp://127.0.0.1:" + closedPort(t),
		"ipc://" + t.TempDir() + "/x",
	} {
		start := time.Now()
		text := record(func(tb TB) {
			s := Open(tb, Config{Transport: "tcp", Wait: short})
			at, err := s.Far(to)
			if err != nil {
				t.Error(err)
				return
			}
			s.Run("requester", requester(at, 1))
		})
		wantReport(t, text, "requester: connect "+to+": no connection for 200ms: ", "; last seen: nobody listens there (0 sent, 0 received)")
		within(t, short, start)
	}
}

// Z59: a port that the user chose is bound again and again, although the socket
// that had it before, and its connection, may take a moment to go.
func TestFixedPort(t *testing.T) {
	to := "tcp://127.0.0.1:" + freePort(t)
	for range 20 {
		if peer := meet(t, "tcp", to); peer != to {
			t.Errorf("the peer gets %q, want %q", peer, to)
		}
	}
}

// Z59: a port that becomes free while the session still has time is bound.
func TestFixedPortFreed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := Open(t, Config{Transport: "tcp"})
	at, err := s.AddressAt("tcp://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	tried := make(chan struct{})
	s.Go("replier", func(r *Role) error {
		rep, err := r.Socket(zmq.REP)
		if err != nil {
			return err
		}
		if err := rep.z.Bind(at.bind.String()); err != zmq.EADDRINUSE {
			t.Errorf("bind = %v, want that the address is in use", err)
		}
		close(tried)
		if err := rep.Bind(at); err != nil {
			return err
		}
		_, err = rep.Recv()
		return err
	})
	s.Run("requester", func(r *Role) error {
		<-tried
		if err := l.Close(); err != nil {
			return err
		}
		_, err := r.Connect(zmq.REQ, at)
		return err
	})
}

// Z59: a port that stays in use fails the session within its limit, and the
// first error is that of the role which knows the cause, not of the one that
// waits for it.
func TestFixedPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	to := "tcp://" + l.Addr().String()
	const wait = 3 * short
	start := time.Now()
	text := record(func(tb TB) {
		s := Open(tb, Config{Transport: "tcp", Wait: wait})
		at, err := s.AddressAt(to)
		if err != nil {
			t.Error(err)
			return
		}
		s.Go("replier", replier(at))
		s.Run("requester", requester(at, 1))
	})
	want := "replier: bind " + to + ": address already in use [another program listens there; choose another port, or *] (0 sent, 0 received)\n"
	if !strings.HasPrefix(text, want) {
		t.Errorf("report %q, want it to begin with %q", text, want)
	}
	wantReport(t, text)
	within(t, wait, start)
}

// Z64: a bind over ipc deletes the file at its path. One with data is refused
// and stays, also when it gets there after the address was made.
func TestFileAtPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	write := func() {
		if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := record(func(tb TB) {
		s := Open(tb, Config{Transport: "ipc"})
		at, err := s.AddressAt("ipc://" + path)
		if err != nil {
			t.Error(err)
			return
		}
		write()
		if _, err := s.AddressAt("ipc://" + path); err == nil || !strings.Contains(err.Error(), "what is there is not a socket") {
			t.Errorf("AddressAt = %v, want that it is not a socket", err)
		}
		s.Run("replier", replier(at))
	})
	wantReport(t, text, "replier: bind ipc://"+path, "what is there is not a socket (-rw-------) [remove it or use another path]")
	if data, err := os.ReadFile(path); string(data) != "precious" {
		t.Errorf("the file has %q, %v, want what was in it", data, err)
	}
}

// Z64: the file of a socket at a path of the user's is gone after the session,
// good or bad, and neither it nor one from a program that crashed is in the way.
func TestFixedPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	for range 3 {
		if peer := meet(t, "ipc", "ipc://"+path); peer != "ipc://"+path {
			t.Errorf("the peer gets %q, want %q", peer, "ipc://"+path)
		}
		wantGone(t, path)
	}
	text := record(func(tb TB) {
		s := Open(tb, Config{Transport: "ipc"})
		at, err := s.AddressAt("ipc://" + path)
		if err != nil {
			t.Error(err)
			return
		}
		s.Run("receiver", func(r *Role) error {
			if _, err := r.Bind(zmq.PULL, at); err != nil {
				return err
			}
			return errors.New("forced")
		})
	})
	wantReport(t, text, "forced\n")
	wantGone(t, path)
}

// wantGone fails the test if there is something at path.
func wantGone(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s after the session: %v, want that it is gone", path, err)
	}
}

// Z64: the path that libzmq chooses is relative to the working directory. The
// peer has another one and gets an absolute path.
func TestWildcardPath(t *testing.T) {
	for _, name := range []string{"TMPDIR", "TEMPDIR", "TMP"} { // libzmq looks there first
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	here, there := t.TempDir(), t.TempDir()
	t.Chdir(here)
	s := Open(t, Config{Transport: "ipc"})
	at, err := s.AddressAt("ipc://*")
	if err != nil {
		t.Fatal(err)
	}
	s.Go("replier", replier(at))
	s.Run("requester", func(r *Role) error {
		<-at.bound
		if err := os.Chdir(there); err != nil {
			return err
		}
		defer os.Chdir(here)
		return requester(at, 1)(r)
	})
	path := strings.TrimPrefix(at.peer, "ipc://")
	if !strings.HasPrefix(path, here+"/") {
		t.Errorf("the peer gets %q, want an absolute path in %s", at.peer, here)
	}
	wantGone(t, path)
	if files, err := os.ReadDir(here); err != nil || len(files) != 0 {
		t.Errorf("left in the working directory: %v, %v", files, err)
	}
}

// Z69: many roles connect to one inproc name while another binds it.
func TestManyConnectInproc(t *testing.T) {
	const peers = 50
	for range 20 / min(slowdown, 4) {
		s := Open(t, Config{Transport: "inproc"})
		at := s.Address()
		for i := range peers {
			s.Go(fmt.Sprint("sender ", i), func(r *Role) error {
				push, err := r.Connect(zmq.PUSH, at)
				if err != nil {
					return err
				}
				if err := push.Send(fmt.Append(nil, i)); err != nil {
					return err
				}
				r.AwaitEnd()
				return nil
			})
		}
		s.Run("receiver", func(r *Role) error {
			pull, err := r.Bind(zmq.PULL, at)
			if err != nil {
				return err
			}
			seen := map[string]bool{}
			for range peers {
				msg, err := pull.Recv()
				if err != nil {
					return err
				}
				seen[string(msg)] = true
			}
			if len(seen) != peers {
				return pull.Fault(fmt.Errorf("messages of %d senders, want %d", len(seen), peers))
			}
			return nil
		})
	}
}

// Z69: the role that was to bind is gone before it did, with an error or
// without. The one that waits for it ends: at once, or by its limit.
func TestPeerDiesBeforeBind(t *testing.T) {
	for _, transport := range transports {
		for _, fail := range []error{nil, errors.New("replier: out of paper")} {
			want := "requester: await (no endpoint): no progress for 200ms: its peer is missing, dead or slow " +
				"[-wait sets the limit]; waiting for a role that binds the other end"
			if fail != nil {
				want = "replier: out of paper\n"
			}
			start := time.Now()
			text := record(func(tb TB) {
				s := Open(tb, Config{Transport: transport, Wait: short})
				at := s.Address()
				s.Go("replier", func(*Role) error { return fail })
				s.Run("requester", requester(at, 1))
			})
			if !strings.HasPrefix(text, want) {
				t.Errorf("report %q, want it to begin with %q", text, want)
			}
			wantReport(t, text)
			within(t, short, start)
		}
	}
}

// Z69: a name that a socket connected to and left before anybody bound it can
// be bound later, in the same context; and with sockets that still wait there.
func TestInprocNameReused(t *testing.T) {
	for _, leave := range []bool{true, false} {
		s := Open(t, Config{Transport: "inproc"})
		at := s.Address()
		left := make(chan struct{})
		s.Go("replier", func(r *Role) error {
			<-left
			return replier(at)(r)
		})
		s.Run("requester", func(r *Role) error {
			for range 3 {
				early, err := r.Socket(zmq.REQ)
				if err != nil {
					return err
				}
				if err := early.c.connect(early.z, at.bind.String()); err != nil {
					return err
				}
				if leave {
					early.close(false)
					r.sockets = r.sockets[:len(r.sockets)-1]
				}
			}
			close(left)
			return requester(at, 3)(r)
		})
	}
}
