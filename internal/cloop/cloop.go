//go:build cgo

// Package cloop is the suite's side in C: what libzmq says and does without
// the Go binding. It never imports the binding, as it is the baseline that
// the binding is compared with.
package cloop

/*
#cgo pkg-config: libzmq
#cgo CFLAGS: -O2 -Wall -Wextra -Werror
#cgo nocallback cloop_header_version
#cgo nocallback cloop_loaded_version
#include "cloop.h"
*/
import "C"

import "fmt"

// HeaderVersion returns the version of libzmq whose header this package was
// compiled with, such as "4.3.4", from the ZMQ_VERSION macros of zmq.h.
func HeaderVersion() string {
	return text(C.cloop_header_version())
}

// Version returns the version of the libzmq that is loaded in this process,
// such as "4.3.5", from zmq_version(3). It differs from [HeaderVersion] if
// the loader found another libzmq than pkg-config did.
func Version() string {
	return text(C.cloop_loaded_version())
}

// text writes v as libzmq's own tools do.
func text(v C.cloop_version) string {
	return fmt.Sprintf("%d.%d.%d", v.major, v.minor, v.patch)
}
