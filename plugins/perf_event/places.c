/* Whose events are counted: CPUs, processes with their threads, or cgroups. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "collect.h"

enum { STAT_START_TIME = 22 };

static struct place *add_place(struct sonde_instance *self, uint32_t target, int32_t cpu,
			       int32_t pid)
{
	struct state *state = self->state;

	/* In steps, since each step may move all. */
	if (state->nplaces % 64 == 0 &&
	    sonde_grow(self, &state->places, (state->nplaces + 64) * sizeof *state->places))
		return NULL;
	state->places[state->nplaces] = (struct place) { target, cpu, pid };
	return &state->places[state->nplaces++];
}

static struct target *add_target(struct sonde_instance *self)
{
	struct state *state = self->state;

	if (state->ntargets % 64 == 0 &&
	    sonde_grow(self, &state->targets, (state->ntargets + 64) * sizeof *state->targets))
		return NULL;
	state->targets[state->ntargets] = (struct target) { .id = 0 };
	return &state->targets[state->ntargets++];
}

/* A note on a target that is not counted; the first is the reason where nothing is. */
SONDE_PRINTF(2, 3)
static void missing(struct sonde_instance *self, const char *format, ...)
{
	struct state *state = self->state;
	char words[WORDS_SIZE];

	SONDE_FORMAT(words, format);
	if (!state->why[0])
		memcpy(state->why, words, sizeof state->why);
	sonde_note(self, "%s", words);
}

bool place_fits(const struct lineup *lineup, const struct place *place)
{
	return place->cpu < 0 || in_set(&lineup->cpus, (uint64_t)place->cpu);
}

/* ---- CPUs */

static bool read_list(struct sonde_instance *self, struct sonde_file *file, struct set *set)
{
	const char *text;
	int64_t length = file ? sonde_read(self, file, &text) : -ENOENT;

	return length >= 0 && list_parse(text, (size_t)length, set);
}

static bool read_set(struct sonde_instance *self, const char *name, struct set *set)
{
	struct sonde_file *file = sonde_open(self, SONDE_FRESH, "/sys/devices/system/cpu/%s", name);
	bool good = read_list(self, file, set);

	sonde_close(self, file);
	return good;
}

/* Those that the section names; else all but the isolated ones, whose tasks an interrupt for reading a counter would disturb. */
static void choose_cpus(struct sonde_instance *self, struct set *cpus)
{
	const struct conf *conf = self->conf;
	struct set isolated;
	uint32_t left = 0;

	if (conf->cpus.count) {
		*cpus = (struct set) { { 0 } };
		for (uint32_t i = 0; i < conf->cpus.count; i++)
			add_to_set(cpus, conf->cpus.ids[i]);
		return;
	}
	if (!read_set(self, "present", cpus))
		add_to_set(cpus, 0);
	if (!read_set(self, "isolated", &isolated))
		return;
	for (uint32_t i = 0; i < SET_NUMBERS / 64; i++) {
		left += (uint32_t)__builtin_popcountll(cpus->bits[i] & isolated.bits[i]);
		cpus->bits[i] &= ~isolated.bits[i];
	}
	if (left)
		sonde_note(self,
			   "%u isolated CPUs are left alone: reading a counter interrupts them; "
			   "cpus = names those that are to be counted",
			   left);
}

static int make_cpus(struct sonde_instance *self)
{
	struct state *state = self->state;
	struct set cpus = { { 0 } };

	choose_cpus(self, &cpus);
	for (EACH_IN_SET(cpu, &cpus)) {
		struct target *target = add_target(self);

		if (!target || !add_place(self, state->ntargets - 1, (int32_t)cpu, -1))
			return -ENOMEM;
		target->id = cpu;
	}
	return 0;
}

/* ---- Processes */

/* Name and start time of a task, out of its stat file; false: it is gone. */
static bool identify(const char *text, size_t length, struct target *target)
{
	const char *open = memchr(text, '(', length), *close = memrchr(text, ')', length), *word;
	struct cursor c;

	if (!open || !close || close < open)
		return false;
	snprintf(target->comm, sizeof target->comm, "%.*s", (int)(close - open - 1), open + 1);
	c = whole(close + 1, length - (size_t)(close + 1 - text));
	for (int field = 3; field < STAT_START_TIME; field++)
		if (!next_word(&c, &word))
			return false;
	return next_u64(&c, &target->start_time);
}

