#include "cloop.h"

#include <zmq.h>

cloop_version cloop_header_version(void) {
	cloop_version v = {ZMQ_VERSION_MAJOR, ZMQ_VERSION_MINOR, ZMQ_VERSION_PATCH};

	return v;
}

cloop_version cloop_loaded_version(void) {
	cloop_version v;

	zmq_version(&v.major, &v.minor, &v.patch);
	return v;
}
