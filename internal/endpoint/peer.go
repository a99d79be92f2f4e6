package endpoint

import (
	"fmt"
	"net/netip"
	"path/filepath"
)

// Peer returns the endpoint to which a peer on this host connects, given what
// ZMQ_LAST_ENDPOINT reads back after a bind to e and without the NUL that C
// puts at its end.
//
// An address that means every interface becomes the loopback address of its
// family, and a relative ipc path becomes absolute, as the peer may have
// another working directory. It is an error if last is not what libzmq reads
// back for e's transport, or if [ParseConnect] would refuse the result as text.
func (e Endpoint) Peer(last string) (string, error) {
	peer, err := e.peer(last)
	if err != nil {
		return "", fmt.Errorf("endpoint %q: no peer can use what it reads back as: %w", e, err)
	}
	return peer, nil
}

func (e Endpoint) peer(last string) (string, error) {
	p, err := parse(last, bind)
	if err != nil {
		return "", err
	}
	if p.Transport != e.Transport {
		return "", refuse(last, "read it back from the socket that was bound", "transport is not %s", e.Transport)
	}
	switch p.Transport {
	case "tcp":
		addr, err := netip.ParseAddr(p.Host)
		if err != nil || p.Port == 0 {
			return "", refuse(last, "read it back after the bind", "has no address and port")
		}
		p.Host = reachable(addr)
	case "ipc":
		if p.hasFile() {
			p.Path, err = filepath.Abs(p.Path)
			if err != nil {
				return "", refuse(last, "bind to an absolute path", "cannot make the path absolute: %w", err)
			}
		}
	}
	peer := p.String()
	_, err = parse(peer, connect)
	return peer, err
}

// reachable returns addr, or the loopback address in place of a wildcard.
func reachable(addr netip.Addr) string {
	switch {
	case !addr.Unmap().WithZone("").IsUnspecified():
		return addr.String()
	case addr.Is4():
		return "127.0.0.1"
	case addr.Is4In6():
		return "::ffff:127.0.0.1"
	default:
		return "::1"
	}
}
