//go:build cgo

package session

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	zmq "github.com/pebbe/zmq4"
)

// TestBindingAuth uses the binding's own handler, in a process of its own, since
// that is one for the whole process and so is the context that it serves. Fifty
// times it starts, lets one CURVE client in and stops, and then the context ends
// (Z20). It says nothing to the sockets of other contexts, such as a role's (Z21):
// the client that is not listed is let in there, unless the role asks.
func TestBindingAuth(t *testing.T) {
	if !zmq.HasCurve() {
		t.Skip(ErrNoCurve)
	}
	if os.Getenv(childKey) == "" {
		out, code := child(t, "auth")
		if code != 0 {
			t.Errorf("status %d:\n%s", code, out)
		}
		return
	}
	pairs := newPairs(t, 3)
	server, listed, unlisted := pairs[0], pairs[1], pairs[2]
	for i := range 50 {
		start := time.Now()
		if err := authCycle(server, listed); err != nil {
			t.Fatalf("cycle %d: %v", i, err)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("cycle %d took %v, want less than 2 s", i, took)
		}
	}
	if err := startAuth(); err != nil {
		t.Fatal(err)
	}
	zmq.AuthCurveAdd("global", listed.public)
	in := func(z *zmq.Socket) error { return z.ServerAuthCurve("global", server.secret) }
	client := CurveClient(server.public, unlisted.public, unlisted.secret)
	if report, got := roundTrip("tcp", 0, in, client); got != 2 || report != "" {
		t.Errorf("in another context: %d messages, report %q, want 2: nobody asks there", got, report)
	}
	nobody := func(Request) bool { return false }
	if report, got := roundTripAsking("tcp", 0, nobody, in, client); got != 0 || !strings.Contains(report, denied) {
		t.Errorf("in the context of the handler: %d messages, report %q, want none and %s", got, report, denied)
	}
	zmq.AuthStop()
	ended := make(chan error)
	go func() { ended <- zmq.Term() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Error("the context of the binding's handler does not end")
	}
}

// startAuth starts the binding's handler when the one before is gone. AuthStop does
// not wait until that has closed its socket, and it closes whichever is then the
// handler's: an AuthStart that comes too soon replaces it, and the old one keeps the
// endpoint for ever. So another socket tries the endpoint first.
func startAuth() error {
	probe, err := zmq.NewSocket(zmq.REP)
	if err != nil {
		return err
	}
	defer probe.Close()
	for limit := time.Now().Add(5 * time.Second); ; {
		if err = probe.Bind(zapEndpoint); err != zmq.EADDRINUSE || time.Now().After(limit) {
			break
		}
		<-time.After(time.Millisecond) // there is no event to wait for
	}
	if err != nil {
		return err
	}
	if err := probe.Unbind(zapEndpoint); err != nil {
		return err
	}
	return zmq.AuthStart()
}

// authCycle starts the binding's handler, makes a round trip through it and stops
// it.
func authCycle(server, client pair) error {
	if err := startAuth(); err != nil {
		return fmt.Errorf("AuthStart: %w", err)
	}
	defer zmq.AuthStop()
	if err := zmq.AuthStart(); err == nil || err.Error() != "Auth is already running" {
		return fmt.Errorf("a second AuthStart: %v, want an error", err)
	}
	zmq.AuthCurveAdd("global", client.public)
	defer zmq.AuthCurveRemoveAll("global")
	var ends [2]*zmq.Socket
	for i, kind := range []zmq.Type{zmq.REP, zmq.REQ} {
		z, err := zmq.NewSocket(kind)
		if err != nil {
			return err
		}
		defer z.Close()
		z.SetLinger(0)
		z.SetRcvtimeo(2 * time.Second)
		ends[i] = z
	}
	rep, req := ends[0], ends[1]
	if err := rep.ServerAuthCurve("global", server.secret); err != nil {
		return err
	}
	if err := rep.Bind("tcp://127.0.0.1:*"); err != nil {
		return err
	}
	at, err := rep.GetLastEndpoint()
	if err != nil {
		return err
	}
	if err := CurveClient(server.public, client.public, client.secret)(req); err != nil {
		return err
	}
	if err := req.Connect(at); err != nil {
		return err
	}
	for _, way := range [][2]*zmq.Socket{{req, rep}, {rep, req}} {
		if _, err := way[0].Send("message", 0); err != nil {
			return err
		}
		if _, err := way[1].Recv(0); err != nil {
			return err
		}
	}
	return nil
}
