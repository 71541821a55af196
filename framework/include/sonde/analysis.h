/* Streams and findings: what an analyzer declares and what it may ask. Part of the plugin ABI.
 *
 * An analyzer declares streams; the host folds every row into them as it passes, in constant memory. Time is looked at
 * in stretches of a second: a stream has a value in each, and where it is above its threshold for long enough without
 * a break, that is kept exactly, however long the recording. For pictures and comparisons there are at most 512 slices
 * besides, which start at 1 s and double in width when they run out. judge() looks at both and says what it found. Live
 * or recorded makes no difference to it. */
#ifndef SONDE_ANALYSIS_H
#define SONDE_ANALYSIS_H

#include <sonde/host.h>

/* What happens to the rows of one instant. */
enum sonde_reduce {
	SONDE_PER_KEY = 0, /* nothing: one series for each value of `key` */
	SONDE_SUM = 1,     /* sums of numerators over sums of denominators */
	SONDE_MIN = 2,
	SONDE_MAX = 3,
	SONDE_SPREAD = 4, /* largest less smallest */
	/* As SONDE_PER_KEY, and of an instant that stands alone as well: settings and states, which need no interval to be
	 * true. Look at `total.last`. */
	SONDE_SETTING = 5,
};

/* (plus - minus) / over, each a list of columns separated by blanks: "user nice? allocstall_*". A counter enters by its
 * reset-aware delta, a gauge by its value; all in base units. A column that is absent makes the value absent, but for
 * `name?`, which then counts nothing, and `name*`, the sum of what there is of that beginning. What `minus` leaves of amounts
 * (gauges without a sign), or of a part of `over`, is no value where it is below 0. */
struct sonde_stream {
	const char *name; /* "cpu.busy": as metrics and evidence cite it */
	const char *table;
	/* "resource=cpu": only rows whose column has this text or number; NULL: all. */
	const char *where;
	const char *plus;
	const char *minus; /* or NULL */
	/* Or NULL or "time": of gauges their value, of counters the rate per second, of counters of time the share of time.
	 * "wall time": the share of time of a counter that can't outrun the clock. The kernel may bring it up to date a little before
	 * or behind the moment that its interval ends at: what that makes of a stretch is told as 1 at most. */
	const char *over;
	/* Of a series for each key: the columns that name it, whether the table's keys or others; NULL: the table's keys. What
	 * a row counts is of the series that it bears the name of at the end of the interval. */
	const char *key;
	uint32_t reduce; /* enum sonde_reduce */

	/* Offsets of fields in conf; 0: none, so none of them is the first field. */
	/* double: where the value is above it, the stream holds... */
	uint32_t threshold;
	/* uint64_t, ns: ...once it has been so for this long without a break; 0: at once. */
	uint32_t hold;
	/* double: a ratio counts only where its denominator grew by more than this per second (of time: this share). */
	uint32_t floor;
	/* Index, plus 1, of an earlier stream of a single series that has to be above its own threshold at the same time. */
	uint32_t also;
	/* How many keys, the heaviest, are kept of each slice; the rest is "other". 0: 256. */
	uint32_t keys;
};

/* One stretch of time of one series. Values in base units. */
struct sonde_slice {
	uint64_t begin, end; /* CLOCK_BOOTTIME, ns */
	uint64_t observed;   /* ns between samples in it, gaps and resets left out */
	uint64_t above;      /* ns of `observed` for which the stream held (sonde_stream.hold) */
	uint64_t count;      /* values */
	double first, last, min, max;
	double numerator; /* of plus - minus: delta of counters; value x seconds of gauges */
	double denominator; /* of over, likewise; else seconds, or ns where the numerator is a counter of ns */
};

/* Where a stream held. */
struct sonde_held {
	uint64_t begin, end; /* first and last instant */
	uint64_t time;       /* ns in between */
	double numerator, denominator, max;
	uint32_t stretches; /* unbroken ones */
	uint32_t reserved;
};

struct sonde_series {
	/* Texts are the kernel's bytes: findings carry them as they are, and whoever shows them escapes. */
	/* Texts and numbers of the key columns: "4711 1889"; "other" for what was merged; "" where it is the only
	 * one: reduced, or of a table without keys. */
	const char *key;
	const char *label;        /* newest name of the row (column comm or name); else the key */
	struct sonde_slice total; /* of its slices */
	struct sonde_held held;   /* time 0: nowhere */
	uint32_t nslices;
	uint32_t resets; /* counters that went back */
	uint64_t reserved;
};

/* A value that a finding rests on. */
struct sonde_evidence {
	const char *name; /* "cpu.wait_share" */
	double value;
	uint32_t unit; /* enum sonde_base */
	uint32_t reserved;
	const char *counted; /* of a COUNT */
	const char *origin;  /* "/proc/pressure/cpu some total=" */
};

