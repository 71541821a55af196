/* Headers and tables into msgpack. */
#include "wire/describe.h"
#include "wire/format.h"

enum { COLUMNS_EACH = 1000, HELPS_EACH = 20 };

static void pack_name(struct pack *pack, const char *text, size_t most)
{
	pack_text(pack, text ? text : "", strnlen(text ? text : "", most));
}

static void pack_key(struct pack *pack, const char *key)
{
	pack_name(pack, key, FORMAT_NAME_BYTES);
}

static void pack_anchor(struct pack *pack, const struct sonde_anchor *anchor)
{
	pack_map(pack, 6);
	pack_key(pack, "monotonic");
	pack_uint64(pack, anchor->monotonic);
	pack_key(pack, "boottime");
	pack_uint64(pack, anchor->boottime);
	pack_key(pack, "realtime");
	pack_int64(pack, anchor->realtime);
	pack_key(pack, "offset");
	pack_int64(pack, anchor->offset);
	pack_key(pack, "max_error");
	pack_uint64(pack, anchor->max_error);
	pack_key(pack, "synchronised");
	pack_uint32(pack, anchor->synchronised);
}

static void pack_tags(struct pack *pack, const struct sonde_stream_header *header)
{
	uint32_t ntags = header->ntags < FORMAT_TAGS ? header->ntags : FORMAT_TAGS;

	pack_map(pack, ntags);
	for (uint32_t i = 0; i < ntags; i++) {
		pack_name(pack, header->tags[i].name, FORMAT_NAME_BYTES);
		pack_name(pack, header->tags[i].value, FORMAT_NAME_BYTES);
	}
}

void describe_header(struct pack *pack, const struct sonde_stream_header *header,
		     const struct sonde_anchor *anchor)
{
	const struct {
		const char *key, *text;
	} texts[] = {
		{ "version", header->version },       { "host", header->host },
		{ "machine_id", header->machine_id }, { "boot_id", header->boot_id },
		{ "kernel", header->kernel },         { "arch", header->arch },
		{ "label", header->label },           { "online", header->online },
		{ "nodes", header->nodes },
	};
	const struct {
		const char *key;
		uint64_t number;
	} numbers[] = {
		{ "format", FORMAT_VERSION },   { "start_id", header->start_id },
		{ "user_hz", header->user_hz }, { "page_size", header->page_size },
		{ "ncpus", header->ncpus },
	};
	size_t ntexts = sizeof texts / sizeof texts[0], n = sizeof numbers / sizeof numbers[0];

	pack_array(pack, 2);
	pack_uint32(pack, FORMAT_HEADER);
	pack_map(pack, ntexts + n + 3);
	for (size_t i = 0; i < n; i++) {
		pack_key(pack, numbers[i].key);
		pack_uint64(pack, numbers[i].number);
	}
	for (size_t i = 0; i < ntexts; i++) {
		pack_key(pack, texts[i].key);
		pack_name(pack, texts[i].text, FORMAT_NAME_BYTES);
	}
	pack_key(pack, "utc_offset");
	pack_int64(pack, header->utc_offset);
	pack_key(pack, "tags");
	pack_tags(pack, header);
	pack_key(pack, "anchor");
	pack_anchor(pack, anchor);
}

/* What has its default at the end is left out: mul 1, div 1, counted "", wrap 0, sensitivity 0, slots 0. */
static void pack_column(struct pack *pack, const struct sonde_column *c)
{
	bool counted = c->counted && c->counted[0];
	uint32_t n = c->slots            ? 10
		     : c->sensitivity    ? 9
		     : c->wrap           ? 8
		     : counted           ? 7
		     : c->scale_div != 1 ? 6
		     : c->scale_mul != 1 ? 5
					 : 4;
	const uint32_t tail[] = { c->wrap, c->sensitivity, c->slots };

	pack_array(pack, n);
	pack_name(pack, c->name, FORMAT_NAME_BYTES);
	pack_uint32(pack, c->type);
	pack_uint32(pack, c->semantics);
	pack_uint32(pack, c->unit);
	if (n > 4)
		pack_uint32(pack, c->scale_mul);
	if (n > 5)
		pack_uint32(pack, c->scale_div);
	if (n > 6)
		pack_name(pack, c->counted, FORMAT_NAME_BYTES);
	for (uint32_t i = 7; i < n; i++)
		pack_uint32(pack, tail[i - 7]);
}

uint32_t describe_table(struct pack *pack, const struct sonde_schema *schema, const char *instance,
			uint32_t number, uint32_t from)
{
	uint32_t left = schema->ncolumns - from;
	uint32_t n = left < COLUMNS_EACH ? left : COLUMNS_EACH;

	if (!from) {
		pack_array(pack, 7 + n);
		pack_uint32(pack, FORMAT_TABLE);
		pack_uint32(pack, number);
		pack_name(pack, instance, FORMAT_NAME_BYTES);
		pack_name(pack, schema->name, FORMAT_NAME_BYTES);
		pack_uint64(pack, schema->hash);
		pack_uint32(pack, schema->flags);
		pack_uint32(pack, schema->ncolumns);
	} else {
		pack_array(pack, 2 + n);
		pack_uint32(pack, FORMAT_COLUMNS);
		pack_uint32(pack, number);
	}
	for (uint32_t i = from; i < from + n; i++)
		pack_column(pack, &schema->columns[i]);
	return n < left ? from + n : 0;
}

uint32_t describe_help(struct pack *pack, const struct sonde_schema *schema, uint32_t number,
		       uint32_t from)
{
	uint32_t left = 1 + schema->ncolumns - from;
	uint32_t n = left < HELPS_EACH ? left : HELPS_EACH;

	pack_array(pack, 3 + 2 * n);
	pack_uint32(pack, FORMAT_HELP);
	pack_uint32(pack, number);
	pack_uint32(pack, from);
	for (uint32_t i = from; i < from + n; i++) {
		pack_name(pack, i ? schema->columns[i - 1].origin : schema->origin,
			  FORMAT_HELP_BYTES);
		pack_name(pack, i ? schema->columns[i - 1].help : schema->help, FORMAT_HELP_BYTES);
	}
	return n < left ? from + n : 0;
}
