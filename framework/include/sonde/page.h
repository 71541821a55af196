/* Text for people while it grows: escaped, wrapped, numbers in units that they read; and the file that it goes to. The same
 * on every machine: no locale, no zone but the recorded one. Inline throughout; whoever writes documents includes it beside
 * <sonde/plugin.h>. Needs POSIX.1-2008 (_GNU_SOURCE). */
#ifndef SONDE_PAGE_H
#define SONDE_PAGE_H

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sonde/escape.h>
#include <sonde/host.h>

enum { PAGE_WIDTH = 96 };

/* A text that grows. Zeroed at first; free(page->bytes). */
struct page {
	char *bytes;
	size_t used, size;
	bool colour, no_memory;
};

static inline bool page_room(struct page *page, size_t length)
{
	size_t size = page->size ? page->size : 4096;
	char *bytes;

	if (page->used + length < page->size)
		return true;
	while (size <= page->used + length)
		size *= 2;
	bytes = realloc(page->bytes, size);
	if (!bytes) {
		page->no_memory = true;
		return false;
	}
	page->bytes = bytes;
	page->size = size;
	return true;
}

static inline void page_add(struct page *page, const char *bytes, size_t length)
{
	if (!page_room(page, length))
		return;
	memcpy(page->bytes + page->used, bytes, length);
	page->used += length;
}

