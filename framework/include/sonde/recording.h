/* How a recording is known from other files: by how it begins (docs/format.md; LZ4 frame format,
 * doc/lz4_Frame_format.md). Sinks ask before they write. Part of the plugin ABI, inline throughout. */
#ifndef SONDE_RECORDING_H
#define SONDE_RECORDING_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
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

/* For a sink's check(): whether text may be written to this file, or it could be made, as
 * access(2) has it. Opens nothing but a regular file that is there. 0 or a negative errno: -EEXIST
 * where it is a recording. */
static inline int sonde_may_write(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];
	struct stat st;
	bool recording;
	int fd;

	if (stat(path, &st)) {
		if (errno != ENOENT)
			return -errno;
		snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 0, path);
		path = *folder ? folder : slash ? "/" : ".";
		return faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) ? -errno : 0;
	}
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS))
		return -errno;
	fd = S_ISREG(st.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	recording = fd >= 0 && sonde_is_recording(fd);
	if (fd >= 0)
		close(fd);
	return recording ? -EEXIST : 0;
}

#endif
