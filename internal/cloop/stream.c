#include "kernel.h"
#include "message.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	frame_header = 4, // bytes of a message's length, before the message
	batch = 8192,     // bytes that libzmq puts into one write and reads at once
};

struct cloop_stream {
	int fd;
	uint8_t *whole;  // a frame as it is sent, and what is received compares with
	uint8_t *buf;    // what is written or has been read
	uint64_t size;   // of buf
	uint64_t at;     // where in buf the next frame begins
	uint64_t have;   // where in buf what has been read ends
};

static void put_length(uint8_t *frame, uint64_t length) {
	for (int i = 0; i < frame_header; i++)
		frame[i] = (uint8_t)(length >> 8 * i);
}

static uint64_t get_length(const uint8_t *frame) {
	return (uint64_t)frame[0] | (uint64_t)frame[1] << 8 | (uint64_t)frame[2] << 16 | (uint64_t)frame[3] << 24;
}

cloop_stream *cloop_stream_new(int fd, uint64_t size) {
	cloop_stream *s = calloc(1, sizeof *s);
	uint64_t frame = frame_header + size;

	if (s == NULL)
		return NULL;
	s->fd = fd;
	s->size = frame > batch ? frame : batch;
	s->whole = malloc(frame);
	s->buf = malloc(s->size);
	if (s->whole == NULL || s->buf == NULL) {
		cloop_stream_free(s);
		errno = ENOMEM;
		return NULL;
	}
	put_length(s->whole, size);
	message_fill(s->whole + frame_header, size);
	return s;
}

void cloop_stream_free(cloop_stream *s) {
	if (s == NULL)
		return;
	free(s->whole);
	free(s->buf);
	free(s);
}

// write_all writes all of it. EPIPE is ECONNRESET by another name: which of the
// two comes depends on how far the end of the other side has got.
static int write_all(int fd, const uint8_t *from, uint64_t length) {
	while (length > 0) {
		ssize_t n = send(fd, from, length, MSG_NOSIGNAL);

		if (n < 0 && errno == EPIPE)
			errno = ECONNRESET;
		if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0) {
			from += n;
			length -= (uint64_t)n;
		}
	}
	return 0;
}

// read_more reads what there is, at least one byte.
static int read_more(cloop_stream *s) {
	for (;;) {
		ssize_t n = read(s->fd, s->buf + s->have, s->size - s->have);

		if (n > 0) {
			s->have += (uint64_t)n;
			return 0;
		}
		if (n == 0)
			errno = ECONNRESET;
		if (n == 0 || errno != EINTR)
			return -1;
	}
}

// next_frame returns the message that comes next, which stays in the buffer
// until the following call, or NULL with errno set.
static const uint8_t *next_frame(cloop_stream *s, cloop_loop *l, uint64_t *length) {
	uint64_t need = frame_header;
	const uint8_t *msg;

	for (;;) {
		if (s->have - s->at >= frame_header) {
			*length = get_length(s->buf + s->at);
			need = frame_header + *length;
			if (need > frame_header + l->size) {
				loop_fault(l, fault_size, 0, l->size, *length);
				return NULL;
			}
		}
		if (s->have - s->at >= need)
			break;
		if (s->size - s->at < need || s->at == s->have) {
			memmove(s->buf, s->buf + s->at, s->have - s->at);
			s->have -= s->at;
			s->at = 0;
		}
		if (read_more(s) < 0)
			return NULL;
	}
	msg = s->buf + s->at + frame_header;
	s->at += need;
	return msg;
}

int cloop_stream_request(cloop_stream *s, cloop_loop *l, int64_t n, cloop_histogram *h) {
	const uint8_t *want = s->whole + frame_header;

	for (int64_t i = 0; i < n; i++) {
		int64_t start = h != NULL ? now() : 0;
		const uint8_t *reply;
		uint64_t length;

		message_number(s->whole + frame_header, l, (uint64_t)l->sent);
		if (write_all(s->fd, s->whole, frame_header + l->size) < 0)
			return -1;
		loop_count(&l->sent);
		reply = next_frame(s, l, &length);
		if (reply == NULL)
			return -1;
		loop_count(&l->received);
		if (h != NULL)
			histogram_record(h, now() - start);
		if (message_check(l, reply, length, want) < 0)
			return -1;
	}
	return 0;
}

int cloop_stream_reply(cloop_stream *s, cloop_loop *l) {
	for (;;) {
		uint64_t length;
		const uint8_t *msg = next_frame(s, l, &length);

		if (msg == NULL)
			return -1;
		loop_count(&l->received);
		if (write_all(s->fd, msg - frame_header, frame_header + length) < 0)
			return -1;
		loop_count(&l->sent);
	}
}

// cloop_stream_flood puts frames together as libzmq does: as many as one batch
// holds go into one write, and a larger one goes alone.
int cloop_stream_flood(cloop_stream *s, cloop_loop *l, int64_t n) {
	uint64_t frame = frame_header + l->size, used = 0;
	int64_t end = l->sent + n;

	while (l->sent < end && !__atomic_load_n(&l->stop, __ATOMIC_RELAXED)) {
		if (used + frame > s->size) {
			if (write_all(s->fd, s->buf, used) < 0)
				return -1;
			used = 0;
		}
		memcpy(s->buf + used, s->whole, frame);
		message_number(s->buf + used + frame_header, l, (uint64_t)l->sent);
		used += frame;
		loop_count(&l->sent);
	}
	return write_all(s->fd, s->buf, used);
}

int cloop_stream_receive(cloop_stream *s, cloop_loop *l, int64_t n) {
	const uint8_t *want = s->whole + frame_header;

	for (int64_t i = 0; i < n; i++) {
		uint64_t length;
		const uint8_t *msg = next_frame(s, l, &length);

		if (msg == NULL)
			return -1;
		loop_count(&l->received);
		if (message_check(l, msg, length, want) < 0)
			return -1;
	}
	return 0;
}
