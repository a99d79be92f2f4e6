#include "kernel.h"
#include "message.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

// A queue is a ring of slots. The writer owns tail and the reader head; each
// reads the other's. Slots head to tail-1 are full:
//
//	0 <= tail - head <= slots        slot of number i is i % slots
//
// Whoever finds nothing to do yields the CPU a few times, which is enough while
// the other is at work, and then sets its flag, looks once more and waits on the
// condition. The other side looks at the flag after each step: the writer wakes
// a reader at once, the reader wakes a writer when half of the ring is free, or
// the two would take turns message by message. What one writes at every step
// shares no cache line with what the other reads at every step.
struct cloop_queue {
	uint64_t slots;
	uint64_t size;    // of a slot in bytes
	uint8_t *memory;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	int ended;        // nobody waits any more

	int writer_waits __attribute__((aligned(128)));
	int reader_waits;

	uint64_t tail __attribute__((aligned(128)));
	uint64_t seen_head; // the writer's copy of head, maybe old

	uint64_t head __attribute__((aligned(128)));
	uint64_t seen_tail; // the reader's copy of tail, maybe old
};

cloop_queue *cloop_queue_new(uint64_t slots, uint64_t size) {
	cloop_queue *q = NULL;

	if (posix_memalign((void **)&q, 128, sizeof *q) != 0) {
		errno = ENOMEM;
		return NULL;
	}
	memset(q, 0, sizeof *q);
	q->slots = slots;
	q->size = (size + 63) / 64 * 64 + 64;
	q->memory = malloc(q->slots * q->size);
	if (q->memory == NULL) {
		free(q);
		errno = ENOMEM;
		return NULL;
	}
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->moved, NULL);
	return q;
}

void cloop_queue_end(cloop_queue *q) {
	pthread_mutex_lock(&q->lock);
	__atomic_store_n(&q->ended, 1, __ATOMIC_SEQ_CST);
	pthread_cond_broadcast(&q->moved);
	pthread_mutex_unlock(&q->lock);
}

void cloop_queue_free(cloop_queue *q) {
	if (q == NULL)
		return;
	pthread_cond_destroy(&q->moved);
	pthread_mutex_destroy(&q->lock);
	free(q->memory);
	free(q);
}

// slot is where the message of that number lies.
static uint8_t *slot(cloop_queue *q, uint64_t number) {
	return q->memory + number % q->slots * q->size;
}

enum { yields = 64 };

// ended tells whether the queue has ended, and sets errno.
static int ended(cloop_queue *q) {
	if (!__atomic_load_n(&q->ended, __ATOMIC_SEQ_CST))
		return 0;
	errno = ECONNRESET;
	return 1;
}

// await waits until *index is not stuck any more. It returns 0, or -1 with
// errno set when the queue has ended. It looks at the index after the end, so
// that what was written before the end is read.
static int await(cloop_queue *q, uint64_t *index, uint64_t stuck, int *waits) {
	int rc = 0;

	for (int i = 0; i < yields; i++) {
		int over = ended(q);

		if (__atomic_load_n(index, __ATOMIC_SEQ_CST) != stuck)
			return 0;
		if (over)
			return -1;
		sched_yield();
	}
	pthread_mutex_lock(&q->lock);
	__atomic_store_n(waits, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(index, __ATOMIC_SEQ_CST) == stuck && rc == 0) {
		if (ended(q))
			rc = -1;
		else
			pthread_cond_wait(&q->moved, &q->lock);
	}
	__atomic_store_n(waits, 0, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&q->lock);
	return rc;
}

// wake wakes the other side.
static void wake(cloop_queue *q) {
	pthread_mutex_lock(&q->lock);
	pthread_cond_signal(&q->moved);
	pthread_mutex_unlock(&q->lock);
}

// room returns the slot to write the next message to, or NULL with errno set.
// It looks for the end once a ring at the least, so that two sides which never
// wait for each other come to it too.
static uint8_t *room(cloop_queue *q) {
	uint64_t full = q->tail - q->slots;

	if (q->seen_head == full) {
		if (ended(q))
			return NULL;
		q->seen_head = __atomic_load_n(&q->head, __ATOMIC_ACQUIRE);
		if (q->seen_head == full) {
			if (await(q, &q->head, full, &q->writer_waits) < 0)
				return NULL;
			q->seen_head = __atomic_load_n(&q->head, __ATOMIC_ACQUIRE);
		}
	}
	return slot(q, q->tail);
}

