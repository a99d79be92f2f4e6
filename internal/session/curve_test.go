//go:build cgo

package session

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	zmq "github.com/pebbe/zmq4"

	"zmqbench/internal/z85"
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
	return roundTripAsking(transport, wait, nil, server, client)
}

// roundTripAsking is roundTrip where the REP's role asks allow, if that is not
// nil, who its clients are.
func roundTripAsking(transport string, wait time.Duration, allow func(Request) bool, server, client Option) (report string, got int64) {
	var through atomic.Int64
	report = record(func(tb TB) {
		null := Mechanism{name: "null"} // so that a REP without security is watched, too
		s := Open(tb, Config{Transport: transport, Wait: wait, Mechanism: null})
		at := s.Address()
		s.Go("replier", func(r *Role) error {
			if allow != nil {
				if err := r.Authenticate(allow); err != nil {
					return err
				}
			}
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

// TestRefusals has a row for each way in which a connection must not come about,
// and the rows of those that must beside them: with security of the same kind and
// all of it right, a request and its reply pass. What can be seen in one socket's
// settings is refused before that socket has an endpoint; what cannot, when the
// handshake fails, and the report says how. Rows with raw set the options of
// libzmq without this package's checks. None takes longer than its limit, and no
// report shows a secret.
func TestRefusals(t *testing.T) {
	pairs := newPairs(t, 3)
	server, client, other := pairs[0], pairs[1], pairs[2]
	complete := CurveClient(server.public, client.public, client.secret)
	const (
		password = "open sesame"
		set      = ": set option of (no endpoint): CURVE "
		protocol = "handshake failed: protocol error 0x"
		wrongKey = "handshake failed: protocol error 0x11000001 (cryptographic: a key is wrong)"
		mismatch = "handshake failed: protocol error 0x11000002 (the mechanisms differ)"
		zero     = "requester: connect " // and how it fails depends on timing (Z44)
		denied   = "handshake failed: not authenticated, ZAP status 400"
	)
	raw := func(options ...Option) Option {
		return func(z *zmq.Socket) error { return (&Socket{z: z}).set(options) }
	}
	serverFlag := func(z *zmq.Socket) error { return z.SetCurveServer(1) }
	serverKey := func(z *zmq.Socket) error { return z.SetCurveServerkey(server.public) }
	publicKey := func(z *zmq.Socket) error { return z.SetCurvePublickey(client.public) }
	secretKey := func(p pair) Option {
		return func(z *zmq.Socket) error { return z.SetCurveSecretkey(p.secret) }
	}
	knows := func(q Request) bool { // asked in every row
		return q.Mechanism == "PLAIN" && string(q.Credentials[1]) == password ||
			q.Mechanism == "CURVE" && bytes.Equal(q.Credentials[0], decoded(t, client.public))
	}
	for _, test := range []struct {
		name           string
		server, client Option
		want           string // in the report; empty when the round trip passes
	}{
		// A complete set of settings, and each setting left out (Z43).
		{"complete", CurveServer(server.secret), complete, ""},
		{"raw keys", CurveServer(decoded(t, server.secret)),
			CurveClient(decoded(t, server.public), decoded(t, client.public), decoded(t, client.secret)), ""},
		{"client binds", complete, CurveServer(server.secret), ""},
		{"raw complete", raw(serverFlag, secretKey(server)), raw(serverKey, publicKey, secretKey(client)), ""},
		{"no server secret", CurveServer(""), complete, "replier" + set + "server secret key: missing"},
		{"no server key", CurveServer(server.secret), CurveClient("", client.public, client.secret), "requester" + set + "server key: missing"},
		{"no client public", CurveServer(server.secret), CurveClient(server.public, "", client.secret), "requester" + set + "client public key: missing"},
		{"no client secret", CurveServer(server.secret), CurveClient(server.public, client.public, ""), "requester" + set + "client secret key: missing"},
		{"raw no server flag", raw(secretKey(server)), complete, protocol},
		{"raw no server secret", raw(serverFlag), complete, "replier: " + wrongKey},
		{"raw no server key", CurveServer(server.secret), raw(publicKey, secretKey(client)), zero},
		{"raw no client public", CurveServer(server.secret), raw(serverKey, secretKey(client)), "replier: " + protocol},
		{"raw no client secret", CurveServer(server.secret), raw(serverKey, publicKey), "replier: " + wrongKey},

		// Keys that are cut, swapped, nobody's or another's (Z34, Z35, Z36, Z44).
		{"server secret cut", CurveServer(server.secret[:39]), complete, "replier" + set + "server secret key: 39 characters, want 40"},
		{"server secret cut to 32", CurveServer(server.secret[:32]), complete, "replier" + set + "server secret key: 32 characters, want 40"},
		{"server key cut to 32", CurveServer(server.secret), CurveClient(server.public[:32], client.public, client.secret),
			"requester" + set + "server key: 32 characters, want 40"},
		{"client secret cut", CurveServer(server.secret), CurveClient(server.public, client.public, client.secret[:39]),
			"requester" + set + "client secret key: 39 characters, want 40"},
		{"raw server key cut to 32", CurveServer(server.secret), raw(complete, func(z *zmq.Socket) error { return z.SetCurveServerkey(server.public[:32]) }),
			"replier: " + wrongKey},
		{"client keys swapped", CurveServer(server.secret), CurveClient(server.public, client.secret, client.public),
			"requester" + set + "client public key: it is not that of the client secret key"},
		{"client keys of two pairs", CurveServer(server.secret), CurveClient(server.public, other.public, client.secret),
			"requester" + set + "client public key: it is not that of the client secret key"},
		{"server's public key as its secret", CurveServer(server.public), complete, "replier: " + wrongKey},
		{"wrong server key", CurveServer(server.secret), CurveClient(other.public, client.public, client.secret), "replier: " + wrongKey},
		{"zero server key", CurveServer(server.secret), CurveClient(strings.Repeat("0", 40), client.public, client.secret),
			"requester" + set + "server key: all zeros"},
		{"raw zero server key", CurveServer(server.secret), raw(complete, func(z *zmq.Socket) error { return z.SetCurveServerkey(strings.Repeat("0", 40)) }),
			zero},

		// One mechanism on one side and another on the other.
		{"null client", CurveServer(server.secret), plain, mismatch},
		{"null server", plain, complete, mismatch},
		{"plain client", CurveServer(server.secret), PlainClient("alice", password), mismatch},
		{"plain server", PlainServer(), complete, mismatch},
		{"plain client, null server", plain, PlainClient("alice", password), mismatch},
		{"two servers", CurveServer(server.secret), CurveServer(other.secret), "last seen: connected, and no handshake"},
		{"two clients", complete, CurveClient(server.public, other.public, other.secret), protocol},

		// Who the client is (Z39).
		{"plain listed", PlainServer(), PlainClient("alice", password), ""},
		{"plain wrong password", PlainServer(), PlainClient("alice", "open barley"), denied},
		{"curve listed", CurveServer(server.secret), complete, ""},
		{"curve unlisted", CurveServer(server.secret), CurveClient(server.public, other.public, other.secret), denied},
	} {
		for _, transport := range []string{"ipc", "tcp"} {
			t.Run(transport+"/"+test.name, func(t *testing.T) {
				const limit = short
				start := time.Now()
				report, got := roundTripAsking(transport, limit, knows, test.server, test.client)
				if passes := test.want == ""; passes && (report != "" || got != 2) || !passes && (got != 0 || !strings.Contains(report, test.want)) {
					t.Errorf("%d messages got through, report %q, want %q in it and none, or both and no report", got, report, test.want)
				}
				within(t, limit, start)
				wantNoSecret(t, report, password, "open barley", server.secret, client.secret, other.secret)
			})
		}
	}
}

// decoded is the bytes of a key.
func decoded(t *testing.T, key string) []byte {
	t.Helper()
	raw, err := z85.DecodeKey("key", key)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// wantNoSecret fails the test if any of the secrets is in the text, or a good part
// of one, as it is, as bytes, or in hex.
func wantNoSecret(t *testing.T, text string, secrets ...string) {
	t.Helper()
	for _, secret := range secrets {
		forms := []string{secret}
		if raw, err := z85.DecodeKey("key", secret); err == nil {
			forms = append(forms, secret[:20], secret[20:], string(raw), hex.EncodeToString(raw), fmt.Sprint(raw))
		}
		for _, form := range forms {
			if strings.Contains(strings.ToLower(text), strings.ToLower(form)) {
				t.Errorf("a secret is in %q", text)
			}
		}
	}
}

// TestSecretsInErrors prints all that knows a secret, in every way (the errors of
// handshakes are in TestRefusals).
func TestSecretsInErrors(t *testing.T) {
	pairs := newPairs(t, 2)
	server, client := pairs[0], pairs[1]
	const password = "open sesame"
	var text strings.Builder
	bad := []string{"", "~", "\n"}
	for _, b := range bad {
		for _, option := range []Option{
			CurveServer(server.secret + b + "x"), CurveServer(server.secret[:39] + b), CurveServer([]byte(server.secret + b)),
			CurveClient(server.public, client.secret, client.public+b), CurveClient(client.secret+b+"x", client.public, client.secret),
			CurveClient(server.secret+b, client.secret, client.secret+b), CurveClient(server.public, server.public, client.secret),
			PlainClient(password, strings.Repeat(password, 30)), PlainClient(strings.Repeat(password, 30), password),
		} {
			if err := option(nil); err == nil {
				t.Error("an option with bad keys is taken")
			} else {
				fmt.Fprintf(&text, "%v %+v %#v %q\n", err, err, err, err)
			}
			fmt.Fprintf(&text, "%v %+v\n", option, option)
		}
	}
	m := Mechanism{name: "curve", server: []Option{CurveServer(server.secret)}, client: []Option{CurveClient(server.public, client.public, client.secret)}}
	fmt.Fprintf(&text, "%v %+v %#v\n", m, m, m)
	fmt.Fprintf(&text, "%v %+v\n", &Session{conf: Config{Mechanism: m}}, Config{Mechanism: m})
	wantNoSecret(t, text.String(), password, server.secret, client.secret)
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
