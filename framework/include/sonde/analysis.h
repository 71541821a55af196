/* Streams and findings: what an analyzer declares and what it may ask. Part of the plugin ABI.
 *
 * An analyzer declares streams; the host folds every row into them as it passes, in constant memory: for each stream and
 * key it keeps at most 512 slices of time, which start at 1 s and double in width when they run out. judge() looks at
 * the slices and says what it found. Live or recorded makes no difference to it. */
#ifndef SONDE_ANALYSIS_H
#define SONDE_ANALYSIS_H

#include <sonde/host.h>

/* What happens to the rows of one instant. */
enum sonde_reduce {
	SONDE_PER_KEY = 0, /* nothing: one series for each value of `key` */
	SONDE_SUM = 1,
	SONDE_MIN = 2,
	SONDE_MAX = 3,
	SONDE_SPREAD = 4, /* largest less smallest */
};

/* (plus - minus) / over, each a list of columns separated by blanks. A counter enters by its reset-aware delta, a gauge
 * by its value; absent where any of its columns is absent. All in base units. */
struct sonde_stream {
	const char *name; /* "cpu.busy": as metrics and evidence cite it */
	const char *table;
	const char *
		where; /* "resource=cpu": only rows whose column has this text or number; NULL: all */
	const char *plus;
	const char *minus; /* or NULL */
	const char *over;  /* or NULL; "time": per second of observed time */
	const char *
		key; /* with SONDE_PER_KEY: columns that name the series: "pid start_time"; NULL: the table's keys */
	uint32_t reduce; /* enum sonde_reduce */
	uint32_t
		threshold; /* offset in conf of a double: the share of time above it is kept; 0: none */
};

/* One stretch of time of one series. Values in base units. A stretch in which nothing was observed is not there. */
struct sonde_slice {
	uint64_t begin, end; /* CLOCK_BOOTTIME, ns */
	uint64_t observed;   /* ns between samples in it, gaps and resets left out */
	uint64_t above;      /* ns of `observed` in which the value was above the threshold */
	uint64_t count;      /* values */
	double first, last, min, max;
	double sum;         /* of value x ns: the mean is sum / observed */
	double numerator;   /* of plus - minus: delta of counters, value x ns of gauges */
	double denominator; /* of over, likewise */
};

struct sonde_series {
	const char *
		key; /* "4711 1889": texts and numbers of the key columns; "other" for what was merged; "" reduced */
	const char *
		label; /* newest name of the row (column comm, name or the key itself), escaped for a terminal */
	const struct sonde_slice *slices;
	uint32_t nslices;
	uint32_t resets;          /* counters that went back */
	struct sonde_slice total; /* over the whole window */
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
	const char *
		needs; /* table.column it is judged from, separated by blanks; any `|` between alternatives */
};

/* What the host does for judge(). */
struct sonde_analysis {
	uint32_t size;
	uint32_t reserved;
	const struct sonde_series *(*series)(struct sonde_instance *self, uint32_t stream,
					     uint32_t *count);
	const struct sonde_slice *(*window)(struct sonde_instance *self);
	void (*finding)(struct sonde_instance *self, const struct sonde_finding *finding);
	void (*metric)(struct sonde_instance *self, const struct sonde_metric *metric);
	void (*not_judged)(struct sonde_instance *self, const char *id, const char *reason);
};

/* All series of one declared stream (its index), heaviest first; valid until judge() returns. NULL and *count 0: the
 * recording has no such table, or none of the columns. */
static inline const struct sonde_series *sonde_series(struct sonde_instance *self, uint32_t stream,
						      uint32_t *count)
{
	return self->host->analysis->series(self, stream, count);
}

/* The window: begin, end and observed of everything that has been read. */
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

/* This finding of the catalogue could not be judged: which column is missing, why, what would provide it. A finding
 * of the catalogue for which judge() calls neither this nor sonde_finding() counts as clear. */
static inline void sonde_not_judged(struct sonde_instance *self, const char *id, const char *reason)
{
	self->host->analysis->not_judged(self, id, reason);
}

#endif
