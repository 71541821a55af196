/* Two recordings as one stream. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/records.h"
#include "host/join.h"
#include "host/stream.h"
#include "wire/reader.h"

enum { VIEWS = 512 };
enum span { OF_INTERVALS, OF_A_RUN };

struct join {
	int fd;
	struct reader *other;
	const struct instant *next; /* of the other; NULL: no more */
	uint64_t begin, end;        /* of the other, in its own time */
	uint64_t instants;          /* of the other */
	int64_t started;            /* its local time, ns since 1970; 0: not told */

	struct sonde_stream_header *header; /* a copy of the recording's newest */
	const void *header_of;              /* what it is a copy of */
	struct instant before,
		main;   /* of the recording: the newest that was handed on; the one that waits */
	uint64_t first; /* begin of the first */
	bool has_before, waits, over, handed;
	uint64_t shift; /* modulo 2^64, from the other's time to the recording's */
	uint64_t joined, outside;

	struct sonde_frame records;
	struct sonde_view views[VIEWS];
	struct instant made;
	char why[200];
};

static int64_t read_fd(void *context, void *buffer, size_t size)
{
	ssize_t n = read(((struct join *)context)->fd, buffer, size);

	return n < 0 ? -errno : n;
}

static int rewind_other(struct join *join)
{
	const struct reader_options options = { .read = read_fd, .context = join };

	reader_free(join->other);
	lseek(join->fd, 0, SEEK_SET);
	join->other = reader_new(&options);
	return join->other ? 0 : -ENOMEM;
}

static int advance(struct join *join)
{
	int got = reader_next(join->other, &join->next);

	if (got != 1)
		join->next = NULL;
	return got < 0 ? got : 0;
}

/* Where it begins and ends. What has no date has the time at which importers let such a text begin. */
static int look_through(struct join *join)
{
	int err = rewind_other(join);

	if (!err)
		err = advance(join);
	if (err || !join->next)
		return err ? err : -ENODATA;
	join->begin = join->next->begin;
	if (join->next->realtime > (int64_t)join->next->begin)
		join->started = join->next->realtime;
	for (; !err && join->next; err = advance(join)) {
		join->end = join->next->begin;
		join->instants++;
	}
	if (!err)
		err = rewind_other(join);
	return err ? err : advance(join);
}

int join_new(int fd, struct join **made)
{
	struct join *join = calloc(1, sizeof *join);
	int err = join ? records_make(&join->records) : -ENOMEM;

	if (!err) {
		join->fd = fd;
		err = look_through(join);
	}
	if (err) {
		join_free(join);
		join = NULL;
	}
	*made = join;
	return err;
}

void join_free(struct join *join)
{
	if (!join)
		return;
	reader_free(join->other);
	frame_free(&join->records);
	free(join->header);
	free(join);
}

const char *join_why(const struct join *join)
{
	return join->why;
}

/* Two instants are the beginning and the sum of a run. */
static enum span span_of(const struct join *join)
{
	return join->instants > 2 ? OF_INTERVALS : OF_A_RUN;
}

/* ---- Notes */

static int note(struct join *join, const char *text)
{
	struct sonde_row row;
	int err = records_row(&join->records, RECORD_NOTE, &row);

	if (err)
		return err;
	records_str(&join->records, &row, NOTE_INSTANCE, "perf_event");
	records_str(&join->records, &row, NOTE_LEVEL, "notice");
	records_str(&join->records, &row, NOTE_TEXT, text);
	return 0;
}

static int tell_start(struct join *join)
{
	if (join->started)
		return note(
			join,
			"counters of perf stat, put where it says that it began, to the second");
	return note(
		join,
		span_of(join) == OF_INTERVALS
			? "counters of perf stat, which did not say when it began: taken to have begun "
			  "with the recording"
			: "counters of perf stat, which said no times: taken as of the whole recording");
}

static int tell_end(struct join *join)
{
	char text[128];

	if (!join->outside)
		return 0;
	snprintf(text, sizeof text,
		 "%llu intervals of perf stat lie outside the recording: left out",
		 (unsigned long long)join->outside);
	return note(join, text);
}

/* ---- Instants */

static int refuse(struct join *join, int err, const char *why)
{
	snprintf(join->why, sizeof join->why, "%s", why);
	return err;
}

