/* How a recording is known from other files: by how it begins (docs/format.md; LZ4 frame format,
 * doc/lz4_Frame_format.md). Sinks ask before they write. Part of the plugin ABI. */
#ifndef SONDE_RECORDING_H
#define SONDE_RECORDING_H

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* Whether the file begins with a mark, which is a skippable LZ4 frame (0x184D2A50 to 5F), or with
 * an LZ4 frame (0x184D2204), both little endian. False where it can't be read at offsets: a pipe, a
 * terminal. */
static inline bool sonde_is_recording(int fd)
{
	unsigned char magic[4];

	if (pread(fd, magic, sizeof magic, 0) != sizeof magic)
		return false;
	return ((magic[0] & 0xf0) == 0x50 && memcmp(magic + 1, "\x2a\x4d\x18", 3) == 0) ||
	       memcmp(magic, "\x04\x22\x4d\x18", 4) == 0;
}

#endif
