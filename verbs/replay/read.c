/* A fixture out of its document: the host's constants, instants, tables. */
#include "fixture.h"

#include "core/schema.h"
#include "wire/format.h"

/* ---- host ---- */

static int take_anchor(struct fixture *f, const json_t *host)
{
	static const char *const members[] = { "boottime",  "monotonic",    "realtime", "offset",
					       "max_error", "synchronised", NULL };
	static const char where[] = "host.anchor";
	const json_t *from = json_object_get(host, "anchor");
	struct sonde_anchor *anchor = &f->header.anchor;
	bool synchronised = false;
	int err = from ? check_members(f, from, where, members) : 0;

	if (!err)
		err = take_u64(f, from, where, "boottime", &anchor->boottime);
	anchor->monotonic = anchor->boottime;
	if (!err)
		err = take_u64(f, from, where, "monotonic", &anchor->monotonic);
	if (!err)
		err = take_i64(f, from, where, "realtime", &anchor->realtime);
	if (!err)
		err = take_i64(f, from, where, "offset", &anchor->offset);
	if (!err)
		err = take_u64(f, from, where, "max_error", &anchor->max_error);
	if (!err)
		err = take_bool(f, from, where, "synchronised", &synchronised);
	anchor->synchronised = synchronised;
	return err;
}

static int take_tags(struct fixture *f, const json_t *host)
{
	json_t *from = json_object_get(host, "tags"), *value;
	const char *key;
	int err = 0;

	if (!from)
		return 0;
	if (!json_is_object(from) || json_object_size(from) > FORMAT_TAGS)
		return refuse(f, "host.tags", "an object of at most %d texts is wanted",
			      FORMAT_TAGS);
	f->tags = calloc(FORMAT_TAGS, sizeof *f->tags);
	if (!f->tags)
		return -ENOMEM;
	f->header.tags = f->tags;
	json_object_foreach(from, key, value)
	{
		struct sonde_tag *tag = &f->tags[f->header.ntags++];

		tag->name = key;
		if (!err && strlen(key) > FORMAT_NAME_BYTES)
			err = refuse(f, "host.tags", "a name is longer than %d bytes",
				     FORMAT_NAME_BYTES);
		if (!err)
			err = take_text(f, from, "host.tags", key, FORMAT_NAME_BYTES, &tag->value);
	}
	return err;
}

static int take_host(struct fixture *f, const json_t *host)
{
	struct sonde_stream_header *header = &f->header;
	const struct {
		const char *key, **text;
	} texts[] = {
		{ "name", &header->host },
		{ "label", &header->label },
		{ "kernel", &header->kernel },
		{ "arch", &header->arch },
		{ "machine_id", &header->machine_id },
		{ "boot_id", &header->boot_id },
		{ "online", &header->online },
		{ "nodes", &header->nodes },
		{ "version", &header->version },
	};
	const struct {
		const char *key;
		uint32_t *number;
	} numbers[] = {
		{ "ncpus", &header->ncpus },
		{ "user_hz", &header->user_hz },
		{ "page_size", &header->page_size },
	};
	static const char *const members[] = { "name",       "label",    "kernel",  "arch",
					       "machine_id", "boot_id",  "online",  "nodes",
					       "version",    "ncpus",    "user_hz", "page_size",
					       "utc_offset", "start_id", "anchor",  "tags",
					       NULL };
	int64_t utc_offset = 0;
	int err = check_members(f, host, "host", members);

	header->start_id = 1;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		*texts[i].text = "";
		if (!err)
			err = take_text(f, host, "host", texts[i].key, FORMAT_NAME_BYTES,
					texts[i].text);
	}
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !err; i++)
		err = take_u32(f, host, "host", numbers[i].key, numbers[i].number);
	if (!err)
		err = take_u64(f, host, "host", "start_id", &header->start_id);
	if (!err)
		err = take_i64(f, host, "host", "utc_offset", &utc_offset);
	if (!err && (utc_offset < -86400 || utc_offset > 86400))
		err = refuse(f, "host", "utc_offset: more than a day");
	header->utc_offset = (int32_t)utc_offset;
	if (!err)
		err = take_anchor(f, host);
	return err ? err : take_tags(f, host);
}

