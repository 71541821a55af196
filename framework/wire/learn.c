/* Headers and tables out of msgpack. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/schema.h"
#include "wire/format.h"
#include "wire/learn.h"

/* A header's strings, behind it in its allocation. */
struct texts {
	char *at, *end;
};

static const char *keep(struct texts *texts, const char *bytes, uint32_t length)
{
	char *text = texts->at;

	if (!bytes || length >= (size_t)(texts->end - texts->at))
		return "";
	memcpy(text, bytes, length);
	text[length] = '\0';
	texts->at += length + 1;
	return text;
}

static const char *keep_next(struct texts *texts, struct items *items)
{
	uint32_t length = 0;
	const char *bytes = items_text(items, FORMAT_NAME_BYTES, &length);

	return keep(texts, bytes, length);
}

static bool is(const char *key, uint32_t length, const char *name)
{
	return strlen(name) == length && memcmp(key, name, length) == 0;
}

/* Count of pairs of the map that comes next. */
static uint32_t next_map(struct items *items)
{
	const struct item *item = items_next(items);

	if (item && item->kind == ITEM_MAP)
		return item->length;
	items->bad = true;
	return 0;
}

static void learn_anchor(struct sonde_anchor *anchor, struct items *items)
{
	const struct {
		const char *name;
		void *number;
	} numbers[] = {
		{ "monotonic", &anchor->monotonic }, { "boottime", &anchor->boottime },
		{ "realtime", &anchor->realtime },   { "offset", &anchor->offset },
		{ "max_error", &anchor->max_error },
	};

	for (uint32_t n = next_map(items); n && !items->bad; n--) {
		uint32_t length = 0;
		const char *key = items_text(items, FORMAT_NAME_BYTES, &length);
		size_t i = 0, count = sizeof numbers / sizeof numbers[0];
		uint64_t value;

		if (!key)
			return;
		while (i < count && !is(key, length, numbers[i].name))
			i++;
		if (i < count) {
			value = items_int(items);
			memcpy(numbers[i].number, &value, sizeof value);
		} else if (is(key, length, "synchronised")) {
			anchor->synchronised = (uint32_t)items_u64(items, 1);
		} else {
			items_skip(items);
		}
	}
}

static void learn_tags(struct sonde_stream_header *header, struct sonde_tag *tags,
		       struct texts *texts, struct items *items)
{
	uint32_t n = next_map(items);

	items->bad |= n > FORMAT_TAGS;
	for (uint32_t i = 0; i < n && !items->bad; i++) {
		tags[i].name = keep_next(texts, items);
		tags[i].value = keep_next(texts, items);
		header->ntags = i + 1;
	}
	header->tags = tags;
}

/* The value of one key. False: it is none that this version knows. */
static bool learn_key(struct sonde_stream_header *header, struct texts *texts, const char *key,
		      uint32_t length, struct items *items)
{
	const struct {
		const char *name;
		const char **text;
	} strings[] = {
		{ "version", &header->version },       { "host", &header->host },
		{ "machine_id", &header->machine_id }, { "boot_id", &header->boot_id },
		{ "kernel", &header->kernel },         { "arch", &header->arch },
		{ "label", &header->label },           { "online", &header->online },
		{ "nodes", &header->nodes },
	};
	const struct {
		const char *name;
		uint32_t *number;
	} numbers[] = {
		{ "user_hz", &header->user_hz },
		{ "page_size", &header->page_size },
		{ "ncpus", &header->ncpus },
	};

	for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++)
		if (is(key, length, strings[i].name)) {
			*strings[i].text = keep_next(texts, items);
			return true;
		}
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		if (is(key, length, numbers[i].name)) {
			*numbers[i].number = (uint32_t)items_u64(items, UINT32_MAX);
			return true;
		}
	if (!is(key, length, "start_id"))
		return false;
	header->start_id = items_u64(items, UINT64_MAX);
	return true;
}

/* No zone is a day away from UTC. */
static int32_t learn_offset(struct items *items)
{
	int64_t seconds = (int64_t)items_int(items);

	return seconds > -86400 && seconds < 86400 ? (int32_t)seconds : 0;
}

