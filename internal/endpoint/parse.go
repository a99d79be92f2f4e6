package endpoint

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is the longest inproc name in bytes, the limit that libzmq's manual
// gives; libzmq takes longer ones, but cannot read them back.
const maxName = 256

// A side says which rules hold: a wildcard may be bound, not connected to.
type side int

const (
	bind side = iota
	connect
)

// ParseBind returns the endpoint that s names for a bind. The host localhost
// becomes 127.0.0.1, since some builds of libzmq bind it and others answer
// "no such device". The endpoint has passed [Endpoint.CheckBind].
func ParseBind(s string) (Endpoint, error) {
	e, err := parse(s, bind)
	if err != nil {
		return Endpoint{}, err
	}
	if err := e.CheckBind(); err != nil {
		return Endpoint{}, err
	}
	return e, nil
}

// ParseConnect returns the endpoint that s names for a connect. A host name is
// checked for its form only and is not resolved, so that a name which does not
// exist is found no earlier than by the limit on the wait for the peer. The
// endpoint has passed [Endpoint.CheckConnect].
func ParseConnect(s string) (Endpoint, error) {
	e, err := parse(s, connect)
	if err != nil {
		return Endpoint{}, err
	}
	if err := e.CheckConnect(); err != nil {
		return Endpoint{}, err
	}
	return e, nil
}

// parse checks the text alone: its result depends on nothing but s and to.
func parse(s string, to side) (Endpoint, error) {
	if err := checkText(s); err != nil {
		return Endpoint{}, err
	}
	transport, address, ok := strings.Cut(s, "://")
	if !ok {
		return Endpoint{}, refuse(s, "begin with tcp://, ipc:// or inproc://", "has no transport")
	}
	switch transport {
	case "tcp":
		return parseTCP(s, address, to)
	case "ipc":
		return parseIPC(s, address, to)
	case "inproc":
		return parseInproc(s, address)
	}
	switch lower := strings.ToLower(transport); lower {
	case "tcp", "ipc", "inproc":
		return Endpoint{}, refuse(s, "write "+lower+"://", "transport %q is not in lower case", transport)
	}
	return Endpoint{}, refuse(s, "use tcp, ipc or inproc", "transport %q is not supported", transport)
}

// checkText refuses what no endpoint may hold. A NUL would end the text early
// in C; the others are slips of a shell script that nobody can see in a log.
func checkText(s string) error {
	if s == "" {
		return refuse(s, "write tcp://HOST:PORT, ipc://PATH or inproc://NAME", "is empty")
	}
	if !utf8.ValidString(s) {
		return refuse(s, "write it in UTF-8", "is not valid UTF-8")
	}
	for i, r := range s {
		switch {
		case unicode.IsSpace(r):
			return refuse(s, "take it out", "has a blank (%U) at byte %d", r, i)
		case !unicode.IsPrint(r):
			return refuse(s, "take it out", "has a character that cannot be seen (%U) at byte %d", r, i)
		}
	}
	return nil
}

func parseInproc(s, name string) (Endpoint, error) {
	if name == "" {
		return Endpoint{}, refuse(s, "write inproc://NAME", "has no name")
	}
	if len(name) > maxName {
		return Endpoint{}, refuse(s, "use a shorter name", "the name has %d bytes, more than the limit of %d", len(name), maxName)
	}
	return Endpoint{Transport: "inproc", Name: name}, nil
}
