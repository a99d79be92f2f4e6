package endpoint_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"zmqbench/internal/endpoint"
)

type Endpoint = endpoint.Endpoint

// A verdict is what one of the parsers must say about a text: the endpoint,
// or a part of the error.
type verdict struct {
	in     string
	want   Endpoint
	err    string
	reason string
}

// both holds what ParseBind and ParseConnect must agree about.
var both = []verdict{
	{"tcp://127.0.0.1:5555", Endpoint{Transport: "tcp", Host: "127.0.0.1", Port: 5555}, "", "the plain case"},
	{"tcp://127.0.0.1:1", Endpoint{Transport: "tcp", Host: "127.0.0.1", Port: 1}, "", "lowest port"},
	{"tcp://127.0.0.1:65535", Endpoint{Transport: "tcp", Host: "127.0.0.1", Port: 65535}, "", "highest port"},
	{"tcp://[::1]:5555", Endpoint{Transport: "tcp", Host: "::1", Port: 5555}, "", "Z66: a bracketed address"},
	{"tcp://[::ffff:127.0.0.1]:5555", Endpoint{Transport: "tcp", Host: "::ffff:127.0.0.1", Port: 5555}, "", "Z66: IPv4 within IPv6"},
	{"ipc://x", Endpoint{Transport: "ipc", Path: "x"}, "", "Z64: a relative path"},
	{"ipc://./@x", Endpoint{Transport: "ipc", Path: "./@x"}, "", "a file whose name begins with @"},
	{"ipc://π", Endpoint{Transport: "ipc", Path: "π"}, "", "a path is bytes"},
	{"inproc://a", Endpoint{Transport: "inproc", Name: "a"}, "", "the plain case"},
	{"inproc://*", Endpoint{Transport: "inproc", Name: "*"}, "", "no wildcard: a name like any other"},
	{"inproc://a://b", Endpoint{Transport: "inproc", Name: "a://b"}, "", "the first :// counts"},
	{"inproc://" + strings.Repeat("n", 256), Endpoint{Transport: "inproc", Name: strings.Repeat("n", 256)}, "", "longest name"},

	{"", Endpoint{}, `endpoint "": is empty [write tcp://HOST:PORT, ipc://PATH or inproc://NAME]`, "an unset variable of a script"},
	{"127.0.0.1:5555", Endpoint{}, "has no transport [begin with tcp://, ipc:// or inproc://]", "transport forgotten"},
	{"tcp:127.0.0.1:5555", Endpoint{}, "has no transport", "half of ://"},
	{"tcp:/127.0.0.1:5555", Endpoint{}, "has no transport", "half of ://"},
	{"://x", Endpoint{}, `transport "" is not supported`, "Z67: none"},
	{"foo://x", Endpoint{}, `transport "foo" is not supported [use tcp, ipc or inproc]`, "Z67: unknown"},
	{"pgm://eth0;239.192.1.1:5555", Endpoint{}, "use tcp, ipc or inproc", "Z67: not built in everywhere"},
	{"epgm://eth0;239.192.1.1:5555", Endpoint{}, "use tcp, ipc or inproc", "Z67"},
	{"udp://127.0.0.1:5555", Endpoint{}, "use tcp, ipc or inproc", "Z67: has its own socket types"},
	{"tipc://{5555,0,0}", Endpoint{}, "use tcp, ipc or inproc", "Z67"},
	{"vmci://1:5555", Endpoint{}, "use tcp, ipc or inproc", "Z67"},
	{"ws://127.0.0.1:5555", Endpoint{}, "use tcp, ipc or inproc", "Z67: draft"},
	{"@tcp://127.0.0.1:5555", Endpoint{}, `transport "@tcp" is not supported`, "Z67: czmq's sign for a bind"},
	{"TCP://127.0.0.1:5555", Endpoint{}, `transport "TCP" is not in lower case [write tcp://]`, "libzmq compares bytes"},
	{"Ipc:///tmp/x", Endpoint{}, "write ipc://", "libzmq compares bytes"},
	{"ipc://", Endpoint{}, "has no path [write ipc://PATH]", "Z67: empty name"},
	{"inproc://", Endpoint{}, "has no name [write inproc://NAME]", "Z67: empty name"},
	{"tcp://", Endpoint{}, "has no host and no port [write tcp://HOST:PORT]", "Z67: empty name"},
	{"ipc://@", Endpoint{}, "has no name [write ipc://@NAME]", "Z67: empty abstract name"},
	{"ipc://*x", Endpoint{}, "wildcard *", "libzmq binds any name with * in front as ipc://*"},
	{"inproc://" + strings.Repeat("n", 257), Endpoint{}, "has 257 bytes, more than the limit of 256", "one too long"},
	{" tcp://127.0.0.1:5555", Endpoint{}, "has a blank (U+0020) at byte 0 [take it out]", "blank in front"},
	{"tcp://127.0.0.1:5555 ", Endpoint{}, "has a blank (U+0020) at byte 20", "blank behind"},
	{"ipc:///tmp/a b", Endpoint{}, "has a blank (U+0020) at byte 12", "blank within"},
	{"tcp://127.0.0.1:5555\n", Endpoint{}, "has a blank (U+000A) at byte 20", "the end of a line of a file"},
	{"inproc://a\u00a0b", Endpoint{}, "has a blank (U+00A0) at byte 10", "copied from a web page"},
	{"tcp://127.0.0.1:5555\x00", Endpoint{}, "cannot be seen (U+0000) at byte 20", "C would stop here"},
	{"inproc://a\x1bb", Endpoint{}, "cannot be seen (U+001B) at byte 10", "control character"},
	{"inproc://a\u200bb", Endpoint{}, "cannot be seen (U+200B) at byte 10", "width zero: two names that look the same"},
	{"inproc://\xff", Endpoint{}, "is not valid UTF-8", "cannot be printed in an error"},

	{"tcp://127.0.0.1", Endpoint{}, "has no port [write tcp://HOST:PORT]", "port forgotten"},
	{"tcp://[::1]", Endpoint{}, "has no port", "the colons within the brackets are not the port's"},
	{"tcp://127.0.0.1:", Endpoint{}, `port "" is not a number from 1 to 65535`, "port forgotten"},
	{"tcp://127.0.0.1:65536", Endpoint{}, "is not a number from 1 to 65535", "one too high"},
	{"tcp://127.0.0.1:-1", Endpoint{}, "is not a number from 1 to 65535", "sign"},
	{"tcp://127.0.0.1:+5555", Endpoint{}, "is not a number from 1 to 65535", "sign: libzmq binds 5555"},
	{"tcp://127.0.0.1:05555", Endpoint{}, "[write it as a plain decimal integer", "libzmq reads octal: port 2925"},
	{"tcp://127.0.0.1:00", Endpoint{}, "is not a number from 1 to 65535", "leading zero"},
	{"tcp://127.0.0.1:5555x", Endpoint{}, "is not a number from 1 to 65535", "libzmq binds 5555"},
	{"tcp://127.0.0.1:5555/", Endpoint{}, "is not a number from 1 to 65535", "no path in an endpoint"},
	{"tcp://127.0.0.1:0x15b3", Endpoint{}, "is not a number from 1 to 65535", "hexadecimal"},
	{"tcp://127.0.0.1:５５５５", Endpoint{}, "is not a number from 1 to 65535", "digits of another script"},
	{"tcp://127.0.0.1:99999999999999999999", Endpoint{}, "is not a number from 1 to 65535", "longer than any integer"},
	{"tcp://:5555", Endpoint{}, "has no host", "host forgotten"},
	{"tcp://127.0.0.1:0;127.0.0.1:5555", Endpoint{}, "a source address", "libzmq's form src;dst"},
	{"tcp://::1:5555", Endpoint{}, `host "::1" has a colon [put an IPv6 address in brackets, as in tcp://[::1]:5555]`, "Z66: no brackets"},
	{"tcp://::1", Endpoint{}, "put an IPv6 address in brackets", "Z66: no brackets and no port"},
	{"tcp://a:b:5555", Endpoint{}, `host "a:b" has a colon`, "two ports"},
	{"tcp://[127.0.0.1]:5555", Endpoint{}, "brackets are for an IPv6 address only", "IPv4 in brackets"},
	{"tcp://[*]:5555", Endpoint{}, "brackets are for an IPv6 address only", "wildcard in brackets"},
	{"tcp://[]:5555", Endpoint{}, "is not an IPv6 address in brackets", "empty brackets"},
	{"tcp://[::1:5555", Endpoint{}, "is not an IPv6 address in brackets", "bracket not closed"},
	{"tcp://[::1]x:5555", Endpoint{}, "is not an IPv6 address in brackets", "text behind the bracket"},
	{"tcp://[::1%nosuchzone]:5555", Endpoint{}, `zone "nosuchzone"`, "Z66: libzmq's connect answers nil"},
	{"tcp://[::1%]:5555", Endpoint{}, "is not an IPv6 address in brackets", "zone forgotten"},
	{"tcp://nosuch/x:5555", Endpoint{}, `"nosuch/x"`, "a URL's path"},
}