/* Room for all strings of a header with its tags. */
enum { HEADER_TEXTS = (9 + 2 * FORMAT_TAGS) * (FORMAT_NAME_BYTES + 1) };

struct sonde_stream_header *learn_header(struct items *items, const char **why)
{
	size_t tags_size = FORMAT_TAGS * sizeof(struct sonde_tag);
	struct sonde_stream_header *header = malloc(sizeof *header + tags_size + HEADER_TEXTS);
	struct texts texts;
	uint64_t format = 0;

	*why = "no memory for its header";
	if (!header)
		return NULL;
	*header = (struct sonde_stream_header) { .host = "",
						 .machine_id = "",
						 .boot_id = "",
						 .kernel = "",
						 .arch = "",
						 .label = "",
						 .online = "",
						 .nodes = "",
						 .version = "" };
	texts.at = (char *)(header + 1) + tags_size;
	texts.end = texts.at + HEADER_TEXTS;
	for (uint32_t n = next_map(items); n && !items->bad; n--) {
		uint32_t length = 0;
		const char *key = items_text(items, FORMAT_NAME_BYTES, &length);

		if (!key)
			break;
		if (is(key, length, "format"))
			format = items_u64(items, UINT64_MAX);
		else if (is(key, length, "anchor"))
			learn_anchor(&header->anchor, items);
		else if (is(key, length, "utc_offset"))
			header->utc_offset = learn_offset(items);
		else if (is(key, length, "tags"))
			learn_tags(header, (struct sonde_tag *)(header + 1), &texts, items);
		else if (!learn_key(header, &texts, key, length, items))
			items_skip(items);
	}
	*why = items->bad ? "its header is malformed"
			  : "it is of a newer format; a newer sonde reads it";
	if (!items->bad && format == FORMAT_VERSION)
		return header;
	free(header);
	return NULL;
}

struct learning {
	char name[SCHEMA_MAX_NAME], instance[FORMAT_NAME_BYTES + 1];
	uint64_t hash;
	uint32_t flags, ncolumns, got;
	struct learned_column {
		char name[SCHEMA_MAX_NAME], counted[SCHEMA_MAX_NAME];
		struct sonde_column column;
	} * columns;
};

static void copy_next(char *to, uint32_t most, struct items *items)
{
	uint32_t length = 0;
	const char *bytes = items_text(items, most, &length);

	if (bytes)
		memcpy(to, bytes, length);
	to[bytes ? length : 0] = '\0';
}

struct learning *learn_table(struct items *items)
{
	struct learning *learning = calloc(1, sizeof *learning);

	if (!learning)
		return NULL;
	copy_next(learning->instance, FORMAT_NAME_BYTES, items);
	copy_next(learning->name, SCHEMA_MAX_NAME - 1, items);
	learning->hash = items_u64(items, UINT64_MAX);
	learning->flags = (uint32_t)items_u64(items, UINT32_MAX);
	learning->ncolumns = (uint32_t)items_u64(items, SCHEMA_MAX_COLUMNS);
	if (learn_columns(learning, items))
		return learning;
	learning_free(learning);
	return NULL;
}

void learning_free(struct learning *learning)
{
	if (!learning)
		return;
	free(learning->columns);
	free(learning);
}

static void learn_column(struct learned_column *learned, struct items *items)
{
	struct sonde_column *c = &learned->column;
	uint32_t n = items_array(items);

	copy_next(learned->name, SCHEMA_MAX_NAME - 1, items);
	learned->counted[0] = '\0';
	*c = (struct sonde_column) { .scale_mul = 1, .scale_div = 1 };
	c->type = (uint32_t)items_u64(items, UINT32_MAX);
	c->semantics = (uint32_t)items_u64(items, UINT32_MAX);
	c->unit = (uint32_t)items_u64(items, UINT32_MAX);
	if (n > 4)
		c->scale_mul = (uint32_t)items_u64(items, UINT32_MAX);
	if (n > 5)
		c->scale_div = (uint32_t)items_u64(items, UINT32_MAX);
	if (n > 6)
		copy_next(learned->counted, SCHEMA_MAX_NAME - 1, items);
	if (n > 7)
		c->wrap = (uint32_t)items_u64(items, UINT32_MAX);
	if (n > 8)
		c->sensitivity = (uint32_t)items_u64(items, UINT32_MAX);
	if (n > 9)
		c->slots = (uint32_t)items_u64(items, UINT32_MAX);
	for (uint32_t i = 10; i < n; i++) /* a newer format's */
		items_skip(items);
	items->bad |= n < 4;
}

