//go:build cgo

package zmqbench

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	zmq "github.com/pebbe/zmq4"

	"zmqbench/internal/cloop"
	"zmqbench/internal/linkage"
	"zmqbench/internal/session"
	"zmqbench/internal/z85"
)

// BenchmarkKeypair makes keys: one op is one CURVE key pair, in Z85, of which
// libzmq's curve_keygen makes one. No context is being terminated meanwhile,
// which could crash libzmq: a session's are gone when it has ended.
func BenchmarkKeypair(b *testing.B) {
	checkPair(b, newPair(b))
	b.ReportAllocs()
	for b.Loop() {
		if public, secret, err := zmq.NewCurveKeypair(); err != nil || len(public) != 40 || len(secret) != 40 {
			b.Fatalf("%d and %d characters, %v, want 40 and 40", len(public), len(secret), err)
		}
	}
}

// A pair is a CURVE key pair in Z85.
type pair struct{ public, secret string }

// newPair makes a pair, or skips where libzmq has no CURVE (Z40). It is for
// the time before a session is open: libzmq may crash when keys are made while
// a context is terminated (Z42).
func newPair(tb testing.TB) pair {
	tb.Helper()
	if !zmq.HasCurve() {
		tb.Skip("this libzmq was built without CURVE")
	}
	public, secret, err := zmq.NewCurveKeypair()
	if err != nil {
		tb.Fatal(err)
	}
	return pair{public, secret}
}

// checkPair fails unless both keys are Z85 of 32 bytes, read by the suite's
// own decoder, and the public one is that of the secret one, by Go's own
// X25519.
func checkPair(tb testing.TB, p pair) {
	tb.Helper()
	public, err := z85.DecodeKey("public key", p.public)
	if err != nil {
		tb.Fatal(err)
	}
	secret, err := z85.DecodeKey("secret key", p.secret)
	if err != nil {
		tb.Fatal(err)
	}
	key, err := ecdh.X25519().NewPrivateKey(secret)
	if err != nil {
		tb.Fatal(err)
	}
	if got := key.PublicKey().Bytes(); !bytes.Equal(got, public) {
		tb.Fatalf("public half of the secret key = %x, want %x", got, public)
	}
}

// TestCurveKeypairs makes 1000 pairs, all of them good and none like another
// (A7).
func TestCurveKeypairs(t *testing.T) {
	checkPair(t, pair{"mQdmh1=JuKj]rb$@:jrs:Efo:L$H3g+-FE{M$n#1", "[>}]%6&a(#Wmh9&wEHG*(Chd[m&Ra(=]EL-m/k*D"})
	seen := map[string]bool{}
	for range 1000 {
		p := newPair(t)
		checkPair(t, p)
		seen[p.public], seen[p.secret] = true, true
	}
	if len(seen) != 2000 {
		t.Errorf("%d different keys, want 2000", len(seen))
	}
}

// TestZ85 holds the binding's encoding and ours against each other: they agree
// on what is legal (Z32), and on other text only ours is an error (Z29).
func TestZ85(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %#x", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 1000 {
		key := make([]byte, 32)
		for i := range key {
			key[i] = byte(rnd.Uint32())
		}
		text, err := z85.Encode(key)
		if theirs := zmq.Z85encode(string(key)); err != nil || text != theirs {
			t.Fatalf("Encode(%x) = %q, %v, the binding's is %q", key, text, err, theirs)
		}
		data, err := z85.Decode(text)
		if theirs := zmq.Z85decode(text); err != nil || string(data) != theirs {
			t.Fatalf("Decode(%q) = %x, %v, the binding's is %x", text, data, err, theirs)
		}
	}
	for _, test := range []struct{ text, theirs, ours string }{
		{"~~~~~", "00000000", "illegal character at position 0"},
		{"Hello~~~~~", "864fd26f00000000", "illegal character at position 5"},
	} {
		if got := fmt.Sprintf("%x", zmq.Z85decode(test.text)); got != test.theirs {
			t.Errorf("the binding's Z85decode(%q) = %s, want %s", test.text, got, test.theirs)
		}
		if data, err := z85.Decode(test.text); data != nil || err == nil || !strings.Contains(err.Error(), test.ours) {
			t.Errorf("Decode(%q) = %x, %v, want %s", test.text, data, err, test.ours)
		}
	}
}

