/* The stream of this host while it lives. */
#include <errno.h>
#include <stdlib.h>

#include "core/clock.h"
#include "host/stream.h"

int stream_init(struct stream *stream, struct sonde_stream_header *header)
{
	int err;

	*stream = (struct stream) { .last = header->anchor };
	err = records_make(&stream->records);
	if (err) {
		free(header);
		return err;
	}
	pthread_mutex_init(&stream->lock, NULL);
	return stream_set_header(stream, header);
}

void stream_free(struct stream *stream)
{
	for (size_t i = 0; i < stream->nheaders; i++)
		free(stream->headers[i]);
	if (stream->header)
		pthread_mutex_destroy(&stream->lock);
	free(stream->headers);
	free(stream->rings);
	free(stream->views);
	frame_free(&stream->records);
	*stream = (struct stream) { 0 };
}

/* Locked, or before there are threads. */
static int take_header(struct stream *stream, struct sonde_stream_header *header)
{
	struct sonde_stream_header **headers =
		realloc(stream->headers, (stream->nheaders + 1) * sizeof(void *));

	if (!headers) {
		free(header);
		return -ENOMEM;
	}
	headers[stream->nheaders++] = header;
	stream->headers = headers;
	stream->header = header;
	return 0;
}

int stream_set_header(struct stream *stream, struct sonde_stream_header *header)
{
	int err;

	pthread_mutex_lock(&stream->lock);
	err = take_header(stream, header);
	pthread_mutex_unlock(&stream->lock);
	return err;
}

int stream_attach(struct stream *stream, struct ring *ring)
{
	struct ring **rings;

	pthread_mutex_lock(&stream->lock);
	rings = realloc(stream->rings, (stream->nrings + 1) * sizeof(void *));
	if (rings) {
		rings[stream->nrings++] = ring;
		stream->rings = rings;
	}
	pthread_mutex_unlock(&stream->lock);
	return rings ? 0 : -ENOMEM;
}

static void detach(struct stream *stream, const struct ring *ring)
{
	for (size_t i = 0; i < stream->nrings; i++)
		if (stream->rings[i] == ring)
			stream->rings[i--] = stream->rings[--stream->nrings];
}

void stream_detach(struct stream *stream, struct ring *ring)
{
	pthread_mutex_lock(&stream->lock);
	detach(stream, ring);
	pthread_mutex_unlock(&stream->lock);
}

/* ---- What the host has to say. Locked. */

static void put_str(struct stream *stream, struct sonde_row *row, uint32_t slot, const char *text)
{
	records_str(&stream->records, row, slot, text);
}

int gap_row(struct sonde_frame *records, const struct gap *gap)
{
	struct sonde_row row;

	if (records_row(records, RECORD_GAP, &row))
		return -ENOMEM;
	records_str(records, &row, GAP_INSTANCE, gap->instance);
	records_str(records, &row, GAP_REASON, gap->reason);
	if (gap->begin)
		sonde_set_u64(&row, GAP_BEGIN, gap->begin);
	if (gap->end)
		sonde_set_u64(&row, GAP_END, gap->end);
	if (gap->lost)
		sonde_set_u64(&row, GAP_LOST, gap->lost);
	records_str(records, &row, GAP_TEXT, gap->text);
	return 0;
}

static void add_anchor(struct stream *stream, const struct sonde_anchor *anchor)
{
	struct sonde_row row;

	if (records_row(&stream->records, RECORD_ANCHOR, &row))
		return;
	sonde_set_u64(&row, ANCHOR_MONOTONIC, anchor->monotonic);
	sonde_set_u64(&row, ANCHOR_BOOTTIME, anchor->boottime);
	sonde_set_i64(&row, ANCHOR_REALTIME, anchor->realtime);
	sonde_set_i64(&row, ANCHOR_OFFSET, anchor->offset);
	sonde_set_u64(&row, ANCHOR_MAX_ERROR, anchor->max_error);
	sonde_set_u64(&row, ANCHOR_SYNCHRONISED, anchor->synchronised);
}

/* Sleep is seen against the instant before, a set wall clock against the anchor that readers have. */
static void check_clocks(struct stream *stream)
{
	struct sonde_stream_header *header;
	struct sonde_anchor now;
	uint64_t suspended;

	clock_read(&now);
	suspended = clock_compare(&stream->last, &now).suspended;
	if (suspended)
		gap_row(&stream->records, &(struct gap) { "", "suspended", "the machine slept",
							  stream->last.boottime, now.boottime, 0 });
	stream->last = now;
	if (!clock_compare(&stream->header->anchor, &now).stepped)
		return;
	header = header_copy(stream->header);
	if (!header)
		return;
	clock_anchor(&header->anchor);
	add_anchor(stream, &header->anchor);
	take_header(stream, header);
}

