// The C twin of latency.Histogram, for its comparison with it. Read twin.go.

#pragma once

#include "loop.h"

// cloop_record records n durations, as the loops do with one each. It cannot
// fail.
void cloop_record(cloop_histogram *h, const int64_t *ns, int64_t n);
