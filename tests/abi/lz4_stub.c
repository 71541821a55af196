/* An lz4 that is none: every version of it is LZ4_STUB, and what it compresses is lost. */
#include <stddef.h>

int LZ4_versionNumber(void);
size_t LZ4F_compressBound(size_t size, const void *preferences);

int LZ4_versionNumber(void)
{
	return LZ4_STUB;
}

size_t LZ4F_compressBound(size_t size, const void *preferences)
{
	(void)size;
	(void)preferences;
	return 0;
}