static bool read_stat(struct sonde_instance *self, struct target *target, uint64_t pid,
		      uint64_t tid)
{
	struct sonde_file *file = sonde_open(self, SONDE_FRESH, "/proc/%llu/task/%llu/stat",
					     (unsigned long long)pid, (unsigned long long)tid);
	const char *text;
	int64_t length = file ? sonde_read(self, file, &text) : -ESRCH;

	sonde_close(self, file);
	return length > 0 && identify(text, (size_t)length, target);
}

static bool has_place(const struct state *state, uint32_t target, uint64_t tid)
{
	for (uint32_t i = 0; i < state->nplaces; i++)
		if (state->places[i].target == target && (uint64_t)state->places[i].pid == tid)
			return true;
	return false;
}

/* Threads that are not known yet and began before this tick. How many, or a negative errno. */
static int64_t add_threads(struct sonde_instance *self, uint32_t index, uint64_t before)
{
	struct state *state = self->state;
	uint64_t pid = state->targets[index].id, tid;
	struct target thread;
	char path[48];
	const char *names;
	int64_t left, added = 0;

	snprintf(path, sizeof path, "/proc/%llu/task", (unsigned long long)pid);
	left = sonde_list(self, path, &names);
	if (left < 0)
		return left;
	for (; left > 0; left--, names += strlen(names) + 1) {
		struct cursor c = whole(names, strlen(names));

		if (!next_u64(&c, &tid) || tid > INT32_MAX || has_place(state, index, tid))
			continue;
		if (before != UINT64_MAX && read_stat(self, &thread, pid, tid) &&
		    thread.start_time >= before)
			continue;
		if (!add_place(self, index, -1, (int32_t)tid))
			return -ENOMEM;
		added++;
	}
	return added;
}

int64_t places_more(struct sonde_instance *self, uint64_t before)
{
	const struct state *state = self->state;
	int64_t added = 0;

	for (uint32_t i = 0; state->scope == SCOPE_PROCESS && i < state->ntargets; i++) {
		int64_t n = add_threads(self, i, before);

		if (n == -ENOMEM)
			return n;
		added += n > 0 ? n : 0;
	}
	return added;
}

static int64_t read_own_stat(void *context, void *buffer, uint64_t size)
{
	char path[48], self[16];
	ssize_t n = readlink("/proc/self", self, sizeof self - 1);
	int fd;

	self[n > 0 ? n : 0] = '\0';
	if (atoi(self) != getpid()) /* this /proc is another pid namespace's */
		return -ESRCH;
	snprintf(path, sizeof path, "/proc/%llu/stat", *(const unsigned long long *)context);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, buffer, size);
	if (n < 0)
		n = -errno;
	if (fd >= 0)
		close(fd);
	return n;
}

/* perf_event_open(2) takes the numbers of the agent's own pid namespace: there it may be another process's. */
static bool same_process(struct sonde_instance *self, const struct target *target)
{
	struct target own = { 0 };
	unsigned long long pid = target->id;
	char name[48], text[1024];
	int64_t length;

	snprintf(name, sizeof name, "stat %llu", pid);
	length = sonde_obtain(self, name, read_own_stat, &pid, text, sizeof text);
	return length > 0 && identify(text, (size_t)length, &own) &&
	       own.start_time == target->start_time && strcmp(own.comm, target->comm) == 0;
}

static int add_process(struct sonde_instance *self, uint64_t pid)
{
	struct state *state = self->state;
	struct target *target = add_target(self);

	if (!target)
		return -ENOMEM;
	target->id = pid;
	if (read_stat(self, target, pid, pid) && same_process(self, target))
		return add_threads(self, state->ntargets - 1, UINT64_MAX) == -ENOMEM ? -ENOMEM : 0;
	if (target->start_time)
		missing(self,
			"process %llu is not the same in this agent's pid namespace: run it in the "
			"host's (hostPID, --pid=host)",
			(unsigned long long)pid);
	else
		missing(self, "process %llu is gone", (unsigned long long)pid);
	state->ntargets--;
	return 0;
}

