/* What one read(2) of a group's first event gives (perf_event_open(2), "Reading results"; PERF_FORMAT_GROUP with both times):
 * pure, so that tests and the fuzzer call it. */
#ifndef COUNTS_H
#define COUNTS_H

#include <errno.h>
#include <stdint.h>
#include <string.h>

enum { COUNTS_MOST = 16, COUNTS_BYTES = (3 + COUNTS_MOST) * 8 };

struct counts {
	uint64_t enabled,
		running; /* ns; running is less where the PMU was shared: the values are of that time */
	uint64_t value[COUNTS_MOST];
	uint32_t n;
};

/* 0; -ENODATA where the kernel has given the group up (a read of nothing); -EBADMSG where it is no such answer. */
static inline int counts_parse(const void *bytes, size_t length, struct counts *counts)
{
	uint64_t head[3];

	if (!length)
		return -ENODATA;
	if (length < sizeof head)
		return -EBADMSG;
	memcpy(head, bytes, sizeof head);
	if (head[0] > COUNTS_MOST || length != sizeof head + head[0] * 8)
		return -EBADMSG;
	counts->n = (uint32_t)head[0];
	counts->enabled = head[1];
	counts->running = head[2];
	memcpy(counts->value, (const char *)bytes + sizeof head, counts->n * sizeof(uint64_t));
	return 0;
}

#endif
