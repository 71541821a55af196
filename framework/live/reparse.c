/* A recording with raw bytes again: the file service answers from rows of the table `raw` (host/capture.h). */
#include <errno.h>
#include <stdlib.h>

#include "core/schema.h"
#include "host/capture.h"
#include "host/log.h"
#include "host/must.h"
#include "host/reparse.h"
#include "host/self.h"

/* What one call gave then. */
struct answer {
	const char *call, *path, *bytes; /* in the instant's strings, or joined */
	uint32_t ncall, npath;
	size_t length;
	int error;
	bool used;
};

struct held {
	char *bytes;
	size_t size;
};

struct source {
	struct instance *instance;
	struct answer *answers; /* of this instant */
	size_t nanswers, room;
	struct held text,
		names; /* what was read last, and listed last: the one outlasts the other */
	struct old_file *files; /* open ones: a plugin need not close them */
	bool refused;           /* start() failed */
};

struct reparse {
	struct sonde_host services;
	struct source *sources; /* of the collectors */
	size_t nsources;
	struct instant made; /* of the newest instant */
	struct sonde_view *views;
	size_t room;
	char *joined; /* bytes that came in parts */
	size_t njoined, joined_size;
};

/* ---- The file service */

struct old_file {
	struct source *source;
	struct old_file *next, **link;
	char path[];
};

static struct source *source_of(struct sonde_instance *self)
{
	return instance_of(self)->role;
}

/* The next answer to this call that was not yet given. A file that was not read then is not there now. */
static const struct answer *ask(struct source *source, const char *call, const char *path)
{
	static const struct answer none = { .error = ENOENT };

	for (size_t i = 0; i < source->nanswers; i++) {
		struct answer *answer = &source->answers[i];

		if (answer->used || answer->ncall != strlen(call) ||
		    answer->npath != strlen(path) ||
		    memcmp(answer->call, call, answer->ncall) != 0 ||
		    memcmp(answer->path, path, answer->npath) != 0)
			continue;
		answer->used = true;
		return answer;
	}
	return &none;
}

static int64_t give_text(struct held *held, const struct answer *answer, const char **text)
{
	if (answer->error)
		return -answer->error;
	if (held->size <= answer->length) {
		held->size = answer->length * 2 + 1;
		held->bytes = must(realloc(held->bytes, held->size));
	}
	if (answer->length)
		memcpy(held->bytes, answer->bytes, answer->length);
	held->bytes[answer->length] = '\0';
	*text = held->bytes;
	return (int64_t)answer->length;
}

static struct sonde_file *old_open(struct sonde_instance *self, uint32_t mode, const char *path)
{
	const struct answer *answer = ask(source_of(self), "open", path);
	struct source *source = source_of(self);
	struct old_file *file;

	(void)mode;
	if (answer->error) {
		errno = answer->error;
		return NULL;
	}
	file = must(calloc(1, sizeof *file + strlen(path) + 1));
	file->source = source;
	file->next = source->files;
	file->link = &source->files;
	if (file->next)
		file->next->link = &file->next;
	source->files = file;
	memcpy(file->path, path, strlen(path) + 1);
	return (struct sonde_file *)file;
}

static int64_t old_read(struct sonde_file *file, const char **text)
{
	struct old_file *old = (struct old_file *)file;

	return give_text(&old->source->text, ask(old->source, "read", old->path), text);
}

/* The parts as they were then. */
static int64_t old_read_lines(struct sonde_file *file, uint64_t limit, const char **text)
{
	(void)limit;
	return old_read(file, text);
}

static void old_close(struct sonde_file *file)
{
	struct old_file *old = (struct old_file *)file;

	if (!old)
		return;
	*old->link = old->next;
	if (old->next)
		old->next->link = old->link;
	free(old);
}

static int64_t old_list(struct sonde_instance *self, const char *path, const char **names)
{
	struct source *source = source_of(self);
	int64_t length = give_text(&source->names, ask(source, "list", path), names);
	int64_t count = 0;

	for (int64_t i = 0; i < length; i++)
		count += !(*names)[i];
	return length < 0 ? length : count;
}

/* The call itself is not made: it would tell of now. */
static int64_t old_obtain(struct sonde_instance *self, const char *name,
			  int64_t (*call)(void *context, void *buffer, uint64_t size),
			  void *context, void *buffer, uint64_t size)
{
	const struct answer *answer = ask(source_of(self), "obtain", name);

	(void)call, (void)context;
	if (answer->error)
		return -answer->error;
	if (answer->length > size)
		return -EMSGSIZE;
	if (answer->length)
		memcpy(buffer, answer->bytes, answer->length);
	return (int64_t)answer->length;
}

/* ---- Answers out of an instant */

