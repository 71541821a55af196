/* Any bytes as what a peer of the sink fluent answers. */
#include <stdlib.h>

#include "sinks/fluent/message.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *id = NULL;
	size_t length = 0;
	int n = ack_parse(data, size, &id, &length);

	if (n > 0 &&
	    ((size_t)n > size || id < (const char *)data || id + length != (const char *)data + n))
		abort();
	return 0;
}
