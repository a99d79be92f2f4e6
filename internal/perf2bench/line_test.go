package main

import "testing"

// TestClassify has every line that the eight tools of libzmq 4.3.5 can print, from
// their sources, and what shells print around them.
func TestClassify(t *testing.T) {
	for _, c := range []struct {
		text string
		want kind
	}{
		{"message size: 100 [B]", size},
		{"roundtrip count: 1000", trips},
		{"message count: 1000", count},
		{"average latency: 53.402 [us]", latency},
		{"mean throughput: 1607251 [msg/s]", rate},
		{"mean throughput: 12858.015 [Mb/s]", megabits},
		{"keys = 10000, queries = 1000000, key size = 20", workload},
		{"[trie]", store},
		{"[radix_tree]", store},
		{"Average lookup time = 116.2 ns", lookup},
		{"message of incorrect size received", failure},
		{"error in zmq_init: Too many open files", failure},
		{"error in zmq_socket: Too many open files", failure},
		{"error in zmq_setsockoopt: Invalid argument", failure},
		{"error in zmq_bind: Address already in use", failure},
		{"error in zmq_connect: Invalid argument", failure},
		{"error in zmq_msg_init: Cannot allocate memory", failure},
		{"error in zmq_msg_init_size: Cannot allocate memory", failure},
		{"error in zmq_recvmsg: Interrupted system call", failure},
		{"error in zmq_sendmsg: Operation cannot be accomplished in current state", failure},
		{"error in zmq_msg_close: Bad address", failure},
		{"error in zmq_close: Socket operation on non-socket", failure},
		{"error in zmq_ctx_term: Bad address", failure},
		{"error in pthread_create: Resource temporarily unavailable", failure},
		{"error in pthread_join: Invalid argument", failure},
		{"error in _beginthreadex", failure},
		{"error in WaitForSingleObject", failure},
		{"error in CloseHandle", failure},
		{"usage: local_lat <bind-to> <message-size> <roundtrip-count>", failure},
		{"usage: remote_lat <connect-to> <message-size> <roundtrip-count>", failure},
		{"usage: local_thr <bind-to> <message-size> <message-count> [<enable_curve>]", failure},
		{"usage: remote_thr <connect-to> <message-size> <message-count> [<enable_curve>]", failure},
		{"usage: inproc_lat <message-size> <roundtrip-count>", failure},
		{"usage: inproc_thr <message-size> <message-count>", failure},
		{"usage: proxy_thr <message-size> <message-count>", failure},
		{"zmq_connect (subsocket, cfg->backend_endpoint[idx]) failed, errno = 2 (No such file or directory)", failure},
		{"x failed (additional info: y), errno = 2 (No such file or directory)", failure},
		{"invalid response length: expected 1, received -1", failure},
		{"invalid response value: expected 1, received 0", failure},

		{"$ message size: 100 [B]", size},
		{"+ message size: 100 [B]", other},
		{"+ echo error in zmq_bind: Address already in use", other},
		{"real\t0m1.234s", other},
		{"[1] 12345", other},
		{"usage: make [options] [target] ...", other},
		{"an error in the text", other},
		{"message size: -1 [B]", broken},
		{"message size: 0100 [B]", broken},
		{"average latency: 53.40 [us]", broken},
		{"average latency: inf [us]", broken},
		{"mean throughput: 1607251", broken},
	} {
		if got, _ := classify(c.text, false); got != c.want {
			t.Errorf("classify(%q) = %d, want %d", c.text, got, c.want)
		}
	}
}
