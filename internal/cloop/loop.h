// The measuring loops, in C. Read loop.go for what they measure.

#pragma once

#include <stddef.h>
#include <stdint.h>

// A cloop_histogram is latency.Histogram of the Go side, field by field, and
// is recorded in by the same rule.
typedef struct {
	uint64_t n;
	uint64_t sum;
	int64_t max;
	uint64_t under;
	uint64_t over;
	uint64_t counts[4608];
} cloop_histogram;

// A cloop_fault is payload.Fault of the Go side: one message that did not
// arrive as it was sent.
typedef struct {
	int64_t kind; // 1 lost, 2 repeated, 4 damaged, 5 wrong size
	int64_t sender;
	uint64_t index;
	int64_t byte;
	uint64_t want;
	uint64_t got;
} cloop_fault;

// A cloop_loop is what a role's loop knows. Go owns it; only the counts and
// stop are used by other threads meanwhile.
typedef struct {
	uint64_t size;       // of each message, in bytes
	int64_t fill;        // what is written to it, see message_fill_* in message.h
	uint64_t sender;     // number of the one that floods
	uint64_t senders;    // how many share the receiver
	int64_t stop;        // set to end a flood
	int64_t sent;        // messages
	int64_t received;    // messages
	uint64_t from;       // where the next window of the check begins
	uint64_t next[256];  // number expected next, by sender
	cloop_fault fault;   // of the message that failed the check
} cloop_loop;

// All of the following return 0, or -1 with errno set at the first failure.
// EBADMSG means that a message failed the check: then the fault is set. A call
// that a signal interrupts is taken up again. h may be NULL.

// cloop_request makes n round trips over a REQ, each after the last.
int cloop_request(void *socket, cloop_loop *l, int64_t n, cloop_histogram *h);

// cloop_reply sends back every message that a REP receives. It ends with a
// failure only: ETERM when the context is terminated.
int cloop_reply(void *socket, cloop_loop *l);

// cloop_flood sends n messages, or fewer when stop is set.
int cloop_flood(void *socket, cloop_loop *l, int64_t n);

// cloop_receive receives n messages, or fewer when that many marks, messages of
// the length that no other has, have come. With marks = 0 a mark is a fault.
int cloop_receive(void *socket, cloop_loop *l, int64_t n, int marks);