SONDE_PRINTF(2, 3)
static inline void page_print(struct page *page, const char *format, ...)
{
	char line[1024];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof line, format, args);
	va_end(args);
	if (n > 0)
		page_add(page, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

/* Foreign text: what could act on a terminal is escaped. */
static inline void page_text(struct page *page, const char *text)
{
	const char *end = text + strlen(text);
	char one[SONDE_ESCAPE_MOST];

	while (text < end) {
		unsigned n = sonde_escape_next(&text, end, one);

		page_add(page, one, n);
	}
}

/* Characters of escaped text: bytes that do not continue one. */
static inline size_t page_visible(const char *bytes, unsigned length)
{
	size_t n = 0;

	for (unsigned i = 0; i < length; i++)
		n += ((unsigned char)bytes[i] & 0xc0) != 0x80;
	return n;
}

static inline size_t page_width_of(const char *text, const char *end)
{
	char one[SONDE_ESCAPE_MOST];
	size_t width = 0;

	while (text < end)
		width += page_visible(one, sonde_escape_next(&text, end, one));
	return width;
}

/* How wide foreign text is once it is escaped, in characters. */
static inline size_t text_width(const char *text)
{
	return page_width_of(text, text + strlen(text));
}

/* Foreign text, wrapped at PAGE_WIDTH; the lines after the first begin at column `indent`, where the cursor is now. */
static inline void page_wrapped(struct page *page, const char *text, unsigned indent)
{
	size_t column = indent;

	while (*text) {
		size_t length = strcspn(text, " ");
		const char *at = text, *end = text + length;
		size_t width = page_width_of(text, end);
		char one[SONDE_ESCAPE_MOST];

		if (column > indent && column + 1 + width > PAGE_WIDTH) {
			page_print(page, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			page_add(page, " ", 1);
			column++;
		}
		while (at < end) {
			unsigned n = sonde_escape_next(&at, end, one);

			page_add(page, one, n);
		}
		column += width;
		text = end + strspn(end, " ");
	}
	page_add(page, "\n", 1);
}

/* Blanks up to a width, for text that is already there: its visible length is `length`. */
static inline void page_pad(struct page *page, size_t length, size_t width)
{
	for (; length < width; length++)
		page_add(page, " ", 1);
}

/* ---- numbers ---- */

struct say_scale {
	double from, divisor;
	const char *unit;
};

/* Three figures that mean something; whole numbers whole. */
static inline int say_decimals(double value)
{
	double size = fabs(value);

	if (size >= 100 || size == 0)
		return 0;
	return size >= 10 ? 1 : size >= 1 ? 2 : 3;
}

static inline void say_scaled(char *to, size_t size, double value, const struct say_scale *scales,
			      const char *per)
{
	while (fabs(value) < scales->from)
		scales++;
	value /= scales->divisor;
	snprintf(to, size, "%.*f %s%s", say_decimals(value), value, scales->unit, per);
}

/* "12.3 %", "4.2 ms", "3.1 GiB", "120 faults/s": into `to`. */
static inline void say_value(char *to, size_t size, double value, const char *unit,
			     const char *counted)
{
	static const struct say_scale times[] = {
		{ 1e9, 1e9, "s" },
		{ 1e6, 1e6, "ms" },
		{ 1e3, 1e3, "us" },
		{ 0, 1, "ns" },
	};
	static const struct say_scale sizes[] = {
		{ 1099511627776.0, 1099511627776.0, "TiB" },
		{ 1073741824.0, 1073741824.0, "GiB" },
		{ 1048576.0, 1048576.0, "MiB" },
		{ 1024, 1024, "KiB" },
		{ 0, 1, "B" },
	};

	static const struct say_scale rates[] = {
		{ 1e9, 1e9, "GHz" },
		{ 1e6, 1e6, "MHz" },
		{ 1e3, 1e3, "kHz" },
		{ 0, 1, "Hz" },
	};

	if (!isfinite(value))
		snprintf(to, size, "-");
	else if (fabs(value) >= 1e24) /* more figures than anybody reads */
		snprintf(to, size, "%.3g %s", value, *counted ? counted : unit);
	else if (strcmp(unit, "ratio") == 0)
		snprintf(to, size, "%.*f %%", fabs(value) >= 0.001 || value == 0 ? 1 : 3,
			 value * 100);
	else if (strcmp(unit, "ns") == 0)
		say_scaled(to, size, value, times, "");
	else if (strcmp(unit, "bytes") == 0)
		say_scaled(to, size, value, sizes, counted);
	else if (strcmp(unit, "hz") == 0)
		say_scaled(to, size, value, rates, "");
	else
		snprintf(to, size, "%.*f%s%s", say_decimals(value), value,
			 *counted || strcmp(unit, "none") != 0 ? " " : "",
			 *counted                    ? counted
			 : strcmp(unit, "none") == 0 ? ""
						     : unit);
}

/* "5.0 s", "2 min 5 s", "1 h 30 min". */
static inline void say_duration(char *to, size_t size, uint64_t ns)
{
	uint64_t seconds = (ns + 500000000) / 1000000000;

	if (seconds < 120)
		snprintf(to, size, "%.1f s", (double)ns / 1e9);
	else if (seconds < 7200)
		snprintf(to, size, "%u min %u s", (unsigned)(seconds / 60),
			 (unsigned)(seconds % 60));
	else
		snprintf(to, size, "%u h %u min", (unsigned)(seconds / 3600),
			 (unsigned)(seconds / 60 % 60));
}

/* "UTC", "+05:45". */
static inline void say_zone(char *to, size_t size, int32_t utc_offset)
{
	int minutes = utc_offset / 60;

	if (minutes)
		snprintf(to, size, "%c%02d:%02d", minutes < 0 ? '-' : '+', abs(minutes) / 60,
			 abs(minutes) % 60);
	else
		snprintf(to, size, "UTC");
}

/* A moment (ns since 1970) as clocks showed it at `utc_offset` seconds east: "2026-11-30 05:06:28.1", or without the date. */
static inline void say_time(char *to, size_t size, int64_t realtime, int32_t utc_offset, bool date)
{
	int64_t shown = realtime / 1000000000 + utc_offset;
	time_t seconds = (time_t)shown;
	unsigned tenth;
	struct tm tm;

	if (realtime < 0 || !gmtime_r(&seconds, &tm)) {
		snprintf(to, size, "unknown");
		return;
	}
	tenth = (unsigned)(realtime % 1000000000 / 100000000);
	if (date)
		snprintf(to, size, "%04d-%02d-%02d %02d:%02d:%02d.%u", tm.tm_year + 1900,
			 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, tenth);
	else
		snprintf(to, size, "%02d:%02d:%02d.%u", tm.tm_hour, tm.tm_min, tm.tm_sec, tenth);
}

/* ---- where it goes ---- */

/* Magic numbers that a recording may begin with: an LZ4 frame, or a skippable one (LZ4 frame format 1.6). */
static inline bool page_over_recording(int fd)
{
	unsigned char begin[4];

	if (pread(fd, begin, sizeof begin, 0) != (ssize_t)sizeof begin)
		return false;
	return memcmp(begin, "\x04\x22\x4d\x18", 4) == 0 ||
	       ((begin[0] & 0xf0) == 0x50 && memcmp(begin + 1, "\x2a\x4d\x18", 3) == 0);
}

/* A descriptor for a document, emptied; "-" is stdout. A negative errno: -EEXIST, a recording is there. */
static inline int page_open(const char *path)
{
	int fd, err;

	if (strcmp(path, "-") == 0)
		return STDOUT_FILENO;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 && (errno == EACCES || errno == ENXIO || errno == EINVAL))
		fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = page_over_recording(fd) ? -EEXIST : 0;
	/* A pipe or a device has no length to cut. */
	if (!err && ftruncate(fd, 0) && errno != EINVAL)
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* All of it; closes the descriptor where it is not stdout. 0 or a negative errno. */
static inline int page_write(const struct page *page, int fd)
{
	int err = page->no_memory ? -ENOMEM : 0;

	for (size_t done = 0; !err && done < page->used;) {
		ssize_t n = write(fd, page->bytes + done, page->used - done);

		if (n < 0 && errno != EINTR)
			err = -errno;
		if (n > 0)
			done += (size_t)n;
	}
	if (fd != STDOUT_FILENO && close(fd) && !err)
		err = -errno;
	return err;
}

/* Why page_open() or page_write() failed. */
static inline const char *page_error(int err)
{
	return err == -EEXIST ? "a recording is there: give another name" : strerror(-err);
}

#endif