// TestCurveRoundTrip sends an encrypted request and its reply (A8). It is about
// encryption alone: nobody asks who the client is (Z39). With a wrong server
// key, which looks to the client as if the server were down, nothing gets
// through and the session says why (Z36).
func TestCurveRoundTrip(t *testing.T) {
	server, client, other := newPair(t), newPair(t), newPair(t)
	for _, test := range []struct {
		name, serverKey      string
		request, reply, want string // want is in the report
	}{
		{"right key", server.public, "hello-curve", "ok-curve", ""},
		{"wrong key", other.public, "", "", "handshake failed: protocol error 0x11000001"},
	} {
		for _, transport := range []string{"ipc", "tcp"} {
			t.Run(transport+"/"+test.name, func(t *testing.T) {
				var request, reply []byte
				start := time.Now()
				_, text := measure(t, "1x", func(_ *testing.B, tb session.TB) {
					s := open(tb, transport)
					at := s.Address()
					s.Go("server", func(r *session.Role) error {
						rep, err := r.Bind(zmq.REP, at, session.CurveServer(server.secret), isCurve)
						if err != nil {
							return err
						}
						if request, err = rep.Recv(); err != nil {
							return err
						}
						return rep.Send([]byte("ok-curve"))
					})
					s.Run("client", func(r *session.Role) error {
						// Connect returns when the handshake has succeeded.
						req, err := r.Connect(zmq.REQ, at, session.CurveClient(test.serverKey, client.public, client.secret), isCurve)
						if err != nil {
							return err
						}
						if err := req.Send([]byte("hello-curve")); err != nil {
							return err
						}
						reply, err = req.Recv()
						return err
					})
				})
				if string(request) != test.request || string(reply) != test.reply {
					t.Errorf("request %q, reply %q, want %q, %q", request, reply, test.request, test.reply)
				}
				if !strings.Contains(text, test.want) || (text == "") != (test.want == "") {
					t.Errorf("report %q, want %q in it", text, test.want)
				}
				if took := time.Since(start); took > conf.Wait {
					t.Errorf("it took %v, want less than the limit of %v", took, conf.Wait)
				}
			})
		}
	}
}

// isCurve is an option that sets nothing: it fails unless the mechanism of the
// socket is CURVE. A socket has one mechanism, and speaks to no peer that has
// another.
func isCurve(z *zmq.Socket) error {
	mechanism, err := z.GetMechanism()
	if err == nil && mechanism != zmq.CURVE {
		err = fmt.Errorf("the mechanism is %v, want CURVE", mechanism)
	}
	return err
}

// TestVersions asks all who know which libzmq this is (A9, A10, A13). With
// -libzmq it must be the one demanded.
func TestVersions(t *testing.T) {
	loaded := cloop.Version()
	t.Logf("zmq: %s  zmq4: %s", loaded, linkage.ZMQ4())
	major, minor, patch := zmq.Version()
	if got := fmt.Sprintf("%d.%d.%d", major, minor, patch); got != loaded {
		t.Errorf("the binding says libzmq %s, libzmq says %s", got, loaded)
	}
	file, err := linkage.Loaded()
	if err != nil {
		file = err.Error()
	}
	if err := demanded(conf.Libzmq, loaded, file); err != nil {
		t.Error(err)
	}
	header := cloop.HeaderVersion()
	if packaged, err := linkage.PkgConfig(); err != nil { // the error says what to install
		t.Errorf("%v; libzmq: header %s, run time %s from %s", err, header, loaded, file)
	} else if err := agree(header, loaded, packaged, file); err != nil {
		t.Error(err)
	}
	known, err := linkage.Known()
	if err != nil {
		t.Log(err)
	}
	for _, other := range others(known, file) {
		t.Logf("the loader knows another libzmq, %s; in use is %s", other, file)
	}
}

// demanded returns an error if a version is demanded and another is loaded.
func demanded(want, loaded, file string) error {
	if want == "" || want == loaded {
		return nil
	}
	return fmt.Errorf("libzmq %s is loaded, from %s; -libzmq demands %s", loaded, file, want)
}

// agree returns an error unless the versions are one.
func agree(header, loaded, packaged, file string) error {
	if header == loaded && packaged == loaded {
		return nil
	}
	return fmt.Errorf("libzmq: header %s, pkg-config %s, run time %s from %s; want one version [is a second libzmq installed?]",
		header, packaged, loaded, file)
}

// others returns the libraries that the loader knows besides the one in use.
func others(known []string, file string) []string {
	return slices.DeleteFunc(slices.Clone(known), func(k string) bool { return k == file })
}

// TestVersionsDiffer gives the judges of TestVersions something to find.
func TestVersionsDiffer(t *testing.T) {
	const file = "/usr/local/lib/libzmq.so.5.2.5"
	for _, test := range []struct {
		err  error
		want string
	}{
		{agree("4.3.5", "4.3.5", "4.3.5", file), ""},
		{agree("4.3.4", "4.3.5", "4.3.5", file), "libzmq: header 4.3.4, pkg-config 4.3.5, run time 4.3.5 from " + file},
		{agree("4.3.4", "4.3.5", "4.3.4", file), "libzmq: header 4.3.4, pkg-config 4.3.4, run time 4.3.5 from " + file},
		{agree("4.3.5", "4.3.5", "4.3.4", file), "libzmq: header 4.3.5, pkg-config 4.3.4, run time 4.3.5 from " + file},
		{demanded("", "4.3.5", file), ""},
		{demanded("4.3.5", "4.3.5", file), ""},
		{demanded("4.3.4", "4.3.5", file), "libzmq 4.3.5 is loaded, from " + file + "; -libzmq demands 4.3.4"},
	} {
		got := ""
		if test.err != nil {
			got = test.err.Error()
		}
		if !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("error %q, want %q", got, test.want)
		}
	}
	system := "/usr/lib/x86_64-linux-gnu/libzmq.so.5.2.4"
	if got := others([]string{file, system}, file); !slices.Equal(got, []string{system}) {
		t.Errorf("others = %q, want %s", got, system)
	}
}

