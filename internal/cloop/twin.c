#include "twin.h"
#include "message.h"

void cloop_record(cloop_histogram *h, const int64_t *ns, int64_t n) {
	for (int64_t i = 0; i < n; i++)
		histogram_record(h, ns[i]);
}
