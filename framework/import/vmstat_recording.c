/* Rows of vmstat as a recording. It prints rates and shares: what the kernel counted is their sum over the intervals, begun at 0. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/must.h"
#include "import/import.h"
#include "import/vmstat.h"
#include "import/writing.h"

enum { TABLE_STAT, TABLE_MEMINFO, TABLE_VMSTAT, TABLES_OF_VMSTAT };
enum { COLUMNS_MOST = 10 };

/* A share of 1 % in a second is one tick of one CPU. */
enum { USER_HZ = 100, PAGE_KIB = 4 };

#define TICKS(name, text)                                                                          \
	{                                                                                          \
		name, SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .origin = "vmstat", .help = text      \
	}
#define COUNTER(name, unit, text)                                                                  \
	{                                                                                          \
		name, SONDE_U64, SONDE_COUNTER, unit, .origin = "vmstat", .help = text             \
	}
#define GAUGE(name, unit, text)                                                                    \
	{                                                                                          \
		name, SONDE_U64, SONDE_GAUGE, unit, .origin = "vmstat", .help = text               \
	}

/* Which column of which table a field is, and what one of its units is there. */
/* clang-format off */
static const struct mapped {
	struct sonde_column column;
	double scale; /* of KiB, pages... to the column's unit */
	uint32_t table;
	enum vmstat_field field, also; /* the second is added to it; VMSTAT_FIELDS: none */
	bool memory;                   /* in the unit of -S */
} mapped[] = {
	{ TICKS("user", "us and gu; nice is in it"), 1, TABLE_STAT, VMSTAT_US, VMSTAT_GU, false },
	{ TICKS("system", "sy; interrupts are in it"), 1, TABLE_STAT, VMSTAT_SY, VMSTAT_FIELDS, false },
	{ TICKS("idle", "id"), 1, TABLE_STAT, VMSTAT_ID, VMSTAT_FIELDS, false },
	{ TICKS("iowait", "wa"), 1, TABLE_STAT, VMSTAT_WA, VMSTAT_FIELDS, false },
	{ TICKS("steal", "st"), 1, TABLE_STAT, VMSTAT_ST, VMSTAT_FIELDS, false },
	{ TICKS("guest", "gu; already in user"), 1, TABLE_STAT, VMSTAT_GU, VMSTAT_FIELDS, false },
	{ COUNTER("ctxt", SONDE_COUNT("switches"), "cs"), 1, TABLE_STAT, VMSTAT_CS, VMSTAT_FIELDS, false },
	{ COUNTER("intr", SONDE_COUNT("interrupts"), "in"), 1, TABLE_STAT, VMSTAT_IN, VMSTAT_FIELDS, false },
	{ GAUGE("procs_running", SONDE_COUNT("tasks"), "r"), 1, TABLE_STAT, VMSTAT_R, VMSTAT_FIELDS, false },
	{ GAUGE("procs_blocked", SONDE_COUNT("tasks"), "b"), 1, TABLE_STAT, VMSTAT_B, VMSTAT_FIELDS, false },
	{ GAUGE("mem_free", SONDE_KIB, "free"), 1, TABLE_MEMINFO, VMSTAT_FREE, VMSTAT_FIELDS, true },
	{ GAUGE("buffers", SONDE_KIB, "buff"), 1, TABLE_MEMINFO, VMSTAT_BUFF, VMSTAT_FIELDS, true },
	{ GAUGE("cached_and_s_reclaimable", SONDE_KIB, "cache: the two in one"), 1, TABLE_MEMINFO, VMSTAT_CACHE, VMSTAT_FIELDS, true },
	{ GAUGE("active", SONDE_KIB, "active"), 1, TABLE_MEMINFO, VMSTAT_ACTIVE, VMSTAT_FIELDS, true },
	{ GAUGE("inactive", SONDE_KIB, "inact"), 1, TABLE_MEMINFO, VMSTAT_INACT, VMSTAT_FIELDS, true },
	{ GAUGE("swap_used", SONDE_KIB, "swpd: all of swap less what is free of it"), 1, TABLE_MEMINFO, VMSTAT_SWPD, VMSTAT_FIELDS, true },
	{ COUNTER("pgpgin", SONDE_KIB, "bi"), 1, TABLE_VMSTAT, VMSTAT_BI, VMSTAT_FIELDS, false },
	{ COUNTER("pgpgout", SONDE_KIB, "bo"), 1, TABLE_VMSTAT, VMSTAT_BO, VMSTAT_FIELDS, false },
	{ COUNTER("pswpin", SONDE_COUNT("pages"), "si, as pages of 4 KiB"), 1.0 / PAGE_KIB, TABLE_VMSTAT, VMSTAT_SI, VMSTAT_FIELDS, true },
	{ COUNTER("pswpout", SONDE_COUNT("pages"), "so, as pages of 4 KiB"), 1.0 / PAGE_KIB, TABLE_VMSTAT, VMSTAT_SO, VMSTAT_FIELDS, true },
};

