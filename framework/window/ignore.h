/* Findings that somebody knows of and does not want to hear of: `ignore` of an analyzer's section. They are judged, counted and told as
 * ignored, with the reason, until the day that was said. */
#ifndef WINDOW_IGNORE_H
#define WINDOW_IGNORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ignore {
	char *id, *about;     /* of the finding; about is a pattern of fnmatch(3) */
	char *reason, *until; /* as they were written */
	int64_t end; /* ns since 1970 of local time from which on it is told again; INT64_MAX: never */
	bool told; /* that it ended */
};

/* "ID, ABOUT, REASON, UNTIL", of which the reason may have commas; UNTIL is a day, 2027-01-31, or never. -EINVAL, with a sentence in
 * `why`, where it is not of this form; -ENOMEM. Free with ignore_free(). */
int ignore_parse(const char *text, struct ignore *ignore, char *why, size_t size);
void ignore_free(struct ignore *ignore);

/* Those of an analyzer. */
struct ignores {
	struct ignore *items;
	uint32_t count;
};

/* Lines that ignore_parse() takes. 0, -EINVAL or -ENOMEM; to be freed in any case. */
int ignores_make(struct ignores *ignores, const char *const *lines, uint32_t count);
void ignores_free(struct ignores *ignores);

/* The one that means this finding and has not ended at this local time; NULL: none. */
const struct ignore *ignores_find(const struct ignores *ignores, const char *id, const char *about,
				  int64_t local);

/* The next that has ended and was not told, which it is by that; NULL: there is none. */
const struct ignore *ignores_ended(struct ignores *ignores, int64_t local);

#endif
