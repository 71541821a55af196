/* Processes chosen by options, the largest first: for collectors that can't afford to read them all, or all at once. Part of
 * the plugin ABI, inline throughout.
 *
 * A pass reads /proc/PID/stat of every candidate and seats the `max` largest that the options choose. A seat is an index that
 * stays a process's own while it is chosen, so a collector keeps what it knows of one in an array beside. */
#ifndef SONDE_TARGETS_H
#define SONDE_TARGETS_H

#include <fnmatch.h>
#include <unistd.h>

#include <sonde/plugin.h>

enum { TARGETS_MOST = 1024 };

struct targets_conf {
	struct sonde_list pids, subtree, name, cgroup, unit;
	uint64_t max;
};

/* The options, for a collector whose struct conf has `member`, a struct targets_conf. */
#define TARGETS_OPTIONS(conf, member, most)                                                          \
	{ .key = "pids",                                                                             \
	  .type = SONDE_OPT_LIST,                                                                    \
	  .offset = offsetof(struct conf, member.pids),                                              \
	  .initial = "",                                                                             \
	  .help = "these processes, by id; of all that are chosen in any way the largest are read, " \
		  "without a choice the largest of all" },                                           \
		{ .key = "subtree",                                                                  \
		  .type = SONDE_OPT_LIST,                                                            \
		  .offset = offsetof(struct conf, member.subtree),                                   \
		  .initial = "",                                                                     \
		  .help = "these processes and all that descend from them, by id" },                 \
		{ .key = "name",                                                                     \
		  .type = SONDE_OPT_LIST,                                                            \
		  .offset = offsetof(struct conf, member.name),                                      \
		  .initial = "",                                                                     \
		  .help = "processes of this name (15 bytes at most), or pattern: java*" },          \
		{ .key = "cgroup",                                                                   \
		  .type = SONDE_OPT_LIST,                                                            \
		  .offset = offsetof(struct conf, member.cgroup),                                    \
		  .initial = "",                                                                     \
		  .help = "processes in this control group or below it, or pattern: "                \
			  "/system.slice/*.service" },                                               \
		{ .key = "unit",                                                                     \
		  .type = SONDE_OPT_LIST,                                                            \
		  .offset = offsetof(struct conf, member.unit),                                      \
		  .initial = "",                                                                     \
		  .help = "processes of this systemd unit, or pattern: nginx, user-1000.slice" },    \
	{                                                                                            \
		.key = "max", .type = SONDE_OPT_U64, .offset = offsetof(struct conf, member.max),    \
		.initial = most, .min = 1, .max = TARGETS_MOST, .help = "processes at most"          \
	}

enum target_flags {
	TARGET_ROOT = 1 << 0,   /* named by subtree */
	TARGET_PID = 1 << 1,    /* named by pids */
	TARGET_SELF = 1 << 2,   /* sonde as the root of a tree: its children are of it, it is not */
	TARGET_MEMBER = 1 << 3, /* of the tree of a root */
	TARGET_CHOSEN = 1 << 4, /* by any option */
	TARGET_SEATED = 1 << 5,
};

struct target {
	uint64_t start;     /* ticks after boot; with the pid its identity */
	uint64_t cpu;       /* utime + stime, ticks */
	uint64_t children;  /* likewise of children that ended and that it waited for */
	uint64_t resident;  /* bytes, as stat says: the kernel rounds it */
	uint64_t space;     /* bytes of address space */
	uint32_t pid, ppid; /* pid 0: an empty seat */
	uint32_t read_at;   /* of a seat: pass in which it was read last, 0 never */
	uint16_t flags;
	uint8_t comm_length;
	bool fresh; /* of a seat: taken in this pass */
	char comm[16];
};

struct targets {
	struct target *seat; /* `max` of them */
	struct target *
		named; /* those of pids and subtree that lived at start(); ascending pids, as in all */
	struct target *all,
		*before; /* those of this pass and, for the tree, of the one before; ascending pids */
	uint32_t nseats, nnamed, nall, nbefore, capacity, asked;
	uint32_t pass;
	uint32_t chosen;    /* in this pass; more than have seats where that is less than max */
	uint32_t page_size; /* 0: not known, of a tree of another machine */
	bool listed;        /* not only pids: /proc is listed */
	bool told;
};

