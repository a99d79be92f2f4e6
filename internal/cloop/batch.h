// Several messages in one call, into and out of memory of Go. Read batch.go for
// what it is for.

#pragma once

#include <stdbool.h>
#include <stdint.h>

// cloop_batch_send sends n messages of size bytes that lie one behind the other.
// It returns how many it sent, and sets errno if that is fewer than n.
int cloop_batch_send(void *socket, const uint8_t *messages, uint64_t size, int n);

// cloop_batch_receive receives n messages and copies each to its place, size
// bytes apart; of one that is longer it copies what fits. It sets the lengths
// that they had. It returns how many it received, and sets errno if that is
// fewer than n: EAGAIN when there is none and it is not to wait for one.
int cloop_batch_receive(void *socket, uint8_t *messages, uint64_t size, uint64_t *lengths, int n, bool wait);
