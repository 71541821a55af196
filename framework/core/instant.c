/* Copies of instants: one block, so that a ring can hold it and a thread can read it where it lies. */
#include <stdlib.h>

#include "core/instant.h"

enum { ALIGN = 16 };

static size_t aligned(size_t size)
{
	return (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

/* Calls for each present string of the view. Keys come first, so tables with a name or two are passed over quickly. */
typedef void string_call(void *context, const struct sonde_view *view, uint64_t *slot);

static void each_string(const struct sonde_view *view, uint64_t *words, string_call *call,
			void *context)
{
	const struct sonde_schema *schema = view->schema;
	uint32_t left = schema->nstrings;

	for (uint32_t c = 0; left && c < schema->ncolumns; c++) {
		uint32_t slot = schema->slot[c];

		if (schema->columns[c].type != SONDE_STR)
			continue;
		left--;
		for (uint32_t r = 0; r < view->nrows; r++) {
			uint64_t *have = words + (size_t)r * view->stride;

			if (have[slot >> 6] >> (slot & 63) & 1)
				call(context, view, have + schema->nhave + slot);
		}
	}
}

static void add_length(void *context, const struct sonde_view *view, uint64_t *slot)
{
	(void)view;
	*(size_t *)context += (uint32_t)*slot;
}

static size_t text_size(const char *text)
{
	return text ? strlen(text) + 1 : 1;
}

/* The strings of a header, in one order for sizing and copying. */
enum { HEADER_STRINGS = 9 };

static void header_strings(struct sonde_stream_header *header, const char **strings[])
{
	const char **all[HEADER_STRINGS] = {
		&header->host,   &header->machine_id, &header->boot_id,
		&header->kernel, &header->arch,       &header->label,
		&header->online, &header->nodes,      &header->version,
	};

	memcpy(strings, all, sizeof all);
}

static size_t header_size(const struct sonde_stream_header *header)
{
	struct sonde_stream_header copy = *header;
	const char **strings[HEADER_STRINGS];
	size_t size = sizeof copy + header->ntags * sizeof *header->tags;

	header_strings(&copy, strings);
	for (int i = 0; i < HEADER_STRINGS; i++)
		size += text_size(*strings[i]);
	for (uint32_t i = 0; i < header->ntags; i++)
		size += text_size(header->tags[i].name) + text_size(header->tags[i].value);
	return aligned(size);
}

static const char *put_text(char **at, const char *text)
{
	const char *copy = *at;
	size_t size = text_size(text);

	memcpy(*at, text ? text : "", size);
	*at += size;
	return copy;
}

static struct sonde_stream_header *put_header(char *block, const struct sonde_stream_header *header)
{
	struct sonde_stream_header *copy = (void *)block;
	struct sonde_tag *tags = (void *)(block + sizeof *copy);
	char *at = (char *)(tags + header->ntags);
	const char **strings[HEADER_STRINGS];

	*copy = *header;
	header_strings(copy, strings);
	for (int i = 0; i < HEADER_STRINGS; i++)
		*strings[i] = put_text(&at, *strings[i]);
	for (uint32_t i = 0; i < header->ntags; i++) {
		tags[i].name = put_text(&at, header->tags[i].name);
		tags[i].value = put_text(&at, header->tags[i].value);
	}
	copy->tags = tags;
	return copy;
}

struct sonde_stream_header *header_copy(const struct sonde_stream_header *header)
{
	char *block = malloc(header_size(header));

	return block ? put_header(block, header) : NULL;
}

static size_t words_size(const struct sonde_view *view)
{
	return (size_t)view->nrows * view->stride * sizeof *view->words;
}

size_t instant_size(const struct instant *instant, bool whole)
{
	size_t size = aligned(sizeof *instant) + aligned(instant->nviews * sizeof *instant->views);
	size_t strings = 0;

	if (whole)
		size += header_size(instant->header);
	for (uint32_t i = 0; i < instant->nviews; i++) {
		const struct sonde_view *view = &instant->views[i];

		size += aligned(words_size(view));
		if (view->schema->nstrings)
			each_string(view, (uint64_t *)view->words, add_length, &strings);
		if (whole)
			strings += text_size(view->instance);
	}
	return size + aligned(strings);
}

/* Strings of the copy lie one behind the other from `first`. */
struct string_area {
	char *first, *at;
};

static void move_string(void *context, const struct sonde_view *view, uint64_t *slot)
{
	struct string_area *area = context;
	uint32_t length;
	const char *bytes = sonde_view_bytes(view, *slot, &length);

	memcpy(area->at, bytes, length);
	*slot = (uint64_t)(area->at - area->first) << 32 | length;
	area->at += length;
}

struct instant *instant_copy(void *block, const struct instant *instant, bool whole)
{
	struct instant *copy = block;
	struct sonde_view *views = (void *)((char *)block + aligned(sizeof *copy));
	char *at = (char *)views + aligned(instant->nviews * sizeof *views);
	struct string_area area;

	*copy = *instant;
	copy->views = views;
	if (whole) {
		copy->header = put_header(at, instant->header);
		at += header_size(instant->header);
	}
	for (uint32_t i = 0; i < instant->nviews; i++) {
		views[i] = instant->views[i];
		if (views[i].nrows)
			memcpy(at, views[i].words, words_size(&views[i]));
		views[i].words = (void *)at;
		views[i].changed = NULL;
		views[i].nchanged = 0;
		at += aligned(words_size(&views[i]));
	}
	area = (struct string_area) { at, at };
	for (uint32_t i = 0; i < instant->nviews; i++) {
		if (views[i].schema->nstrings)
			each_string(&instant->views[i], (uint64_t *)views[i].words, move_string,
				    &area);
		views[i].strings = area.first;
		if (whole)
			views[i].instance = put_text(&area.at, views[i].instance);
	}
	instant_stamp(copy, views);
	return copy;
}

void instant_stamp(const struct instant *instant, struct sonde_view *views)
{
	for (uint32_t i = 0; i < instant->nviews; i++) {
		views[i].header = instant->header;
		views[i].sequence = instant->sequence;
		views[i].begin = instant->begin;
		views[i].end = instant->end;
		views[i].realtime = instant->realtime;
	}
}
