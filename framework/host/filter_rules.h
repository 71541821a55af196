/* The words of a sink's filter keys, made ready: patterns, kinds, what becomes of sensitive text. */
#ifndef HOST_FILTER_RULES_H
#define HOST_FILTER_RULES_H

#include <stdbool.h>

#include "host/filter.h"

struct pattern {
	char *text;
	bool leaves_out, matched;
};

struct patterns {
	struct pattern *items;
	size_t count;
	bool chooses; /* one of them does not leave out: what none matches is not wanted */
};

/* A bit for tables of data, and one for each of the host's own: KIND_RECORD << enum record_table. */
enum filter_kind { KIND_DATA = 1 << 0, KIND_RECORD = 1 << 1 };

enum filter_privacy { PRIVACY_KEEP, PRIVACY_REDACT, PRIVACY_DROP };

struct filter_rules {
	struct patterns tables, columns;
	uint32_t kinds;                     /* bits of enum filter_kind; 0: all */
	uint8_t privacy[SONDE_ADDRESS + 1]; /* enum filter_privacy by enum sonde_sensitivity */
	bool private;                       /* one of them is not PRIVACY_KEEP */
	uint64_t secret[2];                 /* of redacted text: random, of this start */
	uint64_t every;
	uint32_t values;
};

/* 0, or -EINVAL and a sentence in `why`; free with rules_free() either way. */
int rules_make(struct filter_rules *rules, const struct filter_options *options, char *why,
	       size_t size);
void rules_free(struct filter_rules *rules);

/* Whether the patterns want a name; `other` is a second name of the same thing, or NULL. */
bool patterns_want(struct patterns *patterns, const char *name, const char *other);

/* Which kind a table of this name is. */
uint32_t rules_kind(const char *table);

#endif
