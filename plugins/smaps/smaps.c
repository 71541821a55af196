/* smaps: what processes really use: shared pages in shares, huge pages, swap (/proc/PID/smaps_rollup, since Linux 4.14; before
 * it /proc/PID/smaps; Documentation/filesystems/proc.rst).
 *
 * The kernel walks every page of the process for it and holds its memory lock meanwhile. So: a few processes, the largest,
 * one after the other, as far as the budget of a sample goes, none that is larger than the ceiling. */
#define SONDE_USE_MINOR    1
#define SONDE_PLUGIN_FLAGS SONDE_COSTLY
#include <sonde/plugin.h>
#include <sonde/targets.h>

#include "sums.h"

enum { PART = 32 << 10 }; /* bytes of text after which the clock is read */

enum method { NOT_READ, ROLLUP, MAPPINGS, METHODS };

static const struct sonde_table tables[] = {
	{ "smaps", SONDE_COLUMNS(smaps_columns), .origin = "/proc/PID/smaps_rollup",
	  .help = "memory of processes, shared pages in shares; the largest processes, those that "
		  "the options choose",
	  .rows = 64 },
};

struct conf {
	struct targets_conf targets;
	uint64_t budget;  /* ns */
	uint64_t ceiling; /* bytes */
	uint32_t full;    /* bool */
};

static const struct sonde_option options[] = {
	TARGETS_OPTIONS(conf, targets, "32"),
	{ "budget", SONDE_OPT_DURATION, offsetof(struct conf, budget), "20ms", NULL, 1e5, 60e9,
	  "time a sample may spend on memory: processes beyond it have their turn in the next" },
	{ "ceiling", SONDE_OPT_SIZE, offsetof(struct conf, ceiling), "1GiB", NULL, 0, 0,
	  "a process with more resident memory is not read: 1 GiB of small pages locks it for 5 ms" },
	{ "full", SONDE_OPT_BOOL, offsetof(struct conf, full), "no", NULL, 0, 0,
	  "reads every process, however large" },
};

/* What is known of the process on one seat. */
struct result {
	struct sums sums;
	uint64_t taken; /* CLOCK_BOOTTIME, ns */
	enum method method;
};

struct state {
	struct targets targets;
	struct targets_budget budget;
	struct result *result;   /* of each seat */
	struct sonde_file *file; /* of the process that is being read; NULL: there is none */
	uint32_t seat;
	struct result reading;
	bool told_denied, told_ceiling;
};

/* ---- One process */

/* smaps in parts where rollup is not there, or would be one long walk. */
static struct sonde_file *open_maps(struct sonde_instance *self, const struct target *one,
				    enum method *method)
{
	const struct conf *conf = self->conf;
	struct sonde_file *file = NULL;

	*method = ROLLUP;
	if (one->resident <= conf->ceiling) {
		file = sonde_open(self, SONDE_FRESH, "/proc/%u/smaps_rollup", one->pid);
		if (file || errno != ENOENT)
			return file;
	}
	*method = MAPPINGS;
	return sonde_open(self, SONDE_FRESH, "/proc/%u/smaps", one->pid);
}

/* Opens what is to be read of the process on a seat. False: nothing can be. */
static bool begin(struct sonde_instance *self, uint32_t seat)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	struct target *one = &state->targets.seat[seat];

	one->read_at = state->targets.pass;
	if (!conf->full && one->resident > conf->ceiling) {
		if (!state->told_ceiling)
			sonde_note(self,
				   "processes larger than ceiling are not read; full = yes reads "
				   "them");
		state->told_ceiling = true;
		return false;
	}
	state->seat = seat;
	state->reading = (struct result) { .method = NOT_READ };
	state->file = open_maps(self, one, &state->reading.method);
	if (!state->file && errno == EACCES && !state->told_denied) {
		state->told_denied = true;
		sonde_note(self, "processes of other users can't be read: it needs CAP_SYS_PTRACE");
	}
	return state->file != NULL;
}

static void end(struct sonde_instance *self)
{
	struct state *state = self->state;

	sonde_close(self, state->file);
	state->file = NULL;
}

/* Reads on in the process that is being read. */
static void go_on(struct sonde_instance *self)
{
	struct state *state = self->state;
	const char *text;
	int64_t length = sonde_read_lines(self, state->file, PART, &text);

	if (length > 0) {
		sums_parse(text, (size_t)length, &state->reading.sums);
		return;
	}
	/* Nothing at all: it ended, or executes another program just now. */
	if (!length && state->reading.sums.have) {
		state->reading.taken = sonde_now(self);
		state->result[state->seat] = state->reading;
	}
	end(self);
}

static void read_some(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	int64_t seat;

	do {
		if (!state->file) {
			seat = targets_next(&state->targets);
			if (seat < 0)
				return;
			if (!begin(self, (uint32_t)seat))
				continue;
		}
		go_on(self);
	} while (targets_time(self, &state->budget, conf->budget));
}

/* ---- Rows */

static void emit(struct sonde_instance *self, struct sonde_frame *frame, const struct target *seat,
		 const struct result *result)
{
	static const char *const methods[METHODS] = { "none", "rollup", "smaps" };
	struct sonde_row row;

	if (!sonde_row(self, frame, 0, &row))
		return;
	sonde_set_u64(&row, PID, seat->pid);
	sonde_set_u64(&row, START_TIME, seat->start);
	sonde_set_bytes(&row, COMM, seat->comm, seat->comm_length);
	sonde_set_str(&row, METHOD, methods[result->method]);
	if (self->header->page_size)
		sonde_set_u64(&row, RESIDENT, seat->resident);
	if (result->method == NOT_READ)
		return;
	sonde_set_u64(&row, TAKEN, result->taken);
	for (uint32_t i = 0; i < SUMS; i++)
		if (result->sums.have >> i & 1)
			sonde_set_u64(&row, FIRST_SUM + i, result->sums.kib[i]);
}

/* ---- Life */

static int check(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;

	return targets_check(self, &conf->targets);
}

static int start(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	int err = targets_start(self, &state->targets, &conf->targets);

	return err ? err
		   : sonde_grow(self, &state->result,
				state->targets.nseats * sizeof *state->result);
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	struct targets *targets = &state->targets;
	int err;

	err = targets_update(self, targets, &conf->targets);
	if (err)
		return err;
	for (uint32_t i = 0; i < targets->nseats; i++)
		if (targets->seat[i].fresh)
			state->result[i] = (struct result) { .method = NOT_READ };
	if (state->file && (!targets->seat[state->seat].pid || targets->seat[state->seat].fresh))
		end(self);
	targets_begin(self, &state->budget);
	read_some(self);
	for (uint32_t i = 0; i < targets->nseats; i++)
		if (targets->seat[i].pid)
			emit(self, frame, &targets->seat[i], &state->result[i]);
	return 0;
}

static void stop(struct sonde_instance *self)
{
	end(self);
}

SONDE_COLLECTOR(smaps, "memory of processes, shared pages in shares", sample,
		.options = SONDE_OPTIONS(options), .tables = SONDE_TABLES(tables),
		.conf_size = sizeof(struct conf), .state_size = sizeof(struct state),
		.check = check, .start = start, .stop = stop);
