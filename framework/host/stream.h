/* The stream of this host while it lives: numbers instants and hands each to every ring. Whatever the host itself has to say
 * (notes, gaps, anchors, the end) travels in the next instant. Any thread may call any of it. */
#ifndef HOST_STREAM_H
#define HOST_STREAM_H

#include <pthread.h>

#include "core/records.h"
#include "core/ring.h"

struct stream {
	pthread_mutex_t lock;
	const struct sonde_stream_header *header; /* the newest: with the newest anchor */
	struct sonde_stream_header **headers;     /* all, since instants in rings point to them */
	size_t nheaders;
	struct sonde_anchor last; /* clocks at the newest instant */
	struct ring **rings;
	size_t nrings;
	struct sonde_frame records; /* what is to be said */
	struct sonde_view *views;
	uint32_t room;     /* for views */
	uint64_t sequence; /* of the newest instant */
};

/* Takes the header, which is freed with the stream. 0 or -ENOMEM. */
int stream_init(struct stream *stream, struct sonde_stream_header *header);
void stream_free(struct stream *stream);

/* A header in place of the old one (tags changed), taken likewise. The same start, so the same id. 0 or -ENOMEM. */
int stream_set_header(struct stream *stream, struct sonde_stream_header *header);

/* The ring gets every instant from now on, or none from now on. */
int stream_attach(struct stream *stream, struct ring *ring);
void stream_detach(struct stream *stream, struct ring *ring);

/* An instant of this host: views with schema, instance, words, strings, nrows, stride and flags, and what the host has to
 * say. Clocks that were set or a suspend before it are told in it. Allocates only where the host has more to say than
 * ever before. */
void stream_publish(struct stream *stream, const struct sonde_view *views, uint32_t nviews,
		    uint64_t begin, uint64_t end);

/* What the host has to say, if anything, in an instant of its own. */
void stream_speak(struct stream *stream);

/* An instant of another host, as it is; its schemas must outlive the stream. */
void stream_forward(struct stream *stream, const struct instant *instant);

/* Rows of the host's own tables (core/records.h). `instance` is a section, or "". */
void stream_note(struct stream *stream, uint32_t level, const char *instance, const char *tables,
		 const char *text);

struct gap {
	const char *instance, *reason, *text;
	uint64_t begin, end; /* CLOCK_BOOTTIME ns of the instants around it; 0: not known */
	uint64_t lost;       /* instants; 0: not known */
};

void stream_gap(struct stream *stream, const struct gap *gap);
void stream_config(struct stream *stream, const char *text);
void stream_end(struct stream *stream, const char *reason, uint64_t instants);

/* An end for one ring alone, in an instant of its own; the ring gets nothing after it. */
void stream_end_one(struct stream *stream, struct ring *ring, const char *reason);

/* Rows of findings and the like, made elsewhere: in an instant of their own. */
void stream_publish_records(struct stream *stream, const struct sonde_frame *records);

/* A gap row into any arena of records. 0 or -ENOMEM. */
int gap_row(struct sonde_frame *records, const struct gap *gap);

#endif