static const struct {
	const char *name, *section, *help;
} tables[TABLES_OF_VMSTAT] = {
	[TABLE_STAT] = { "stat", "cpu", "The whole system, as vmstat printed it." },
	[TABLE_MEMINFO] = { "meminfo", "meminfo", "Memory, as vmstat printed it." },
	[TABLE_VMSTAT] = { "vmstat", "vmstat", "Paging and swapping, as vmstat printed it." },
};
/* clang-format on */

enum { MAPPED = sizeof mapped / sizeof *mapped };

/* Where it is known how many CPUs there are, that they are: nothing of each alone. */
static const struct sonde_column cpu_columns[] = {
	{ "cpu", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "--cpus", .help = "one of so many" },
};
static const struct sonde_table cpu_table = {
	.name = "cpu",
	.columns = SONDE_ARRAY(cpu_columns),
	.origin = "--cpus",
	.help = "The CPUs of the machine, as whoever imported it said.",
};

/* What 64 bits hold, with room for rounding. */
static const double most = 9e18;

struct importing {
	struct writing writing;
	const struct import_options *options;
	double kib;         /* what one of vmstat's units is */
	bool given[MAPPED]; /* a column of the recording */
	uint32_t
		table[TABLES_OF_VMSTAT]; /* where it is among the recording's, plus 1; 0: nowhere */
	uint32_t cpus;                   /* and where cpu_table is, if it is */

	/* What the text says of time: of its first rows. */
	int64_t first, second; /* below 0: not told */
	bool stamped;
	double nominal; /* seconds of an interval */

	/* The instant at hand. */
	struct vmstat_row row;
	bool has_row; /* else there is nothing but the counters' beginning */
	double sum[MAPPED];
	int64_t last; /* time of the row before */
	double at;
};

/* ---- Learning */

static double unit_of(char unit)
{
	return unit == 'k' ? 1000.0 / 1024 : unit == 'm' ? 1e6 / 1024 : unit == 'M' ? 1024 : 1;
}

/* In steps of a megabyte nothing can be said of swapping: 255 pages a second are 0. */
static bool is_too_rough(const struct importing *im, const struct mapped *column)
{
	return im->kib > 1 && column->memory && column->column.semantics == SONDE_COUNTER;
}

static void learn_row(struct importing *im, const struct vmstat_row *row, uint32_t n)
{
	for (uint32_t i = 0; i < MAPPED; i++)
		im->given[i] |= row->have[mapped[i].field] && !is_too_rough(im, &mapped[i]);
	if (n == 0)
		im->first = row->time;
	if (n == 1)
		im->second = row->time;
	im->stamped &= row->time >= 0;
}

static int learn(struct importing *im, struct vmstat_text *vmstat)
{
	struct vmstat_row row;
	uint32_t n = 0;
	int more;

	im->first = im->second = -1;
	im->stamped = true;
	while ((more = vmstat_next(vmstat, &row)) > 0)
		learn_row(im, &row, n++);
	if (more < 0)
		return more;
	if (n == 1 && !im->options->no_first) {
		snprintf(
			vmstat->why, sizeof vmstat->why,
			"its only row is of all time since boot: print intervals, vmstat -wt 1 60");
		return -EBADMSG;
	}
	im->nominal = im->options->interval;
	if (im->nominal <= 0)
		im->nominal = im->stamped && im->second > im->first
				      ? (double)(im->second - im->first)
				      : 1;
	return 0;
}

