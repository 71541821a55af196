/* A collector for tests: a machine on which EACH processes begin every second and none lives for longer than three. A sample
 * is a second of its time, however fast it is asked. */
#include <stdio.h>

#include <sonde/plugin.h>

enum { EACH = 250, LIVES = 3 };

#define SECOND UINT64_C(1000000000)

enum {
	PID,
	START_TIME,
	COMM,
	SCHED_RUN,
	SCHED_WAIT,
	SCHED_SLICES,
	MINFLT,
	MAJFLT,
	VOLUNTARY,
	INVOLUNTARY
};

static const struct sonde_column columns[] = {
	[PID] = { "pid", SONDE_U64, SONDE_KEY, SONDE_NONE },
	[START_TIME] = { "start_time", SONDE_U64, SONDE_KEY, SONDE_NS },
	[COMM] = { "comm", SONDE_STR, SONDE_INFO, SONDE_NONE },
	[SCHED_RUN] = { "sched_run", SONDE_U64, SONDE_COUNTER, SONDE_NS },
	[SCHED_WAIT] = { "sched_wait", SONDE_U64, SONDE_COUNTER, SONDE_NS },
	[SCHED_SLICES] = { "sched_slices", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("slices") },
	[MINFLT] = { "minflt", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("faults") },
	[MAJFLT] = { "majflt", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("faults") },
	[VOLUNTARY] = { "voluntary_ctxt_switches", SONDE_U64, SONDE_COUNTER,
			SONDE_COUNT("switches") },
	[INVOLUNTARY] = { "nonvoluntary_ctxt_switches", SONDE_U64, SONDE_COUNTER,
			  SONDE_COUNT("switches") },
};
static const struct sonde_table tables[] = { { "process", SONDE_COLUMNS(columns),
					       .rows = LIVES * EACH } };

struct state {
	uint64_t seconds;
};

static void put(struct sonde_row *row, uint64_t pid, uint64_t born, uint64_t age)
{
	uint64_t used = (age + 1) * (1 + pid % 7);
	char comm[16];

	snprintf(comm, sizeof comm, "p%u", (unsigned)(pid % 1000));
	sonde_set_u64(row, PID, pid);
	sonde_set_u64(row, START_TIME, born);
	sonde_set_str(row, COMM, comm);
	sonde_set_u64(row, SCHED_RUN, used * 10000000);
	sonde_set_u64(row, SCHED_WAIT, used * 20000000);
	for (uint32_t slot = SCHED_SLICES; slot <= INVOLUNTARY; slot++)
		sonde_set_u64(row, slot, used * slot);
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct state *state = self->state;
	uint64_t now = ++state->seconds;

	for (uint64_t age = 0; age < LIVES && age < now; age++)
		for (uint64_t i = 0; i < EACH; i++) {
			struct sonde_row row;

			if (sonde_row(self, frame, 0, &row))
				put(&row, (now - age) * EACH + i, (now - age) * SECOND - SECOND / 2,
				    age);
		}
	sonde_taken(self, frame, now * SECOND, now * SECOND);
	return 0;
}

SONDE_COLLECTOR(crowd, "processes that come and go", sample, .tables = SONDE_TABLES(tables),
		.state_size = sizeof(struct state));
