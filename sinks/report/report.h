/* What the files of the sink `report` share: what it gathers from a stream, and the page that it prints it on. */
#ifndef REPORT_H
#define REPORT_H

#include <sonde/plugin.h>

enum { WIDTH = 96, GAPS_MOST = 24, NOTES_MOST = 64 };

struct evidence {
	char *id, *about, *name, *unit, *counted, *origin;
	double value;
};

struct finding {
	char *id, *about, *severity, *title, *why, *action, *need, *risk, *undo;
	uint64_t begin, end, held;
};

struct metric {
	char *name, *about, *unit, *counted, *direction, *origin;
	double value;
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
	uint64_t count, lost, begin, end, time;
};

struct list {
	void *items;
	uint32_t count;
};

/* Everything that the report is made of. */
struct gathered {
	struct list findings, evidence, metrics, judgements; /* of the newest judgement */
	uint64_t judged; /* sequence of the instant that they came in, plus 1 */
	struct list notes, gaps;
	uint64_t more_notes, more_gaps;
	bool no_memory;

	/* Of who speaks, and the window. */
	char *host, *kernel, *arch, *online, *nodes, *label, *version;
	uint32_t ncpus;
	bool has_header;
	uint64_t first, last; /* CLOCK_BOOTTIME ns */
	int64_t offset;       /* to real time, of the newest instant */
	bool has_time;
	uint64_t instants, sequence;
	char *end_reason;
	double own_cpu; /* ns that sonde used, from the table self; below 0: unknown */
	double own_first;
};

void gather_view(struct gathered *gathered, const struct sonde_view *view);
void gather_free(struct gathered *gathered);

/* A text that grows. */
struct page {
	char *bytes;
	size_t used, size;
	bool colour, no_memory;
};

SONDE_PRINTF(2, 3) void page_print(struct page *page, const char *format, ...);
/* Foreign text: what could act on a terminal is escaped. */
void page_text(struct page *page, const char *text);
/* Foreign text, wrapped at WIDTH; the lines after the first begin at column `indent`, where the cursor is now. */
void page_wrapped(struct page *page, const char *text, unsigned indent);
/* Blanks up to a width, for text that is already there: its visible length is `length`. */
void page_pad(struct page *page, size_t length, size_t width);

/* How wide foreign text is once it is escaped, in characters. */
size_t text_width(const char *text);

/* "12.3 %", "4.2 ms", "3.1 GiB", "120 faults/s": into `to`. */
void say_value(char *to, size_t size, double value, const char *unit, const char *counted);
/* "5.0 s", "2 min 5 s", "1 h 30 min". */
void say_duration(char *to, size_t size, uint64_t ns);
/* "2026-11-30 05:06:28.1 UTC", or without the date. */
void say_time(char *to, size_t size, int64_t realtime, bool date);

void report_text(struct page *page, const struct gathered *gathered);

#endif
