// The same exchanges without libzmq: over a connected stream socket, and
// between two threads. Read kernel.go for what they measure.

#pragma once

#include "loop.h"

// A cloop_stream is one end of a connected stream socket, with what has been
// read from it and not yet taken. One thread uses it.
typedef struct cloop_stream cloop_stream;

// cloop_stream_new returns the end with that descriptor, which stays the
// caller's, for messages of size bytes; or NULL with errno set.
cloop_stream *cloop_stream_new(int fd, uint64_t size);

// cloop_stream_free frees s. It does not close the descriptor.
void cloop_stream_free(cloop_stream *s);

// These four are cloop_request, cloop_reply, cloop_flood and cloop_receive over
// a stream. ECONNRESET means that the other end has gone.
int cloop_stream_request(cloop_stream *s, cloop_loop *l, int64_t n, cloop_histogram *h);
int cloop_stream_reply(cloop_stream *s, cloop_loop *l);
int cloop_stream_flood(cloop_stream *s, cloop_loop *l, int64_t n);
int cloop_stream_receive(cloop_stream *s, cloop_loop *l, int64_t n);

// A cloop_queue passes messages from one thread to one other, in order, through
// a bounded ring of slots.
typedef struct cloop_queue cloop_queue;

// cloop_queue_new returns a queue of slots messages of up to size bytes, or NULL
// with errno set.
cloop_queue *cloop_queue_new(uint64_t slots, uint64_t size);

// cloop_queue_end makes every call on the queue fail with ECONNRESET, also one
// that waits. Any thread may call it.
void cloop_queue_end(cloop_queue *q);

// cloop_queue_free frees q, which nobody may use any more.
void cloop_queue_free(cloop_queue *q);

// These four are cloop_request, cloop_reply, cloop_flood and cloop_receive over
// one queue, or one in each direction.
int cloop_queue_request(cloop_queue *out, cloop_queue *in, cloop_loop *l, int64_t n, cloop_histogram *h);
int cloop_queue_reply(cloop_queue *in, cloop_queue *out, cloop_loop *l);
int cloop_queue_flood(cloop_queue *q, cloop_loop *l, int64_t n);
int cloop_queue_receive(cloop_queue *q, cloop_loop *l, int64_t n);
