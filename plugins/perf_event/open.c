/* Perf groups opened where they are to count (perf_event_open(2)): what fits at once, descriptors, CPUs that come and go. */
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collect.h"
#include "words.h"

enum {
	RESERVED_FDS = 256, /* for files and sinks */
	ROUNDS = 8,         /* of looking for threads that are born meanwhile */
};

/* One event at one place. */
struct opening {
	struct sonde_instance *self;
	const struct lineup *lineup;
	const struct place *place;
	bool probing;
};

struct call {
	struct perf_event_attr attr;
	int pid, cpu, leader, fd;
	unsigned long flags;
};

static int64_t call_open(void *context, void *buffer, uint64_t size)
{
	struct call *call = context;

	(void)buffer, (void)size;
	call->fd = (int)syscall(SYS_perf_event_open, &call->attr, call->pid, call->cpu,
				call->leader, call->flags);
	return call->fd < 0 ? -errno : 0;
}

/* The one place where an event's attributes are made: all scopes count alike. */
static void make_attr(const struct opening *o, const struct member *member, bool leads,
		      struct perf_event_attr *attr)
{
	const struct state *state = o->self->state;
	const struct conf *conf = o->self->conf;
	const struct encoding *code = &member->code;

	*attr = (struct perf_event_attr) {
		.type = code->type,
		.size = sizeof *attr,
		.config = code->config,
		.config1 = code->config1,
		.config2 = code->config2,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
		/* arm_pmu does not reckon with a disabled event when it looks whether a group fits. */
		.disabled = leads && !o->probing,
		.enable_on_exec = leads && !o->probing && conf->enable_on_exec,
		.inherit = state->scope == SCOPE_PROCESS,
		.exclude_user = code->modified && !code->user,
		.exclude_kernel = (code->modified && !code->kernel) || member->user_only,
		.exclude_hv = (code->modified && !code->hypervisor) || member->user_only,
	};
}

/* 0 and its descriptor (-1 where a recording is read back), or a negative errno. */
static int open_event(const struct opening *o, const struct member *member, bool leads, int leader,
		      int *fd)
{
	const struct state *state = o->self->state;
	struct call call = { .pid = o->place->pid,
			     .cpu = o->place->cpu,
			     .leader = leads ? -1 : leader,
			     .fd = -1,
			     .flags = PERF_FLAG_FD_CLOEXEC };
	char name[3 * NAME_SIZE];
	int64_t err;

	if (state->scope == SCOPE_CGROUP)
		call.flags |= PERF_FLAG_PID_CGROUP;
	make_attr(o, member, leads, &call.attr);
	snprintf(name, sizeof name, "open %.40s %s %d %d", o->lineup->pmu, member->column,
		 state->scope == SCOPE_CGROUP ? (int)o->place->target : o->place->pid,
		 o->place->cpu);
	err = sonde_obtain(o->self, name, call_open, &call, NULL, 0);
	*fd = call.fd;
	return (int)err;
}

/* Of one's own process an unprivileged user may count what it does outside of the kernel. Events that happen in the kernel
 * alone would then be 0, which is not what they are: they stay refused. */
static int open_member(const struct opening *o, struct member *member, bool leads, int leader,
		       int *fd)
{
	const struct state *state = o->self->state;
	int err = open_event(o, member, leads, leader, fd);

	if ((err != -EACCES && err != -EPERM) || state->scope != SCOPE_PROCESS ||
	    member->code.modified || member->code.kernel_side || member->user_only)
		return err;
	member->user_only = true;
	if (open_event(o, member, leads, leader, fd) == 0)
		return 0;
	member->user_only = false;
	return err;
}

static void failed(const struct opening *o, struct member *member, int error)
{
	struct state *state = o->self->state;
	struct trouble trouble = { .error = error,
				   .scope = state->scope,
				   .paranoid = state->paranoid,
				   .needed = state->needed,
				   .member = member };

	member->failed++;
	if (member->error)
		return;
	member->error = error;
	words_of(&trouble, member->reason);
	if (!state->why[0])
		memcpy(state->why, member->reason, sizeof state->why);
}

static void close_opened(struct state *state, struct opened *opened)
{
	struct member *members = state->lineups[opened->lineup].members;

	for (uint8_t i = 0; i < opened->count; i++) {
		members[opened->member[i]].opened--;
		if (opened->fd[i] >= 0)
			close(opened->fd[i]);
	}
	opened->is_open = false;
	opened->count = 0;
}

/* ---- What fits at once */

