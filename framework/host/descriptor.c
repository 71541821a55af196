/* A plugin's descriptor, checked and copied into this host's layout: older and newer plugins have shorter and longer structs
 * (plugin.h). */
#include "core/records.h"
#include "core/schema.h"
#include "host/descriptor.h"
#include "host/folders.h"
#include "host/must.h"
#include "host/options.h"
#include "host/refuse.h"
#include "host/values.h"

enum { OPTIONS_MOST = 512, TABLES_MOST = 512, CONF_MOST = 1 << 20 };

/* Bytes up to and with a field: what the first ABI 1 had. */
#define UP_TO(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

int descriptor_version(uint32_t magic, uint16_t major, uint16_t minor, uint32_t bytes, char *why,
		       size_t size)
{
	if (magic != SONDE_MAGIC)
		return refuse(
			why, size,
			"its magic is %08x, not %08x: it is no sonde plugin, or was built for "
			"the other byte order",
			magic, SONDE_MAGIC);
	if (major != SONDE_ABI_MAJOR)
		return refuse(why, size,
			      "it is built for ABI %u.%u and this sonde has %u.%u; build it with "
			      "this sonde's <sonde/plugin.h>",
			      major, minor, SONDE_ABI_MAJOR, SONDE_ABI_MINOR);
	if (bytes < UP_TO(struct sonde_plugin, ops_size))
		return refuse(
			why, size,
			"its descriptor has %u bytes and ABI 1 begins with %zu; build it with "
			"an unchanged <sonde/plugin.h>",
			bytes, UP_TO(struct sonde_plugin, ops_size));
	return 0;
}

/* Copies an array whose items may be shorter or longer than this host's `item` bytes, but not than `first`, those of the
 * first ABI 1. */
static int take_array(const struct sonde_array *array, const char *what, size_t item, size_t first,
		      size_t most, void **items, char *why, size_t size)
{
	char *copy;

	*items = NULL;
	if (!array->count)
		return 0;
	if (!array->items || array->count > most || array->stride < first)
		return refuse(
			why, size,
			"its array of %s is malformed (%u items of %u bytes); use the macros of "
			"<sonde/plugin.h>",
			what, array->count, array->stride);
	copy = must(calloc(array->count, item));
	for (size_t i = 0; i < array->count; i++)
		memcpy(copy + i * item, (const char *)array->items + i * array->stride,
		       least(item, array->stride));
	*items = copy;
	return 0;
}

/* What is wrong with one option, in words; NULL: nothing. */
static const char *option_fault(const struct sonde_option *o, uint32_t conf_size)
{
	size_t bytes = value_size(o->type);
	size_t align = bytes < sizeof(uint64_t) ? sizeof(uint32_t) : _Alignof(uint64_t);

	if (!folders_good_name(o->key))
		return "its key is not [a-z][a-z0-9_]* of at most 31 bytes";
	if (!bytes)
		return "it has no type that this sonde knows (SONDE_OPT_U64, ...)";
	if (o->offset > conf_size || bytes > conf_size - o->offset)
		return "its field lies outside conf; set .conf_size = sizeof(struct conf)";
	if (o->offset % align)
		return "its offset is not that of a field of its type";
	if (o->min > o->max)
		return "its range ends before it begins";
	if (o->type == SONDE_OPT_CHOICE && (!o->choices || !*o->choices))
		return "it has no choices (\"a|b|c\")";
	return NULL;
}

static int check_option(const struct plugin *plugin, size_t index, void *conf,
			struct options_memory **memory, char *why, size_t size)
{
	const struct sonde_option *o = &plugin->options[index];
	const char *fault =
		o->key ? option_fault(o, plugin->descriptor.conf_size) : "it has no key";
	char sentence[512];

	if (!o->key || fault)
		return refuse(why, size, "option %zu (%.40s): %s", index, o->key ? o->key : "",
			      fault);
	for (size_t i = 0; i < index; i++)
		if (strcmp(plugin->options[i].key, o->key) == 0)
			return refuse(why, size, "two of its options are called %s", o->key);
	if (option_default(o, conf, memory, sentence, sizeof sentence))
		return refuse(why, size, "the default of its option %s is wrong: %s", o->key,
			      sentence);
	return 0;
}

static int check_options(const struct plugin *plugin, char *why, size_t size)
{
	void *conf = must(calloc(1, (size_t)plugin->descriptor.conf_size + 1));
	struct options_memory *memory = NULL;
	int err = 0;

	for (size_t i = 0; plugin->options && i < plugin->noptions && !err; i++)
		err = check_option(plugin, i, conf, &memory, why, size);
	options_free(memory);
	free(conf);
	return err;
}

static int take_tables(struct plugin *plugin, char *why, size_t size)
{
	void *tables = NULL;
	int err = take_array(&plugin->descriptor.tables, "tables", sizeof(struct sonde_table),
			     UP_TO(struct sonde_table, max_rows), TABLES_MOST, &tables, why, size);

	plugin->tables = tables;
	if (err || !plugin->tables)
		return err;
	plugin->schemas = must(calloc(plugin->descriptor.tables.count, sizeof *plugin->schemas));
	while (!err && plugin->ntables < plugin->descriptor.tables.count) {
		const struct sonde_table *table = &plugin->tables[plugin->ntables];

		err = schema_make(table, &plugin->schemas[plugin->ntables], why, size);
		if (err)
			return err;
		plugin->ntables++;
		if (record_is(table->name))
			err = refuse(why, size, "table %s: the name is the host's own",
				     table->name);
		for (size_t i = 0; i + 1 < plugin->ntables && !err; i++)
			if (strcmp(plugin->tables[i].name, table->name) == 0)
				err = refuse(why, size, "two of its tables are called %s",
					     table->name);
	}
	return err;
}