static int make_tables(struct importing *im)
{
	int err = 0;

	for (uint32_t t = 0; !err && t < TABLES_OF_VMSTAT; t++) {
		struct sonde_column columns[COLUMNS_MOST];
		struct sonde_table table = { .name = tables[t].name,
					     .origin = "vmstat",
					     .help = tables[t].help };
		uint32_t n = 0;

		for (uint32_t i = 0; i < MAPPED; i++)
			if (im->given[i] && mapped[i].table == t)
				columns[n++] = mapped[i].column;
		if (!n)
			continue;
		table.columns = (struct sonde_array) { columns, n, sizeof *columns };
		im->table[t] = im->writing.frame.ntables + 1;
		err = writing_table(&im->writing, &table, tables[t].section);
	}
	if (!err && im->options->cpus) {
		im->cpus = im->writing.frame.ntables;
		err = writing_table(&im->writing, &cpu_table, "cpu");
	}
	return err;
}

/* ---- Rows */

static void set(struct importing *im, struct sonde_row *row, uint32_t slot, uint32_t i)
{
	const struct mapped *column = &mapped[i];
	bool counter = column->column.semantics == SONDE_COUNTER;

	if (counter && im->sum[i] < most)
		sonde_set_u64(row, slot, (uint64_t)(im->sum[i] + 0.5));
	else if (!counter && im->has_row && im->row.have[column->field])
		sonde_set_u64(row, slot,
			      (uint64_t)((double)im->row.value[column->field] *
						 (column->memory ? im->kib : 1) +
					 0.5));
}

static void add_rows(struct writing *writing, void *context)
{
	struct importing *im = context;

	for (uint32_t t = 0; t < TABLES_OF_VMSTAT; t++) {
		struct sonde_row row;
		uint32_t slot = 0;

		if (!im->table[t] || !frame_row(&writing->frame, im->table[t] - 1, &row))
			continue;
		for (uint32_t i = 0; i < MAPPED; i++)
			if (im->given[i] && mapped[i].table == t)
				set(im, &row, slot++, i);
	}
	for (uint32_t cpu = 0; cpu < im->options->cpus; cpu++) {
		struct sonde_row row;

		if (frame_row(&writing->frame, im->cpus, &row))
			sonde_set_u64(&row, 0, cpu);
	}
}

/* What the counters grew by in an interval: it is as long as the row before is away. */
static void count(struct importing *im, const struct vmstat_row *row, double seconds)
{
	for (uint32_t i = 0; i < MAPPED; i++) {
		const struct mapped *column = &mapped[i];
		double value;

		if (!im->given[i] || column->column.semantics != SONDE_COUNTER ||
		    !row->have[column->field])
			continue;
		value = (double)row->value[column->field];
		if (column->also != VMSTAT_FIELDS && row->have[column->also])
			value += (double)row->value[column->also];
		if (column->column.unit == SONDE_BASE_NS && im->options->cpus)
			value *= im->options->cpus;
		im->sum[i] += value * (column->memory ? im->kib : 1) * column->scale * seconds;
	}
}

/* ---- Time */

/* How long the interval of a row was. A clock that goes back was set, or winter time began: that interval is as the first. */
static int interval(struct importing *im, const struct vmstat_row *row, double *seconds)
{
	int64_t past = row->time - im->last;

	*seconds = im->nominal * (1 + row->missed);
	if (!im->stamped)
		return 0;
	im->last = row->time;
	if (past > 0 && past < 1000000000) {
		*seconds = (double)past;
		return 0;
	}
	return writing_note(
		&im->writing, "",
		"at +%.0f s its clock was set: times behind it are not those that it printed",
		im->at);
}