/* "4242 (a name) S 1 ...", proc_pid_stat(5): the name lies between the first "(" and the last ")". False: malformed. */
static inline bool target_parse(const char *text, size_t length, uint32_t page_size,
				struct target *target)
{
	const char *open = (const char *)memchr(text, '(', length);
	const char *close = (const char *)memrchr(text, ')', length), *word;
	struct cursor c = cursor("", 0);
	int64_t field[25] = { 0 };
	size_t comm;

	if (!open || !close || close < open)
		return false;
	c = whole(close + 1, (size_t)(text + length - close - 1));
	if (!next_word(&c, &word)) /* the state, field 3 */
		return false;
	for (uint32_t i = 4; i <= 24; i++)
		if (!next_i64(&c, &field[i]))
			return false;
	comm = (size_t)(close - open - 1);
	target->comm_length = (uint8_t)(comm > sizeof target->comm ? sizeof target->comm : comm);
	memcpy(target->comm, open + 1, target->comm_length);
	target->ppid = (uint32_t)field[4];
	target->start = (uint64_t)field[22];
	target->cpu = (uint64_t)(field[14] + field[15]);
	target->children = (uint64_t)(field[16] + field[17]);
	target->space = field[23] > 0 ? (uint64_t)field[23] : 0;
	target->resident = field[24] > 0 ? (uint64_t)field[24] * (page_size ? page_size : 4096) : 0;
	return true;
}

static inline bool target_read(struct sonde_instance *self, uint32_t pid, uint32_t page_size,
			       struct target *target)
{
	struct sonde_file *file = sonde_open(self, SONDE_FRESH, "/proc/%u/stat", pid);
	const char *text;
	int64_t length = file ? sonde_read(self, file, &text) : -ESRCH;

	*target = (struct target) { .pid = pid };
	sonde_close(self, file);
	return length > 0 && target_parse(text, (size_t)length, page_size, target);
}

static inline bool target_same(const struct target *a, const struct target *b)
{
	return a->pid == b->pid && a->start == b->start;
}

/* ---- At start */

/* The processes that an option names, into `named` (NULL: only counted). How many, or -EINVAL, logged. */
static inline int64_t targets_parse(struct sonde_instance *self, const char *key,
				    const struct sonde_list *list, uint16_t flag,
				    struct target *named)
{
	int64_t count = 0;

	for (uint32_t i = 0; i < list->count; i++) {
		struct cursor c = whole(list->items[i], strlen(list->items[i]));
		uint64_t pid;

		for (; skip_blanks(&c), c.at < c.end; take(&c, ",")) {
			if (!next_u64(&c, &pid) || !pid || pid > INT32_MAX) {
				sonde_log(self, SONDE_ERROR, "%s = %s: not a list of process ids",
					  key, list->items[i]);
				return -EINVAL;
			}
			if (named)
				named[count] =
					(struct target) { .pid = (uint32_t)pid, .flags = flag };
			count++;
		}
	}
	return count;
}

/* For check(): 0, or -EINVAL where ids are no numbers. */
static inline int targets_check(struct sonde_instance *self, const struct targets_conf *conf)
{
	return targets_parse(self, "pids", &conf->pids, 0, NULL) < 0 ||
			       targets_parse(self, "subtree", &conf->subtree, 0, NULL) < 0
		       ? -EINVAL
		       : 0;
}

/* Into the first `count` of `named`, which are sorted and without doubles. How many there are then. */
static inline uint32_t targets_insert(struct target *named, uint32_t count, struct target one)
{
	uint32_t at = count;

	while (at && named[at - 1].pid >= one.pid)
		at--;
	if (at < count && named[at].pid == one.pid) {
		named[at].flags |= one.flags;
		return count;
	}
	memmove(named + at + 1, named + at, (count - at) * sizeof *named);
	named[at] = one;
	return count + 1;
}

/* The processes named are those that live now: who gets such a number later is somebody else. How many are left. */
static inline uint32_t targets_identify(struct sonde_instance *self, struct targets *targets)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < targets->nnamed; i++) {
		struct target one;
		uint16_t flags = targets->named[i].flags;

		if (!target_read(self, targets->named[i].pid, targets->page_size, &one)) {
			sonde_note(self, "no process %u", targets->named[i].pid);
			continue;
		}
		if (flags & TARGET_ROOT && !*self->root && one.pid == (uint32_t)getpid())
			flags |= TARGET_SELF;
		one.flags = flags;
		found = targets_insert(targets->named, found, one);
	}
	return found;
}

