package linkage_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"zmqbench/internal/linkage"
)

// segments are the lines of one object in /proc/self/maps.
func segments(path string) string {
	return "7f1c8e200000-7f1c8e21d000 r--p 00000000 fe:00 131                        " + path + "\n" +
		"7f1c8e21d000-7f1c8e29f000 r-xp 0001d000 fe:00 131                        " + path + "\n"
}

const (
	program = "/tmp/go-build/zmqbench.test"
	debian  = "/usr/lib/x86_64-linux-gnu/libzmq.so.5.2.4"
	local   = "/usr/local/lib/libzmq.so.5.2.5"
	sodium  = "/usr/lib/x86_64-linux-gnu/libsodium.so.23.3.0"
	others  = "7ffc0a000000-7ffc0a021000 rw-p 00000000 00:00 0                          [stack]\n" +
		"7f1c8e100000-7f1c8e110000 rw-p 00000000 00:00 0 \n" +
		"7f1c8e000000-7f1c8e010000 rw-p 00000000 00:00 0                          [anon:x/libzmq.so.5]\n"
)

func TestLoadedIn(t *testing.T) {
	for _, c := range []struct {
		maps, want, err string
		reason          string
	}{
		{segments(program) + others + segments(debian) + segments(sodium), debian, "", "the usual case"},
		{segments("/opt/my libs/libzmq.so.5"), "/opt/my libs/libzmq.so.5", "", "a blank in the path"},
		{segments("/x/zmq/libzmq-a4be96a4.so.5.2.5"), "/x/zmq/libzmq-a4be96a4.so.5.2.5", "", "bundled in a Python wheel"},
		{segments("/usr/lib/libzmq.so"), "/usr/lib/libzmq.so", "", "no version in the name"},
		{segments(program) + others, "", "no shared object is mapped (linked statically, or not at all)", "linked statically"},
		{"", "", "no shared object is mapped (linked statically, or not at all)", "nothing mapped"},
		{segments("/usr/lib/libzmqpp.so.4") + segments("/libzmq.so.d/x.so"), "",
			"no shared object is mapped (linked statically, or not at all)", "names that only look like it"},
		{segments(local) + segments(debian), "", "2 shared objects are mapped: " + local + ", " + debian,
			"two in one process: nobody knows which one answers"},
		{segments(debian + " (deleted)"), "", debian + " was deleted or replaced after this process loaded it",
			"an upgrade during the run: the path names another file now"},
	} {
		got, err := linkage.LoadedIn(strings.NewReader(c.maps))
		if got != c.want || errorText(err) != c.err {
			t.Errorf("loaded = %q, %v, want %q, %s (%s)", got, err, c.want, c.err, c.reason)
		}
	}
}

// This test is plain Go, so no libzmq is in it.
func TestLoaded(t *testing.T) {
	want := "loaded libzmq: no shared object is mapped (linked statically, or not at all)"
	if runtime.GOOS != "linux" {
		want = "loaded libzmq: not known on " + runtime.GOOS
	}
	if got, err := linkage.Loaded(); got != "" || errorText(err) != want {
		t.Errorf("Loaded() = %q, %v, want no path, %s", got, err, want)
	}
}

func TestCrypto(t *testing.T) {
	if got := linkage.Crypto(false); got != "none" {
		t.Errorf("Crypto(false) = %q, want none", got)
	}
	if got := linkage.Crypto(true); got != "unknown" {
		t.Errorf("Crypto(true) without libzmq = %q, want unknown", got)
	}
	unreadable := errors.New("permission denied")
	for _, c := range []struct {
		maps   string
		needs  []string
		err    error
		want   string
		reason string
	}{
		{segments(debian) + segments(sodium), []string{"libbsd.so.0", "libsodium.so.23"}, nil, "libsodium", "Debian's build"},
		{segments(local), []string{"libstdc++.so.6"}, nil, "builtin", "tweetnacl inside (Z41)"},
		{segments(local) + segments(sodium), []string{"libstdc++.so.6"}, nil, "builtin", "another library brought libsodium"},
		{segments(debian) + segments(sodium), nil, unreadable, "libsodium", "the file of libzmq cannot be read"},
		{segments(debian), nil, unreadable, "unknown", "the file of libzmq cannot be read"},
		{segments(program) + segments(sodium), nil, nil, "libsodium", "libzmq linked statically, libsodium not"},
		{segments(program), nil, nil, "unknown", "all linked statically"},
	} {
		needs := func(string) ([]string, error) { return c.needs, c.err }
		got, err := linkage.CryptoIn(strings.NewReader(c.maps), needs)
		if err != nil || got != c.want {
			t.Errorf("crypto = %q, %v, want %q (%s)", got, err, c.want, c.reason)
		}
	}
}

// errorText returns err's message, or nothing for nil.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
