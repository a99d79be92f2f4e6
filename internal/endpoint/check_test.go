package endpoint_test

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"zmqbench/internal/endpoint"
)

// scratch returns a new directory with a short path, which t.TempDir has not:
// it holds the name of the test.
func scratch(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ep")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// listen returns a Unix socket at path; the file stays after its Close.
func listen(t *testing.T, path string) *net.UnixListener {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	t.Cleanup(func() { l.Close() })
	return l
}

// Z64, Z68: what may be at an ipc path, and that it is left as it is.
func TestCheckFile(t *testing.T) {
	dir := scratch(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("file"), []byte("data"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link": at("file"), "dangling": at("missing"), "socklink": at("stale")} {
		if err := os.Symlink(target, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	listen(t, at("stale")).Close()
	listen(t, at("live"))

	for _, c := range []struct{ path, bind, connect, reason string }{
		{at("new"), "", "", "nothing there: bind makes it, and a connect may come first"},
		{at("stale"), "", "", "left behind by a program that has ended; libzmq binds over it"},
		{at("live"), "another program is listening there", "", "libzmq would take the path from under it"},
		{at("file"), "is not a socket", "is not a socket", "libzmq's bind deletes it"},
		{at("link"), "is not a socket", "is not a socket", "libzmq's bind deletes the link"},
		{at("dangling"), "is not a socket", "is not a socket", "libzmq's bind deletes the link"},
		{at("socklink"), "is not a socket", "is not a socket", "libzmq's bind deletes the link"},
		{dir, "is not a socket", "is not a socket", "a directory"},
		{dir + "/", "add a name", "add a name", "a directory, written as one"},
		{at("new") + "/", "add a name", "add a name", "a directory that does not exist"},
		{at("none/x"), "cannot use the directory", "cannot use the directory", "no such directory"},
		{at("file/x"), "is not a directory", "is not a directory", "a file in place of a directory"},
		{at("file/x/y"), "cannot use the directory", "cannot use the directory", "a file on the way"},
	} {
		_, err := endpoint.ParseBind("ipc://" + c.path)
		wantError(t, "ParseBind", c.path, err, c.bind, c.reason)
		_, err = endpoint.ParseConnect("ipc://" + c.path)
		wantError(t, "ParseConnect", c.path, err, c.connect, c.reason)
	}
	if got, err := os.ReadFile(at("file")); err != nil || string(got) != "data" {
		t.Errorf("the file holds %q, %v, want its data", got, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 6 {
		t.Errorf("the directory holds %v, %v, want the 6 entries of before", entries, err)
	}
}

// CheckBind tells what has changed since ParseBind.
func TestCheckBindAgain(t *testing.T) {
	path := filepath.Join(scratch(t), "s")
	e, err := endpoint.ParseBind("ipc://" + path)
	if err != nil {
		t.Fatal(err)
	}
	l := listen(t, path)
	wantError(t, "CheckBind", path, e.CheckBind(), "another program is listening there", "bound since")
	l.Close()
	wantError(t, "CheckBind", path, e.CheckBind(), "", "free again, the file still there")
}

// An interface can be bound if it has an IPv4 address, and a zone is one by
// name or by number.
func TestInterface(t *testing.T) {
	lo := loopback(t)
	for _, host := range []string{lo.Name, "[::1%" + lo.Name + "]", "[::1%" + strconv.Itoa(lo.Index) + "]"} {
		_, err := endpoint.ParseBind("tcp://" + host + ":*")
		wantError(t, "ParseBind", host, err, "", "the loopback interface")
	}
	interfaces, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range interfaces {
		if addrs, err := i.Addrs(); err != nil || len(addrs) > 0 {
			continue
		}
		_, err := endpoint.ParseBind("tcp://" + i.Name + ":*")
		wantError(t, "ParseBind", i.Name, err, "has no IPv4 address", "libzmq says no such device")
	}
}

// Z62: the limit is in bytes, and the error has path, length and limit.
func TestPathLimit(t *testing.T) {
	if linux, darwin := endpoint.PathLimit("linux"), endpoint.PathLimit("darwin"); linux != 107 || darwin != 103 {
		t.Errorf("limits: linux %d, darwin %d, want 107 and 103", linux, darwin)
	}
	limit := endpoint.PathLimit(runtime.GOOS)
	dir := scratch(t) + "/"
	if len(dir) > limit-10 {
		t.Skipf("the temporary directory %q is too long for a socket", dir)
	}
	fits := dir + strings.Repeat("n", limit-len(dir))
	wide := dir + strings.Repeat("é", (limit-len(dir))/2+1)
	for _, parse := range []func(string) (Endpoint, error){endpoint.ParseBind, endpoint.ParseConnect} {
		_, err := parse("ipc://" + fits)
		wantError(t, "parse", fits, err, "", "as long as it may be")
		_, err = parse("ipc://" + fits + "n")
		wantError(t, "parse", fits+"n", err, fits+`n" has `, "one byte too long")
		_, err = parse("ipc://" + wide)
		wantError(t, "parse", wide, err, "more than the limit of 10", "more bytes than characters")
	}
}

// An abstract name has no file, so nothing is looked for; only Linux has them.
func TestAbstract(t *testing.T) {
	want := ""
	if runtime.GOOS != "linux" {
		want = "has no abstract sockets"
	}
	for _, parse := range []func(string) (Endpoint, error){endpoint.ParseBind, endpoint.ParseConnect} {
		_, err := parse("ipc://@nonexistent/x")
		wantError(t, "parse", "@nonexistent/x", err, want, "no file")
		_, err = parse("ipc://@" + strings.Repeat("n", 107))
		if err == nil {
			t.Error("an abstract name of 108 bytes is taken")
		}
	}
}

func loopback(t *testing.T) net.Interface {
	t.Helper()
	interfaces, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range interfaces {
		if i.Flags&net.FlagLoopback != 0 && i.Flags&net.FlagUp != 0 {
			return i
		}
	}
	t.Skip("this host has no loopback interface")
	return net.Interface{}
}

func wantError(t *testing.T, call, arg string, err error, want, reason string) {
	t.Helper()
	if want == "" && err != nil {
		t.Errorf("%s(%q) = %v, want no error: %s", call, arg, err, reason)
	}
	if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("%s(%q) = %v, want an error with %q: %s", call, arg, err, want, reason)
	}
}