/* Only in start(). 0, -ENODEV (said why), -EINVAL (logged) or -ENOMEM. */
static inline int targets_start(struct sonde_instance *self, struct targets *targets,
				const struct targets_conf *conf)
{
	int64_t pids = targets_parse(self, "pids", &conf->pids, 0, NULL);
	int64_t roots = targets_parse(self, "subtree", &conf->subtree, 0, NULL);
	const char *names;
	int64_t listed;
	int err;

	if (pids < 0 || roots < 0)
		return -EINVAL;
	targets->page_size = self->header->page_size;
	targets->nseats = conf->max < TARGETS_MOST ? (uint32_t)conf->max : TARGETS_MOST;
	targets->nnamed = (uint32_t)(pids + roots);
	targets->listed =
		roots || conf->name.count || conf->cgroup.count || conf->unit.count || !pids;
	listed = targets->listed ? sonde_list(self, "/proc", &names) : pids;
	if (listed <= 0)
		return sonde_unavailable(self, "no processes in /proc: mount -t proc proc /proc");
	targets->capacity = targets->asked = (uint32_t)listed + (uint32_t)listed / 4 + 64;
	err = sonde_grow(self, &targets->seat, targets->nseats * sizeof *targets->seat);
	if (!err)
		err = sonde_grow(self, &targets->all, targets->capacity * sizeof *targets->all);
	if (!err && roots)
		err = sonde_grow(self, &targets->before,
				 targets->capacity * sizeof *targets->before);
	if (!err && targets->nnamed)
		err = sonde_grow(self, &targets->named, targets->nnamed * sizeof *targets->named);
	if (err)
		return err;
	targets_parse(self, "pids", &conf->pids, TARGET_PID, targets->named);
	targets_parse(self, "subtree", &conf->subtree, TARGET_ROOT, targets->named + pids);
	targets->nnamed = targets_identify(self, targets);
	if (!targets->nnamed && pids + roots && !conf->name.count && !conf->cgroup.count &&
	    !conf->unit.count)
		return sonde_unavailable(self, "none of the processes chosen lives");
	return 0;
}

/* ---- At each pass */

static inline struct target *targets_find(struct target *list, uint32_t count, uint32_t pid)
{
	uint32_t low = 0;

	while (low < count) {
		uint32_t middle = low + (count - low) / 2;

		if (list[middle].pid == pid)
			return &list[middle];
		if (list[middle].pid < pid)
			low = middle + 1;
		else
			count = middle;
	}
	return NULL;
}

static inline void targets_add(struct sonde_instance *self, struct targets *targets, uint32_t pid)
{
	struct target *one = &targets->all[targets->nall];

	if (targets->nall == targets->capacity || !target_read(self, pid, targets->page_size, one))
		return;
	for (uint32_t i = 0; i < targets->nnamed; i++)
		if (target_same(&targets->named[i], one))
			one->flags |= targets->named[i].flags;
	targets->nall++;
}

/* Everybody who may be chosen, into `all`. 0 or a negative errno. */
static inline int targets_list(struct sonde_instance *self, struct targets *targets)
{
	const char *name;
	int64_t left = targets->listed ? sonde_list(self, "/proc", &name) : 0;
	uint32_t most = (uint32_t)(left > 0 ? left : 0);

	targets->nall = 0;
	if (left < 0)
		return (int)left;
	for (uint32_t i = 0; !targets->listed && i < targets->nnamed; i++)
		targets_add(self, targets, targets->named[i].pid);
	for (; left > 0; left--, name += strlen(name) + 1) {
		struct cursor c = whole(name, strlen(name));
		uint64_t pid;

		if (next_u64(&c, &pid) && c.at == c.end && pid && pid <= INT32_MAX)
			targets_add(self, targets, (uint32_t)pid);
	}
	if (most <= targets->capacity)
		return 0;
	targets->asked = most + most / 4;
	if (targets->before)
		sonde_grow(self, &targets->before, targets->asked * sizeof *targets->before);
	return sonde_grow(self, &targets->all, targets->asked * sizeof *targets->all);
}

