/* Lines of numastat (numactl, numastat.c; numastat(8)). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "import/number.h"
#include "import/numastat.h"

/* More bytes, or pages, than any machine has. */
static const double most = 1e18;

/* ---- Titles */

/* clang-format off */
static const struct {
	const char *words;
	enum numastat_kind kind;
} titles[] = {
	{ "Per-node numastat info", NUMASTAT_MEGABYTES },
	{ "Per-node system memory usage", NUMASTAT_MEMORY },
	{ "Per-node process memory usage", NUMASTAT_PROCESSES },
};
/* clang-format on */

/* "(in MBs)": the unit is a letter of 1024s. */
static double unit_of(const struct cursor *line)
{
	static const char letters[] = "KMGT";
	const char *in = memmem(line->at, (size_t)(line->end - line->at), "(in ", 4);
	const char *letter = in && in + 4 < line->end ? strchr(letters, in[4]) : NULL;
	double unit = 1024;

	for (const char *l = letters; letter && l < letter; l++)
		unit *= 1024;
	return letter ? unit : 1048576;
}

/* "1234 (comm)"; cut off, it may have no end. */
static bool take_process(struct cursor *line, uint64_t *pid, char comm[NUMASTAT_NAME])
{
	const char *end;

	*comm = '\0';
	if (!next_u64(line, pid) || !*pid || *pid > INT32_MAX)
		return false;
	skip_blanks(line);
	if (line->at == line->end || *line->at != '(')
		return line->at == line->end;
	end = line->end;
	while (end > line->at && end[-1] == ' ')
		end--;
	end -= end[-1] == ')';
	snprintf(comm, NUMASTAT_NAME, "%.*s", (int)(end > line->at ? end - line->at - 1 : 0),
		 line->at + 1);
	return true;
}

static void begin_snapshot(struct numastat_text *numastat)
{
	memset(numastat->seen, 0, sizeof numastat->seen);
	numastat->npids = 0;
	numastat->snapshot++;
}

/* The same processes again are another print. */
static void begin_processes(struct numastat_text *numastat)
{
	for (uint32_t i = 0; i < numastat->npids; i++)
		if (numastat->pids[i] == numastat->pid)
			begin_snapshot(numastat);
	if (numastat->npids < NUMASTAT_TABLES)
		numastat->pids[numastat->npids++] = numastat->pid;
}

static bool take_title(struct numastat_text *numastat)
{
	struct cursor line = numastat->line;
	const char *of;

	for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
		if (!take(&line, titles[i].words))
			continue;
		numastat->kind = titles[i].kind;
		numastat->unit = unit_of(&line);
		numastat->count = 0;
		numastat->pid = 0;
		of = memmem(line.at, (size_t)(line.end - line.at), "for PID ", 8);
		if (of) {
			line.at = of + 8;
			numastat->kind = take_process(&line, &numastat->pid, numastat->comm)
						 ? NUMASTAT_PROCESS
						 : NUMASTAT_NONE;
		}
		if (numastat->kind == NUMASTAT_PROCESS || numastat->kind == NUMASTAT_PROCESSES)
			begin_processes(numastat);
		return true;
	}
	return false;
}

/* ---- Headers */

static bool is_word(const char *word, size_t length, const char *text)
{
	return strlen(text) == length && memcmp(word, text, length) == 0;
}

/* Of a table that was there already, the same nodes again are another print of all. */
static void begin_block(struct numastat_text *numastat)
{
	enum numastat_kind kind = numastat->kind;
	uint32_t first = numastat->count ? numastat->node[0] : 0;

	if (kind == NUMASTAT_PROCESS || kind == NUMASTAT_PROCESSES || !numastat->count)
		return;
	if (numastat->seen[kind][first])
		begin_snapshot(numastat);
	for (uint32_t i = 0; i < numastat->count; i++)
		numastat->seen[kind][numastat->node[i]] = true;
}