/* ---- instants ---- */

/* A time; or begin, end, and the number where it is not one more than that before. */
static bool is_moment(const json_t *from, const struct moment *before, struct moment *moment)
{
	size_t n = json_array_size(from);

	moment->sequence = before ? before->sequence + 1 : 1;
	if (is_u64(from, &moment->begin)) {
		moment->end = moment->begin;
		return true;
	}
	return (n == 2 || n == 3) && is_u64(json_array_get(from, 0), &moment->begin) &&
	       is_u64(json_array_get(from, 1), &moment->end) &&
	       (n == 2 || is_u64(json_array_get(from, 2), &moment->sequence));
}

static int take_instants(struct fixture *f, const json_t *instants)
{
	size_t count = json_array_size(instants);

	if (!json_is_array(instants) || !count || count > INSTANTS_MOST)
		return refuse(f, "instants", "a list of 1 to %d instants is wanted", INSTANTS_MOST);
	f->instants = calloc(count, sizeof *f->instants);
	if (!f->instants)
		return -ENOMEM;
	for (; f->ninstants < count; f->ninstants++) {
		struct moment *moment = &f->instants[f->ninstants];
		const struct moment *before = f->ninstants ? moment - 1 : NULL;
		char where[64];

		snprintf(where, sizeof where, "instants[%u]", f->ninstants);
		if (!is_moment(json_array_get(instants, f->ninstants), before, moment))
			return refuse(f, where,
				      "a time in ns since boot, or [begin, end, number] is wanted");
		if (!moment->begin || moment->end < moment->begin ||
		    moment->end > (uint64_t)INT64_MAX)
			return refuse(f, where,
				      "it begins after 0 and ends no earlier than it begins");
		if (before && moment->sequence <= before->sequence)
			return refuse(f, where, "its number is not above that of the one before");
	}
	return 0;
}

/* ---- tables ---- */

/* A word's place among those of a kind; it is required where `initial` is 0. */
static int take_word(struct fixture *f, const json_t *object, const char *where, const char *key,
		     const char *(*name)(uint32_t), uint32_t initial, uint32_t *value)
{
	const char *word = NULL;
	int err = take_text(f, object, where, key, FORMAT_NAME_BYTES, &word);

	if (err)
		return err;
	*value = initial;
	if (!word)
		return initial ? 0 : refuse(f, where, "it has no %s", key);
	for (*value = 1; *value < 32; ++*value)
		if (name(*value) && strcmp(name(*value), word) == 0)
			return 0;
	return refuse(f, where, "%s: \"%.64s\" is none", key, word);
}

static const char *sensitivity_name(uint32_t sensitivity)
{
	static const char *const names[] = { NULL, "name", "path", "argument", "address" };

	return sensitivity < sizeof names / sizeof *names ? names[sensitivity] : NULL;
}

static int take_column(struct fixture *f, const json_t *from, const char *where,
		       struct sonde_column *column)
{
	static const char *const members[] = { "name",        "type",  "semantics", "unit",
					       "mul",         "div",   "counted",   "wrap",
					       "sensitivity", "slots", "origin",    "help",
					       NULL };
	int err = check_members(f, from, where, members);

