package endpoint_test

import (
	"testing"

	"zmqbench/internal/endpoint"
)

func TestString(t *testing.T) {
	for _, c := range []struct {
		e      Endpoint
		want   string
		reason string
	}{
		{Endpoint{Transport: "tcp", Host: "*"}, "tcp://*:*", "port 0 is written *, which every libzmq takes"},
		{Endpoint{Transport: "tcp", Host: "a", Port: 5555}, "tcp://a:5555", "the plain case"},
		{Endpoint{Transport: "tcp", Host: "fe80::1%eth0", Port: 1}, "tcp://[fe80::1%eth0]:1", "Z66: brackets round address and zone"},
		{Endpoint{Transport: "ipc", Path: "/tmp/x"}, "ipc:///tmp/x", "three slashes: two and the path's own"},
		{Endpoint{Transport: "ipc", Path: "@x"}, "ipc://@x", "an abstract name"},
		{Endpoint{Transport: "inproc", Name: "x"}, "inproc://x", "the plain case"},
	} {
		if got := c.e.String(); got != c.want {
			t.Errorf("%#v.String() = %q, want %q: %s", c.e, got, c.want, c.reason)
		}
	}
}

// Z66: the option is switched on for a bracketed address and for nothing else.
func TestIPv6(t *testing.T) {
	for in, want := range map[string]bool{
		"tcp://[::1]:*":              true,
		"tcp://[::ffff:127.0.0.1]:*": true,
		"tcp://[::]:5555":            true,
		"tcp://*:5555":               false,
		"tcp://127.0.0.1:5555":       false,
		"ipc://a:b":                  false,
		"inproc://[::1]:5555":        false,
	} {
		e, err := endpoint.ParseBind(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.IPv6(); got != want {
			t.Errorf("%q: IPv6() = %v, want %v", in, got, want)
		}
	}
}
