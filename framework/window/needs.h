/* Whether a recording has what a finding is judged from, and what to say where it has not. */
#ifndef WINDOW_NEEDS_H
#define WINDOW_NEEDS_H

#include "window/track.h"

enum { NEEDS_NOTES = 64 };

/* What collectors said about themselves: "psi": "no PSI: boot with psi=1". The first of each section. */
struct needs_notes {
	struct {
		char *instance, *text;
	} notes[NEEDS_NOTES];
	uint32_t count;
};

void needs_note(struct needs_notes *notes, const char *instance, size_t instance_length,
		const char *text, size_t length);
void needs_free(struct needs_notes *notes);

/* `needs` as in struct sonde_catalogue. False, and a sentence in `reason`, where no alternative is whole. */
bool needs_met(const char *needs, struct track *const *tracks, uint32_t ntracks,
	       const struct needs_notes *notes, char *reason, size_t size);

#endif
