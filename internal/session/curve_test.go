//go:build cgo

package session

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	zmq "github.com/pebbe/zmq4"
)

// The sample pair of the seed document (A7), for tests only.
const (
	public = "mQdmh1=JuKj]rb$@:jrs:Efo:L$H3g+-FE{M$n#1"
	secret = "[>}]%6&a(#Wmh9&wEHG*(Chd[m&Ra(=]EL-m/k*D"
)

// A pair is a CURVE key pair in Z85.
type pair struct{ public, secret string }

// newPairs makes n pairs, or skips the test where libzmq has no CURVE (Z40).
// Tests make theirs before they open a session: libzmq may crash if keys are
// made while a context is terminated (Z42).
func newPairs(t *testing.T, n int) []pair {
	t.Helper()
	if !zmq.HasCurve() {
		t.Skip("this libzmq was built without CURVE")
	}
	pairs := make([]pair, n)
	for i := range pairs {
		public, secret, err := zmq.NewCurveKeypair()
		if err != nil {
			t.Fatal(err)
		}
		pairs[i] = pair{public, secret}
	}
	return pairs
}

// plain is the option of a socket without security.
func plain(*zmq.Socket) error { return nil }

// roundTrip sends one request from a REQ with the client's option to a REP
// with the server's, and takes the reply. It returns what the session reported
// and how many messages got through.
func roundTrip(transport string, wait time.Duration, server, client Option) (report string, got int64) {
	var through atomic.Int64
	report = record(func(tb TB) {
		s := Open(tb, Config{Transport: transport, Wait: wait})
		at := s.Address()
		s.Go("replier", func(r *Role) error {
			rep, err := r.Bind(zmq.REP, at, server)
			if err != nil {
				return err
			}
			msg, err := rep.Recv()
			if err != nil {
				return err
			}
			through.Add(1)
			return rep.Send(msg)
		})
		s.Run("requester", func(r *Role) error {
			req, err := r.Connect(zmq.REQ, at, client)
			if err != nil {
				return err
			}
			if err := req.Send([]byte("request")); err != nil {
				return err
			}
			if _, err := req.Recv(); err != nil {
				return err
			}
			through.Add(1)
			return nil
		})
	})
	return report, through.Load()
}

// TestCurveSettings leaves out each of the two settings of a server and of the
// three of a client in turn (Z43), and gives both sides keys that do not fit:
// only the complete set passes, and all others say why. What can be seen
// in one socket's settings is refused before that socket has an endpoint.
func TestCurveSettings(t *testing.T) {
	pairs := newPairs(t, 3)
	server, client, other := pairs[0], pairs[1], pairs[2]
	complete := CurveClient(server.public, client.public, client.secret)
	const refused = ": set option of (no endpoint): CURVE "
	for _, test := range []struct {
		name           string
		server, client Option
		want           string // in the report; empty when the round trip passes
	}{
		{"complete", CurveServer(server.secret), complete, ""},
		{"no server secret", CurveServer(""), complete,
			"replier" + refused + "server secret key: missing"},
		{"no server flag", CurveClient("", "", server.secret), complete, // CurveServer always sets it
			"replier" + refused + "server key: missing"},
		{"no server key", CurveServer(server.secret), CurveClient("", client.public, client.secret),
			"requester" + refused + "server key: missing"},
		{"no client public", CurveServer(server.secret), CurveClient(server.public, "", client.secret),
			"requester" + refused + "client public key: missing"},
		{"no client secret", CurveServer(server.secret), CurveClient(server.public, client.public, ""),
			"requester" + refused + "client secret key: missing"},
		{"swapped", CurveServer(server.secret), CurveClient(server.public, client.secret, client.public),
			"requester" + refused + "client public key: it is not that of the client secret key"},
		{"wrong server key", CurveServer(server.secret), CurveClient(other.public, client.public, client.secret),
			"replier: handshake failed: protocol error 0x11000001"}, // Z36
		{"server's public key as its secret", CurveServer(server.public), complete,
			"replier: handshake failed: protocol error 0x11000001"},
		{"plain client", CurveServer(server.secret), plain, "handshake failed: protocol error 0x"},
		{"plain server", plain, complete, "handshake failed: protocol error 0x"},
	} {
		for _, transport := range []string{"ipc", "tcp"} {
			t.Run(transport+"/"+test.name, func(t *testing.T) {
				report, got := roundTrip(transport, 0, test.server, test.client)
				if test.want == "" {
					if report != "" || got != 2 {
						t.Errorf("%d messages got through, report %q, want 2 and none", got, report)
					}
					return
				}
				if got != 0 || !strings.Contains(report, test.want) {
					t.Errorf("%d messages got through, report %q, want 0, and %q in it", got, report, test.want)
				}
			})
		}
	}
}

