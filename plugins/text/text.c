/* text: files that no other collector knows, their columns declared in the configuration; or as they are. */
#include "text.h"

struct conf {
	struct sonde_list file, column;
	uint64_t skip;
	uint32_t format; /* enum text_format */
};

static const struct sonde_option options[] = {
	{ "file", SONDE_OPT_LIST, offsetof(struct conf, file), NULL, NULL, 0, 0,
	  "a file, all in this section of one form; an absolute path" },
	{ "format", SONDE_OPT_CHOICE, offsetof(struct conf, format), "keyed",
	  "keyed|columns|verbatim", 0, 0,
	  "keyed: lines that begin with a key, one row; columns: lines of words, a row each; verbatim: the text itself" },
	{ "column", SONDE_OPT_LIST, offsetof(struct conf, column), "", NULL, 0, 0,
	  "NAME KIND UNIT WHERE, one a line: hits counter count:requests rc:1" },
	{ "skip", SONDE_OPT_U64, offsetof(struct conf, skip), "0", NULL, 0, 1000,
	  "lines of heading, of format = columns" },
};

struct state {
	struct sonde_file **files; /* as in conf; NULL: it could not be opened */
	struct text_field *fields;
	uint32_t nfields, table;
	bool has_key; /* of columns: one is declared, so lines need no numbers */
};

static int check(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	const char *wrong = NULL;
	struct text_field field;
	char why[512];

	for (uint32_t i = 0; i < conf->file.count; i++) {
		if (conf->file.items[i][0] == '/')
			continue;
		sonde_log(self, SONDE_ERROR,
			  "file = %s: an absolute path, as in /proc/net/rpc/nfsd",
			  conf->file.items[i]);
		return -EINVAL;
	}
	if (conf->column.count > FIELDS)
		wrong = "64 at most";
	else if (conf->column.count && conf->format == FORMAT_VERBATIM)
		wrong = "format = verbatim takes the text as it is, without any";
	else if (!conf->column.count && conf->format != FORMAT_VERBATIM)
		wrong = "each value to be read is declared, NAME KIND UNIT WHERE; or format = "
			"verbatim";
	if (wrong) {
		sonde_log(self, SONDE_ERROR, "column: %s", wrong);
		return -EINVAL;
	}
	for (uint32_t i = 0; i < conf->column.count; i++) {
		if (!text_declare(conf->column.items[i], conf->format, &field, why, sizeof why))
			continue;
		sonde_log(self, SONDE_ERROR, "%s", why);
		return -EINVAL;
	}
	return 0;
}

/* Keys first, as tables have them. */
static int declare(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	char why[512];
	int err = sonde_grow(self, &state->fields, FIELDS * sizeof *state->fields);

	for (int keys = 1; !err && keys >= 0; keys--) {
		for (uint32_t i = 0; i < conf->column.count; i++) {
			struct text_field *field = &state->fields[state->nfields];

			err = text_declare(conf->column.items[i], conf->format, field, why,
					   sizeof why);
			if (err)
				return err;
			if ((field->semantics == SONDE_KEY) != keys)
				continue;
			state->has_key |= keys;
			state->nfields++;
		}
	}
	return err;
}