var bindOnly = []verdict{
	{"tcp://*:5555", Endpoint{Transport: "tcp", Host: "*", Port: 5555}, "", "Z61: every interface"},
	{"tcp://*:*", Endpoint{Transport: "tcp", Host: "*"}, "", "Z59: a free port"},
	{"tcp://127.0.0.1:0", Endpoint{Transport: "tcp", Host: "127.0.0.1"}, "", "Z59: a free port, as the kernel writes it"},
	{"tcp://0.0.0.0:*", Endpoint{Transport: "tcp", Host: "0.0.0.0"}, "", "Z61"},
	{"tcp://[::]:*", Endpoint{Transport: "tcp", Host: "::"}, "", "Z61, Z66"},
	{"tcp://localhost:*", Endpoint{Transport: "tcp", Host: "127.0.0.1"}, "", "Z65: 4.3.4 refuses it, other builds do not"},
	{"tcp://LocalHost:5555", Endpoint{Transport: "tcp", Host: "127.0.0.1", Port: 5555}, "", "Z65: host names have no case"},
	{"tcp://example.com:5555", Endpoint{}, "use an address or an interface", "Z65: a host name"},
	{"tcp://nosuchif0:*", Endpoint{}, "use an address or an interface", "Z65: neither"},
	{"tcp://127.1:*", Endpoint{}, "use an address or an interface", "libzmq binds 127.0.0.1"},
	{"tcp://256.0.0.1:*", Endpoint{}, "use an address or an interface", "no address"},
	{"ipc://*", Endpoint{Transport: "ipc", Path: "*"}, "", "Z64: libzmq's choice"},
	{"ipc:///nonexistent/x", Endpoint{}, "cannot use the directory", "Z64"},
}

