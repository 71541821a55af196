/* The recording of an importer. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/records.h"
#include "core/schema.h"
#include "host/stream.h"
#include "import/writing.h"
#include "wire/writer.h"

/* Boot time of second 0, and its real time where that is not known: no time is 0. */
static const uint64_t begin = 1000000000;

int writing_start(struct writing *writing, int fd)
{
	struct writer_options options = { .emit = writer_to_fd, .context = &writing->fd };
	int err = records_make(&writing->records);

	bool told = writing->started;

	if (err)
		return err;
	if (!told)
		writing->started = begin;
	/* The id only tells its segments from those of other recordings. */
	memcpy(options.id, "import", 6);
	writing->fd = fd;
	writing->header = (struct sonde_stream_header) {
		.start_id = 1,
		.host = writing->tool,
		.machine_id = "",
		.boot_id = "",
		.kernel = "",
		.arch = "",
		.label = "",
		.online = "",
		.nodes = "",
		.version = "",
		.user_hz = writing->user_hz,
		.ncpus = writing->ncpus,
		.utc_offset = writing->utc_offset,
		.anchor = { .boottime = begin, .monotonic = begin, .realtime = writing->started },
	};
	writing->writer = writer_new(&options);
	if (!writing->writer)
		return -ENOMEM;
	return told ? 0
		    : writing_note(
			      writing, "",
			      "%s did not say when: times are those since it began, without a date",
			      writing->tool);
}

int writing_table(struct writing *writing, const struct sonde_table *table, const char *section)
{
	uint32_t at = writing->frame.ntables;
	int err;

	if (at == WRITING_TABLES)
		return -E2BIG;
	err = schema_make(table, &writing->schema[at], writing->why, sizeof writing->why);
	writing->section[at] = section;
	return err ? err : frame_add_table(&writing->frame, writing->schema[at], 64, 0);
}

int writing_note(struct writing *writing, const char *section, const char *format, ...)
{
	struct sonde_row row;
	char text[256];
	va_list args;
	int err = records_row(&writing->records, RECORD_NOTE, &row);

	if (err)
		return err;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	records_str(&writing->records, &row, NOTE_INSTANCE, section);
	records_str(&writing->records, &row, NOTE_LEVEL, "notice");
	records_str(&writing->records, &row, NOTE_TEXT, text);
	return 0;
}

static uint64_t boottime(double seconds)
{
	return begin + (uint64_t)(seconds * 1e9);
}

int writing_gap(struct writing *writing, double from, double to, const char *text)
{
	const struct gap gap = { .instance = "",
				 .reason = "lost",
				 .text = text,
				 .begin = boottime(from),
				 .end = boottime(to) };

	return gap_row(&writing->records, &gap);
}

static bool lacks_room(const struct sonde_frame *frame)
{
	uint64_t lost = frame->strings.lost;

	for (uint32_t t = 0; t < frame->ntables; t++)
		lost += frame->tables[t].lost;
	return lost != 0;
}

static int add_end(struct writing *writing)
{
	struct sonde_row row;
	int err = records_row(&writing->records, RECORD_END, &row);

	if (!err)
		records_str(&writing->records, &row, END_REASON, "imported");
	return err;
}

int writing_instant(struct writing *writing, double seconds, bool last,
		    void (*rows)(struct writing *writing, void *context), void *context)
{
	struct sonde_view views[WRITING_TABLES + RECORD_TABLES];
	struct instant instant = { .header = &writing->header,
				   .views = views,
				   .nviews = writing->frame.ntables,
				   .sequence = ++writing->sequence };
	int err;

	do {
		err = frame_begin(&writing->frame);
		if (!err)
			rows(writing, context);
	} while (!err && lacks_room(&writing->frame));
	if (!err && last)
		err = add_end(writing);
	if (err)
		return err;
	instant.begin = instant.end = boottime(seconds);
	instant.realtime = writing->started + (int64_t)(seconds * 1e9);
	frame_views(&writing->frame, views);
	for (uint32_t i = 0; i < instant.nviews; i++)
		views[i].instance = writing->section[i];
	instant.nviews += record_views(&writing->records, views + instant.nviews);
	instant_stamp(&instant, views);
	err = writer_instant(writing->writer, &instant);
	frame_begin(&writing->records);
	return err;
}

int writing_end(struct writing *writing, int err)
{
	if (writing->writer) {
		int closed = writer_close(writing->writer);

		err = err ? err : closed;
	}
	frame_free(&writing->frame);
	frame_free(&writing->records);
	for (uint32_t t = 0; t < WRITING_TABLES; t++)
		schema_free(writing->schema[t]);
	return err;
}
