/* The recording that an importer writes: tables as collectors have them, instants at times of the text, what a reader has to know. */
#ifndef IMPORT_WRITING_H
#define IMPORT_WRITING_H

#include "core/frame.h"

enum { WRITING_TABLES = 160 };

struct writing {
	const char *tool; /* whose text it is: the name of the host */
	int64_t started;  /* ns since 1970 of second 0; 0: not told */
	int32_t utc_offset;
	uint32_t user_hz, ncpus; /* 0: not known */
	struct sonde_frame
		frame; /* rows of the instant at hand, of tables in the order in which they were added */
	char why[256]; /* no table can be made, or no row written */

	/* Its own. */
	struct sonde_frame records;
	struct sonde_schema *schema[WRITING_TABLES];
	const char *section[WRITING_TABLES];
	struct sonde_stream_header header;
	struct writer *writer;
	uint64_t sequence;
	int fd;
};

/* The first four fields are set by then. The descriptor stays the caller's. 0 or a negative errno. */
int writing_start(struct writing *writing, int fd);

/* A table of the collector that has this section. 0; -EINVAL and `why`; -ENOMEM. */
int writing_table(struct writing *writing, const struct sonde_table *table, const char *section);

/* What a reader has to know, about a section or "", at the next instant. 0 or -ENOMEM. */
__attribute__((format(printf, 3, 4))) int writing_note(struct writing *writing, const char *section,
						       const char *format, ...);

/* What lies between the two times, in seconds, could not be read. 0 or -ENOMEM. */
int writing_gap(struct writing *writing, double begin, double end, const char *text);

/* An instant that many seconds behind the start: `rows` writes them by frame_row(), and is called again where there was no room.
 * 0 or a negative errno. */
int writing_instant(struct writing *writing, double seconds, bool last,
		    void (*rows)(struct writing *writing, void *context), void *context);

/* Ends the recording and frees; `err` so far is the answer where there is one. */
int writing_end(struct writing *writing, int err);

#endif