static struct source *find_source(struct reparse *r, const char *name, size_t length)
{
	for (size_t i = 0; i < r->nsources; i++)
		if (strlen(r->sources[i].instance->self.name) == length &&
		    memcmp(r->sources[i].instance->self.name, name, length) == 0)
			return &r->sources[i];
	return NULL;
}

/* Columns by name: an older or newer sonde may have others. */
struct raw_slots {
	int slot[RAW_SLOTS];
};

static bool find_slots(const struct sonde_schema *schema, struct raw_slots *slots)
{
	const struct sonde_column *columns = raw_table.columns.items;

	for (int i = 0; i < RAW_SLOTS; i++) {
		int column = schema_column(schema, columns[i].name);

		if (column < 0 || schema->columns[column].type != columns[i].type)
			return false;
		slots->slot[i] = (int)schema->slot[column];
	}
	return true;
}

static const char *text_of(const struct sonde_view *view, uint32_t row, int slot, uint32_t *length)
{
	*length = 0;
	if (!sonde_view_has(view, row, (uint32_t)slot))
		return "";
	return sonde_view_bytes(view, sonde_view_slots(view, row)[slot], length);
}

static uint64_t number_of(const struct sonde_view *view, uint32_t row, int slot)
{
	return sonde_view_has(view, row, (uint32_t)slot) ? sonde_view_slots(view, row)[slot] : 0;
}

static bool is_raw(const struct sonde_view *view)
{
	return strcmp(view->schema->name, raw_table.name) == 0;
}

/* A further part, behind what there is of the answer already. */
static void join(struct reparse *r, struct answer *answer, const char *bytes, uint32_t length)
{
	bool last = r->njoined && answer->bytes + answer->length == r->joined + r->njoined;
	size_t copied = last ? 0 : answer->length;

	/* Parts that do not follow one another were not written by a capture. */
	if (copied + length > r->joined_size - r->njoined)
		return;
	if (copied) {
		memcpy(r->joined + r->njoined, answer->bytes, copied);
		answer->bytes = r->joined + r->njoined;
		r->njoined += copied;
	}
	if (length)
		memcpy(r->joined + r->njoined, bytes, length);
	r->njoined += length;
	answer->length += length;
}

static void take_row(struct reparse *r, const struct sonde_view *view, uint32_t row,
		     const struct raw_slots *at)
{
	uint32_t nname, length;
	const char *name = text_of(view, row, at->slot[RAW_INSTANCE], &nname);
	struct source *source = find_source(r, name, nname);
	const char *bytes = text_of(view, row, at->slot[RAW_BYTES], &length);
	struct answer *answer;

	if (!source)
		return;
	if (number_of(view, row, at->slot[RAW_PART]) && source->nanswers) {
		join(r, &source->answers[source->nanswers - 1], bytes, length);
		return;
	}
	if (source->nanswers == source->room) {
		source->room = source->room ? source->room * 2 : 64;
		source->answers =
			must(realloc(source->answers, source->room * sizeof *source->answers));
	}
	answer = &source->answers[source->nanswers++];
	*answer = (struct answer) { .bytes = bytes, .length = length };
	answer->call = text_of(view, row, at->slot[RAW_CALL], &answer->ncall);
	answer->path = text_of(view, row, at->slot[RAW_PATH], &answer->npath);
	answer->error = (int)number_of(view, row, at->slot[RAW_ERROR]) & 0xfff;
}

/* Room for every part of the instant, twice over, before any is joined: joined bytes must not move. */
static void make_room_to_join(struct reparse *r, const struct instant *instant)
{
	struct raw_slots at;
	size_t size = 0;
	uint32_t length;

	for (uint32_t i = 0; i < instant->nviews; i++) {
		const struct sonde_view *view = &instant->views[i];

		if (!is_raw(view) || !find_slots(view->schema, &at))
			continue;
		for (uint32_t row = 0; row < view->nrows; row++) {
			text_of(view, row, at.slot[RAW_BYTES], &length);
			size += length;
		}
	}
	r->njoined = 0;
	if (r->joined_size >= 2 * size)
		return;
	free(r->joined);
	r->joined = must(malloc(2 * size));
	r->joined_size = 2 * size;
}

static void take_answers(struct reparse *r, const struct instant *instant)
{
	struct raw_slots at;

	make_room_to_join(r, instant);
	for (size_t i = 0; i < r->nsources; i++)
		r->sources[i].nanswers = 0;
	for (uint32_t i = 0; i < instant->nviews; i++) {
		const struct sonde_view *view = &instant->views[i];

		if (!is_raw(view) || !find_slots(view->schema, &at))
			continue;
		for (uint32_t row = 0; row < view->nrows; row++)
			take_row(r, view, row, &at);
	}
}

/* ---- Instants */

