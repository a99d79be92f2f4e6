// Perf2bench turns the text of libzmq's performance tools into the Go benchmark
// format, under the names and in the units of this suite.
//
// Usage:
//
//	go tool perf2bench [-name benchmark] [-set key=value]... [file]...
//
// It reads files, or standard input for none or "-": one run of one tool, or a
// whole log of many, mixed with a shell's own lines. The tools are local_lat,
// remote_lat, local_thr, remote_thr, inproc_lat, inproc_thr, proxy_thr and
// benchmark_radix_tree; the files of generate_csv.sh are read too.
//
//	$ perf2bench session.txt
//	Unit ns/op better=lower assume=nothing
//	Unit one-way-ns better=lower assume=nothing
//	Unit MB/s better=higher assume=nothing
//	Unit msg/s better=higher assume=nothing
//	BenchmarkLatency/transport=tcp/mech=null/size=1/layer=perf	   10000	106804 ns/op	53402 one-way-ns
//	BenchmarkThroughput/transport=inproc/mech=null/size=100/layer=perf	   99999	303.58309474976534 ns/op	329.399105976 MB/s	3293991.05976 msg/s
//
// where session.txt is
//
//	$ ./local_lat tcp://127.0.0.1:5555 1 10000 &
//	$ ./remote_lat tcp://127.0.0.1:5555 1 10000
//	message size: 1 [B]
//	roundtrip count: 10000
//	average latency: 53.402 [us]
//	$ ./inproc_thr 100 100000
//	message size: 100 [B]
//	message count: 100000
//	mean throughput: 3294024 [msg/s]
//	mean throughput: 2635.219 [Mb/s]
//
// # What the text does not say
//
// remote_lat prints what inproc_lat does, and local_thr what inproc_thr and
// proxy_thr do; none prints its transport, and local_thr not whether CURVE was on.
// The command line says it, where the log has it: after a prompt, or traced by
// "set -x". Otherwise it comes from the flags, and is never guessed:
//
//	-set transport=tcp   or ipc, inproc: of remote_lat, inproc_lat, local_thr, inproc_thr
//	-set mech=null       or curve: of local_thr
//	-name Proxy          the figures are of proxy_thr
//	-name Pinned         the figures are of an inproc_thr with a CPU for each thread,
//	-set fill=none       or zero: and this is what it writes into its messages
//
// A -set that the log contradicts is a fault. The files of generate_csv.sh are known
// by the names that the script gives them; -set overrides these. The keys libzmq,
// goos, goarch, pkg and cpu become configuration lines: benchstat compares only what
// has the same, unless told to -ignore them.
//
//	$ perf2bench -set transport=tcp -set libzmq=4.3.5 remote_lat.txt
//	Unit ns/op better=lower assume=nothing
//	Unit one-way-ns better=lower assume=nothing
//	Unit MB/s better=higher assume=nothing
//	Unit msg/s better=higher assume=nothing
//	libzmq: 4.3.5
//	BenchmarkLatency/transport=tcp/mech=null/size=1/layer=perf	   10000	106804 ns/op	53402 one-way-ns
//
// where remote_lat.txt is
//
//	message size: 1 [B]
//	roundtrip count: 10000
//	average latency: 53.402 [us]
//
// # Faults
//
// What is damaged, cut off, missing, contradictory or the message of a tool that
// failed is reported on standard error with file and line, and so is a command
// of which no result follows. Its run is not converted, and the exit status is not
// zero; all other runs are converted.
//
// # Figures
//
// Names have layer=perf, which no benchmark of the suite has, so that
// benchstat -col /layer puts the tools beside it.
//
// The latency that the tools print is half of a round trip. one-way-ns is that,
// and ns/op twice that.
//
// local_thr and inproc_thr start the clock when the first message has arrived, but
// divide all N messages by the time of the N-1 after it. The rates here are those of
// N-1, as in the suite, and N-1 is the number of iterations; of one message there is
// none. proxy_thr's clock starts before its publishers exist, so that its figure of
// few messages is too low; it is left as it is. The tools print msg/s without its
// fraction, so the rates are up to 1 msg/s too low. [Mb/s] is 10^6 bits, and only
// checked against msg/s: MB/s is msg/s times the size, in 10^6 bytes.
//
// benchmark_radix_tree's trie and radix tree become store=trie/layer=perf and
// store=radix/layer=perf; the suite's own stores have no layer. The tool reads the
// clock twice in each look-up, which costs as much as a look-up.
package main
