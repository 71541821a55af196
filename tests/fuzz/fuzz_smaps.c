/* Any bytes as /proc/PID/smaps, in memory of just their length. */
#include <stdlib.h>

#include "plugins/smaps/sums.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sums sums = { .have = 0 };
	char *text = malloc(size ? size : 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	sums_parse(text, size, &sums);
	for (uint32_t i = 0; i < SUMS; i++)
		if (!(sums.have >> i & 1) && sums.kib[i])
			abort();
	free(text);
	return 0;
}