void stream_note(struct stream *stream, uint32_t level, const char *instance, const char *tables,
		 const char *text)
{
	static const char *const levels[] = { "error", "warning", "notice", "notice" };
	struct sonde_row row;

	pthread_mutex_lock(&stream->lock);
	if (records_row(&stream->records, RECORD_NOTE, &row) == 0) {
		put_str(stream, &row, NOTE_INSTANCE, instance);
		put_str(stream, &row, NOTE_LEVEL, levels[level & 3]);
		put_str(stream, &row, NOTE_TEXT, text);
		put_str(stream, &row, NOTE_TABLES, tables);
	}
	pthread_mutex_unlock(&stream->lock);
}

void stream_gap(struct stream *stream, const struct gap *gap)
{
	pthread_mutex_lock(&stream->lock);
	gap_row(&stream->records, gap);
	pthread_mutex_unlock(&stream->lock);
}

void stream_config(struct stream *stream, const char *text)
{
	struct sonde_row row;

	pthread_mutex_lock(&stream->lock);
	if (records_row(&stream->records, RECORD_CONFIG, &row) == 0)
		put_str(stream, &row, CONFIG_TEXT, text);
	pthread_mutex_unlock(&stream->lock);
}

void stream_end(struct stream *stream, const char *reason, uint64_t instants)
{
	pthread_mutex_lock(&stream->lock);
	records_end(&stream->records, reason, instants);
	pthread_mutex_unlock(&stream->lock);
}

/* ---- Instants */

static bool make_room(struct stream *stream, uint32_t nviews)
{
	struct sonde_view *views;

	if (nviews <= stream->room)
		return true;
	views = realloc(stream->views, nviews * sizeof *views);
	if (!views)
		return false;
	stream->views = views;
	stream->room = nviews;
	return true;
}

/* Locked. */
static struct instant make_instant(struct stream *stream, struct sonde_view *views, uint32_t nviews,
				   uint64_t begin, uint64_t end)
{
	struct instant instant = {
		.header = stream->header,
		.views = views,
		.nviews = nviews,
		.sequence = ++stream->sequence,
		.begin = begin,
		.end = end,
		.realtime = anchor_realtime(&stream->header->anchor, begin),
	};

	instant_stamp(&instant, views);
	return instant;
}

void stream_end_one(struct stream *stream, struct ring *ring, const char *reason)
{
	struct sonde_view views[RECORD_TABLES];
	uint64_t now = clock_now(CLOCK_BOOTTIME);
	struct sonde_frame records;
	struct instant instant;

	if (records_make(&records))
		return;
	pthread_mutex_lock(&stream->lock);
	detach(stream, ring);
	records_end(&records, reason, stream->sequence);
	instant = make_instant(stream, views, record_views(&records, views), now, now);
	ring_push(ring, &instant, false);
	pthread_mutex_unlock(&stream->lock);
	frame_free(&records);
}

/* Locked: the first `nviews` of stream->views are filled. */
static void hand_out(struct stream *stream, uint32_t nviews, uint64_t begin, uint64_t end)
{
	struct instant instant = make_instant(stream, stream->views, nviews, begin, end);

	for (size_t i = 0; i < stream->nrings; i++)
		ring_push(stream->rings[i], &instant, false);
}

static void publish(struct stream *stream, const struct sonde_view *views, uint32_t nviews,
		    uint64_t begin, uint64_t end)
{
	check_clocks(stream);
	if (!make_room(stream, nviews + RECORD_TABLES))
		return;
	if (nviews)
		memcpy(stream->views, views, nviews * sizeof *views);
	nviews += record_views(&stream->records, stream->views + nviews);
	if (!nviews)
		return;
	hand_out(stream, nviews, begin, end);
	frame_begin(&stream->records);
}

void stream_publish(struct stream *stream, const struct sonde_view *views, uint32_t nviews,
		    uint64_t begin, uint64_t end)
{
	pthread_mutex_lock(&stream->lock);
	publish(stream, views, nviews, begin, end);
	pthread_mutex_unlock(&stream->lock);
}

void stream_speak(struct stream *stream)
{
	uint64_t now = clock_now(CLOCK_BOOTTIME);

	stream_publish(stream, NULL, 0, now, now);
}

void stream_publish_records(struct stream *stream, const struct sonde_frame *records)
{
	struct sonde_view views[RECORD_TABLES];
	uint32_t nviews = record_views(records, views);
	uint64_t now = clock_now(CLOCK_BOOTTIME);

	if (nviews)
		stream_publish(stream, views, nviews, now, now);
}

void stream_forward(struct stream *stream, const struct instant *instant)
{
	pthread_mutex_lock(&stream->lock);
	for (size_t i = 0; i < stream->nrings; i++)
		ring_push(stream->rings[i], instant, true);
	pthread_mutex_unlock(&stream->lock);
}