var connectOnly = []verdict{
	{"tcp://localhost:5555", Endpoint{Transport: "tcp", Host: "localhost", Port: 5555}, "", "Z65: connect takes it everywhere"},
	{"tcp://nosuchhost.invalid:5555", Endpoint{Transport: "tcp", Host: "nosuchhost.invalid", Port: 5555}, "", "Z68: the role's limit finds it"},
	{"tcp://a_b.example:5555", Endpoint{Transport: "tcp", Host: "a_b.example", Port: 5555}, "", "a name that container tools give"},
	{"tcp://example.com.:5555", Endpoint{Transport: "tcp", Host: "example.com.", Port: 5555}, "", "an absolute name"},
	{"tcp://4.example:5555", Endpoint{Transport: "tcp", Host: "4.example", Port: 5555}, "", "a number, but not last"},
	{"tcp://0x4g:5555", Endpoint{Transport: "tcp", Host: "0x4g", Port: 5555}, "", "not a number after all"},
	{"tcp://*:5555", Endpoint{}, `endpoint "tcp://*:5555": cannot connect to the wildcard * [use 127.0.0.1 or the host's name]`, "Z61"},
	{"tcp://0.0.0.0:5555", Endpoint{}, "cannot connect to the wildcard 0.0.0.0 [use 127.0.0.1", "Z61: as it reads back"},
	{"tcp://[::]:5555", Endpoint{}, "cannot connect to the wildcard ::", "Z61: as it reads back"},
	{"tcp://[0:0::0]:5555", Endpoint{}, "cannot connect to the wildcard ::", "Z61: written at length"},
	{"tcp://[::ffff:0.0.0.0]:5555", Endpoint{}, "cannot connect to the wildcard", "Z61: IPv4's within IPv6"},
	{"tcp://127.0.0.1:*", Endpoint{}, "cannot connect to port * [write the port that the peer has bound]", "Z61"},
	{"tcp://127.0.0.1:0", Endpoint{}, "cannot connect to port 0", "libzmq answers nil"},
	{"tcp://127.1:5555", Endpoint{}, "write an IPv4 address as four plain decimal numbers", "a resolver reads 127.0.0.1"},
	{"tcp://256.0.0.1:5555", Endpoint{}, "write an IPv4 address as four", "an address gone wrong"},
	{"tcp://0x7f000001:5555", Endpoint{}, "write an IPv4 address as four", "a resolver reads 127.0.0.1"},
	{"tcp://2130706433:5555", Endpoint{}, "write an IPv4 address as four", "a resolver reads 127.0.0.1"},
	{"tcp://a..b:5555", Endpoint{}, "is not a host name or an address", "empty label"},
	{"tcp://.:5555", Endpoint{}, "is not a host name or an address", "empty label"},
	{"tcp://-a:5555", Endpoint{}, "is not a host name or an address", "an option, not a host"},
	{"tcp://a-:5555", Endpoint{}, "is not a host name or an address", "label ends in -"},
	{"tcp://_a:5555", Endpoint{}, "is not a host name or an address", "libzmq refuses it too"},
	{"tcp://ü.example:5555", Endpoint{}, "is not a host name or an address", "resolvers take ASCII only"},
	{"tcp://user@host:5555", Endpoint{}, "is not a host name or an address", "as in a URL"},
	{"tcp://" + strings.Repeat("l", 64) + ":5555", Endpoint{}, "1 to 63 of them", "label too long"},
	{"tcp://" + strings.Repeat("l.", 127) + ":5555", Endpoint{}, "has 254 bytes", "name too long"},
	{"ipc://*", Endpoint{}, "cannot connect to the wildcard * [write the path that the peer has bound]", "Z64: libzmq waits at the file *"},
	{"ipc:///nonexistent/x", Endpoint{}, "cannot use the directory", "Z68: libzmq answers nil"},
}

