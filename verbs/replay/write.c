/* A fixture as a stream: at each instant the tables that were read at it, whole, and the writer finds what changed. */
#include "fixture.h"

#include "core/clock.h"
#include "wire/format.h"
#include "wire/writer.h"

/* A table while it is written: the rows that live, and a view of them. */
struct living {
	struct row **rows;
	uint32_t nrows, next; /* next: the first of the table's that has not begun */
	uint64_t *words;
	size_t room; /* rows */
};

static bool make_room(struct living *living, size_t stride)
{
	size_t room = living->room ? 2 * living->room : 16;
	struct row **rows;
	uint64_t *words;

	if (living->nrows < living->room)
		return true;
	rows = realloc(living->rows, room * sizeof(struct row *));
	if (rows)
		living->rows = rows;
	words = rows ? realloc(living->words, room * stride * sizeof *words) : NULL;
	if (!words)
		return false;
	living->words = words;
	living->room = room;
	return true;
}

static void apply(struct row *row, const struct sonde_schema *schema, uint32_t instant)
{
	for (; row->done < row->nchanges && row->changes[row->done].instant <= instant;
	     row->done++) {
		const struct change *change = &row->changes[row->done];
		uint64_t bit = (uint64_t)1 << (change->slot & 63);

		row->words[change->slot >> 6] &= ~bit;
		if (!change->absent)
			row->words[change->slot >> 6] |= bit;
		row->words[schema->nhave + change->slot] = change->absent ? 0 : change->value;
	}
}

/* Who lives at this instant, each as it is then. */
static int update(struct living *living, const struct table *table, uint32_t instant)
{
	size_t stride = table->schema->nhave + table->schema->nslots;
	uint32_t kept = 0;

	for (; living->next < table->nrows && table->rows[living->next].from <= instant;
	     living->next++) {
		if (!make_room(living, stride))
			return -ENOMEM;
		living->rows[living->nrows++] = &table->rows[living->next];
	}
	for (uint32_t i = 0; i < living->nrows; i++)
		if (living->rows[i]->until >= instant)
			living->rows[kept++] = living->rows[i];
	living->nrows = kept;
	for (uint32_t i = 0; i < kept; i++) {
		apply(living->rows[i], table->schema, instant);
		memcpy(living->words + i * stride, living->rows[i]->words,
		       stride * sizeof(uint64_t));
	}
	return 0;
}

static int write_instant(struct fixture *f, struct living *living, struct sonde_view *views,
			 struct writer *writer, uint32_t i)
{
	const struct moment *moment = &f->instants[i];
	struct instant instant = { .header = &f->header,
				   .views = views,
				   .sequence = moment->sequence,
				   .begin = moment->begin,
				   .end = moment->end };
	int err = 0;

	for (uint32_t t = 0; !err && t < f->ntables; t++) {
		const struct table *table = &f->tables[t];
		struct sonde_view *view = &views[instant.nviews];

		if (!table->read[i])
			continue;
		err = update(&living[t], table, i);
		*view = (struct sonde_view) {
			.schema = table->schema,
			.instance = table->instance,
			.words = living[t].words,
			.strings = f->text.bytes,
			.nrows = living[t].nrows,
			.stride = table->schema->nhave + table->schema->nslots,
			.flags = table->read[i] & PARTIAL ? SONDE_PARTIAL : 0,
		};
		instant.nviews += living[t].nrows || !(table->schema->flags & SONDE_EVENTS);
	}
	instant.realtime = anchor_realtime(&f->header.anchor, moment->begin);
	instant_stamp(&instant, views);
	return err ? err : writer_instant(writer, &instant);
}

int fixture_write(struct fixture *f, int fd)
{
	struct writer_options options = { .emit = writer_to_fd, .context = &fd };
	struct living *living = calloc(f->ntables + 1, sizeof *living);
	struct sonde_view *views = calloc(f->ntables + 1, sizeof *views);
	struct writer *writer = NULL;
	int err = living && views ? 0 : -ENOMEM;

	memcpy(options.id, "replay", 6);
	if (!err)
		writer = writer_new(&options);
	if (!err && !writer)
		err = -ENOMEM;
	for (uint32_t i = 0; !err && i < f->ninstants; i++)
		err = write_instant(f, living, views, writer, i);
	if (writer) {
		int closed = writer_close(writer);

		err = err ? err : closed;
	}
	for (uint32_t t = 0; living && t < f->ntables; t++) {
		free(living[t].rows);
		free(living[t].words);
	}
	free(living);
	free(views);
	return err;
}