/* "4711, 4800" */
static int add_processes(struct sonde_instance *self, const char *item)
{
	struct cursor c = whole(item, strlen(item));
	uint64_t pid;
	int err = 0;

	do {
		if (!next_u64(&c, &pid) || !pid || pid > INT32_MAX) {
			sonde_log(self, SONDE_ERROR, "pids = %s: numbers of processes are wanted",
				  item);
			return -EINVAL;
		}
		err = add_process(self, pid);
		take(&c, ",");
		skip_blanks(&c);
	} while (!err && c.at < c.end);
	return err;
}

/* ---- Cgroups */

struct folder {
	const char *path;
	int fd;
};

static int64_t open_folder(void *context, void *buffer, uint64_t size)
{
	struct folder *folder = context;

	(void)buffer, (void)size;
	folder->fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return folder->fd < 0 ? -errno : 0;
}

/* Where the hierarchy that perf_event uses is mounted: a version 1 mount with that controller, else version 2. */
static bool find_mount(struct sonde_instance *self, char *point, size_t size)
{
	struct sonde_file *file = sonde_open(self, SONDE_FRESH, "/proc/mounts");
	const char *text, *word;
	int64_t length = file ? sonde_read(self, file, &text) : -ENOENT;
	struct cursor line;
	bool found = false;

	if (length > 0)
		line = cursor(text, (size_t)length);
	while (length > 0 && next_line(&line)) {
		const char *at;
		size_t n;
		bool v2, v1;

		next_word(&line, &word);
		n = next_word(&line, &at);
		v2 = take_word(&line, "cgroup2");
		v1 = !v2 && take_word(&line, "cgroup") &&
		     memmem(line.at, (size_t)(line.end - line.at), "perf_event", 10);
		if (n >= size || !(v1 || (v2 && !found)))
			continue;
		snprintf(point, size, "%.*s", (int)n, at);
		found = true;
	}
	sonde_close(self, file);
	return found;
}

static int add_cgroup(struct sonde_instance *self, const char *item, const char *mount,
		      const struct set *cpus)
{
	struct state *state = self->state;
	char path[8192], name[512];
	struct folder folder = { path, -1 };
	struct target *target;
	int64_t err;

	snprintf(path, sizeof path, "%s%s/%s", self->root, mount, item + strspn(item, "/"));
	snprintf(name, sizeof name, "cgroup %s", item);
	err = sonde_obtain(self, name, open_folder, &folder, NULL, 0);
	if (err < 0) {
		missing(self, "cgroup %.200s: %s", item, strerror((int)-err));
		return 0;
	}
	target = add_target(self);
	if (!target)
		return -ENOMEM;
	target->cgroup = item;
	target->id = (uint64_t)(int64_t)folder.fd;
	for (EACH_IN_SET(cpu, cpus))
		if (!add_place(self, state->ntargets - 1, (int32_t)cpu, folder.fd))
			return -ENOMEM;
	return 0;
}

static int make_cgroups(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct set cpus = { { 0 } };
	char mount[4096];
	int err = 0;

	if (!find_mount(self, mount, sizeof mount)) {
		missing(self, "no cgroup hierarchy is mounted that perf_event uses");
		return 0;
	}
	choose_cpus(self, &cpus);
	for (uint32_t i = 0; i < conf->cgroup.count && !err; i++)
		err = add_cgroup(self, conf->cgroup.items[i], mount, &cpus);
	return err;
}

int places_make(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	int err = 0;

	state->scope = conf->pids.count     ? SCOPE_PROCESS
		       : conf->cgroup.count ? SCOPE_CGROUP
					    : SCOPE_CPU;
	if (state->scope == SCOPE_CPU)
		err = make_cpus(self);
	else if (state->scope == SCOPE_CGROUP)
		err = make_cgroups(self);
	for (uint32_t i = 0; i < conf->pids.count && !err; i++)
		err = add_processes(self, conf->pids.items[i]);
	if (state->scope == SCOPE_PROCESS)
		return err;
	state->online_file = sonde_open(self, SONDE_KEEP, "/sys/devices/system/cpu/online");
	if (!read_list(self, state->online_file, &state->online))
		memset(&state->online, 0xff, sizeof state->online);
	return err;
}