enum sonde_severity {
	SONDE_SEVERITY_INFO = 1,
	SONDE_SEVERITY_WARNING = 2,
	SONDE_SEVERITY_CRITICAL = 3
};

struct sonde_finding {
	const char *id;    /* "cpu.saturation"; must be in the analyzer's catalogue */
	uint32_t severity; /* enum sonde_severity */
	uint32_t nevidence;
	const char *
		about; /* "host", "process 4711 (spin)", "cpu 3", "node 1": with id the finding's stable key */
	const char *title;              /* one sentence: what is the matter, with the main number */
	const char *why;                /* why that hurts */
	const char *action;             /* what to do: a command where there is one */
	const char *need, *risk, *undo; /* of the action; "" where none */
	const struct sonde_evidence *evidence;
	uint64_t begin, end; /* first and last instant at which it held, CLOCK_BOOTTIME ns */
	uint64_t held;       /* ns in between for which it held */
	double weight;       /* orders findings of one severity, largest first */
};

enum sonde_direction { SONDE_NEITHER = 0, SONDE_UP_IS_BETTER = 1, SONDE_DOWN_IS_BETTER = 2 };

struct sonde_metric {
	const char *name;
	const char *about; /* "" for the host */
	double value;
	uint32_t unit;      /* enum sonde_base */
	uint32_t direction; /* enum sonde_direction */
	const char *counted;
	const char *origin;
};

/* One line of an analyzer's catalogue: everything that it can judge. */
struct sonde_catalogue {
	const char *id;
	const char *title; /* "CPU saturation" */
	/* table.column it is judged from, separated by blanks, `|` between alternatives: "psi.some_total | schedstat.wait".
	 * Where the recording has none of them whole, the host counts the finding as not judged, and says what is missing. */
	const char *needs;
	const char *
		keys; /* of its analyzer's, those that decide it, separated by blanks; NULL: any may */
};

/* What the host does for judge(). */
struct sonde_analysis {
	uint32_t size;
	uint32_t reserved;
	const struct sonde_series *(*series)(struct sonde_instance *self, uint32_t stream,
					     uint32_t *count);
	const struct sonde_slice *(*slices)(struct sonde_instance *self, uint32_t stream,
					    uint32_t series, uint32_t *count);
	const struct sonde_slice *(*window)(struct sonde_instance *self);
	void (*finding)(struct sonde_instance *self, const struct sonde_finding *finding);
	void (*metric)(struct sonde_instance *self, const struct sonde_metric *metric);
	void (*not_judged)(struct sonde_instance *self, const char *id, const char *reason);
	const char *(*note)(struct sonde_instance *self, const char *table);
};

/* The series of one declared stream (its index), heaviest first (by the sum of the numerators), at most 1,024 and one
 * "other"; valid until judge() returns. NULL and *count 0: the recording has no such table, or none of the columns. */
static inline const struct sonde_series *sonde_series(struct sonde_instance *self, uint32_t stream,
						      uint32_t *count)
{
	return self->host->analysis->series(self, stream, count);
}

/* The slices of one of them (its index), in order of time; valid until the next call for the same stream. A slice in
 * which nothing was observed is not there; nor, of a table with keys, one in which a counter counted nothing. */
static inline const struct sonde_slice *sonde_slices(struct sonde_instance *self, uint32_t stream,
						     uint32_t series, uint32_t *count)
{
	return self->host->analysis->slices(self, stream, series, count);
}

/* The window: begin, end, observed and count (instants) of everything that has been read. */
static inline const struct sonde_slice *sonde_window(struct sonde_instance *self)
{
	return self->host->analysis->window(self);
}

static inline void sonde_finding(struct sonde_instance *self, const struct sonde_finding *finding)
{
	self->host->analysis->finding(self, finding);
}

static inline void sonde_metric(struct sonde_instance *self, const struct sonde_metric *metric)
{
	self->host->analysis->metric(self, metric);
}

/* This finding of the catalogue could not be judged: which column is missing, why, what would provide it. One for which
 * judge() calls neither this nor sonde_finding(), and whose `needs` are there, counts as clear. */
static inline void sonde_not_judged(struct sonde_instance *self, const char *id, const char *reason)
{
	self->host->analysis->not_judged(self, id, reason);
}

/* What the collector of this table said of itself first ("no hardware counters: ..."), the kernel's or the collector's bytes;
 * NULL: nothing. Valid until judge() returns. */
static inline const char *sonde_note_of(struct sonde_instance *self, const char *table)
{
	return self->host->analysis->note(self, table);
}

#endif
