/* Text for people: escaped, wrapped, numbers in units that they read. The same on every machine: no locale, no zone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sonde/escape.h>

#include "report.h"

static bool room(struct page *page, size_t length)
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

static void add(struct page *page, const char *bytes, size_t length)
{
	if (!room(page, length))
		return;
	memcpy(page->bytes + page->used, bytes, length);
	page->used += length;
}

void page_print(struct page *page, const char *format, ...)
{
	char line[1024];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof line, format, args);
	va_end(args);
	if (n > 0)
		add(page, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

void page_text(struct page *page, const char *text)
{
	const char *end = text + strlen(text);
	char one[SONDE_ESCAPE_MOST];

	while (text < end) {
		unsigned n = sonde_escape_next(&text, end, one);

		add(page, one, n);
	}
}

/* Characters of escaped text: bytes that do not continue one. */
static size_t visible(const char *bytes, unsigned length)
{
	size_t n = 0;

	for (unsigned i = 0; i < length; i++)
		n += ((unsigned char)bytes[i] & 0xc0) != 0x80;
	return n;
}

static size_t width_of(const char *text, const char *end)
{
	char one[SONDE_ESCAPE_MOST];
	size_t width = 0;

	while (text < end)
		width += visible(one, sonde_escape_next(&text, end, one));
	return width;
}

size_t text_width(const char *text)
{
	return width_of(text, text + strlen(text));
}

void page_wrapped(struct page *page, const char *text, unsigned indent)
{
	size_t column = indent;

	while (*text) {
		size_t length = strcspn(text, " ");
		const char *at = text, *end = text + length;
		size_t width = width_of(text, end);
		char one[SONDE_ESCAPE_MOST];

		if (column > indent && column + 1 + width > WIDTH) {
			page_print(page, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			add(page, " ", 1);
			column++;
		}
		while (at < end) {
			unsigned n = sonde_escape_next(&at, end, one);

			add(page, one, n);
		}
		column += width;
		text = end + strspn(end, " ");
	}
	add(page, "\n", 1);
}

void page_pad(struct page *page, size_t length, size_t width)
{
	for (; length < width; length++)
		add(page, " ", 1);
}

/* ---- numbers ---- */

struct scale {
	double from, divisor;
	const char *unit;
};

static const struct scale times[] = {
	{ 60e9, 1e9, "s" }, { 1e9, 1e9, "s" }, { 1e6, 1e6, "ms" },
	{ 1e3, 1e3, "us" }, { 0, 1, "ns" },
};
static const struct scale sizes[] = {
	{ 1099511627776.0, 1099511627776.0, "TiB" },
	{ 1073741824.0, 1073741824.0, "GiB" },
	{ 1048576.0, 1048576.0, "MiB" },
	{ 1024, 1024, "KiB" },
	{ 0, 1, "B" },
};

/* Three figures that mean something; whole numbers whole. */
static int decimals(double value)
{
	double size = fabs(value);

	if (size >= 100 || size == 0)
		return 0;
	return size >= 10 ? 1 : size >= 1 ? 2 : 3;
}

static void say_scaled(char *to, size_t size, double value, const struct scale *scales,
		       const char *per)
{
	while (fabs(value) < scales->from)
		scales++;
	value /= scales->divisor;
	snprintf(to, size, "%.*f %s%s", decimals(value), value, scales->unit, per);
}

void say_value(char *to, size_t size, double value, const char *unit, const char *counted)
{
	if (!isfinite(value))
		snprintf(to, size, "-");
	else if (strcmp(unit, "ratio") == 0)
		snprintf(to, size, "%.*f %%", fabs(value) >= 0.001 || value == 0 ? 1 : 3,
			 value * 100);
	else if (strcmp(unit, "ns") == 0)
		say_scaled(to, size, value, times, "");
	else if (strcmp(unit, "bytes") == 0)
		say_scaled(to, size, value, sizes, counted);
	else
		snprintf(to, size, "%.*f%s%s", decimals(value), value,
			 *counted || strcmp(unit, "none") != 0 ? " " : "",
			 *counted                    ? counted
			 : strcmp(unit, "none") == 0 ? ""
						     : unit);
}

void say_duration(char *to, size_t size, uint64_t ns)
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

void say_time(char *to, size_t size, int64_t realtime, bool date)
{
	time_t seconds = (time_t)(realtime / 1000000000);
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