static int write_row(struct importing *im, const struct vmstat_row *row, bool last)
{
	double seconds;
	int err = interval(im, row, &seconds);

	if (!err && row->missed)
		err = writing_gap(&im->writing, im->at, im->at + seconds,
				  "lines that are no rows of vmstat");
	if (err)
		return err;
	im->at += seconds;
	if (im->at > 1e9)
		return -ERANGE;
	im->row = *row;
	im->has_row = true;
	count(im, row, seconds);
	return writing_instant(&im->writing, im->at, last, add_rows, im);
}

static int write_all(struct importing *im, struct vmstat_text vmstat)
{
	struct vmstat_row row, next;
	bool base = !im->options->no_first;
	int more, err = 0;

	im->last = im->first;
	if (!base) {
		im->last -= (int64_t)im->nominal;
		err = writing_instant(&im->writing, 0, false, add_rows, im);
	}
	more = vmstat_next(&vmstat, &row);
	while (!err && more > 0) {
		more = vmstat_next(&vmstat, &next);
		if (base) {
			im->row = row;
			im->has_row = true;
			err = writing_instant(&im->writing, 0, more <= 0, add_rows, im);
			base = false;
		} else {
			err = write_row(im, &row, more <= 0);
		}
		row = next;
	}
	return err;
}

/* ---- What a reader has to know */

static int tell(struct importing *im, const struct vmstat_text *vmstat)
{
	struct writing *writing = &im->writing;
	int err = 0;

	if (!im->options->no_first)
		err = writing_note(
			writing, "",
			"vmstat's first row is of all time since boot: its rates are left out");
	if (!err && !im->stamped && im->options->interval <= 0)
		err = writing_note(writing, "",
				   "vmstat did not say how long its intervals are: 1 s is taken; "
				   "--interval says otherwise. Rates hold all the same");
	if (!err && im->stamped && !vmstat->zoned)
		err = writing_note(
			writing, "",
			"vmstat's times are of a zone (%s) whose offset the text does not tell: "
			"taken as UTC",
			*vmstat->zone ? vmstat->zone : "without a name");
	if (!err && vmstat->unread)
		err = writing_note(
			writing, "",
			"%u lines of vmstat, line %u first, have not the columns of its header: "
			"left out",
			vmstat->unread, vmstat->first_unread);
	if (!err)
		err = writing_note(
			writing, "cpu",
			"vmstat prints whole percents of all CPUs together%s; nice is in us, interrupts are in sy",
			im->options->cpus ? "" : ", and not of how many: --cpus N says it");
	if (!err && im->kib > 1)
		err = writing_note(
			writing, "vmstat",
			"vmstat -S %c prints si and so in whole megabytes a second, which hides swapping: "
			"print it with -S K",
			im->options->unit);
	return err;
}

static int import(struct importing *im, const char *text, size_t length, int fd, char *why,
		  size_t size)
{
	struct vmstat_text vmstat = vmstat_text(text, length);
	int err = learn(im, &vmstat);

	snprintf(why, size, "%s", vmstat.why);
	if (err)
		return err;
	if (im->stamped) {
		double before = im->options->no_first ? im->nominal : 0;

		im->writing.utc_offset = vmstat.utc_offset;
		im->writing.started =
			(im->first - vmstat.utc_offset - (int64_t)before) * 1000000000;
	}
	err = make_tables(im);
	if (!err)
		err = writing_start(&im->writing, fd);
	if (!err)
		err = tell(im, &vmstat);
	if (!err)
		err = write_all(im, vmstat_text(text, length));
	if (err == -ERANGE) {
		snprintf(why, size, "its intervals are longer than 30 years in all");
		err = -EBADMSG;
	}
	return err;
}

int import_vmstat(const char *text, size_t length, const struct import_options *options, int fd,
		  char *why, size_t size)
{
	struct importing *im = must(calloc(1, sizeof *im));
	int err;

	im->options = options;
	im->kib = unit_of(options->unit);
	im->writing.tool = "vmstat";
	im->writing.user_hz = USER_HZ;
	im->writing.ncpus = options->cpus;
	err = writing_end(&im->writing, import(im, text, length, fd, why, size));
	free(im);
	return err;
}