static const char *sink_fault(const struct sonde_sink_ops *ops)
{
	if (ops->intake < SONDE_TAKES_VIEWS || ops->intake > SONDE_TAKES_DATAGRAMS)
		return "it does not say what it takes (.intake)";
	if (ops->assertion < SONDE_PEER || ops->assertion > SONDE_REPLACED)
		return "it does not say what `delivered` asserts (.assertion)";
	if (ops->intake == SONDE_TAKES_VIEWS ? !ops->view : !ops->bytes)
		return ops->intake == SONDE_TAKES_VIEWS ? "it takes views and has no view()"
							: "it takes bytes and has no bytes()";
	return NULL;
}

/* What is wrong with the functions of its kind. */
static const char *ops_fault(const struct plugin *plugin)
{
	switch (plugin->descriptor.kind) {
	case SONDE_KIND_COLLECTOR:
		return plugin->ops.collector.sample ? NULL : "it has no sample()";
	case SONDE_KIND_SINK:
		return sink_fault(&plugin->ops.sink);
	case SONDE_KIND_ANALYZER:
		return plugin->ops.analyzer.judge ? NULL : "it has no judge()";
	default:
		return plugin->ops.source.poll ? NULL : "it has no poll()";
	}
}

static int take_ops(struct plugin *plugin, char *why, size_t size)
{
	static const size_t first[] = {
		[SONDE_KIND_COLLECTOR] = UP_TO(struct sonde_collector_ops, sample),
		[SONDE_KIND_SINK] = UP_TO(struct sonde_sink_ops, choose_intake),
		[SONDE_KIND_ANALYZER] = UP_TO(struct sonde_analyzer_ops, judge),
		[SONDE_KIND_SOURCE] = UP_TO(struct sonde_source_ops, poll),
	};
	static const size_t whole[] = {
		[SONDE_KIND_COLLECTOR] = sizeof(struct sonde_collector_ops),
		[SONDE_KIND_SINK] = sizeof(struct sonde_sink_ops),
		[SONDE_KIND_ANALYZER] = sizeof(struct sonde_analyzer_ops),
		[SONDE_KIND_SOURCE] = sizeof(struct sonde_source_ops),
	};
	const struct sonde_plugin *d = &plugin->descriptor;
	const char *fault;

	if (!d->ops || d->ops_size < first[d->kind])
		return refuse(why, size,
			      "its functions are malformed (%u bytes); use the macros of "
			      "<sonde/plugin.h>",
			      d->ops_size);
	memcpy(&plugin->ops, d->ops, least(d->ops_size, whole[d->kind]));
	fault = ops_fault(plugin);
	return fault ? refuse(why, size, "%s", fault) : 0;
}

/* Sentences on the plain fields. */
static int check_fields(const struct sonde_plugin *d, char *why, size_t size)
{
	if (d->host_need > sizeof(struct sonde_host))
		return refuse(why, size,
			      "it needs %u bytes of host services and this sonde has %zu; update "
			      "sonde, or build the plugin without SONDE_USE_MINOR",
			      d->host_need, sizeof(struct sonde_host));
	if (d->kind < SONDE_KIND_COLLECTOR || d->kind > SONDE_KIND_SOURCE)
		return refuse(why, size, "its kind is %u, which this sonde does not know", d->kind);
	if (!d->name || !folders_good_name(d->name))
		return refuse(why, size, "its name is not [a-z][a-z0-9_]* of at most 31 bytes");
	if (!d->version || !d->summary)
		return refuse(why, size, "it has no version or no summary");
	if (d->conf_size > CONF_MOST)
		return refuse(why, size, "its conf has %u bytes; %d are possible", d->conf_size,
			      CONF_MOST);
	return 0;
}

int descriptor_take(struct plugin *plugin, const struct sonde_plugin *exported, char *why,
		    size_t size)
{
	struct sonde_plugin *d = &plugin->descriptor;
	void *options = NULL;
	int err = descriptor_version(exported->magic, exported->abi_major, exported->abi_minor,
				     exported->size, why, size);

	if (err)
		return err;
	memcpy(d, exported, least(exported->size, sizeof *d));
	err = check_fields(d, why, size);
	if (!err)
		err = take_ops(plugin, why, size);
	if (!err)
		err = take_array(&d->options, "options", sizeof(struct sonde_option),
				 offsetof(struct sonde_option, help), OPTIONS_MOST, &options, why,
				 size);
	if (!err) {
		plugin->options = options;
		plugin->noptions = d->options.count;
		err = check_options(plugin, why, size);
	}
	return err ? err : take_tables(plugin, why, size);
}

void descriptor_free(struct plugin *plugin)
{
	for (size_t i = 0; i < plugin->ntables; i++)
		schema_free(plugin->schemas[i]);
	free(plugin->schemas);
	free((struct sonde_table *)plugin->tables);
	free((struct sonde_option *)plugin->options);
}
