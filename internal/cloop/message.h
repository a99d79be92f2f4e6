// What every loop does with a message, inlined into each: see package payload
// for the layout and latency.Histogram for the buckets.

#pragma once

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "loop.h"

enum {
	message_header = 8,
	message_window = 4096,
	message_bits = 56,
	message_fill_pattern = 0, // payload.Fill of the Go side
	message_fill_none = 1,
	message_fill_zero = 2,
	message_zero_every = 1024,
	histogram_sub_bits = 7,
	histogram_buckets = 4608,
	fault_lost = 1,
	fault_repeated = 2,
	fault_damaged = 4,
	fault_size = 5,
};

// message_pattern is the byte that a message has at position i.
static inline uint8_t message_pattern(uint64_t i) {
	return (uint8_t)((uint8_t)i ^ (uint8_t)((uint8_t)(i >> 8) * 31) ^ 0xA5);
}

// message_fill writes the pattern of a message of size bytes.
static inline void message_fill(uint8_t *msg, uint64_t size) {
	for (uint64_t i = 0; i < size; i++)
		msg[i] = message_pattern(i);
}

// message_compares tells whether the bytes of the message with that number are
// compared.
static inline int message_compares(const cloop_loop *l, uint64_t number) {
	return l->fill == message_fill_pattern ||
		(l->fill == message_fill_zero && number % message_zero_every == 0);
}

// message_number writes the header of the message with that number.
static inline void message_number(uint8_t *msg, const cloop_loop *l, uint64_t number) {
	uint64_t head = l->sender << message_bits | number;

	if (l->size >= message_header)
		for (int i = 0; i < message_header; i++)
			msg[i] = (uint8_t)(head >> 8 * i);
}

// loop_count adds one to a count that other threads read.
static inline void loop_count(int64_t *count) {
	__atomic_store_n(count, *count + 1, __ATOMIC_RELAXED);
}

// loop_fault sets the fault of the message that comes next, and errno.
static inline int loop_fault(cloop_loop *l, int kind, uint64_t sender, uint64_t want, uint64_t got) {
	l->fault = (cloop_fault){kind, (int64_t)sender, 0, 0, want, got};
	for (uint64_t i = 0; i < l->senders; i++)
		l->fault.index += l->next[i];
	errno = EBADMSG;
	return -1;
}

// message_compare compares the bytes from lo to hi with those of want.
static inline int message_compare(cloop_loop *l, const uint8_t *msg, const uint8_t *want, uint64_t lo, uint64_t hi) {
	if (memcmp(msg + lo, want + lo, hi - lo) == 0)
		return 0;
	while (msg[lo] == want[lo])
		lo++;
	loop_fault(l, fault_damaged, 0, want[lo], msg[lo]);
	l->fault.index--; // its number was right, and is counted
	l->fault.byte = (int64_t)lo;
	return -1;
}

// message_check checks a message of length bytes against want, a whole one. It
// returns 0, or -1 with errno and the fault set.
static inline int message_check(cloop_loop *l, const uint8_t *msg, uint64_t length, const uint8_t *want) {
	uint64_t lo = 0, hi = length, number = l->next[0];

	if (length != l->size)
		return loop_fault(l, fault_size, 0, l->size, length);
	if (length >= message_header) {
		uint64_t head = 0, sender;

		for (int i = 0; i < message_header; i++)
			head |= (uint64_t)msg[i] << 8 * i;
		sender = head >> message_bits;
		number = head & (((uint64_t)1 << message_bits) - 1);
		if (sender >= l->senders)
			return loop_fault(l, fault_damaged, sender, 0, number);
		if (number != l->next[sender])
			return loop_fault(l, number < l->next[sender] ? fault_repeated : fault_lost,
				sender, l->next[sender], number);
		l->next[sender]++;
		lo = message_header;
	} else {
		l->next[0]++;
	}
	if (!message_compares(l, number))
		return 0;
	if (hi - lo > message_window) {
		if (l->from < lo || l->from >= hi)
			l->from = lo;
		lo = l->from;
		hi = lo + message_window < length ? lo + message_window : length;
		l->from = hi;
	}
	return message_compare(l, msg, want, lo, hi);
}

// now is the monotonic clock in ns.
static inline int64_t now(void) {
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// histogram_index is the bucket of v.
static inline uint64_t histogram_index(uint64_t v) {
	uint64_t e = 63 - histogram_sub_bits - __builtin_clzll(v | 1 << histogram_sub_bits);

	return (e << histogram_sub_bits) + (v >> e);
}

// histogram_record counts a duration of ns nanoseconds.
static inline void histogram_record(cloop_histogram *h, int64_t ns) {
	uint64_t i;

	h->n++;
	if (ns <= 0) {
		h->under++;
		return;
	}
	h->sum += (uint64_t)ns;
	if (ns > h->max)
		h->max = ns;
	i = histogram_index((uint64_t)ns);
	if (i < histogram_buckets)
		h->counts[i]++;
	else
		h->over++;
}