// push publishes the slot that room returned.
static void push(cloop_queue *q) {
	__atomic_store_n(&q->tail, q->tail + 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&q->reader_waits, __ATOMIC_SEQ_CST))
		wake(q);
}

// front returns the next message, or NULL with errno set.
static const uint8_t *front(cloop_queue *q) {
	if (q->seen_tail == q->head) {
		q->seen_tail = __atomic_load_n(&q->tail, __ATOMIC_ACQUIRE);
		if (q->seen_tail == q->head) {
			if (await(q, &q->tail, q->head, &q->reader_waits) < 0)
				return NULL;
			q->seen_tail = __atomic_load_n(&q->tail, __ATOMIC_ACQUIRE);
		}
	}
	return slot(q, q->head);
}

// pop gives back the slot that front returned.
static void pop(cloop_queue *q) {
	__atomic_store_n(&q->head, q->head + 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&q->writer_waits, __ATOMIC_SEQ_CST) &&
	    __atomic_load_n(&q->tail, __ATOMIC_SEQ_CST) - q->head <= q->slots / 2)
		wake(q);
}

// copy_next copies the message of that number to its slot.
static void copy_next(uint8_t *to, const cloop_loop *l, const uint8_t *whole) {
	memcpy(to, whole, l->size);
	message_number(to, l, (uint64_t)l->sent);
}

// whole_message returns a message to copy from and compare with, which the
// caller frees, or NULL with errno set.
static uint8_t *whole_message(const cloop_loop *l) {
	uint8_t *whole = malloc(l->size + 1);

	if (whole != NULL)
		message_fill(whole, l->size);
	return whole;
}

// A round trip passes one message by reference, there and back: the floor of
// what libzmq does over inproc, which hands over the message and not its bytes.
static int round_trip(cloop_queue *out, cloop_queue *in, cloop_loop *l, uint8_t *msg, const uint8_t *whole, cloop_histogram *h) {
	int64_t start = h != NULL ? now() : 0;
	uint8_t *request = room(out);
	const uint8_t *reply;

	if (request == NULL)
		return -1;
	message_number(msg, l, (uint64_t)l->sent);
	memcpy(request, &msg, sizeof msg);
	push(out);
	loop_count(&l->sent);
	reply = front(in);
	if (reply == NULL)
		return -1;
	memcpy(&msg, reply, sizeof msg);
	pop(in);
	loop_count(&l->received);
	if (h != NULL)
		histogram_record(h, now() - start);
	return message_check(l, msg, l->size, whole);
}

int cloop_queue_request(cloop_queue *out, cloop_queue *in, cloop_loop *l, int64_t n, cloop_histogram *h) {
	uint8_t *whole = whole_message(l), *msg = whole_message(l);
	int rc = whole == NULL || msg == NULL ? -1 : 0, e;

	for (int64_t i = 0; i < n && rc == 0; i++)
		rc = round_trip(out, in, l, msg, whole, h);
	e = errno;
	free(whole);
	free(msg);
	errno = e;
	return rc;
}

int cloop_queue_reply(cloop_queue *in, cloop_queue *out, cloop_loop *l) {
	for (;;) {
		const uint8_t *request = front(in);
		uint8_t *reply;

		if (request == NULL)
			return -1;
		loop_count(&l->received);
		reply = room(out);
		if (reply == NULL)
			return -1;
		memcpy(reply, request, sizeof(void *));
		pop(in);
		push(out);
		loop_count(&l->sent);
	}
}

int cloop_queue_flood(cloop_queue *q, cloop_loop *l, int64_t n) {
	uint8_t *whole = whole_message(l);
	int rc = whole == NULL ? -1 : 0, e;

	for (int64_t i = 0; i < n && rc == 0 && !__atomic_load_n(&l->stop, __ATOMIC_RELAXED); i++) {
		uint8_t *to = room(q);

		if (to == NULL) {
			rc = -1;
			break;
		}
		copy_next(to, l, whole);
		push(q);
		loop_count(&l->sent);
	}
	e = errno;
	free(whole);
	errno = e;
	return rc;
}

int cloop_queue_receive(cloop_queue *q, cloop_loop *l, int64_t n) {
	uint8_t *whole = whole_message(l);
	int rc = whole == NULL ? -1 : 0, e;

	for (int64_t i = 0; i < n && rc == 0; i++) {
		const uint8_t *msg = front(q);

		if (msg == NULL) {
			rc = -1;
			break;
		}
		rc = message_check(l, msg, l->size, whole);
		pop(q);
		loop_count(&l->received);
	}
	e = errno;
	free(whole);
	errno = e;
	return rc;
}
