/* What the files of the sink `report` share: the document that it gathers from a stream, what its writers ask of it, and the
 * writers. */
#ifndef REPORT_H
#define REPORT_H

#include <sonde/page.h>
#include <sonde/plugin.h>

enum { GAPS_MOST = 24, NOTES_MOST = 64, NODES_MOST = 1024 };

struct list {
	void *items;
	uint32_t count;
};

struct evidence {
	char *id, *about, *name, *unit, *counted, *origin;
	double value;
};

struct finding {
	char *id, *about, *severity, *title, *why, *action, *need, *risk, *undo;
	char *ignored, *until; /* why it is, and to which day; "": it is not */
	uint64_t begin, end, held;
};

struct metric {
	char *name, *about, *unit, *counted, *direction, *origin;
	double value;
};

/* A metric of the host over some of the window. Those of one metric stand together, in order of time. */
struct slice {
	char *name;
	uint64_t begin, end;
	double value;
};

/* A NUMA node, as far as the recording tells of it. */
struct node {
	char *cpus, *distance; /* lists; NULL: not known */
	uint64_t id;
	double memory; /* bytes; 0: not known */
};

/* Caches that are alike: of one level, type, size and number of sharers. */
struct cache {
	char *type;
	uint64_t level, shared, count;
	double size; /* bytes; 0: not known */
};

/* CPUs whose frequency is chosen in the same way. */
struct governor {
	char *governor, *driver;
	uint64_t cpus;
};

/* Hugetlb pages of one size. */
struct pool {
	double size; /* bytes */
	uint64_t pages, unused, reserved;
};

struct setting {
	char *name, *value;
};

struct judgement {
	char *id, *title, *verdict, *reason;
};

struct note {
	char *instance, *text;
};

/* Gaps of one section for one reason. */
struct gaps {
	char *instance, *reason, *text;
	uint64_t count, lost;
	uint64_t time;    /* ns, of those whose begin is known */
	uint64_t unbegun; /* of count: those whose begin is not known */
};

enum { TAKERS = 8, FIELDS_MOST = 14, PASSED = 128 };

/* A schema that was there before; all zero: none. */
struct known {
	const struct sonde_schema *schema; /* compared only: it may be gone */
	uint64_t hash;
	uint32_t nslots;
};

/* Where the columns that a taker looks for are in its table; found once, not at each row. */
struct binding {
	struct known of;
	int32_t slot[FIELDS_MOST]; /* -1: the table has no such column */
};

/* Everything that the report is made of. */
struct gathered {
	struct binding bindings[TAKERS], own;
	struct known passed[PASSED]; /* tables of data of which nothing (more) is taken, by hash */
	struct list ignored;         /* findings, of the newest judgement too */
	struct list findings, evidence, metrics, slices, judgements; /* of the newest judgement */
	uint64_t judged; /* sequence of the instant that they came in, plus 1 */
	struct list notes, gaps, node_list;
	uint64_t more_notes, more_gaps;
	bool no_memory;

	/* Of who speaks, and the window. */
	char *host, *kernel, *arch, *online, *nodes, *label, *version;
	char *model;             /* of the CPUs; NULL: not known */
	uint64_t sockets, cores; /* 0: not known */
	uint32_t ncpus;
	struct list caches, governors, pools, settings;
	char *thp_enabled, *thp_defrag; /* NULL: not known */
	uint32_t tables_taken;          /* of topology.c */
	bool has_header;
	uint64_t
		began; /* of the first header, CLOCK_BOOTTIME ns: where an import has its second 0 */
	uint64_t first, last; /* CLOCK_BOOTTIME ns */
	int64_t offset;       /* to real time, of the newest instant */
	int32_t utc_offset;   /* of the recorded host */
	bool has_time;
	uint64_t instants, sequence;
	char *end_reason;
	double own_cpu; /* ns that sonde used, from the table self; below 0: unknown */
	double own_first;
	double own_scale;
};

void gathered_view(struct gathered *gathered, const struct sonde_view *view);
void gathered_free(struct gathered *gathered);

/* Whether its moments have a date: of a text that told none, times count from 1970 as if the machine had been booted then
 * (framework/import/writing.c). */
static inline bool has_date(const struct gathered *gathered)
{
	return gathered->offset;
}

