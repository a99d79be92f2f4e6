package metric_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"zmqbench/internal/metric"
)

func TestCheckName(t *testing.T) {
	const latency = "BenchmarkLatency/transport=tcp/mech=null/size=1/layer=zmq4"
	const suffix = " ends in a hyphen and digits, which is read as GOMAXPROCS"
	const charset = ": the value holds more than small letters, digits and . _ -, or nothing"
	const keys = " (the keys are: transport mech size layer)"
	for _, c := range []struct {
		name, err string // err is empty for a legal name
		reason    string
	}{
		{latency, "", "the example of the design"},
		{"BenchmarkLatency/transport=inproc/mech=null/size=0/layer=perf", "", "inproc, an empty message, a C tool"},
		{"BenchmarkPaced/transport=ipc/size=100/rate=10000", "", "each function has its keys"},
		{"BenchmarkThroughput/transport=ipc/mech=curve/size=2147483647/layer=batch", "", "each function has its keys"},
		{"BenchmarkPinned/fill=zero/size=100/layer=libzmq", "", "each function has its keys"},
		{"BenchmarkSenders/transport=tcp/senders=4", "", "each function has its keys"},
		{"BenchmarkBurst/transport=tcp/count=1000/start=cold", "", "each function has its keys"},
		{"BenchmarkProxy/pattern=pubsub/size=100/layer=zmq4", "", "each function has its keys"},
		{"BenchmarkMatch/topics=market.eu/keys=10000/hit=50/batch=16/store=radix", "", "all keys of a store"},
		{"BenchmarkMatch/topics=random/keys=10000/hit=100/store=trie/layer=perf", "", "libzmq's own store"},
		{"BenchmarkAdd/keys=10000/store=hash", "", "what only a look-up has may be missing"},
		{"BenchmarkRemove/keys=10000/store=trie", "", "each function has its keys"},
		{"BenchmarkFilter/keys=1000/hit=100", "", "each function has its keys"},
		{"BenchmarkHandshake/transport=tcp/mech=plain", "", "each function has its keys"},
		{"BenchmarkKeypair", "", "no keys at all"},

		{"", `there is no benchmark ""`, "no name"},
		{"BenchmarkLat", `there is no benchmark "BenchmarkLat"`, "the name of an older document"},
		{"Latency/size=1", `there is no benchmark "Latency"`, "as benchfmt has it, without the prefix"},
		{"BenchmarkLatency", "transport= is missing", "the name of the group, not of a result"},
		{"BenchmarkKeypair/mech=curve", "mech=curve is one part too many (the keys are: )", "no keys at all"},
		{latency + "-2", "layer=zmq4-2" + suffix, "the caller cuts the suffix off (Z75)"},
		{strings.Replace(latency, "size=1", "size=64-2", 1), "size=64-2" + suffix, "reads as size=64 (Z75)"},
		{"BenchmarkMatch/topics=zipf-11/keys=5/store=trie", "topics=zipf-11" + suffix, "inside a name too (Z75)"},
		{"BenchmarkMatch/topics=a b/keys=5/store=trie", "topics=a b" + charset, "a blank (Z75)"},
		{"BenchmarkMatch/topics=/keys=5/store=trie", "topics=" + charset, "empty"},
		{"BenchmarkMatch/topics=a(b)/keys=5/store=trie", "topics=a(b)" + charset, "filter syntax"},
		{"BenchmarkMatch/topics=A/keys=5/store=trie", "topics=A" + charset, "a capital letter"},
		{"BenchmarkMatch/topics=a=b/keys=5/store=trie", "topics=a=b" + charset, "a second ="},
		{strings.Replace(latency, "tcp", "tcp://127.0.0.1:5555", 1), "transport=tcp:" + charset, "an endpoint (Z75)"},
		{strings.Replace(latency, "tcp", "127.0.0.1:5555", 1), "transport=127.0.0.1:5555" + charset, "a port (Z75)"},
		{"BenchmarkLatency/tcp/1", `part "tcp" is not key=value`, "positional"},
		{latency + "/", `part "" is not key=value`, "a slash too many (Z75)"},
		{latency + "#01", "layer=zmq4#01" + charset, "testing ran two of one name"},
		{"BenchmarkLatency/Transport=tcp/mech=null/size=1/layer=zmq4", "Transport=tcp where transport= should be" + keys, "a capital key"},
		{"BenchmarkLatency/mech=null/transport=tcp/size=1/layer=zmq4", "mech=null where transport= should be" + keys, "out of order"},
		{"BenchmarkLatency/layer=zmq4/transport=tcp/mech=null/size=1", "layer=zmq4 where transport= should be" + keys, "layer is innermost"},
		{"BenchmarkMatch/store=trie/keys=5", "store=trie where keys= should be (the keys are: [topics] keys [hit] [batch] store [layer])", "store comes last"},
		{"BenchmarkLatency/transport=tcp/mech=null/size=1", "layer= is missing", "no layer"},
		{"BenchmarkMatch/keys=5", "store= is missing", "no store"},
		{latency + "/layer=zmq4", "layer=zmq4 is one part too many" + keys, "twice"},
		{strings.Replace(latency, "size", "count", 1), "count=1 where size= should be" + keys, "another function's key"},
		{strings.Replace(latency, "tcp", "udp", 1), "transport=udp: want one of inproc, ipc, tcp", "unknown value"},
		{strings.Replace(latency, "zmq4", "go", 1), "layer=go: want one of zmq4, batch, libzmq, kernel, perf", "unknown value"},
		{"BenchmarkMatch/keys=5/store=map", "store=map: want one of trie, radix, hash", "unknown value"},
		{"BenchmarkPinned/fill=one/size=1/layer=zmq4", "fill=one: want one of none, zero", "unknown value"},
		{"BenchmarkProxy/pattern=pair/size=1/layer=zmq4", "pattern=pair: want one of pubsub, pushpull, reqrep", "unknown value"},
		{"BenchmarkHandshake/transport=tcp/mech=gssapi", "mech=gssapi: want one of null, plain, curve", "unknown value"},
		{"BenchmarkBurst/transport=tcp/count=1/start=hot", "start=hot: want one of cold, warm", "unknown value"},
		{strings.Replace(latency, "size=1", "size=1k", 1), "size=1k: want a plain decimal integer", "@num sorts integers"},
		{strings.Replace(latency, "size=1", "size=01", 1), "size=01: want a plain decimal integer", "two names of one size"},
		{strings.Replace(latency, "size=1", "size=-1", 1), "size=-1" + suffix, "a negative number is a suffix"},
		{"BenchmarkFilter/keys=1e3/hit=1", "keys=1e3: want a plain decimal integer", "@num sorts integers"},
		{"BenchmarkFilter/keys=1/hit=0.5", "hit=0.5: want a plain decimal integer", "@num sorts integers"},
		{"BenchmarkThroughput/transport=inproc/mech=curve/size=1/layer=zmq4",
			"libzmq ignores security over inproc, so mech is null there", "no encryption is measured (Z38)"},
		{"BenchmarkHandshake/transport=inproc/mech=plain",
			"libzmq ignores security over inproc, so mech is null there", "the same for PLAIN (Z38)"},
		{strings.Replace(latency, "zmq4", "batch", 1), "layer=batch is for BenchmarkThroughput only", "a round trip has no batch"},
		{"BenchmarkMatch/keys=5/store=trie/layer=zmq4", "layer=zmq4: a store has no layer, or it is libzmq's own and has layer=perf", "no sockets"},
	} {
		_, got, _ := strings.Cut(errorText(metric.CheckName(c.name)), `": `)
		if got != c.err {
			t.Errorf("CheckName(%q) = %q, want %q (%s)", c.name, got, c.err, c.reason)
		}
	}
}

func TestKeys(t *testing.T) {
	got, ok := metric.Keys("BenchmarkMatch")
	if diff := cmp.Diff([]string{"topics", "keys", "hit", "batch", "store", "layer"}, got); diff != "" || !ok {
		t.Errorf("Keys mismatch, ok = %v (-want +got):\n%s", ok, diff)
	}
	if got, ok := metric.Keys("BenchmarkKeypair"); len(got) > 0 || !ok {
		t.Errorf("Keys of a name without keys = %q, %v, want none, true", got, ok)
	}
	if got, ok := metric.Keys("Latency"); len(got) > 0 || ok {
		t.Errorf("Keys of no benchmark = %q, %v, want none, false", got, ok)
	}
}