/* The table `text`, or text_LABEL of [text LABEL]: its file, the line where nothing else tells rows apart, what is declared. */
static int add_table(struct sonde_instance *self)
{
	static const struct sonde_column file = {
		"file",     SONDE_STR,        SONDE_KEY,
		SONDE_NONE, .origin = "file", .help = "As the configuration has it"
	};
	static const struct sonde_column line = { "line",
						  SONDE_U64,
						  SONDE_KEY,
						  SONDE_NONE,
						  .origin = "its place",
						  .help = "From 1, behind the heading" };
	static const struct sonde_column text = { "text",
						  SONDE_STR,
						  SONDE_INFO,
						  SONDE_NONE,
						  .origin = "the whole file",
						  .help = "Its bytes, at most 65,535",
						  .sensitivity = SONDE_ARGUMENT };
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	struct sonde_column columns[FIELDS + FIRST_FIELD];
	char name[NAME_MOST + 8];
	struct sonde_table table = { .name = name,
				     .origin = "the files of the section",
				     .help = "As the configuration declares it." };
	uint32_t n = 0;
	int index;

	snprintf(name, sizeof name, *self->label ? "text_%s" : "text", self->label);
	columns[n++] = file;
	if (conf->format == FORMAT_COLUMNS && !state->has_key)
		columns[n++] = line;
	if (conf->format == FORMAT_VERBATIM)
		columns[n++] = text;
	for (uint32_t i = 0; i < state->nfields; i++) {
		struct text_field *field = &state->fields[i];

		field->slot = n;
		columns[n++] = (struct sonde_column) {
			.name = field->name,
			.type = field->type,
			.semantics = field->semantics,
			.unit = field->unit,
			.scale_mul = field->mul,
			.scale_div = field->div,
			.counted = field->unit == SONDE_BASE_COUNT ? field->counted : NULL,
			.origin = "column =",
			.help = "As the configuration declares it",
			.sensitivity = field->type == SONDE_STR ? SONDE_NAME : SONDE_PUBLIC,
		};
	}
	table.columns = (struct sonde_array) { columns, n, sizeof columns[0] };
	table.rows = conf->format == FORMAT_COLUMNS ? 256 : conf->file.count;
	index = sonde_add_table(self, &table);
	state->table = (uint32_t)index;
	return index < 0 ? index : 0;
}

static int start(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	uint32_t found = 0;
	int err = check(self);

	if (!err)
		err = declare(self);
	if (!err)
		err = add_table(self);
	if (!err)
		err = sonde_grow(self, &state->files, conf->file.count * sizeof *state->files);
	if (err)
		return err;
	for (uint32_t i = 0; i < conf->file.count; i++) {
		state->files[i] = sonde_open(self, SONDE_FRESH, "%s", conf->file.items[i]);
		found += state->files[i] != NULL;
	}
	return found ? 0
		     : sonde_unavailable(self, "none of its files can be opened; the first is %s",
					 conf->file.count ? conf->file.items[0] : "not named");
}

static void sample_lines(struct sonde_instance *self, struct sonde_frame *frame, const char *path,
			 const char *text, size_t length)
{
	const struct conf *conf = self->conf;
	const struct state *state = self->state;
	struct cursor line = cursor(text, length);

	for (uint64_t n = 0; next_line(&line); n++) {
		struct sonde_row row;
		const char *word;
		struct cursor words = line;

		if (n < conf->skip || !next_word(&words, &word))
			continue;
		if (!sonde_row(self, frame, state->table, &row))
			return;
		sonde_set_str(&row, 0, path);
		if (!state->has_key)
			sonde_set_u64(&row, 1, n + 1 - conf->skip);
		text_parse_line(state->fields, state->nfields, line, &row);
	}
}

static void sample_text(struct sonde_instance *self, struct sonde_frame *frame, const char *path,
			const char *text, size_t length)
{
	const struct conf *conf = self->conf;
	const struct state *state = self->state;
	struct sonde_row row;

	if (conf->format == FORMAT_COLUMNS) {
		sample_lines(self, frame, path, text, length);
		return;
	}
	if (!sonde_row(self, frame, state->table, &row))
		return;
	sonde_set_str(&row, 0, path);
	if (conf->format == FORMAT_KEYED)
		text_parse_keyed(state->fields, state->nfields, text, length, &row);
	else
		sonde_set_bytes(&row, 1, text, length);
}

/* A file that can't be read leaves the others; it is tried again each time. */
static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	const struct conf *conf = self->conf;
	const struct state *state = self->state;

	for (uint32_t i = 0; i < conf->file.count; i++) {
		struct sonde_file **file = &state->files[i];
		const char *path = conf->file.items[i], *text;
		int64_t length;

		if (!*file)
			*file = sonde_open(self, SONDE_FRESH, "%s", path);
		length = *file ? sonde_read(self, *file, &text) : -ENOENT;
		if (length >= 0)
			sample_text(self, frame, path, text, (size_t)length);
		else
			sonde_note(self, "%s can't be read: %s", path, strerror((int)-length));
	}
	return 0;
}

SONDE_COLLECTOR(text, "files that no other collector knows, columns as declared", sample,
		.options = SONDE_OPTIONS(options), .conf_size = sizeof(struct conf),
		.state_size = sizeof(struct state), .check = check, .start = start);