/* Seconds between the begin of a recording without a date and this moment: what there is in place of the time of day. */
static inline double since_began(const struct gathered *gathered, uint64_t boottime)
{
	return ((double)boottime - (double)gathered->began) / 1e9;
}

/* For topology.c: a table of data as it passes, of which it takes what there is once. */
void topology_view(struct gathered *gathered, const struct sonde_view *view);

/* Of a row of data: a number in base units, 0 where there is none; a text to be freed, NULL where there is none. */
double base_of(const struct sonde_view *view, uint32_t row, const char *column);
char *bytes_of(struct gathered *gathered, const struct sonde_view *view, uint32_t row,
	       const char *column);

/* One item more, zeroed; NULL without memory, which is remembered. */
void *list_append(struct gathered *gathered, struct list *list, size_t size);

/* ---- what is asked of it ---- */

/* How many findings of the catalogue were "found", "clear" or "not_judged". */
uint32_t verdict_count(const struct gathered *gathered, const char *verdict);

/* "2 found, 12 clear, 3 not judged"; where one was found of several processes or disks, how many there are to read. */
void say_verdicts(char *to, size_t size, const struct gathered *gathered);

/* What was not judged, once for each reason: "no psi (why)" and "no psi_cpu (why)" are one, their findings in one list. */
typedef void tell_reason(struct page *page, const char *ids, const char *reason);
void not_judged_each(struct page *page, const struct gathered *gathered, tell_reason *tell);

/* Each finding in the order in which people read them: those of one kind stand together, where the heaviest of them is.
 * `said`: one before has the same advice. */
typedef void tell_finding(struct page *page, const struct gathered *gathered,
			  const struct finding *finding, bool said);
void findings_each(struct page *page, const struct gathered *gathered, tell_finding *tell);

/* Nothing can be told of when: a setting, or what held from begin to end. */
bool held_all_along(const struct gathered *gathered, const struct finding *finding);

/* Those that are ignored, in their order. */
typedef void tell_ignored(struct page *page, const struct finding *finding);
void ignored_each(struct page *page, const struct gathered *gathered, tell_ignored *tell);

bool evidence_of(const struct evidence *evidence, const struct finding *finding);

/* A late tick is missed by every section of its lane: one line for all of them, where the first is. */
bool gaps_alike(const struct gaps *a, const struct gaps *b);
bool gaps_told_before(const struct gaps *gaps, uint32_t i);
/* ", 4.0 s in all", or what can be said where their begin is not known. */
void say_gaps_time(char *text, size_t size, const struct gaps *gaps);

/* Of one CPU, what sonde itself used; below 0: not known. */
double own_share(const struct gathered *gathered);

/* ns since 1970. */
int64_t realtime_of(const struct gathered *gathered, uint64_t boottime);

/* A line of the USE table; a cell is NULL where nothing is known. */
enum { USE_CELLS = 3, USE_MOST = 64 };
struct use {
	const char *resource, *about;
	const struct metric *cells[USE_CELLS];
};

/* How many lines. */
uint32_t use_table(const struct gathered *gathered, struct use lines[USE_MOST]);

/* The slices of a metric; *count 0 where there are none. */
const struct slice *slices_of(const struct gathered *gathered, const struct metric *metric,
			      uint32_t *count);

/* A metric over the window, lowest to highest, in a line of characters; a blank where there is no data. */
enum { SPARK_WIDTH = 40 };
struct spark {
	char text[SPARK_WIDTH * 3 + 1];
	double least, most;
	bool flat; /* it hardly moved */
};

/* False where it has no course: it was told once. */
bool sparkline(const struct gathered *gathered, const struct metric *metric, struct spark *spark);

/* ---- writers: one document, a file each ---- */

void report_text(struct page *page, const struct gathered *gathered);
/* What was found; of what is only worth knowing a line each. */
void report_brief(struct page *page, const struct gathered *gathered);
void report_markdown(struct page *page, const struct gathered *gathered);
void report_json(struct page *page, const struct gathered *gathered);
/* The machine alone, and what was found of it. */
void report_machine(struct page *page, const struct gathered *gathered);

/* Of text.c: lines of its document that others have too. A setting is without when. */
void text_host(struct page *page, const struct gathered *gathered);
void text_setting(struct page *page, const struct gathered *gathered, const struct finding *finding,
		  bool said);

#endif
