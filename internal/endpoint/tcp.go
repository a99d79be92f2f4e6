package endpoint

import (
	"net/netip"
	"strconv"
	"strings"
)

func parseTCP(s, address string, to side) (Endpoint, error) {
	if address == "" {
		return Endpoint{}, refuse(s, "write tcp://HOST:PORT", "has no host and no port")
	}
	if strings.Contains(address, ";") {
		return Endpoint{}, refuse(s, "write tcp://HOST:PORT and leave the source address to the kernel",
			"a source address before %q is not supported", ";")
	}
	colon := strings.LastIndexByte(address, ':')
	if colon < 0 || strings.HasSuffix(address, "]") {
		return Endpoint{}, refuse(s, "write tcp://HOST:PORT", "has no port")
	}
	host, err := parseHost(s, address[:colon], to)
	if err != nil {
		return Endpoint{}, err
	}
	port, err := parsePort(s, address[colon+1:], to)
	if err != nil {
		return Endpoint{}, err
	}
	return Endpoint{Transport: "tcp", Host: host, Port: port}, nil
}

// parsePort takes exactly the decimal form: libzmq reads ports with a C
// function that takes signs, octal and trailing text.
func parsePort(s, port string, to side) (int, error) {
	if port == "*" || port == "0" {
		if to == bind {
			return 0, nil
		}
		return 0, refuse(s, "write the port that the peer has bound", "cannot connect to port %s", port)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err == nil && strconv.FormatUint(n, 10) == port {
		return int(n), nil
	}
	remedy := "write it as a plain decimal integer"
	if to == bind {
		remedy += ", or * for one that is free"
	}
	return 0, refuse(s, remedy, "port %q is not a number from 1 to 65535", port)
}

// parseHost returns the host without brackets. An IPv6 address is the only
// host it returns that holds a colon, and that alone makes [Endpoint.IPv6].
func parseHost(s, host string, to side) (string, error) {
	if host == "" {
		return "", refuse(s, suggestHost(to), "has no host")
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		return parseIPv6(s, strings.TrimSuffix(inner, "]"), strings.HasSuffix(inner, "]"), to)
	}
	if strings.Contains(host, ":") {
		return "", refuse(s, "put an IPv6 address in brackets, as in tcp://[::1]:5555", "host %q has a colon", host)
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return host, refuseWildcard(s, addr, to)
	}
	if to == connect {
		return host, checkHostName(s, host)
	}
	if strings.EqualFold(host, "localhost") {
		return "127.0.0.1", nil
	}
	return host, nil // "*", or an interface for CheckBind
}

func parseIPv6(s, host string, closed bool, to side) (string, error) {
	addr, err := netip.ParseAddr(host)
	if err != nil || !addr.Is6() || !closed {
		return "", refuse(s, "brackets are for an IPv6 address only, as in tcp://[::1]:5555",
			"%q is not an IPv6 address in brackets", host)
	}
	return host, refuseWildcard(s, addr, to)
}

// refuseWildcard refuses a connect to the address that means every interface.
func refuseWildcard(s string, addr netip.Addr, to side) error {
	if to == connect && addr.Unmap().WithZone("").IsUnspecified() {
		return refuse(s, suggestHost(to), "cannot connect to the wildcard %s", addr)
	}
	return nil
}

// checkHostName refuses what no resolver can find. A name whose last label is
// a number is refused too: "127.1" and "256.0.0.1" are IPv4 addresses gone
// wrong, which a resolver reads in its own way.
func checkHostName(s, host string) error {
	if host == "*" {
		return refuse(s, suggestHost(connect), "cannot connect to the wildcard *")
	}
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	for _, label := range labels {
		if !isLabel(label) {
			return refuse(s, "use letters, digits, - and _ between the dots, 1 to 63 of them",
				"%q is not a host name or an address", host)
		}
	}
	if isNumber(labels[len(labels)-1]) {
		return refuse(s, "write an IPv4 address as four plain decimal numbers from 0 to 255",
			"%q is not a host name or an address", host)
	}
	if len(host) > 253 {
		return refuse(s, "use a shorter name", "the host name has %d bytes, more than the limit of 253", len(host))
	}
	return nil
}

// isLabel reports whether s may stand between the dots of a host name.
func isLabel(s string) bool {
	if s == "" || len(s) > 63 || strings.ContainsAny(s[:1], "-_") || strings.HasSuffix(s, "-") {
		return false
	}
	for _, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && !('0' <= c && c <= '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// isNumber reports whether a resolver reads s as a number: decimal, octal, or
// hexadecimal after 0x.
func isNumber(s string) bool {
	lower := strings.ToLower(s)
	hex, ok := strings.CutPrefix(lower, "0x")
	return strings.Trim(lower, "0123456789") == "" || ok && strings.Trim(hex, "0123456789abcdef") == ""
}

func suggestHost(to side) string {
	if to == bind {
		return "use * for every interface, or 127.0.0.1"
	}
	return "use 127.0.0.1 or the host's name"
}