/* Events are tried in order: one that the PMU takes alone but not with those before it begins a part of its own. */
static void probe(const struct opening *o, struct lineup *lineup)
{
	int fds[EVENTS_MOST], leader = -1;
	uint32_t count = 0;

	for (uint32_t i = 0; i < lineup->nmembers; i++) {
		struct member *member = &lineup->members[i];
		bool leads = count == 0;
		int err;

		if (member->reason[0])
			continue; /* not known here */
		err = open_member(o, member, leads, leader, &fds[count]);
		if ((err == -EINVAL || err == -ENOSPC) && !leads && lineup->nparts < PARTS_MOST) {
			err = open_member(o, member, true, -1, &fds[count]);
			leads = err == 0;
		}
		if (err) {
			failed(o, member,
			       lineup->nparts == PARTS_MOST && err == -EINVAL ? ENOSPC : -err);
			continue;
		}
		if (leads) {
			leader = fds[count];
			lineup->nparts++;
		}
		member->part = lineup->nparts - 1;
		count++;
	}
	while (count-- > 0)
		if (fds[count] >= 0)
			close(fds[count]);
}

/* Why the lineup is not even tried; NULL: it can be. */
static const char *hopeless(const struct state *state, const struct lineup *lineup,
			    const struct place *place)
{
	if (lineup->uncore && state->scope != SCOPE_CPU)
		return "this PMU counts for all that runs on many CPUs: it needs a section without pids and "
		       "cgroup";
	return place ? NULL : "none of the CPUs that are to be counted is of this PMU, or online";
}

static const struct place *first_place(const struct state *state, const struct lineup *lineup)
{
	for (uint32_t i = 0; i < state->nplaces; i++)
		if (place_fits(lineup, &state->places[i]) &&
		    (state->places[i].cpu < 0 ||
		     in_set(&state->online, (uint64_t)state->places[i].cpu)))
			return &state->places[i];
	return NULL;
}

static int64_t raise_limit(void *context, void *buffer, uint64_t size)
{
	uint64_t needed = *(const uint64_t *)context, most;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || size < sizeof most)
		return -errno;
	if (limit.rlim_cur < needed && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = needed < limit.rlim_max ? needed : limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
		getrlimit(RLIMIT_NOFILE, &limit);
	}
	most = limit.rlim_cur;
	memcpy(buffer, &most, sizeof most);
	return sizeof most;
}

static uint64_t count_needed(const struct state *state, const struct lineup *lineup)
{
	uint64_t places = 0, events = 0;

	for (uint32_t i = 0; i < state->nplaces; i++)
		places += place_fits(lineup, &state->places[i]);
	for (uint32_t i = 0; i < lineup->nmembers; i++)
		events += !lineup->members[i].reason[0];
	return places * events;
}

static uint64_t count_all_needed(const struct state *state)
{
	uint64_t needed = RESERVED_FDS;

	for (uint32_t i = 0; i < state->nlineups; i++)
		needed += count_needed(state, &state->lineups[i]);
	return needed;
}

/* Whole groups are left out, the last first, rather than single events of all: what is counted has all of its ratios. */
static void fit_limit(struct sonde_instance *self, uint64_t room)
{
	struct state *state = self->state;
	uint64_t needed = count_all_needed(state);

	state->needed = needed;
	for (uint32_t i = state->nlineups; i-- > 0 && needed > room;) {
		struct lineup *lineup = &state->lineups[i];
		const struct opening o = { .self = self, .lineup = lineup };

		needed -= count_needed(state, lineup);
		for (uint32_t m = 0; m < lineup->nmembers; m++) {
			if (lineup->members[m].reason[0])
				continue;
			failed(&o, &lineup->members[m], EMFILE);
			lineup->members[m].part = PARTS_MOST;
		}
		lineup->nparts = 0;
	}
}

static void probe_lineup(struct sonde_instance *self, struct lineup *lineup)
{
	const struct state *state = self->state;
	const struct opening o = {
		.self = self, .lineup = lineup, .place = first_place(state, lineup), .probing = true
	};
	const char *why = hopeless(state, lineup, o.place);

	if (!why)
		probe(&o, lineup);
	for (uint32_t m = 0; why && m < lineup->nmembers; m++)
		if (!lineup->members[m].reason[0])
			snprintf(lineup->members[m].reason, WORDS_SIZE, "%s", why);
	if (lineup->nparts > 1)
		sonde_note(
			self,
			"%s on %s is split into %u: its events do not fit the PMU at once, so that "
			"ratios across the parts are not exact",
			state->groups[lineup->group].name, lineup->pmu, lineup->nparts);
}

void open_probe(struct sonde_instance *self)
{
	struct state *state = self->state;
	uint64_t room = UINT64_MAX;

	state->needed = count_all_needed(state);
	sonde_obtain(self, "limit", raise_limit, &state->needed, &room, sizeof room);
	for (uint32_t i = 0; i < state->nlineups; i++)
		probe_lineup(self, &state->lineups[i]);
	fit_limit(self, room);
}

/* ---- All of it */

