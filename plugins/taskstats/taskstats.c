/* taskstats: what processes waited for, and what each task used in its life, by generic netlink
 * (Documentation/accounting/taskstats.rst, delay-accounting.rst). */
#define SONDE_USE_MINOR           2
#define SONDE_PLUGIN_CAPABILITIES "CAP_NET_ADMIN"
#define SONDE_PLUGIN_FLAGS        SONDE_COSTLY
#include <linux/genetlink.h>
#include <linux/taskstats.h>
#include <unistd.h>

#include "link.h"
#include "standin.h"

enum {
	EXITS_MOST = 1 << 16, /* in one sample; the others wait for the next */
	PIDS_MOST = 1024,
	COMM_MOST = 64,
	START_TIME_WORD = 20, /* behind the name: field 22 of stat */
};

struct conf {
	struct sonde_list pids;
	uint64_t max;
	uint32_t exits;    /* bool */
	uint32_t stand_in; /* enum stand_in */
};

struct state {
	struct link link;
	struct sonde_file *delayacct; /* NULL: it is always on, or not in the kernel */
	enum stats_layout layout;
	uint32_t pids[PIDS_MOST];
	uint32_t npids;
	bool delays;            /* the kernel counts what delays other than for the CPU took */
	bool exits;             /* it tells of ends */
	struct standin standin; /* what tells of ends without it, and of births */
};

static const struct sonde_option options[] = {
	{ "pids", SONDE_OPT_LIST, offsetof(struct conf, pids), "", NULL, 0, 0,
	  "these processes, by id; without it all" },
	{ "max", SONDE_OPT_U64, offsetof(struct conf, max), "4096", NULL, 1, 1000000,
	  "processes at most, those with the lowest ids" },
	{ "exits", SONDE_OPT_BOOL, offsetof(struct conf, exits), "yes", NULL, 0, 0,
	  "a row for each task that ends" },
	{ "stand_in", SONDE_OPT_CHOICE, offsetof(struct conf, stand_in), "none", "none|command|all",
	  0, 0,
	  "where exit records are not permitted, rows of ends from perf's task records of a command (the "
	  "first of pids, from its next exec on) or from the process connector, of all" },
};

static int parse_pids(struct sonde_instance *self, struct state *state)
{
	const struct conf *conf = self->conf;

	for (uint32_t i = 0; i < conf->pids.count; i++) {
		const char *item = conf->pids.items[i];
		struct cursor c = whole(item, strlen(item));
		uint64_t pid;

		do {
			if (!next_u64(&c, &pid) || !pid || pid > INT32_MAX ||
			    state->npids == PIDS_MOST) {
				sonde_log(self, SONDE_ERROR,
					  "pids = %s: not process ids, or over %d", item,
					  PIDS_MOST);
				return -EINVAL;
			}
			state->pids[state->npids++] = (uint32_t)pid;
			take(&c, ",");
			skip_blanks(&c);
		} while (c.at < c.end);
	}
	return 0;
}

/* Since Linux 5.14 it is off unless asked for; before, it was on and had no switch. */
static bool has_delays(struct sonde_instance *self, struct state *state)
{
	const char *text;

	return !state->delayacct || (sonde_read(self, state->delayacct, &text) > 0 && *text != '0');
}

static void tell_delays(struct sonde_instance *self)
{
	sonde_note(self,
		   "only waiting for a CPU is counted, not for I/O, swap, reclaim, compaction "
		   "and copy on write: delay accounting is off; sysctl kernel.task_delayacct=1 "
		   "counts it for tasks started from then on");
}

/* The kernel's layout of a record, from one about sonde itself. Where it gives none, a negative errno and why. */
static int probe(struct sonde_instance *self, struct state *state, char *why, size_t size)
{
	uint32_t own = (uint32_t)getpid();
	struct stats stats;
	int err = link_family(self, &state->link);

	if (err == -EPERM || err == -EACCES)
		snprintf(why, size, "sockets of netlink(7) are not permitted here");
	else if (err)
		snprintf(why, size,
			 "no taskstats (%s): it needs a kernel with CONFIG_TASKSTATS, and the "
			 "machine's own network namespace",
			 strerror(-err));
	if (err)
		return err;
	err = link_ask(self, &state->link, "taskstats self", TASKSTATS_CMD_ATTR_PID, own, &stats);
	if (err == -EPERM)
		snprintf(why, size, "taskstats needs CAP_NET_ADMIN");
	else if (err)
		snprintf(why, size, "taskstats does not answer: %s", strerror(-err));
	if (err)
		return err;
	state->layout = stats_layout(&stats);
	if (state->layout == STATS_UNKNOWN) {
		snprintf(why, size, "this kernel's struct taskstats is not known");
		return -EBADMSG;
	}
	return 0;
}

static int start(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	char why[192];
	int err;

	link_init(&state->link);
	standin_init(&state->standin);
	err = parse_pids(self, state);
	if (err)
		return err;
	if (*self->root)
		return sonde_unavailable(self, "taskstats asks the kernel that runs, not a tree: "
					       "leave root away");
	err = probe(self, state, why, sizeof why);
	if (err && conf->stand_in)
		return standin_start(self, &state->standin, (enum stand_in)conf->stand_in,
				     state->pids, state->npids, why);
	if (err)
		return sonde_unavailable(self, "%s", why);
	state->delayacct = sonde_open(self, SONDE_KEEP, "/proc/sys/kernel/task_delayacct");
	if (!has_delays(self, state))
		tell_delays(self);
	if (conf->exits) {
		err = link_listen(self, &state->link);
		state->exits = !err;
		if (err)
			sonde_note(self, "the kernel does not tell of tasks that end: %s",
				   strerror(-err));
		else if (conf->stand_in)
			sonde_note(self, "processes that no sample saw are known by exit records "
					 "(taskstats): all that each used");
	}
	if (state->exits && conf->stand_in == STAND_IN_COMMAND && state->npids)
		return standin_births(self, &state->standin, state->pids[0]);
	return 0;
}

