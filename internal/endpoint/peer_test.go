package endpoint_test

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"zmqbench/internal/endpoint"
)

// Z61, Z64: what a peer on the same host connects to.
func TestPeer(t *testing.T) {
	dir := scratch(t)
	t.Chdir(dir)
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ bound, last, want, reason string }{
		{"tcp://*:*", "tcp://0.0.0.0:40001", "tcp://127.0.0.1:40001", "Z61: the wildcard is no address to connect to"},
		{"tcp://0.0.0.0:*", "tcp://0.0.0.0:40001", "tcp://127.0.0.1:40001", "Z61"},
		{"tcp://[::]:*", "tcp://[::]:40001", "tcp://[::1]:40001", "Z61: of the same family"},
		{"tcp://[::ffff:0.0.0.0]:*", "tcp://[::ffff:0.0.0.0]:40001", "tcp://[::ffff:127.0.0.1]:40001", "Z61: of the same family"},
		{"tcp://127.0.0.1:*", "tcp://127.0.0.1:40001", "tcp://127.0.0.1:40001", "an address stays"},
		{"tcp://localhost:5555", "tcp://127.0.0.1:5555", "tcp://127.0.0.1:5555", "Z65"},
		{"tcp://[::1]:*", "tcp://[::1]:40001", "tcp://[::1]:40001", "Z66: an address stays"},
		{"tcp://[fe80::1]:*", "tcp://[fe80::1%eth0]:40001", "tcp://[fe80::1%eth0]:40001", "Z66: the zone stays"},
		{"ipc://*", "ipc://tmpUoEPlH/socket", "ipc://" + dir + "/tmpUoEPlH/socket", "Z64: relative as libzmq reads it back"},
		{"ipc://x", "ipc://x", "ipc://" + dir + "/x", "Z64: relative as the user wrote it"},
		{"ipc:///tmp/x", "ipc:///tmp/x", "ipc:///tmp/x", "absolute stays"},
		{"inproc://x", "inproc://x", "inproc://x", "a name stays"},
	} {
		e, err := endpoint.ParseBind(c.bound)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := e.Peer(c.last); err != nil || got != c.want {
			t.Errorf("%q: Peer(%q) = %q, %v, want %q: %s", c.bound, c.last, got, err, c.want, c.reason)
		}
	}
}

// An abstract name is the same in every working directory.
func TestPeerAbstract(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has abstract sockets")
	}
	e := Endpoint{Transport: "ipc", Path: "@x"}
	if got, err := e.Peer("ipc://@x"); err != nil || got != "ipc://@x" {
		t.Errorf("Peer = %q, %v, want ipc://@x", got, err)
	}
}

func TestPeerError(t *testing.T) {
	for _, c := range []struct{ bound, last, want, reason string }{
		{"tcp://*:*", "", "is empty", "nothing was bound"},
		{"tcp://*:*", "tcp://0.0.0.0:40001\x00", "cannot be seen (U+0000)", "the NUL that C puts at the end"},
		{"tcp://*:*", "\x00", "cannot be seen", "nothing was bound, read as C text"},
		{"tcp://*:*", "tcp://*:*", "has no address and port", "not read back from the socket"},
		{"tcp://*:*", "tcp://127.0.0.1:0", "has no address and port", "not bound yet"},
		{"tcp://*:*", "tcp://lo:5555", "has no address and port", "libzmq reads back addresses"},
		{"tcp://*:*", "ipc:///tmp/x", "transport is not tcp", "another socket's"},
		{"ipc://*", "tcp://127.0.0.1:5555", "transport is not ipc", "another socket's"},
		{"ipc://*", "ipc://*", "cannot connect to the wildcard *", "not read back from the socket"},
	} {
		e, err := endpoint.ParseBind(c.bound)
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Peer(c.last)
		if got != "" {
			t.Errorf("%q: Peer(%q) = %q with an error", c.bound, c.last, got)
		}
		wantError(t, "Peer", c.last, err, c.want, c.reason)
		wantError(t, "Peer", c.last, err, c.bound, "names the endpoint that was bound")
	}
}

// Z62, Z64: a relative path can fit where the absolute one does not.
func TestPeerTooLong(t *testing.T) {
	limit := endpoint.PathLimit(runtime.GOOS)
	t.Chdir(scratch(t))
	name := strings.Repeat("n", limit)
	e, err := endpoint.ParseBind("ipc://" + name)
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Peer("ipc://" + name)
	wantError(t, "Peer", name, err, "more than the limit of", "the directory is added")
}

// FuzzPeer holds Peer to this: what a peer is told to connect to parses for a
// connect, on the transport that was bound, and is its own peer. What made-up names
// stand for need not be there.
func FuzzPeer(f *testing.F) {
	for _, last := range []string{"tcp://127.0.0.1:5555", "tcp://0.0.0.0:5555", "tcp://[::]:5555", "tcp://[::ffff:0.0.0.0]:1", "tcp://[fe80::1%lo]:5555",
		"tcp://127.0.0.1:*", "ipc://x", "ipc://@x", "ipc:///tmp/x", "inproc://x", "", "tcp://*:5555"} {
		f.Add("tcp://*:*", last)
		f.Add("ipc://x", last)
		f.Add("inproc://x", last)
	}
	f.Fuzz(func(t *testing.T, bound, last string) {
		e, err := endpoint.ParseBind(bound)
		if err != nil {
			return
		}
		peer, err := e.Peer(last)
		if err != nil {
			if peer != "" || strings.Contains(err.Error(), "\n") {
				t.Errorf("Peer(%q) of %q = %q, %v, want nothing and one line", last, bound, peer, err)
			}
			return
		}
		p, err := endpoint.ConnectText(peer)
		if err != nil || p.Transport != e.Transport {
			t.Fatalf("Peer(%q) of %q = %q, which parses to %#v, %v", last, bound, peer, p, err)
		}
		if again, err := e.Peer(peer); err != nil || again != peer {
			t.Errorf("Peer(%q) of %q = %q, %v, want itself", peer, bound, again, err)
		}
	})
}