static void open_part(struct sonde_instance *self, struct opened *opened)
{
	struct state *state = self->state;
	const struct conf *conf = self->conf;
	struct lineup *lineup = &state->lineups[opened->lineup];
	const struct opening o = { self, lineup, &state->places[opened->place], false };

	opened->count = 0;
	opened->refused = 0;
	opened->last_running = 0;
	for (uint32_t i = 0; i < lineup->nmembers; i++) {
		struct member *member = &lineup->members[i];
		uint8_t n = opened->count;
		int err;

		if (member->part != opened->part)
			continue;
		err = open_member(&o, member, n == 0, n ? opened->fd[0] : -1, &opened->fd[n]);
		/* A thread may end, a CPU may go offline just now. */
		if (err == -ESRCH || err == -ENODEV)
			break;
		if (err) {
			failed(&o, member, -err);
			opened->refused |= UINT32_C(1) << i;
			continue;
		}
		member->opened++;
		opened->last[n] = 0;
		opened->member[n] = (uint8_t)i;
		opened->count++;
	}
	opened->is_open = opened->count != 0;
	if (opened->is_open && opened->fd[0] >= 0 && !conf->enable_on_exec)
		ioctl(opened->fd[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
}

static struct opened *add_opened(struct sonde_instance *self, uint32_t lineup, uint32_t part,
				 uint32_t place)
{
	struct state *state = self->state;
	struct opened *opened;

	if (state->nopened % 64 == 0 &&
	    sonde_grow(self, &state->opened, (state->nopened + 64) * sizeof *state->opened))
		return NULL;
	opened = &state->opened[state->nopened++];
	*opened = (struct opened) { .lineup = lineup, .part = part, .place = place };
	snprintf(opened->name, sizeof opened->name, "read %.30s %.30s %u %u",
		 state->groups[state->lineups[lineup].group].name, state->lineups[lineup].pmu, part,
		 place);
	return opened;
}

static bool is_online(const struct state *state, const struct opened *opened)
{
	int32_t cpu = state->places[opened->place].cpu;

	return cpu < 0 || in_set(&state->online, (uint64_t)cpu);
}

/* Whatever counts at this place and those behind it. */
static int open_places(struct sonde_instance *self, uint32_t first)
{
	struct state *state = self->state;

	for (uint32_t l = 0; l < state->nlineups; l++) {
		const struct lineup *lineup = &state->lineups[l];

		for (uint32_t i = first; i < state->nplaces; i++) {
			if (!place_fits(lineup, &state->places[i]))
				continue;
			for (uint32_t part = 0; part < lineup->nparts; part++) {
				struct opened *opened = add_opened(self, l, part, i);

				if (!opened)
					return -ENOMEM;
				opened->online = is_online(state, opened);
				if (opened->online)
					open_part(self, opened);
			}
		}
	}
	return 0;
}

static int64_t read_ticks(void *context, void *buffer, uint64_t size)
{
	struct timespec now;
	uint64_t ticks, hz = (uint64_t)sysconf(_SC_CLK_TCK);

	(void)context;
	if (clock_gettime(CLOCK_BOOTTIME, &now) || size < sizeof ticks)
		return -errno;
	ticks = (uint64_t)now.tv_sec * hz + (uint64_t)now.tv_nsec * hz / 1000000000;
	memcpy(buffer, &ticks, sizeof ticks);
	return sizeof ticks;
}

static int by_row(const void *a, const void *b, void *context)
{
	const struct opened *x = a, *y = b;
	const struct place *places = context;
	uint32_t tx = places[x->place].target, ty = places[y->place].target;

	if (x->lineup != y->lineup)
		return x->lineup < y->lineup ? -1 : 1;
	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	if (tx != ty)
		return tx < ty ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

int open_all(struct sonde_instance *self)
{
	struct state *state = self->state;
	uint64_t before = 0;
	uint32_t first = 0;
	int64_t more = 1;
	int err = 0;

	sonde_obtain(self, "ticks", read_ticks, NULL, &before, sizeof before);
	for (int round = 0; !err && more > 0 && round < ROUNDS; round++) {
		err = open_places(self, first);
		first = state->nplaces;
		more = err ? 0 : places_more(self, before);
		if (more < 0)
			err = (int)more;
	}
	if (state->nopened)
		qsort_r(state->opened, state->nopened, sizeof *state->opened, by_row,
			state->places);
	return err;
}

/* ---- CPUs that come and go */

/* An event of a CPU that was away stays off for ever: it is closed, and a new one opened when the CPU is back. PMUs
 * outside of cores move to another CPU by themselves. */
void open_again(struct sonde_instance *self)
{
	struct state *state = self->state;

	for (uint32_t i = 0; i < state->nopened; i++) {
		struct opened *opened = &state->opened[i];
		bool online = is_online(state, opened);

		if (state->lineups[opened->lineup].uncore || online == opened->online)
			continue;
		opened->online = online;
		if (online)
			open_part(self, opened);
		else
			close_opened(state, opened);
	}
}

void close_all(struct sonde_instance *self)
{
	struct state *state = self->state;

	for (uint32_t i = 0; i < state->nopened; i++)
		close_opened(state, &state->opened[i]);
	for (uint32_t i = 0; state->scope == SCOPE_CGROUP && i < state->ntargets; i++)
		if ((int64_t)state->targets[i].id >= 0)
			close((int)(int64_t)state->targets[i].id);
}
