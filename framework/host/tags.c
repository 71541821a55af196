/* Tags of the configuration: checked, and put behind those of a header. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/instant.h"
#include "host/header.h"

enum { TEXT = 256, MOST_TAGS = 64 };

/* The next tag of "name=value, name=value" into two buffers. 1, 0 at the end, -EINVAL. */
static int next_tag(const char **text, char *name, char *value, size_t size)
{
	const char *at = *text + strspn(*text, " \t,");
	size_t length = strcspn(at, ",");
	size_t equals = strcspn(at, "=,");

	*text = at + length;
	while (length && (at[length - 1] == ' ' || at[length - 1] == '\t'))
		length--;
	if (!length)
		return 0;
	if (equals == 0 || equals >= length || equals >= size || length - equals > size)
		return -EINVAL;
	snprintf(name, size, "%.*s", (int)equals, at);
	name[strcspn(name, " \t")] = '\0';
	at += equals + 1;
	length -= equals + 1;
	while (length && (*at == ' ' || *at == '\t'))
		at++, length--;
	snprintf(value, size, "%.*s", (int)length, at);
	return 1;
}

bool tags_valid(const char *text, char *why, size_t size)
{
	char name[TEXT], value[TEXT];
	unsigned count = 0;
	int found;

	while ((found = next_tag(&text, name, value, sizeof name)) > 0)
		count++;
	if (found < 0)
		snprintf(why, size, "tags are written name=value, name=value");
	else if (count > MOST_TAGS)
		snprintf(why, size, "%u tags; %d are possible", count, MOST_TAGS);
	return found == 0 && count <= MOST_TAGS;
}

struct sonde_stream_header *header_with_tags(const struct sonde_stream_header *header,
					     const char *text)
{
	char names[MOST_TAGS][TEXT], values[MOST_TAGS][TEXT];
	struct sonde_tag tags[2 * MOST_TAGS];
	struct sonde_stream_header merged = *header;
	uint32_t count = 0, own = header->ntags < MOST_TAGS ? header->ntags : MOST_TAGS;

	if (own)
		memcpy(tags, header->tags, own * sizeof *tags);
	while (count < MOST_TAGS &&
	       next_tag(&text, names[count], values[count], sizeof names[0]) > 0) {
		tags[own + count] = (struct sonde_tag) { names[count], values[count] };
		count++;
	}
	merged.tags = tags;
	merged.ntags = own + count;
	return header_copy(&merged);
}
