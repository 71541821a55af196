/* What the files of the sink `tree` share: the processes of a recording as they lived, and what is made of them. */
#ifndef TREE_H
#define TREE_H

#include <sonde/page.h>
#include <sonde/plugin.h>

enum {
	LIVES_MOST = 1 << 18,
	SPANS_MOST = 1 << 13,
	BUCKETS = 1 << 16,
	STEPS_MOST = 256, /* of a bucket that are looked at */
	DEPTH_MOST = 4096,
	NONE = -1
};

/* By exit records a start is known to an interval, by samples to a tick or two. */
enum { SLACK_NS = 1000000000, TICKS_NS = 20000000 };

/* What a process used, base units; NAN: not known. */
struct use {
	double cpu, wait;     /* ns; wait: runnable, for a CPU */
	double blocked;       /* ns; waiting for block I/O and swap-in */
	double read, written; /* bytes, of disks */
	double rss;           /* bytes, most at once */
	double faults, major_faults, switches;
};

/* What rows tell of it, since its birth. */
struct counts {
	struct use use;
	double user, system, children_user,
		children_system; /* ns; children: those that it waited for */
};

/* A process, from the first row or exit record of it to the last. Indices are of tree.lives. */
struct life {
	uint32_t pid, ppid, first_ppid;
	uint64_t start, last, end; /* CLOCK_BOOTTIME, ns; end 0: it lived on */
	uint32_t order;            /* of its end among all ends told by the kernel; 0: not told */
	int32_t older;             /* another one in its bucket */
	char *comm, *command;      /* command NULL: only the name is known */
	struct counts row,
		base;       /* by the newest sample; what was before the recording, by relate() */
	struct use exit;    /* by exit records, threads added up */
	double exitcode;    /* of wait(2) */
	double etime;       /* ns from its birth to its end, of its record; NAN */
	uint64_t born;      /* by an event, CLOCK_BOOTTIME ns; 0: no event told */
	bool sampled, told; /* by samples, an exit record */
	bool ended_told;    /* `end` is of an event */
	bool start_exact, life_exact; /* to a tick, by relate(); else to an interval */
	bool earlier;                 /* than the recording, by relate() */

	/* By relate(). */
	bool member, critical;
	int32_t parent, child, sibling; /* first child, next sibling */
	uint32_t place; /* among all, parents first: the same however the rows came */
	struct use use; /* during the recording, its peak RSS apart */
	double known,
		adopted; /* CPU of it and of all below since birth; of orphans that it took over */
	double below_read, below_written; /* likewise, bytes */
	double short_lived;               /* CPU of its children that no sample and no record saw */
};

/* A process that is none of the tree: CPU time since the recording began, ns. */
struct outsider {
	uint32_t pid;
	uint64_t start;       /* as of a life */
	double cpu, children; /* children: those that it waited for; NAN: not known */
	char *comm, *program; /* program: what a runtime runs; NULL: it is none */
};
enum { OUTSIDERS_MOST = 128 };

/* What happened in a stretch of time, besides: sums over processes, but for what is of the whole machine. NAN: not known. */
struct amounts {
	double wait, blocked;        /* ns */
	double faults, major_faults; /* counts */
	double rss;                  /* bytes resident at its end; of several together, the most */
	double busy, read, written; /* of the machine: ns of its CPUs; bytes of its block devices */
};

/* Between two samples, or several that are next to each other where there are more than SPANS_MOST. */
struct span {
	uint64_t begin, end;
	double cpu; /* ns that the tree used */
	double runnable,
		runnable_most; /* ns that its threads ran or waited for a CPU: at least, and where that is not known at most; of lanes */
	struct amounts amounts;
};

