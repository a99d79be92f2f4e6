#include "message.h"

#include <stdlib.h>
#include <zmq.h>

// again tells whether a call that returned rc is to be taken up again.
static int again(int rc) {
	return rc < 0 && errno == EINTR;
}

static int receive(void *socket, zmq_msg_t *msg) {
	int rc;

	do
		rc = zmq_msg_recv(msg, socket, 0);
	while (again(rc));
	return rc;
}

static int send_message(void *socket, zmq_msg_t *msg) {
	int rc;

	do
		rc = zmq_msg_send(msg, socket, 0);
	while (again(rc));
	return rc;
}

// pattern returns a whole message, which the caller frees, or NULL.
static uint8_t *pattern(const cloop_loop *l) {
	uint8_t *want = calloc(1, l->size + 1);

	if (want != NULL && l->fill == message_fill_pattern)
		message_fill(want, l->size);
	return want;
}

// round_trips are the loop of cloop_request. As in libzmq's remote_lat the
// message that comes back is the one that is sent next.
static int round_trips(void *socket, cloop_loop *l, zmq_msg_t *msg, int64_t n, cloop_histogram *h, const uint8_t *want) {
	for (int64_t i = 0; i < n; i++) {
		int64_t start = h != NULL ? now() : 0;

		message_number(zmq_msg_data(msg), l, (uint64_t)l->sent);
		if (send_message(socket, msg) < 0)
			return -1;
		loop_count(&l->sent);
		if (receive(socket, msg) < 0)
			return -1;
		loop_count(&l->received);
		if (h != NULL)
			histogram_record(h, now() - start);
		if (message_check(l, zmq_msg_data(msg), zmq_msg_size(msg), want) < 0)
			return -1;
	}
	return 0;
}

int cloop_request(void *socket, cloop_loop *l, int64_t n, cloop_histogram *h) {
	uint8_t *want = pattern(l);
	zmq_msg_t msg;
	int rc, e;

	if (want == NULL || zmq_msg_init_size(&msg, l->size) < 0) {
		free(want);
		errno = ENOMEM;
		return -1;
	}
	memcpy(zmq_msg_data(&msg), want, l->size);
	rc = round_trips(socket, l, &msg, n, h, want);
	e = errno;
	zmq_msg_close(&msg);
	free(want);
	errno = e;
	return rc;
}

int cloop_reply(void *socket, cloop_loop *l) {
	zmq_msg_t msg;
	int e;

	zmq_msg_init(&msg);
	for (;;) {
		if (receive(socket, &msg) < 0)
			break;
		loop_count(&l->received);
		if (send_message(socket, &msg) < 0)
			break;
		loop_count(&l->sent);
	}
	e = errno;
	zmq_msg_close(&msg);
	errno = e;
	return -1;
}

// fill_next writes to the message of the flood what comes before its number. That
// of libzmq's inproc_thr is none; zeros are what it has if it is built with
// ZMQ_MAKE_VALGRIND_HAPPY.
static void fill_next(uint8_t *msg, const cloop_loop *l, const uint8_t *whole) {
	if (l->fill == message_fill_pattern)
		memcpy(msg, whole, l->size);
	else if (l->fill == message_fill_zero)
		memset(msg, 0, l->size);
}

// send_next sends the message of the flood that comes next.
static int send_next(void *socket, cloop_loop *l, const uint8_t *whole) {
	zmq_msg_t msg;

	if (zmq_msg_init_size(&msg, l->size) < 0)
		return -1;
	fill_next(zmq_msg_data(&msg), l, whole);
	message_number(zmq_msg_data(&msg), l, (uint64_t)l->sent);
	if (send_message(socket, &msg) < 0) {
		int e = errno;

		zmq_msg_close(&msg);
		errno = e;
		return -1;
	}
	loop_count(&l->sent);
	return 0;
}

int cloop_flood(void *socket, cloop_loop *l, int64_t n) {
	uint8_t *whole = pattern(l);
	int rc = 0, e;

	if (whole == NULL)
		return -1;
	for (int64_t i = 0; i < n && rc == 0 && !__atomic_load_n(&l->stop, __ATOMIC_RELAXED); i++)
		rc = send_next(socket, l, whole);
	e = errno;
	free(whole);
	errno = e;
	return rc;
}

int cloop_receive(void *socket, cloop_loop *l, int64_t n, int marks) {
	uint64_t mark = l->size == 0 ? 1 : 0;
	uint8_t *want = pattern(l);
	zmq_msg_t msg;
	int rc = 0, e, counted = marks > 0;

	if (want == NULL)
		return -1;
	zmq_msg_init(&msg);
	for (int64_t i = 0; i < n && rc == 0; i++) {
		if (receive(socket, &msg) < 0) {
			rc = -1;
		} else if (counted && zmq_msg_size(&msg) == mark) {
			if (--marks == 0)
				break;
		} else {
			rc = message_check(l, zmq_msg_data(&msg), zmq_msg_size(&msg), want);
			loop_count(&l->received);
		}
	}
	e = errno;
	zmq_msg_close(&msg);
	free(want);
	errno = e;
	return rc;
}