/* The recording's next instant, which waits. */
static int read_main(struct join *join, struct reader *reader)
{
	const struct instant *instant;
	int got = reader_next(reader, &instant);

	if (got != 1) {
		join->over = got == 0;
		return got;
	}
	for (uint32_t i = 0; i < instant->nviews; i++)
		if (instant->views[i].nrows &&
		    strncmp(instant->views[i].schema->name, "perf_event_", 11) == 0)
			return refuse(join, -EEXIST,
				      "it has counters of its own: report it without --perf-stat");
	if (join->header_of != instant->header) {
		free(join->header);
		join->header = header_copy(instant->header);
		join->header_of = instant->header;
	}
	join->main = *instant;
	join->waits = true;
	return join->header ? 1 : -ENOMEM;
}

static void align(struct join *join)
{
	const struct instant *first = &join->main;
	uint64_t utc_offset = (uint64_t)first->header->utc_offset * NS_PER_S;

	join->first = first->begin;
	join->shift = first->begin - join->begin;
	if (join->started)
		join->shift += (uint64_t)join->started - utc_offset - (uint64_t)first->realtime;
}

/* When the other's next instant is, in the recording's time: of a run without times its sum is at the end. */
static int64_t time_of_next(const struct join *join)
{
	bool first = join->next->begin == join->begin;

	if (span_of(join) == OF_A_RUN && !join->started)
		return first ? (int64_t)join->before.begin : INT64_MAX;
	return (int64_t)(join->next->begin + join->shift);
}

/* Tables of counters alone: what the text says of its own end is not the recording's. It has the number of the instant before it, since
 * it is not one more of the recording. */
static int make(struct join *join, const struct instant *from, uint64_t at)
{
	uint32_t n = 0;

	join->made = join->before;
	join->made.header = join->header;
	join->made.changes = NULL;
	join->made.views = join->views;
	for (uint32_t i = 0; from && i < from->nviews && n < VIEWS - RECORD_TABLES; i++) {
		if (from->views[i].schema->flags & SONDE_EVENTS)
			continue;
		join->views[n] = from->views[i];
		join->views[n].changed = NULL;
		join->views[n++].nchanged = 0;
	}
	n += record_views(&join->records, join->views + n);
	join->made.nviews = n;
	join->made.realtime = (int64_t)((uint64_t)join->made.realtime + (at - join->before.begin));
	join->made.begin = join->made.end = at;
	instant_stamp(&join->made, join->views);
	join->handed = from != NULL;
	return 1;
}

/* The other's next instant where it has its turn: before `until`, or, of a run, at the latest there. 0: it has not. */
static int take_turn(struct join *join, int64_t until)
{
	enum span span = span_of(join);
	int err = 0;

	frame_begin(&join->records);
	while (!err && join->next) {
		const struct instant *from = join->next;
		int64_t at = time_of_next(join);

		if (at > until && !join->over)
			return 0;
		if (span == OF_A_RUN) {
			/* Cut to what the recording has of it. */
			at = at > until ? until : at;
			at = at < (int64_t)join->before.begin ? (int64_t)join->before.begin : at;
		} else if (at > until || at < (int64_t)join->before.begin) {
			join->outside++;
			err = advance(join);
			continue;
		}
		if (!join->joined++)
			err = tell_start(join);
		return err ? err : make(join, from, (uint64_t)at);
	}
	return err;
}

/* Whether a run was over before, or began behind the recording. */
static bool is_apart(const struct join *join)
{
	return join->started && span_of(join) == OF_A_RUN &&
	       ((int64_t)(join->begin + join->shift) > (int64_t)join->before.begin ||
		(int64_t)(join->end + join->shift) < (int64_t)join->first);
}

static int finish(struct join *join)
{
	int err;

	if (!join->joined || is_apart(join))
		return refuse(
			join, -ERANGE,
			"perf stat ran at another time, as it says: nothing of it lies in the recording");
	frame_begin(&join->records);
	err = tell_end(join);
	join->outside = 0;
	if (err || !join->records.tables[RECORD_NOTE].nrows)
		return err;
	return make(join, NULL, join->before.begin);
}

int join_next(struct join *join, struct reader *reader, const struct instant **instant)
{
	int got = 0;

	*instant = &join->made;
	if (join->handed && (got = advance(join)) < 0)
		return got;
	join->handed = false;
	if (!join->waits && !join->over)
		got = read_main(join, reader);
	if (got < 0)
		return got;
	if (!join->has_before && join->over)
		return 0;
	if (join->has_before) {
		got = take_turn(join, join->over ? (int64_t)join->before.begin
						 : (int64_t)join->main.begin);
		if (got)
			return got;
		if (join->over)
			return finish(join);
	} else {
		align(join);
	}
	join->has_before = true;
	join->before = join->main;
	join->waits = false;
	*instant = &join->main;
	return 1;
}