static void add_view(struct reparse *r, uint32_t *n, const struct sonde_view *view)
{
	if (*n == r->room) {
		r->room = r->room ? r->room * 2 : 64;
		r->views = must(realloc(r->views, r->room * sizeof *r->views));
	}
	r->views[(*n)++] = *view;
}

/* What today's collector makes of the answers. */
static void sample(struct reparse *r, struct source *source, const struct instant *instant,
		   uint32_t *n)
{
	struct instance *instance = source->instance;
	struct sonde_view *views;
	uint32_t count = 0;
	int err = 0;

	if (!source->nanswers || source->refused)
		return;
	instance->self.header = instant->header; /* the one before ended with its segment */
	if (!instance->started) {
		err = instance_start(instance, instance->self.header);
		source->refused = err != 0;
	}
	if (!err)
		err = instance_sample(instance);
	if (err) {
		log_line(SONDE_WARNING, instance->self.name, "%s",
			 instance->reason[0] ? instance->reason : strerror(-err));
		return;
	}
	views = must(calloc(instance->frame.ntables + 1, sizeof *views));
	count = instance_views(instance, views);
	for (uint32_t i = 0; i < count; i++)
		add_view(r, n, &views[i]);
	free(views);
	source->nanswers = 0;
}

/* New rows where the old ones were; whether any are there. */
static bool replace(struct reparse *r, const struct instant *instant)
{
	uint32_t n = 0;

	take_answers(r, instant);
	for (uint32_t i = 0; i < instant->nviews; i++) {
		const struct sonde_view *view = &instant->views[i];
		struct source *source = find_source(r, view->instance, strlen(view->instance));

		if (source)
			sample(r, source, instant, &n);
		else
			add_view(r, &n, view);
	}
	for (size_t i = 0; i < r->nsources; i++)
		sample(r, &r->sources[i], instant, &n);
	r->made = *instant;
	r->made.views = r->views;
	r->made.changes = NULL; /* those are of the recorded views */
	r->made.nviews = n;
	instant_stamp(&r->made, r->views);
	return n > 0;
}

int reparse_next(struct reparse *r, struct reader *reader, const struct instant **instant)
{
	int more;

	do {
		more = reader_next(reader, instant);
	} while (more > 0 && !replace(r, *instant));
	*instant = &r->made;
	return more;
}

/* ---- Life */

struct reparse *reparse_new(struct pipeline *pipeline)
{
	struct reparse *r = must(calloc(1, sizeof *r));
	struct parts *parts = &pipeline->parts;

	r->services = host_services;
	r->services.open = old_open;
	r->services.read = old_read;
	r->services.close = old_close;
	r->services.list = old_list;
	r->services.obtain = old_obtain;
	r->services.read_lines = old_read_lines;
	r->sources = must(calloc(parts->count + 1, sizeof *r->sources));
	for (size_t i = 0; i < parts->count; i++) {
		struct instance *instance = parts->instances[i];

		if (instance_kind(instance) != SONDE_KIND_COLLECTOR ||
		    instance->plugin == self_plugin())
			continue;
		instance->self.host = &r->services;
		instance->role = &r->sources[r->nsources];
		r->sources[r->nsources++].instance = instance;
	}
	return r;
}

void reparse_free(struct reparse *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nsources; i++) {
		r->sources[i].instance->role = NULL;
		for (struct old_file *file = r->sources[i].files, *next; file; file = next) {
			next = file->next;
			free(file);
		}
		free(r->sources[i].answers);
		free(r->sources[i].text.bytes);
		free(r->sources[i].names.bytes);
	}
	free(r->sources);
	free(r->views);
	free(r->joined);
	free(r);
}

/* Texts of `config` rows that are sections. */
static void add_sections(const struct instant *instant, FILE *out)
{
	for (uint32_t i = 0; i < instant->nviews; i++) {
		const struct sonde_view *view = &instant->views[i];
		int column = schema_column(view->schema, "text");

		if (strcmp(view->schema->name, "config") != 0 || column < 0 ||
		    view->schema->columns[column].type != SONDE_STR)
			continue;
		for (uint32_t row = 0; row < view->nrows; row++) {
			uint32_t length;
			const char *text =
				text_of(view, row, (int)view->schema->slot[column], &length);

			if (length && text[0] == '[')
				fwrite(text, 1, length, out);
		}
	}
}

static bool has_raw(const struct instant *instant)
{
	for (uint32_t i = 0; i < instant->nviews; i++)
		if (is_raw(&instant->views[i]))
			return true;
	return false;
}

char *pipeline_reparse_sections(struct reader *reader)
{
	const struct instant *instant;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int err = 0;

	if (!out)
		return NULL;
	while ((err = reader_next(reader, &instant)) > 0) {
		add_sections(instant, out);
		if (has_raw(instant))
			break;
	}
	if (fclose(out) || err < 0) {
		free(text);
		return NULL;
	}
	return text;
}