/* "node0 node1", "Node 0 Node 1 Total", "PID Node 0 Total", "Total". The first form has no title, and counts pages. */
static bool take_header(struct numastat_text *numastat)
{
	struct cursor line = numastat->line;
	const char *word;
	size_t length;
	bool plain = false, total = false;
	uint32_t count = 0, node[NUMASTAT_NODES];
	uint64_t id;

	if (take_word(&line, "PID") && numastat->kind != NUMASTAT_PROCESSES)
		return false;
	while ((length = next_word(&line, &word))) {
		struct cursor number = whole(word, length);

		if (total)
			return false;
		if (is_word(word, length, "Total")) {
			total = true;
			continue;
		}
		if (!is_word(word, length, "Node")) {
			if (!take(&number, "node"))
				return false;
			plain = true;
		} else {
			number = whole(word, (length = next_word(&line, &word)));
			number.at = word;
			number.end = word + length;
		}
		if (!next_u64(&number, &id) || number.at != number.end || id >= NUMASTAT_NODES ||
		    count == NUMASTAT_NODES)
			return false;
		node[count++] = (uint32_t)id;
	}
	if ((!count && !total) || (plain && total) || (!plain && !numastat->kind))
		return false;
	if (plain) {
		numastat->kind = NUMASTAT_PAGES;
		numastat->unit = 1;
		numastat->pid = 0;
	}
	numastat->count = count;
	numastat->total = total;
	memcpy(numastat->node, node, count * sizeof *node);
	begin_block(numastat);
	return true;
}

/* ---- Rows */

/* The numbers are the last words: what is before them is the name, which may have blanks and numbers of its own. */
static bool take_numbers(const struct numastat_text *numastat, struct cursor *line,
			 struct numastat_row *row)
{
	uint32_t wanted = numastat->count + numastat->total;
	char text[40];

	for (uint32_t i = wanted; i-- > 0;) {
		const char *end = line->end, *at;
		double value;

		while (end > line->at && end[-1] == ' ')
			end--;
		for (at = end; at > line->at && at[-1] != ' ';)
			at--;
		if (at == line->at || end - at >= (ptrdiff_t)sizeof text)
			return false;
		snprintf(text, sizeof text, "%.*s", (int)(end - at), at);
		if (!import_number(text, false, false, &value) || value * numastat->unit > most)
			return false;
		line->end = at;
		if (i >= numastat->count)
			continue;
		row->node[i] = numastat->node[i];
		row->value[i] = value * numastat->unit;
	}
	return true;
}

static bool take_row(const struct numastat_text *numastat, struct numastat_row *row)
{
	struct cursor line = numastat->line;
	const char *word;
	size_t length;

	if (!take_numbers(numastat, &line, row))
		return false;
	row->kind = numastat->kind;
	row->snapshot = numastat->snapshot;
	row->count = numastat->count;
	row->pid = numastat->pid;
	memcpy(row->comm, numastat->comm, sizeof row->comm);
	if (numastat->kind == NUMASTAT_PROCESSES) {
		snprintf(row->name, sizeof row->name, "Total");
		return take_word(&line, "Total") || take_process(&line, &row->pid, row->comm);
	}
	length = next_word(&line, &word);
	snprintf(row->name, sizeof row->name, "%.*s", (int)length, word);
	return length && length < sizeof row->name && !next_word(&line, &word);
}

static int conclude(struct numastat_text *numastat)
{
	if (numastat->rows && numastat->unread <= numastat->rows)
		return 0;
	if (numastat->unread)
		snprintf(numastat->why, sizeof numastat->why,
			 "%u lines, line %u first, have not the columns of their header: print it "
			 "with numastat -m, or -p PID, into a file",
			 numastat->unread, numastat->first_unread);
	else
		snprintf(
			numastat->why, sizeof numastat->why,
			"no line of it is one of numastat's: print it with numastat, numastat -m or "
			"numastat -p PID");
	return -EBADMSG;
}

struct numastat_text numastat_text(const char *text, size_t length)
{
	return (struct numastat_text) { .line = cursor(text, length) };
}

/* Dashes below headers; what numastat has to say on stderr. */
static bool is_other(const struct cursor *line)
{
	struct cursor c = *line;
	const char *word;
	size_t length = next_word(&c, &word);

	return !length || *word == '-' || is_word(word, length, "Token") ||
	       is_word(word, length, "Found") || is_word(word, length, "Can't");
}

int numastat_next(struct numastat_text *numastat, struct numastat_row *row)
{
	while (next_line(&numastat->line)) {
		numastat->number++;
		if (numastat->line.at < numastat->line.end && numastat->line.end[-1] == '\r')
			numastat->line.end--;
		if (is_other(&numastat->line) || take_title(numastat) || take_header(numastat) ||
		    !numastat->kind)
			continue;
		if (!take_row(numastat, row)) {
			numastat->unread++;
			if (!numastat->first_unread)
				numastat->first_unread = numastat->number;
			continue;
		}
		if (!row->count || (row->kind == NUMASTAT_PROCESSES && !row->pid))
			continue; /* sums alone */
		numastat->rows++;
		return 1;
	}
	return conclude(numastat);
}