// TestCurveKeys gives each option a key that libzmq would take or refuse
// without a word. The option is called without a socket, so that any call into
// libzmq would crash, and the whole error is compared: it shows no key.
func TestCurveKeys(t *testing.T) {
	const raw = " (raw keys are not text: give the 40 characters of the Z85 form)"
	zeros := strings.Repeat("0", 40)
	for _, test := range []struct {
		option Option
		want   string
		reason string
	}{
		{CurveServer(secret[:39]), "server secret key: 39 characters, want 40", "cut short (Z34)"},
		{CurveServer(secret[:32]), "server secret key: 32 characters, want 40" + raw, "a raw key to libzmq (Z35)"},
		{CurveServer(secret[:39] + "~"), "server secret key: illegal character at position 39", "not Z85 (Z29)"},
		{CurveClient(public, public, secret[:39]), "client secret key: 39 characters, want 40",
			"the binding's convenience call says nothing (Z34)"},
		{CurveClient(public[:32], public, secret), "server key: 32 characters, want 40" + raw, "a raw key to libzmq (Z35)"},
		{CurveClient(public, public[:32], secret), "client public key: 32 characters, want 40" + raw, "likewise"},
		{CurveClient(public, public, secret+"\n"), "client secret key: 41 characters, want 40 (there is white space around the key)",
			"read from a file"},
		{CurveClient(public, secret, public), "client public key: it is not that of the client secret key [are the two swapped?]",
			"swapped"},
		{CurveClient(zeros, public, secret), "server key: all zeros, which is nobody's key", "Z44"},
		{CurveServer(zeros), "server secret key: all zeros, which is nobody's key", "memory that was never filled"},
		{CurveClient("0rr91"+zeros[5:], public, secret), "server key: crypto/ecdh: bad X25519 remote ECDH input: low order point",
			"the point 1, whose shared secrets are all zeros"},
		{CurveServer(make([]byte, 31)), "server secret key: 31 bytes, want 32 [a key as text is a string]", "raw"},
		{CurveServer([]byte(secret)), "server secret key: 40 bytes, want 32 [a key as text is a string]", "a text as if it were raw"},
		{CurveServer([]byte(nil)), "server secret key: missing", "raw"},
	} {
		if err := test.option(nil); err == nil || err.Error() != "CURVE "+test.want {
			t.Errorf("option = %v, want CURVE %s (%s)", err, test.want, test.reason)
		}
	}
}

// TestCurveEINVAL gives libzmq itself a key that it refuses, and a good one
// where it has no CURVE: one error number, two meanings (Z40).
func TestCurveEINVAL(t *testing.T) {
	option, want := Option(func(z *zmq.Socket) error {
		return explainCurve("server secret key", z.SetCurveSecretkey(secret[:39]))
	}), "CURVE server secret key: invalid argument [bad key]"
	if !zmq.HasCurve() {
		option, want = CurveServer(secret), "invalid argument [this libzmq was built without CURVE]"
	}
	if report, _ := roundTrip("tcp", 0, option, plain); !strings.Contains(report, want) {
		t.Errorf("report %q, want %q in it", report, want)
	}
}

// TestCurveInproc asks for security where libzmq ignores it (Z38), on one side
// at a time: without the refusal the round trip would pass.
func TestCurveInproc(t *testing.T) {
	pairs := newPairs(t, 2)
	server, client := pairs[0], pairs[1]
	for _, test := range []struct {
		name           string
		server, client Option
		want           string
	}{
		{"bind", CurveServer(server.secret), plain, "replier: bind inproc:"},
		{"connect", plain, CurveClient(server.public, client.public, client.secret), "requester: connect inproc:"},
	} {
		t.Run(test.name, func(t *testing.T) {
			report, got := roundTrip("inproc", 0, test.server, test.client)
			for _, want := range []string{test.want, "CURVE over inproc measures no encryption"} {
				if got != 0 || !strings.Contains(report, want) {
					t.Errorf("%d messages got through, report %q, want 0, and %q in it", got, report, want)
				}
			}
		})
	}
}

// TestCurveZeroServerKey gives libzmq itself a server key of zeros, which once
// ended the process (Z44). How the handshake fails depends on timing.
func TestCurveZeroServerKey(t *testing.T) {
	pairs := newPairs(t, 2)
	server, client := pairs[0], pairs[1]
	const limit = 2 * time.Second
	start := time.Now()
	report, got := roundTrip("tcp", limit, CurveServer(server.secret), func(z *zmq.Socket) error {
		if err := CurveClient(server.public, client.public, client.secret)(z); err != nil {
			return err
		}
		return z.SetCurveServerkey(strings.Repeat("0", 40))
	})
	if got != 0 {
		t.Errorf("%d messages got through, want none", got)
	}
	if !strings.Contains(report, "handshake failed") && !strings.Contains(report, "disconnected during the handshake") {
		t.Errorf("report %q, want a failed handshake or a disconnection", report)
	}
	if took := time.Since(start); took > limit+time.Second {
		t.Errorf("it took %v, want at most the limit of %v and 1 s", took, limit)
	}
	t.Log("report: " + report)
}