	*column = (struct sonde_column) { .scale_mul = 1, .scale_div = 1 };
	if (!err)
		err = take_text(f, from, where, "name", SCHEMA_MAX_NAME, &column->name);
	if (!err)
		err = take_word(f, from, where, "type", type_name, SONDE_U64, &column->type);
	if (!err)
		err = take_word(f, from, where, "semantics", semantics_name, 0, &column->semantics);
	if (!err)
		err = take_word(f, from, where, "unit", unit_name, SONDE_BASE_NONE, &column->unit);
	if (!err)
		err = take_u32(f, from, where, "mul", &column->scale_mul);
	if (!err)
		err = take_u32(f, from, where, "div", &column->scale_div);
	if (!err)
		err = take_text(f, from, where, "counted", SCHEMA_MAX_NAME, &column->counted);
	if (!err)
		err = take_u32(f, from, where, "wrap", &column->wrap);
	if (!err && json_object_get(from, "sensitivity"))
		err = take_word(f, from, where, "sensitivity", sensitivity_name, 0,
				&column->sensitivity);
	if (!err)
		err = take_u32(f, from, where, "slots", &column->slots);
	if (!err)
		err = take_text(f, from, where, "origin", FORMAT_HELP_BYTES, &column->origin);
	return err ? err : take_text(f, from, where, "help", FORMAT_HELP_BYTES, &column->help);
}

static int take_columns(struct fixture *f, const json_t *from, const char *where,
			struct sonde_table *table)
{
	size_t count = json_array_size(from);
	struct sonde_column *columns;
	int err = 0;

	f->columns += (uint32_t)(count < SCHEMA_MAX_COLUMNS ? count : SCHEMA_MAX_COLUMNS);
	if (!count || count > SCHEMA_MAX_COLUMNS || f->columns > FORMAT_COLUMNS_ALL)
		return refuse(f, where, "columns: a list of 1 to %d is wanted, %d in all tables",
			      SCHEMA_MAX_COLUMNS, FORMAT_COLUMNS_ALL);
	columns = calloc(count, sizeof *columns);
	if (!columns)
		return -ENOMEM;
	table->columns = (struct sonde_array) { columns, (uint32_t)count, sizeof *columns };
	for (size_t i = 0; i < count && !err; i++) {
		char place[160];

		snprintf(place, sizeof place, "%.64s.columns[%zu]", where, i);
		err = take_column(f, json_array_get(from, i), place, &columns[i]);
	}
	return err;
}

static int take_schema(struct fixture *f, const json_t *from, const char *where,
		       struct table *table)
{
	struct sonde_table made = { 0 };
	bool events = false;
	char why[256] = "";
	int err = take_text(f, from, where, "name", SCHEMA_MAX_NAME, &made.name);

	if (!err)
		err = take_bool(f, from, where, "events", &events);
	if (!err)
		err = take_text(f, from, where, "origin", FORMAT_HELP_BYTES, &made.origin);
	if (!err)
		err = take_text(f, from, where, "help", FORMAT_HELP_BYTES, &made.help);
	if (!err)
		err = take_columns(f, json_object_get(from, "columns"), where, &made);
	made.flags = events ? SONDE_EVENTS : 0;
	if (!err)
		err = schema_make(&made, &table->schema, why, sizeof why);
	if (err == -EINVAL)
		err = refuse(f, where, "%s", why);
	free((void *)made.columns.items);
	return err;
}

/* Places of instants, ascending: each gets the bits. */
static int mark(struct fixture *f, const json_t *list, const char *where, const char *key,
		struct table *table, unsigned char bits)
{
	uint64_t place, before = 0;

	if (!json_is_array(list))
		return refuse(f, where, "%s: a list of instants is wanted", key);
	for (size_t i = 0; i < json_array_size(list); i++) {
		if (!is_u64(json_array_get(list, i), &place) || place >= f->ninstants ||
		    (i && place <= before))
			return refuse(f, where,
				      "%s: places of instants below %u are wanted, ascending", key,
				      f->ninstants);
		table->read[place] |= bits;
		before = place;
	}
	return 0;
}

static int take_samples(struct fixture *f, const json_t *from, const char *where,
			struct table *table)
{
	const json_t *at = json_object_get(from, "at"), *partial = json_object_get(from, "partial");
	int err = 0;

