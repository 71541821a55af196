/* Whether a recording has what a finding is judged from, and what to say where it has not. */
#ifndef WINDOW_NEEDS_H
#define WINDOW_NEEDS_H

#include <sonde/plugin.h>

#include "window/track.h"

enum { NEEDS_NOTES = 64 };

/* What collectors said about themselves: "psi": "no PSI: boot with psi=1". The first of each section. */
struct needs_notes {
	struct {
		char *instance, *text, *tables;
	} notes[NEEDS_NOTES];
	uint32_t count;
};

/* The rows of a view of the table `note`. */
void needs_take(struct needs_notes *notes, const struct sonde_view *view);
void needs_free(struct needs_notes *notes);

/* The note of the section that has a table (table_length bytes): it names it among its tables, or the table is there as this
 * section's. Notes of older versions name none: of them that of the section whose name is the table's, or the longest beginning of it
 * (perf_event, perf_event_core). NULL: none. */
const char *needs_note_of(const struct needs_notes *notes, struct track *const *tracks,
			  uint32_t ntracks, const char *table, size_t table_length);

/* `needs` as in struct sonde_catalogue. False, and a sentence in `reason`, where no alternative is whole. */
bool needs_met(const char *needs, struct track *const *tracks, uint32_t ntracks,
	       const struct needs_notes *notes, char *reason, size_t size);

/* Whether an option of the analyzer's, by its key, decides a finding. */
bool needs_key(const struct sonde_catalogue *line, const char *key);

/* What a finding's stretches are made of: the analyzer's streams, and its options with their values. */
struct needs_holds {
	const struct stream *streams;
	uint32_t nstreams;
	const struct sonde_option *options;
	size_t noptions;
	const char *conf;
};

/* Whether as much was observed, ns, as its streams have to hold for. False, and a sentence in `reason`, where it was not. */
bool needs_time(const struct sonde_catalogue *line, const struct needs_holds *holds,
		uint64_t observed, char *reason, size_t size);

#endif
