// Package endpoint says what a user may write as a ZeroMQ endpoint and checks
// it before any socket exists.
//
// libzmq takes much that is wrong and turns it into something else or into a
// wait without end: port "5599x" is bound as 5599 and "070000" as 4464, a
// connect to a missing host, port or ipc directory returns success, and a
// bind over a regular file deletes the file. Here such text is an error that
// names the endpoint, what is wrong with it, and the remedy in brackets.
//
// The transports are tcp, ipc and inproc:
//
//	tcp://HOST:PORT       bind: HOST is *, an address, an interface or localhost;
//	                      PORT is 1 to 65535, or * for one that is free
//	                      connect: HOST is a host name or an address
//	tcp://[ADDRESS]:PORT  an IPv6 address, if need be with its zone
//	ipc://PATH            a Unix socket; ipc://@NAME has no file (Linux only);
//	                      bind: ipc://* lets libzmq choose a path
//	inproc://NAME         within one context
package endpoint

import (
	"fmt"
	"strconv"
	"strings"
)

// An Endpoint is an endpoint that has passed [ParseBind] or [ParseConnect].
// The fields that its transport does not use are zero, so two Endpoints are
// the same if they compare equal.
type Endpoint struct {
	// Transport is "tcp", "ipc" or "inproc".
	Transport string

	// Host is, for tcp, "*" (bind only), an IPv4 address, an IPv6 address
	// without its brackets, an interface (bind) or a host name (connect).
	Host string

	// Port is, for tcp, 1 to 65535, or 0 (bind only) for one that is free.
	Port int

	// Path is, for ipc, the socket's path as written: absolute, relative to
	// the working directory, "@" and an abstract name, or "*" (bind only).
	Path string

	// Name is, for inproc, what follows inproc://, 1 to 256 bytes.
	Name string
}

// String returns the text for libzmq. It parses to the same Endpoint.
func (e Endpoint) String() string {
	switch e.Transport {
	case "tcp":
		host, port := e.Host, "*"
		if e.IPv6() {
			host = "[" + host + "]"
		}
		if e.Port != 0 {
			port = strconv.Itoa(e.Port)
		}
		return "tcp://" + host + ":" + port
	case "ipc":
		return "ipc://" + e.Path
	default:
		return e.Transport + "://" + e.Name
	}
}

// IPv6 reports whether e is an IPv6 address, for which the socket needs
// ZMQ_IPV6 on before it binds or connects; without it libzmq answers "no such
// device". It must stay off for every other endpoint, since with it libzmq
// prefers the IPv6 address of an interface.
func (e Endpoint) IPv6() bool {
	return strings.Contains(e.Host, ":")
}

// refuse returns the error of this package: the endpoint as written, what is
// wrong with it, and the remedy.
func refuse(text, remedy, format string, args ...any) error {
	return fmt.Errorf("endpoint %q: %w [%s]", text, fmt.Errorf(format, args...), remedy)
}
