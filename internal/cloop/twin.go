//go:build cgo

package cloop

/*
#cgo nocallback cloop_record
#cgo noescape cloop_record
#include "twin.h"
*/
import "C"

import (
	"unsafe"

	"zmqbench/internal/latency"
)

// Record records durations in h as the loops in C do. It exists for the
// comparison with [latency.Histogram.Record]: a loop records its own.
func Record(h *latency.Histogram, ns []int64) {
	C.cloop_record((*C.cloop_histogram)(unsafe.Pointer(h)), (*C.int64_t)(unsafe.SliceData(ns)), C.int64_t(len(ns)))
}

// Twin returns an empty histogram of the type that C has, which cgo laid out as
// the C compiler does. It exists for the comparison with [latency.Histogram].
func Twin() any { return C.cloop_histogram{} }
