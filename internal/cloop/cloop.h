// The C side of the suite. Read cloop.go for what it is for.

// A cloop_version is a version of libzmq, as three numbers.
typedef struct {
	int major;
	int minor;
	int patch;
} cloop_version;

// cloop_header_version returns the version of the header zmq.h. It cannot
// fail.
cloop_version cloop_header_version(void);

// cloop_loaded_version returns the version of the library loaded at run time.
// It cannot fail.
cloop_version cloop_loaded_version(void);