static const struct use use_unknown = { NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
static const struct counts counts_unknown = {
	{ NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN }, NAN, NAN, NAN, NAN
};
static const struct amounts amounts_unknown = { NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };

/* Where columns lie in a table as it came last. */
enum { FIELDS_MOST = 32 };
struct binding {
	const struct sonde_schema *schema; /* compared only */
	uint64_t hash;
	int32_t slot[FIELDS_MOST]; /* -1: no such column */
	double scale[FIELDS_MOST]; /* to the base unit */
};

struct tree {
	struct binding process, exits, births, outside, total, net, end, machine, paging;
	struct life *lives;
	struct lane *lanes;           /* of each life; NULL: not kept */
	uint32_t count, size, untold; /* untold: beyond LIVES_MOST */
	int32_t *buckets;             /* newest life by pid */
	uint32_t *order;              /* members, parents before children */
	uint32_t members, ends;
	struct span *spans;
	uint32_t nspans, spans_size;
	struct amounts pending;                /* of the span to come */
	double paged_in, paged_out;            /* bytes, newest; NAN */
	uint64_t stretches, coarsen_at, grain; /* of all lanes; grain: ns, 0 as it was sampled */
	bool keeps_lanes;
	struct outsider outsiders[OUTSIDERS_MOST];
	uint32_t noutsiders;
	char *host, *label, *kernel, *arch, *version;
	int64_t realtime; /* less CLOCK_BOOTTIME, ns */
	int32_t utc_offset;
	uint32_t cpus;               /* online at the start; 0: not known */
	bool any;                    /* anything came */
	uint64_t first, last;        /* CLOCK_BOOTTIME, ns */
	uint64_t instants, sequence; /* of all lanes, as a report counts them */
	uint64_t samples, sampled_at,
		interval; /* of processes; interval: the shortest between two */
	double tree_cpu;  /* ns, of the table processes, newest; NAN: the recording has none */
	double busy, busy_first; /* ns that the CPUs of the machine worked; NAN */
	double rss;              /* most resident at one instant, all processes; NAN */
	double received, sent, received_first, sent_first; /* bytes, all interfaces but lo; NAN */
	uint32_t recorder; /* pid of who started the root; 0: not known */
	bool adopted;      /* that was sonde, and the tree's orphans became its children */
	bool no_memory;
};

/* The whole of a recording. */
struct totals {
	struct use use;
	double user, system, short_lived, largest; /* largest: peak RSS of one process */
	uint32_t unknown;                          /* processes of which no CPU time is known */
	double outside; /* ns of the machine's that were not a watched tree's; NAN: none is watched */
};

/* A view of any table, as it passes. */
void tree_view(struct tree *tree, const struct sonde_view *view);
void tree_free(struct tree *tree);

/* Of it, views of the tables net, stat, vmstat and end. */
void take_network(struct tree *tree, const struct sonde_view *view);
void take_machine(struct tree *tree, const struct sonde_view *view);
void take_paging(struct tree *tree, const struct sonde_view *view);
void take_end(struct tree *tree, const struct sonde_view *view);

/* Where amounts of this view belong: to the span of the same instant, or to that which comes. */
struct amounts *amounts_of(struct tree *tree, const struct sonde_view *view);

/* When all has passed: who belongs to it, whose children they are, what each used. False without memory. */
bool tree_relate(struct tree *tree);
void tree_totals(const struct tree *tree, struct totals *totals);

static inline bool known(double value)
{
	return !isnan(value);
}

/* What is known of both. */
static inline double plus(double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : a + b;
}

static inline double larger(double a, double b)
{
	return isnan(a) || b > a ? b : a;
}

/* Duration of a life as far as it was seen, ns; and that of its part since a moment. */
static inline double lived_since(const struct life *life, uint64_t moment)
{
	uint64_t until = life->end ? life->end : life->last;
	uint64_t from = life->start > moment ? life->start : moment;

	return until > from ? (double)(until - from) : 0;
}

static inline double lived(const struct life *life)
{
	return lived_since(life, 0);
}

/* All of it in `sum`: amounts are added, of peaks the highest stays. */
static inline void use_add(struct use *sum, const struct use *one)
{
	sum->cpu = plus(sum->cpu, one->cpu);
	sum->wait = plus(sum->wait, one->wait);
	sum->blocked = plus(sum->blocked, one->blocked);
	sum->read = plus(sum->read, one->read);
	sum->written = plus(sum->written, one->written);
	sum->rss = larger(sum->rss, one->rss);
	sum->faults = plus(sum->faults, one->faults);
	sum->major_faults = plus(sum->major_faults, one->major_faults);
	sum->switches = plus(sum->switches, one->switches);
}

static inline void amounts_add(struct amounts *sum, const struct amounts *one)
{
	sum->wait = plus(sum->wait, one->wait);
	sum->blocked = plus(sum->blocked, one->blocked);
	sum->faults = plus(sum->faults, one->faults);
	sum->major_faults = plus(sum->major_faults, one->major_faults);
	sum->rss = larger(sum->rss, one->rss);
	sum->busy = plus(sum->busy, one->busy);
	sum->read = plus(sum->read, one->read);
	sum->written = plus(sum->written, one->written);
}

/* ---- lanes: what each process did, over time ---- */

/* Thousandths of a thread, on average over the stretch; what is left of the first thread slept. */
enum { THREAD = 1000 };
#define UNKNOWN UINT32_MAX
struct stretch {
	uint64_t until; /* CLOCK_BOOTTIME, ns; it begins where the one before ends */
	uint32_t running, waiting, blocked;
};

/* Of a life, from `begin` on. `now` is the newest sample's; `open` is what happened since the last stretch. */
struct lane {
	struct stretch *stretches;
	uint32_t count, size;
	uint64_t begin, at, open_since;
	struct clocks {
		double run, wait, blocked; /* ns, of the leader thread */
		double all_run, all_wait;  /* of all threads; NAN: not recorded */
		double cpu;                /* of all threads, in ticks */
		double threads;            /* NAN */
		char state;                /* of the leader: 'D'; 0: not recorded */
	} now;
	double running, waiting, blocked; /* ns, since `open_since` */
	double threads;                   /* most at once; NAN */
};

/* A sample of it, with what is counted since its birth. */
void lane_sample(struct tree *tree, uint32_t index, const struct clocks *now, uint64_t moment);
/* Before they are read, when all lives are known: what records tell is added, all that is open becomes a stretch, none goes
 * beyond its life; spans are told what ran and waited in them. False without memory. */
bool lanes_close(struct tree *tree);
/* The life with a name that was runnable for most of this time; NONE. */
int32_t lanes_busiest(const struct tree *tree, uint64_t begin, uint64_t end);
/* Room for one more life. */
bool lanes_grow(struct tree *tree, uint32_t size);
void lanes_free(struct tree *tree);

/* ---- programs: lives of one name ---- */

struct program {
	const char *name;
	uint32_t count;
	double wall;
	struct use use;
};

/* Heaviest first; to be freed. NULL without memory. */
struct program *tree_programs(const struct tree *tree, uint32_t *count);

/* ---- phases: stretches in which nothing ran in parallel ---- */

enum { PHASES_MOST = 5 };
struct phase {
	uint64_t begin, end;
	int32_t busiest; /* life */
};

/* At most one thread of the tree was runnable, and one was for half of the time or more. The longest, in order of time; how many. */
uint32_t tree_phases(const struct tree *tree, struct phase phases[PHASES_MOST]);

/* ---- outsiders: who else used the CPUs ---- */

enum { OUTSIDERS_TOLD = 5 };
struct outsiders {
	double share; /* of the machine's busy CPU time; NAN: not known */
	double rest;  /* ns that are none of those told */
	const struct outsider *told[OUTSIDERS_TOLD]; /* the busiest first */
	uint32_t count;
};

/* False where the tree used nine tenths of the CPU time, or more, or that is not known. */
bool tree_outsiders(const struct tree *tree, const struct totals *totals,
		    struct outsiders *outsiders);

/* What a program is for that works for others without being their child, "Gradle daemon"; NULL: not known. */
const char *tree_service(const struct outsider *outsider);

/* ---- documents ---- */

void brief_text(struct page *page, const struct tree *tree);
void summary_text(struct page *page, const struct tree *tree);
void summary_json(struct page *page, const struct tree *tree);
void tree_text(struct page *page, const struct tree *tree);
void tree_json(struct page *page, const struct tree *tree);
void timeline_json(struct page *page, const struct tree *tree);
void timeline_perfetto(struct page *page, const struct tree *tree);
void timeline_speedscope(struct page *page, const struct tree *tree);

/* A line of the charts over time. */
struct series {
	const char *chart, *name, *title, *unit, *counted,
		*origin;                          /* unit, counted: of say_value() */
	double (*value)(const struct span *span); /* NAN: not known */
};
enum { SERIES = 9 };
extern const struct series tree_series[SERIES];

/* What a chart shows of a span; NAN: not known. */
double tree_charted(const struct tree *tree, const struct series *series, const struct span *span);

/* So many CPUs, at most those of the machine: a process' time is counted in ticks, and read at other moments than the clock. */
double tree_cpus(const struct tree *tree, double cpus);

/* Seconds since the recording's begin. */
static inline double since_first(const struct tree *tree, uint64_t moment)
{
	return ((double)moment - (double)tree->first) / 1e9;
}

struct json; /* <sonde/json.h> */

/* Members that more than one document has. give_number: null is not known. */
void give_number(struct json *json, const char *key, double value);
void give_meta(struct json *json, const struct tree *tree, const char *document);
void give_life(struct json *json, const struct tree *tree, uint32_t index);

#endif