	table->read = calloc(f->ninstants, 1);
	if (!table->read)
		return -ENOMEM;
	if (!at)
		memset(table->read, READ, f->ninstants);
	else
		err = mark(f, at, where, "at", table, READ);
	if (!err && partial)
		err = mark(f, partial, where, "partial", table, READ | PARTIAL);
	if (err)
		return err;
	for (table->first = 0; table->first < f->ninstants && !table->read[table->first];)
		table->first++;
	for (table->last = f->ninstants; table->last && !table->read[table->last - 1];)
		table->last--;
	if (!table->last)
		return refuse(f, where, "it is read at no instant");
	table->last--;
	return 0;
}

static int take_table(struct fixture *f, const json_t *from, struct table *table)
{
	static const char *const members[] = { "name",    "instance", "events",  "origin", "help",
					       "columns", "at",       "partial", "rows",   NULL };
	char where[64];
	int err;

	snprintf(where, sizeof where, "tables[%u]", f->ntables++);
	err = check_members(f, from, where, members);
	if (!err)
		err = take_schema(f, from, where, table);
	if (err)
		return err;
	table->instance = table->schema->name;
	err = take_text(f, from, where, "instance", FORMAT_NAME_BYTES, &table->instance);
	if (!err)
		err = take_samples(f, from, where, table);
	return err ? err : take_rows(f, table, json_object_get(from, "rows"), where);
}

static int take_tables(struct fixture *f, const json_t *tables)
{
	size_t count = json_array_size(tables);
	int err = 0;

	if (!json_is_array(tables) || count > FORMAT_TABLES)
		return refuse(f, "tables", "a list of at most %d is wanted", FORMAT_TABLES);
	f->tables = calloc(count + 1, sizeof *f->tables);
	if (!f->tables)
		return -ENOMEM;
	while (!err && f->ntables < count)
		err = take_table(f, json_array_get(tables, f->ntables), &f->tables[f->ntables]);
	return err;
}

/* ---- the whole ---- */

static int take_meta(struct fixture *f, const json_t *meta)
{
	static const char *const members[] = { "document", "format", NULL };
	const char *document = "";
	uint64_t format = 0;
	int err = check_members(f, meta, "meta", members);

	if (!err)
		err = take_text(f, meta, "meta", "document", 64, &document);
	if (!err)
		err = take_u64(f, meta, "meta", "format", &format);
	if (!err && (strcmp(document, "sonde fixture") != 0 || format != 1))
		err = refuse(f, "meta",
			     "no fixture that this version knows: \"document\": \"sonde fixture\", "
			     "\"format\": 1");
	return err;
}

int fixture_read(struct fixture *f, const char *text, size_t length)
{
	static const char *const members[] = { "meta", "host", "instants", "tables", NULL };
	json_error_t error;
	int err;

	f->document = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
	if (!f->document) {
		char where[64];

		snprintf(where, sizeof where, "line %d", error.line);
		return refuse(f, where, "no JSON: %s", error.text);
	}
	err = check_members(f, f->document, "the document", members);
	if (!err)
		err = take_meta(f, json_object_get(f->document, "meta"));
	if (!err)
		err = take_host(f, json_object_get(f->document, "host"));
	if (!err)
		err = take_instants(f, json_object_get(f->document, "instants"));
	return err ? err : take_tables(f, json_object_get(f->document, "tables"));
}

void fixture_free(struct fixture *f)
{
	for (uint32_t t = 0; t < f->ntables; t++) {
		struct table *table = &f->tables[t];

		for (uint32_t i = 0; i < table->nrows; i++) {
			free(table->rows[i].changes);
			free(table->rows[i].words);
		}
		free(table->rows);
		free(table->read);
		schema_free(table->schema);
	}
	free(f->tables);
	free(f->tags);
	free(f->instants);
	free(f->text.bytes);
	json_decref(f->document);
}
