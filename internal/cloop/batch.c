#include "batch.h"

#include <errno.h>
#include <string.h>
#include <zmq.h>

int cloop_batch_send(void *socket, const uint8_t *messages, uint64_t size, int n) {
	int i = 0;

	while (i < n) {
		if (zmq_send(socket, messages + (uint64_t)i * size, size, 0) >= 0)
			i++;
		else if (errno != EINTR)
			break;
	}
	return i;
}

int cloop_batch_receive(void *socket, uint8_t *messages, uint64_t size, uint64_t *lengths, int n, bool wait) {
	zmq_msg_t msg;
	int i = 0, e;

	zmq_msg_init(&msg);
	while (i < n) {
		if (zmq_msg_recv(&msg, socket, wait ? 0 : ZMQ_DONTWAIT) >= 0) {
			lengths[i] = zmq_msg_size(&msg);
			memcpy(messages + (uint64_t)i * size, zmq_msg_data(&msg), lengths[i] < size ? lengths[i] : size);
			i++;
		} else if (errno != EINTR) {
			break;
		}
	}
	e = errno;
	zmq_msg_close(&msg);
	errno = e;
	return i;
}