// TestOtherLibrary runs this program with libraries that it must not trust or
// that lack something, which a preloaded object makes of the one that is here.
func TestOtherLibrary(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil || runtime.GOOS != "linux" {
		t.Skip("needs cc and the loader of Linux: ", err)
	}
	for _, test := range []struct {
		name, source string
		args         []string
		status       int
		want         string
	}{
		// TestMain ends the suite with the binding's text: status 2, and no failure of each test (Z86).
		{"unknown version", "void zmq_version(int *a, int *b, int *c) { *a = 4; *b = 99; *c = 7; }",
			[]string{"-test.bench=."}, 2, "the runtime links with version 4.99.7\n"},
		// The binding takes it, and TestVersions does not.
		{"older version", "void zmq_version(int *a, int *b, int *c) { *a = 4; *b = 3; *c = 3; }",
			[]string{"-test.run=^TestVersions$"}, 1, "run time 4.3.3 from /"},
		{"no CURVE", "int zmq_has(const char *what) { (void) what; return 0; }", // Z40
			[]string{"-test.run=Curve|^TestZ85", "-test.bench=Keypair", "-test.v"}, 0, "this libzmq was built without CURVE\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, out := runWith(t, test.source, test.args...)
			if status != test.status || !strings.Contains(out, test.want) {
				t.Errorf("status %d, output %q, want status %d and %q", status, out, test.status, test.want)
			}
		})
	}
}

// runWith runs this test binary with functions of libzmq replaced by those in
// C source, and returns its status and output.
func runWith(t *testing.T, source string, args ...string) (status int, out string) {
	t.Helper()
	object := filepath.Join(t.TempDir(), "instead.so")
	cc := exec.Command("cc", "-shared", "-fPIC", "-o", object, "-xc", "-")
	cc.Stdin = strings.NewReader(source)
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+object)
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

// TestLinkage looks at this program as ldd and file do (A15).
func TestLinkage(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("ELF and /proc are Linux's")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	needed, err := linkage.Needs(self)
	if err != nil || !slices.Contains(needed, "libzmq.so.5") {
		t.Errorf("Needs(%s) = %q, %v, want libzmq.so.5 among them", self, needed, err)
	}
	file, err := linkage.Loaded()
	if err != nil || !strings.HasPrefix(filepath.Base(file), "libzmq") {
		t.Fatalf("Loaded() = %q, %v, want a libzmq", file, err)
	}
	t.Logf("libzmq.so.5 => %s", file)
}

// TestSocketTypes opens the twelve stable types and asks each for its type (A11).
func TestSocketTypes(t *testing.T) {
	kinds := []zmq.Type{zmq.DEALER, zmq.PAIR, zmq.PUB, zmq.PULL, zmq.PUSH, zmq.REP,
		zmq.REQ, zmq.ROUTER, zmq.STREAM, zmq.SUB, zmq.XPUB, zmq.XSUB}
	open(t, "inproc").Run("opener", func(r *session.Role) error {
		var names []string
		for _, kind := range kinds {
			if _, err := r.Socket(kind, func(z *zmq.Socket) error {
				got, err := z.GetType()
				names = append(names, got.String())
				return err
			}); err != nil {
				return err
			}
		}
		if got, want := strings.Join(names, " "), "DEALER PAIR PUB PULL PUSH REP REQ ROUTER STREAM SUB XPUB XSUB"; got != want {
			return fmt.Errorf("socket types %s, want %s", got, want)
		}
		return nil
	})
}

// TestBacklog asks the kernel how many connections may wait at a bound tcp
// endpoint (A16): 100, the default of ZMQ_BACKLOG, or what the option says.
func TestBacklog(t *testing.T) {
	text, err := os.ReadFile("/proc/sys/net/core/somaxconn")
	if err != nil {
		t.Skip("the backlog is known on Linux only: ", err)
	}
	most, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		option session.Option
		want   int
	}{
		{"default", func(*zmq.Socket) error { return nil }, 100},
		{"set", func(z *zmq.Socket) error { return z.SetBacklog(17) }, 17},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, "tcp")
			s.Run("listener", func(r *session.Role) error {
				var z *zmq.Socket
				keep := func(opened *zmq.Socket) error { z = opened; return nil }
				if _, err := r.Bind(zmq.REP, s.Address(), test.option, keep); err != nil {
					return err
				}
				at, err := z.GetLastEndpoint()
				if err != nil {
					return err
				}
				port, err := strconv.Atoi(at[strings.LastIndexByte(at, ':')+1:])
				if err != nil {
					return err
				}
				if got, err := linkage.Backlog(port); err != nil || got != min(test.want, most) {
					return fmt.Errorf("backlog of %s = %d, %v, want %d", at, got, err, min(test.want, most))
				}
				return nil
			})
		})
	}
}
