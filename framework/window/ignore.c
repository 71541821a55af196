/* Findings that are ignored. */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "window/ignore.h"

/* Without the blanks around it. */
static char *part(const char *text, size_t length)
{
	while (length && isspace((unsigned char)*text))
		text++, length--;
	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	return strndup(text, length);
}

/* The first moment of the day behind it, so that the day itself is in it. */
static bool day(const char *text, int64_t *end)
{
	struct tm tm = { 0 }, same;
	int used = 0;
	time_t at;

	if (strcmp(text, "never") == 0) {
		*end = INT64_MAX;
		return true;
	}
	if (sscanf(text, "%4d-%2d-%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &used) != 3 ||
	    text[used] || tm.tm_year < 1970 || tm.tm_year > 2200)
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	same = tm;
	at = timegm(&same); /* it makes 2027-02-31 a day of March */
	if (same.tm_mon != tm.tm_mon || same.tm_mday != tm.tm_mday)
		return false;
	*end = ((int64_t)at + 86400) * 1000000000;
	return true;
}

int ignore_parse(const char *text, struct ignore *ignore, char *why, size_t size)
{
	const char *about = strchr(text, ','), *reason = about ? strchr(about + 1, ',') : NULL,
		   *until = reason ? strrchr(reason + 1, ',') : NULL;
	const char *mistake = NULL;

	*ignore = (struct ignore) { 0 };
	if (!until) {
		snprintf(why, size, "\"%s\" is not of the form id, about, reason, until", text);
		return -EINVAL;
	}
	ignore->id = part(text, (size_t)(about - text));
	ignore->about = part(about + 1, (size_t)(reason - about - 1));
	ignore->reason = part(reason + 1, (size_t)(until - reason - 1));
	ignore->until = part(until + 1, strlen(until + 1));
	if (!ignore->id || !ignore->about || !ignore->reason || !ignore->until) {
		ignore_free(ignore);
		return -ENOMEM;
	}
	if (!*ignore->about)
		mistake = "what is it about? host, node 1, process * (java); * is anything";
	else if (!*ignore->reason)
		mistake = "for which reason? whoever reads the report wants to know";
	else if (!day(ignore->until, &ignore->end))
		mistake = "until when? a day, as 2027-01-31, or never";
	if (!mistake)
		return 0;
	snprintf(why, size, "\"%s\": %s", text, mistake);
	ignore_free(ignore);
	return -EINVAL;
}

void ignore_free(struct ignore *ignore)
{
	free(ignore->id);
	free(ignore->about);
	free(ignore->reason);
	free(ignore->until);
	*ignore = (struct ignore) { 0 };
}

int ignores_make(struct ignores *ignores, const char *const *lines, uint32_t count)
{
	char why[256];
	int err = 0;

	ignores->items = calloc(count + 1, sizeof *ignores->items);
	if (!ignores->items)
		return -ENOMEM;
	for (uint32_t i = 0; i < count && !err; i++) {
		err = ignore_parse(lines[i], &ignores->items[i], why, sizeof why);
		ignores->count += !err;
	}
	return err;
}

void ignores_free(struct ignores *ignores)
{
	for (uint32_t i = 0; i < ignores->count; i++)
		ignore_free(&ignores->items[i]);
	free(ignores->items);
	*ignores = (struct ignores) { 0 };
}

const struct ignore *ignores_find(const struct ignores *ignores, const char *id, const char *about,
				  int64_t local)
{
	for (uint32_t i = 0; i < ignores->count; i++) {
		const struct ignore *ignore = &ignores->items[i];

		if (local < ignore->end && strcmp(ignore->id, id) == 0 &&
		    fnmatch(ignore->about, about, 0) == 0)
			return ignore;
	}
	return NULL;
}

const struct ignore *ignores_ended(struct ignores *ignores, int64_t local)
{
	for (uint32_t i = 0; i < ignores->count; i++) {
		if (ignores->items[i].told || local < ignores->items[i].end)
			continue;
		ignores->items[i].told = true;
		return &ignores->items[i];
	}
	return NULL;
}