/* The tree: descendants of its roots, and who was of it before, whoever is its parent now. */
static inline void targets_follow(struct targets *targets)
{
	bool found;

	for (uint32_t i = 0; i < targets->nall; i++) {
		struct target *one = &targets->all[i];
		const struct target *old =
			targets_find(targets->before, targets->nbefore, one->pid);

		if (one->flags & TARGET_ROOT ||
		    (old && target_same(old, one) && old->flags & TARGET_MEMBER))
			one->flags |= TARGET_MEMBER;
	}
	do {
		found = false;
		for (uint32_t i = 0; i < targets->nall; i++) {
			struct target *one = &targets->all[i];
			const struct target *parent =
				targets_find(targets->all, targets->nall, one->ppid);

			if (one->flags & TARGET_MEMBER || !parent ||
			    !(parent->flags & TARGET_MEMBER))
				continue;
			one->flags |= TARGET_MEMBER;
			found = true;
		}
	} while (found);
}

static inline bool targets_match(const struct sonde_list *patterns, const char *text, int flags)
{
	for (uint32_t i = 0; i < patterns->count; i++)
		if (fnmatch(patterns->items[i], text, flags) == 0)
			return true;
	return false;
}

/* The kernel cuts names at TASK_COMM_LEN; so is a name that is no pattern and longer. */
static inline bool targets_named(const struct sonde_list *names, const char *comm)
{
	for (uint32_t i = 0; i < names->count; i++)
		if (strlen(names->items[i]) > 15 && !strpbrk(names->items[i], "*?[") &&
		    strncmp(names->items[i], comm, 15) == 0)
			return true;
	return targets_match(names, comm, 0);
}