bool learn_columns(struct learning *learning, struct items *items)
{
	/* Five items a column at least: the count of items bounds the memory. */
	uint32_t most = learning->got + (uint32_t)((items->end - items->at) / 5) + 1;
	struct learned_column *columns = realloc(learning->columns, most * sizeof *columns);

	if (!columns)
		return false;
	learning->columns = columns;
	while (items->at < items->end && !items->bad) {
		if (learning->got == learning->ncolumns || learning->got == most)
			return false;
		learn_column(&columns[learning->got++], items);
	}
	return !items->bad;
}

uint32_t learning_left(const struct learning *learning)
{
	return learning->ncolumns - learning->got;
}

const char *learning_instance(const struct learning *learning)
{
	return learning->instance;
}

uint32_t learning_columns(const struct learning *learning)
{
	return learning->ncolumns;
}

struct sonde_schema *learn_schema(const struct learning *learning, char *why, size_t size)
{
	struct sonde_schema *schema = NULL;
	struct sonde_column *columns = calloc(learning->got + 1, sizeof *columns);
	const struct sonde_table table = { .name = learning->name,
					   .columns = { columns, learning->got, sizeof *columns },
					   .flags = learning->flags };

	snprintf(why, size, "no memory for table %s", learning->name);
	if (!columns)
		return NULL;
	for (uint32_t i = 0; i < learning->got; i++) {
		columns[i] = learning->columns[i].column;
		columns[i].name = learning->columns[i].name;
		columns[i].counted =
			learning->columns[i].counted[0] ? learning->columns[i].counted : NULL;
	}
	if (schema_make(&table, &schema, why, size) == 0 && schema->hash != learning->hash) {
		snprintf(why, size, "table %s is not what its hash says", learning->name);
		schema_free(schema);
		schema = NULL;
	}
	free(columns);
	return schema;
}

bool learning_is(const struct learning *learning, const struct sonde_schema *schema)
{
	if (schema->hash != learning->hash || schema->ncolumns != learning->got ||
	    schema->flags != learning->flags || strcmp(schema->name, learning->name))
		return false;
	for (uint32_t i = 0; i < learning->got; i++) {
		const struct sonde_column *a = &schema->columns[i];
		const struct learned_column *learned = &learning->columns[i];
		const struct sonde_column *b = &learned->column;

		if (strcmp(a->name, learned->name) || a->type != b->type ||
		    a->semantics != b->semantics || a->unit != b->unit ||
		    a->scale_mul != b->scale_mul || a->scale_div != b->scale_div ||
		    strcmp(a->counted ? a->counted : "", learned->counted) || a->wrap != b->wrap ||
		    a->sensitivity != b->sensitivity || a->slots != b->slots)
			return false;
	}
	return true;
}

bool learn_help(struct sonde_schema *schema, struct items *items)
{
	uint64_t i = items_u64(items, schema->ncolumns);

	for (; items->at < items->end && !items->bad; i++) {
		struct sonde_column *column;
		uint32_t origin_length = 0, help_length = 0;
		const char *origin = items_text(items, FORMAT_HELP_BYTES, &origin_length);
		const char *help = items_text(items, FORMAT_HELP_BYTES, &help_length);

		if (i > schema->ncolumns)
			return false;
		column = i ? (struct sonde_column *)&schema->columns[i - 1] : NULL;
		schema_learn(schema, column ? &column->origin : &schema->origin, origin,
			     origin_length);
		schema_learn(schema, column ? &column->help : &schema->help, help, help_length);
	}
	return !items->bad;
}