/* Whose number it is. */
struct who {
	uint64_t start;
	uint32_t length;
	char comm[COMM_MOST];
};

static bool parse_who(const char *text, size_t length, struct who *who)
{
	const char *open = (const char *)memchr(text, '(', length);
	const char *close = (const char *)memrchr(text, ')', length);
	const char *word;
	struct cursor c;

	if (!open || !close || close < open)
		return false;
	who->length = (uint32_t)(close - open - 1);
	who->length = who->length < COMM_MOST ? who->length : COMM_MOST;
	memcpy(who->comm, open + 1, who->length);
	c = whole(close + 1, (size_t)(text + length - close - 1));
	for (int i = 1; i < START_TIME_WORD; i++)
		next_word(&c, &word);
	return next_u64(&c, &who->start);
}

/* What ended meanwhile has no row, and is no error. */
static void take_process(struct sonde_instance *self, struct sonde_frame *frame, uint32_t pid)
{
	struct state *state = self->state;
	struct sonde_file *file = sonde_open(self, SONDE_KEEP, "/proc/%u/stat", pid);
	const char *text = "";
	int64_t length = file ? sonde_read(self, file, &text) : 0;
	struct stats stats;
	struct sonde_row row;
	struct who who;
	char name[32];

	sonde_close(self, file);
	snprintf(name, sizeof name, "taskstats %u", pid);
	if (length <= 0 || !parse_who(text, (size_t)length, &who) ||
	    link_ask(self, &state->link, name, TASKSTATS_CMD_ATTR_TGID, pid, &stats) ||
	    !sonde_row(self, frame, TABLE_TASKSTATS, &row))
		return;
	sonde_set_u64(&row, STATS_PID, pid);
	sonde_set_u64(&row, STATS_START_TIME, who.start);
	sonde_set_bytes(&row, STATS_COMM, who.comm, who.length);
	stats_set(&stats, state->layout, state->delays, &row);
}

/* What descends from the command and lives. */
static void take_descendants(struct sonde_instance *self, struct sonde_frame *frame)
{
	const struct conf *conf = self->conf;
	const struct state *state = self->state;
	uint32_t at = 0, pid;

	for (uint64_t i = 0; i < conf->max && (pid = lives_next(&state->standin.lives, &at)); i++)
		take_process(self, frame, pid);
}

static int take_all(struct sonde_instance *self, struct sonde_frame *frame)
{
	const struct conf *conf = self->conf;
	const char *names;
	int64_t n = sonde_list(self, "/proc", &names);
	uint64_t taken = 0, pid;

	/* Numbers come before names. */
	for (; n > 0; n--, names += strlen(names) + 1) {
		struct cursor c = whole(names, strlen(names));

		if (!next_u64(&c, &pid))
			break;
		if (taken++ < conf->max)
			take_process(self, frame, (uint32_t)pid);
	}
	if (taken > conf->max) {
		sonde_note(self, "processes are left out: there are more than max = %llu",
			   (unsigned long long)conf->max);
		sonde_partial(self, frame);
	}
	return n < 0 ? (int)n : 0;
}

/* What ended since the sample before. */
static void take_exits(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct state *state = self->state;
	struct sonde_row row;

	for (int i = 0; i < EXITS_MOST; i++) {
		struct stats stats[LINK_RECORDS];
		int n = link_receive(self, &state->link, stats);

		if (n == -EAGAIN)
			return;
		if (n == -ENOBUFS)
			sonde_gap(self, "ends of tasks were lost: more than the socket holds "
					"between two samples; a shorter interval loses none");
		else if (n < 0)
			return;
		for (int k = 0; k < n; k++)
			if (sonde_row(self, frame, TABLE_EXIT, &row))
				stats_set_exit(&stats[k], state->layout, state->delays, &row);
	}
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct state *state = self->state;
	int err = 0;

	if (state->standin.by)
		standin_take(self, frame, &state->standin);
	if (state->standin.by && !state->exits)
		return 0;
	state->delays = has_delays(self, state);
	for (uint32_t i = 0; i < state->npids; i++)
		take_process(self, frame, state->pids[i]);
	if (state->standin.by)
		take_descendants(self, frame);
	if (!state->npids)
		err = take_all(self, frame);
	if (state->exits)
		take_exits(self, frame);
	return err;
}

static void stop(struct sonde_instance *self)
{
	struct state *state = self->state;

	link_close(&state->link);
	standin_stop(&state->standin);
}

SONDE_COLLECTOR(taskstats, "what tasks wait for: CPU, I/O, memory; what each used in its life",
		sample, .options = SONDE_OPTIONS(options), .tables = SONDE_TABLES(taskstats_tables),
		.conf_size = sizeof(struct conf), .state_size = sizeof(struct state),
		.start = start, .stop = stop);
