/* Names: of kinds of plugins, of plugins, of their files, of the folders on a path. */
#include <stdio.h>
#include <string.h>

#include "host/folders.h"
#include "host/loader.h"

static const char *const kinds[] = {
	[SONDE_KIND_COLLECTOR] = "collector",
	[SONDE_KIND_SINK] = "sink",
	[SONDE_KIND_ANALYZER] = "analyzer",
	[SONDE_KIND_SOURCE] = "source",
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

const char *kind_name(uint32_t kind)
{
	return kind < KINDS && kinds[kind] ? kinds[kind] : "unknown kind";
}

bool folders_good_name(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return n && !name[n] && n <= FOLDERS_NAME_MOST && name[0] >= 'a';
}

uint32_t folders_split(const char *base, char *name, size_t size)
{
	size_t length = strlen(base);
	const char *dash = strchr(base, '-'), *end = base + (length > 3 ? length - 3 : 0);
	char inner[FOLDERS_NAME_MOST + 1];

	if (!dash || end <= dash + 1 || strcmp(end, ".so") != 0 ||
	    (size_t)(end - dash - 1) > FOLDERS_NAME_MOST)
		return 0;
	snprintf(inner, sizeof inner, "%.*s", (int)(end - dash - 1), dash + 1);
	if (!folders_good_name(inner))
		return 0;
	for (uint32_t kind = 1; kind < KINDS; kind++) {
		if (strlen(kinds[kind]) == (size_t)(dash - base) &&
		    strncmp(kinds[kind], base, (size_t)(dash - base)) == 0) {
			snprintf(name, size, "%s", inner);
			return kind;
		}
	}
	return 0;
}

bool folders_next(const char **path, char *folder, size_t size)
{
	while (**path) {
		size_t n = strcspn(*path, ":");
		const char *start = *path;

		*path += n + (start[n] == ':');
		if (n && n < size) {
			snprintf(folder, size, "%.*s", (int)n, start);
			return true;
		}
	}
	return false;
}