func TestParseBind(t *testing.T) {
	check(t, "ParseBind", endpoint.ParseBind, both)
	check(t, "ParseBind", endpoint.ParseBind, bindOnly)
}

func TestParseConnect(t *testing.T) {
	check(t, "ParseConnect", endpoint.ParseConnect, both)
	check(t, "ParseConnect", endpoint.ParseConnect, connectOnly)
}

func check(t *testing.T, name string, parse func(string) (Endpoint, error), table []verdict) {
	for _, c := range table {
		got, err := parse(c.in)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || got != (Endpoint{}) {
				t.Errorf("%s(%q) = %v, %v, want an error with %q: %s", name, c.in, got, err, c.err, c.reason)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s(%q) = %v: %s", name, c.in, err, c.reason)
		} else if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s(%q): %s (-want +got):\n%s", name, c.in, c.reason, diff)
		}
	}
}

// FuzzParse holds both parsers to this: they never panic, every error names
// the endpoint and is one line, and what they take parses again, from its own
// text, to the same endpoint.
func FuzzParse(f *testing.F) {
	for _, table := range [][]verdict{both, bindOnly, connectOnly} {
		for _, c := range table {
			f.Add(c.in)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, parse := range []func(string) (Endpoint, error){endpoint.ParseBind, endpoint.ParseConnect} {
			e, err := parse(s)
			if err != nil {
				if text := err.Error(); !strings.HasPrefix(text, `endpoint "`) || strings.Contains(text, "\n") {
					t.Errorf("%q: error %q", s, text)
				}
				continue
			}
			if again, err := parse(e.String()); err != nil || again != e {
				t.Errorf("%q parses to %#v, whose text %q parses to %#v, %v", s, e, e, again, err)
			}
		}
	})
}