/* "nginx" is nginx.service: one part of the path, whichever slices it stands in. Takes the path apart. */
static inline bool targets_in_unit(const struct sonde_list *units, char *path)
{
	static const char suffix[] = ".service";
	char *rest = NULL;

	for (char *part = strtok_r(path, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
		size_t length = strlen(part), end = sizeof suffix - 1;

		if (targets_match(units, part, 0))
			return true;
		if (length <= end || strcmp(part + length - end, suffix) != 0)
			continue;
		part[length - end] = '\0';
		if (targets_match(units, part, 0))
			return true;
	}
	return false;
}

/* Lines "0::/system.slice/a.service" or "4:cpu,cpuacct:/a", cgroups(7). */
static inline bool targets_in_cgroup(struct sonde_instance *self, const struct targets_conf *conf,
				     uint32_t pid)
{
	struct sonde_file *file = sonde_open(self, SONDE_FRESH, "/proc/%u/cgroup", pid);
	const char *text = "";
	int64_t length = file ? sonde_read(self, file, &text) : -ESRCH;
	struct cursor line = cursor(text, length > 0 ? (size_t)length : 0);
	char path[4096];
	bool found = false;

	sonde_close(self, file);
	while (!found && next_line(&line)) {
		const char *colon =
			(const char *)memchr(line.at, ':', (size_t)(line.end - line.at));
		size_t left = colon ? (size_t)(line.end - colon - 1) : 0;

		colon = left ? (const char *)memchr(colon + 1, ':', left) : NULL;
		if (!colon || (size_t)(line.end - colon) > sizeof path)
			continue;
		memcpy(path, colon + 1, (size_t)(line.end - colon - 1));
		path[line.end - colon - 1] = '\0';
		found = targets_match(&conf->cgroup, path, FNM_LEADING_DIR) ||
			targets_in_unit(&conf->unit, path);
	}
	return found;
}

static inline bool targets_wanted(struct sonde_instance *self, const struct targets_conf *conf,
				  const struct target *one)
{
	char comm[sizeof one->comm + 1] = "";

	if (!one->resident) /* a kernel thread, a zombie */
		return false;
	if (!conf->pids.count && !conf->subtree.count && !conf->name.count && !conf->cgroup.count &&
	    !conf->unit.count)
		return true;
	memcpy(comm, one->comm, one->comm_length);
	return one->flags & TARGET_PID ||
	       (one->flags & (TARGET_MEMBER | TARGET_SELF)) == TARGET_MEMBER ||
	       targets_named(&conf->name, comm) ||
	       ((conf->cgroup.count || conf->unit.count) &&
		targets_in_cgroup(self, conf, one->pid));
}

/* Seats are kept by who sits there and goes on sitting; the rest are emptied and given to the new ones. */
static inline void targets_seat(struct targets *targets)
{
	uint32_t empty = 0;

	for (uint32_t i = 0; i < targets->nseats; i++) {
		struct target *seat = &targets->seat[i];
		struct target *one = targets_find(targets->all, targets->nall, seat->pid);
		uint32_t read_at = seat->read_at;

		seat->fresh = false;
		if (!seat->pid || !one || !target_same(one, seat) ||
		    !(one->flags & TARGET_SEATED)) {
			*seat = (struct target) { 0 };
			continue;
		}
		*seat = *one;
		seat->read_at = read_at;
		one->flags &= (uint16_t)~TARGET_SEATED;
	}
	for (uint32_t i = 0; i < targets->nall; i++) {
		if (!(targets->all[i].flags & TARGET_SEATED))
			continue;
		while (targets->seat[empty].pid)
			empty++;
		targets->seat[empty] = targets->all[i];
		targets->seat[empty].fresh = true;
	}
}

/* Marks the `nseats` largest of those chosen: one that is larger takes the place of the smallest so far. */
static inline void targets_largest(struct targets *targets)
{
	uint32_t best[TARGETS_MOST] = { 0 }, count = 0, smallest = 0;

	targets->chosen = 0;
	for (uint32_t i = 0; i < targets->nall; i++) {
		struct target *one = &targets->all[i];

		if (!(one->flags & TARGET_CHOSEN))
			continue;
		targets->chosen++;
		if (count == targets->nseats) {
			struct target *least = &targets->all[best[smallest]];

			if (one->resident <= least->resident)
				continue;
			least->flags &= (uint16_t)~TARGET_SEATED;
			best[smallest] = i;
		} else {
			best[count++] = i;
		}
		one->flags |= TARGET_SEATED;
		for (uint32_t n = smallest = 0; n < count; n++)
			if (targets->all[best[n]].resident < targets->all[best[smallest]].resident)
				smallest = n;
	}
}

/* At the start of a sample: who is chosen now. 0 or a negative errno. */
static inline int targets_update(struct sonde_instance *self, struct targets *targets,
				 const struct targets_conf *conf)
{
	int err;

	targets->pass++;
	targets->capacity = targets->asked;
	if (targets->before && targets->nall)
		memcpy(targets->before, targets->all, targets->nall * sizeof *targets->all);
	targets->nbefore = targets->nall;
	err = targets_list(self, targets);
	if (err)
		return err;
	if (targets->before)
		targets_follow(targets);
	for (uint32_t i = 0; i < targets->nall; i++)
		if (targets_wanted(self, conf, &targets->all[i]))
			targets->all[i].flags |= TARGET_CHOSEN;
	targets_largest(targets);
	targets_seat(targets);
	if (targets->chosen > targets->nseats && !targets->told) {
		targets->told = true;
		sonde_note(self, "%u of %u processes are left out, the smallest: max = %u",
			   targets->chosen - targets->nseats, targets->chosen, targets->nseats);
	}
	return 0;
}

/* The seat that was not read for longest, of equals the largest process's; -1: all were read in this pass. The caller reads
 * it now. */
static inline int64_t targets_next(struct targets *targets)
{
	int64_t next = -1;

	for (uint32_t i = 0; i < targets->nseats; i++) {
		const struct target *seat = &targets->seat[i];
		const struct target *best = next < 0 ? NULL : &targets->seat[next];

		if (!seat->pid || seat->read_at == targets->pass)
			continue;
		if (!best || seat->read_at < best->read_at ||
		    (seat->read_at == best->read_at && seat->resident > best->resident))
			next = i;
	}
	return next;
}

#if SONDE_USE_MINOR >= 1
/* The time that a sample may take. It is over before it is spent: a further part is taken to last as long as the longest. */
struct targets_budget {
	uint64_t begin, part, longest; /* ns */
};

static inline void targets_begin(struct sonde_instance *self, struct targets_budget *budget)
{
	budget->begin = budget->part = sonde_now(self);
	budget->longest = 0;
}

/* After a part: whether another fits. */
static inline bool targets_time(struct sonde_instance *self, struct targets_budget *budget,
				uint64_t ns)
{
	uint64_t now = sonde_now(self);

	if (now - budget->part > budget->longest)
		budget->longest = now - budget->part;
	budget->part = now;
	return now - budget->begin + budget->longest <= ns;
}
#endif

#endif
