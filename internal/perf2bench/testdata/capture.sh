#!/usr/bin/env bash
# Captures what the eight performance tools of libzmq print, into the files *.txt
# and *.csv of a directory. capture-*.txtar beside this script have them as those of
# libzmq 4.3.5 printed them, compiled from the tag v4.3.5 with g++ -O2 and libsodium.
#
#	bash capture.sh DIRECTORY-OF-THE-TOOLS OUT
#
# The pair tools run on one machine. generate_csv.sh is libzmq's own, with fewer
# sizes and messages, and without ssh.
set -u
perf=$(realpath "$1") out=$(realpath "$2")
cd "$perf"
PATH=$perf/.libs:$PATH
export LC_ALL=C

# Every tool alone, as it prints into a file.
tcp=tcp://127.0.0.1:15555
./local_lat $tcp 1 10000 >"$out/local_lat.txt" & ./remote_lat $tcp 1 10000 >"$out/remote_lat.txt"; wait
./local_thr $tcp 1000 100000 >"$out/local_thr.txt" & ./remote_thr $tcp 1000 100000 >"$out/remote_thr.txt"; wait
./inproc_lat 100 100000 >"$out/inproc_lat.txt"
./inproc_thr 100 100000 >"$out/inproc_thr.txt"
./proxy_thr 100 100000 >"$out/proxy_thr.txt"
./benchmark_radix_tree >"$out/benchmark_radix_tree.txt"

# All of them in a session with set -x and the shell's time.
session() (
	set -x
	for at in tcp://127.0.0.1:15556 ipc:///tmp/perf.sock; do
		./local_lat $at 100 1000 & ./remote_lat $at 100 1000; wait
		./local_thr $at 100 100000 & ./remote_thr $at 100 100000; wait
	done
	./local_thr tcp://127.0.0.1:15557 1000 20000 1 & ./remote_thr tcp://127.0.0.1:15557 1000 20000 1; wait
	time ./inproc_lat 1 10000
	./inproc_thr 33 100000
	env LANG=C ./inproc_thr 34 100000
	taskset -c 0 ./proxy_thr 100 100000
	./benchmark_radix_tree
)
session >"$out/session.txt" 2>&1

# What they print when something is wrong.
failures() (
	for tool in local_lat remote_lat local_thr remote_thr inproc_lat inproc_thr proxy_thr; do ./$tool; done
	set -x
	./local_lat tcp://127.0.0.1:15560 1 10 & sleep 0.3; ./local_lat tcp://127.0.0.1:15560 1 10; ./remote_lat tcp://127.0.0.1:15560 1 10; wait
	./remote_lat nonsense 1 10
	./local_thr udp://127.0.0.1:15561 8 10
	./local_thr tcp://127.0.0.1:15562 8 10 & ./remote_thr tcp://127.0.0.1:15562 4 10; wait
	./local_lat tcp://127.0.0.1:15563 8 1 & timeout 1 ./remote_lat tcp://127.0.0.1:15563 4 1; wait
	./local_thr tcp://127.0.0.1:15564 8 1 & ./remote_thr tcp://127.0.0.1:15564 8 1; wait
	./local_thr tcp://127.0.0.1:15565 8 2 & ./remote_thr tcp://127.0.0.1:15565 8 2; wait
	./inproc_thr 8 1
	./proxy_thr 8 1
	./inproc_lat 8 0
	./inproc_lat -5 10
	timeout 0.5 ./inproc_lat 100 100000000
	timeout 0.5 ./proxy_thr 100 1000000000
	./inproc_lat 8 10
)
failures >"$out/failures.txt" 2>&1

# The comma-separated files.
csv=$(mktemp -d)
printf '#!/bin/sh\nshift; case "$*" in pkill*) exit 0;; esac; exec sh -c "$*"\n' >"$csv/ssh"
printf '#!/bin/sh\nexit 0\n' >"$csv/pkill"
chmod +x "$csv/ssh" "$csv/pkill"
sed -e 's/^MESSAGE_SIZE_LIST=.*/MESSAGE_SIZE_LIST="8 1024 65536"/' -e 's/"10*000000"/"20000"/' generate_csv.sh >"$csv/generate_csv.sh"
PATH=$csv:$PATH REMOTE_LIBZMQ_PATH=$perf LOCAL_TEST_ENDPOINT=tcp://127.0.0.1:15570 REMOTE_TEST_ENDPOINT=tcp://127.0.0.1:15570 \
	bash "$csv/generate_csv.sh" >"$out/generate_csv.txt" 2>&1
cp results/*.csv "$out"
rm -r "$csv" results
