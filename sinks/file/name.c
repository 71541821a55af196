/* Names of recordings: conversions as in strftime(3), but only those of a fixed width, so that a
 * name can be told again. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "name.h"

/* What a file of a fixed name is called when it has been moved aside. */
#define ASIDE "-%Y%m%d-%H%M%S"

struct text {
	char *bytes;
	size_t used, size;
	bool full;
};

static void add(struct text *text, const char *bytes, size_t length)
{
	if (length >= text->size - text->used) {
		text->full = true;
		return;
	}
	memcpy(text->bytes + text->used, bytes, length);
	text->used += length;
	text->bytes[text->used] = '\0';
}

static size_t digits_of(char conversion)
{
	return conversion == 'Y' ? 4 : strchr("mdHMS", conversion) && conversion ? 2 : 0;
}

/* A host's name is data: its percent signs are no conversions, and it names no folder. */
static void add_host(struct text *stem, const char *host)
{
	for (; *host; host++) {
		if (*host == '%')
			add(stem, "%%", 2);
		else
			add(stem, *host == '/' ? "_" : host, 1);
	}
}

/* 0, or the character that is no conversion of ours; ' ' where the text ends behind a percent
 * sign. */
static char expand(struct text *stem, const char *last, const char *end, const char *host,
		   bool *fixed)
{
	while (last < end) {
		if (*last != '%') {
			add(stem, last++, 1);
			continue;
		}
		if (last[1] == 'h') {
			add_host(stem, host);
		} else if (last[1] == '%' || digits_of(last[1])) {
			*fixed = *fixed && last[1] == '%';
			add(stem, last, 2);
		} else {
			return last[1] ? last[1] : ' ';
		}
		last += 2;
	}
	return 0;
}

int name_parse(struct name *name, const char *path, const char *host, char *why, size_t size)
{
	struct text stem = { name->stem, 0, sizeof name->stem, false };
	const char *slash = strrchr(path, '/');
	const char *last = slash ? slash + 1 : path;
	const char *dot = strrchr(last, '.');
	const char *end = dot && dot > last && !strchr(dot, '%') ? dot : last + strlen(last);
	size_t folder = slash ? (size_t)(slash - path) + (slash == path) : 1;
	char bad;

	name->fixed = true;
	if (!*last || folder >= sizeof name->folder || strlen(end) >= sizeof name->ext) {
		snprintf(why, size, "it names no file: give folder/name.sonde");
		return -EINVAL;
	}
	if (slash && memchr(path, '%', folder)) {
		snprintf(why, size, "%% may stand in the file's name only, not in its folder's");
		return -EINVAL;
	}
	memcpy(name->folder, slash ? path : ".", folder);
	name->folder[folder] = '\0';
	strcpy(name->ext, end);
	name->stem[0] = '\0';
	bad = expand(&stem, last, end, host, &name->fixed);
	if (bad || stem.full) {
		snprintf(why, size,
			 bad ? "it has %%%c, but only %%Y %%m %%d %%H %%M %%S, %%h (the host) "
			       "and %%%% are known"
			     : "its name is longer than 255 bytes",
			 bad);
		return -EINVAL;
	}
	return 0;
}

static void add_date(struct text *text, char conversion, const struct tm *tm)
{
	char digits[16];
	int value = conversion == 'Y'   ? (tm->tm_year + 1900) % 10000
		    : conversion == 'm' ? tm->tm_mon + 1
		    : conversion == 'd' ? tm->tm_mday
		    : conversion == 'H' ? tm->tm_hour
		    : conversion == 'M' ? tm->tm_min
					: tm->tm_sec;

	snprintf(digits, sizeof digits, "%0*d", (int)digits_of(conversion), value);
	add(text, digits, strlen(digits));
}

static void add_stem(struct text *text, const char *stem, const struct tm *tm)
{
	for (; *stem; stem++) {
		if (*stem != '%') {
			add(text, stem, 1);
			continue;
		}
		stem++;
		if (*stem == '%')
			add(text, "%", 1);
		else
			add_date(text, *stem, tm);
	}
}

static bool make(const struct name *name, const char *more, time_t when, unsigned suffix,
		 char *file)
{
	struct text text = { file, 0, NAME_MAX + 1, false };
	char number[16];
	struct tm tm;

	if (!localtime_r(&when, &tm))
		memset(&tm, 0, sizeof tm);
	add_stem(&text, name->stem, &tm);
	add_stem(&text, more, &tm);
	if (suffix) {
		snprintf(number, sizeof number, "-%u", suffix);
		add(&text, number, strlen(number));
	}
	add(&text, name->ext, strlen(name->ext));
	return !text.full;
}

bool name_make(const struct name *name, time_t when, unsigned suffix, char file[NAME_MAX + 1])
{
	return make(name, "", when, suffix, file);
}

bool name_aside(const struct name *name, time_t when, unsigned suffix, char file[NAME_MAX + 1])
{
	return make(name, ASIDE, when, suffix, file);
}

static size_t digits_at(const char *text)
{
	return strspn(text, "0123456789");
}

/* Past what `stem` can have become, or NULL. */
static const char *match(const char *file, const char *stem)
{
	for (; *stem; stem++) {
		size_t digits = *stem == '%' ? digits_of(*++stem) : 0;

		if (digits ? digits_at(file) < digits : *file != *stem)
			return NULL;
		file += digits ? digits : 1;
	}
	return file;
}

static bool match_rest(const char *file, const char *ext)
{
	size_t digits = file && *file == '-' ? digits_at(file + 1) : 0;

	if (file && strcmp(file, ext) == 0)
		return true;
	return digits && digits <= NAME_SUFFIX_DIGITS && strcmp(file + 1 + digits, ext) == 0;
}

unsigned name_next(const struct name *name, time_t when, const char *file)
{
	char base[NAME_MAX + 1];
	size_t stem;

	if (!name_make(name, when, 0, base))
		return 0;
	stem = strlen(base) - strlen(name->ext);
	if (strncmp(file, base, stem) != 0 || !match_rest(file + stem, name->ext))
		return 0;
	return file[stem] == '-' ? (unsigned)strtoul(file + stem + 1, NULL, 10) + 1 : 1;
}

bool name_is_ours(const struct name *name, const char *file)
{
	const char *rest = match(file, name->stem);

	if (!rest)
		return false;
	if (name->fixed)
		return strcmp(rest, name->ext) == 0 || match_rest(match(rest, ASIDE), name->ext);
	return match_rest(rest, name->ext);
}
