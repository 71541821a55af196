/* The BPF programs' other end, once load.c has loaded them: each sample runs walk.bpf.c; where the kernel has no such
 * program, or its map has no room for all, it reads a new iterator of iter.bpf.c to its end
 * (bpf(2), Documentation/bpf/bpf_iterators.rst). */
#include <linux/bpf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <sonde/procevents.h>

#include "bpf.h"

/* The bytes that the record of one task may need, more for the first reading than there are. */
enum { TASK_BYTES = sizeof(struct record_task) + sizeof(struct record_process) + 16, SPARE = 256 };

/* Of a task in the walk's map: records of those that ran and some whole ones of the others. */
enum { WALK_BYTES = 128, WALK_LEAST = 1 << 16 };

/* ---- Room */

static int bpf_reserve(struct sonde_instance *self, struct bpf *bpf, uint32_t bytes, uint32_t pids)
{
	if (bytes > bpf->bytes_asked) {
		if (sonde_grow(self, &bpf->bytes, bytes))
			return -ENOMEM;
		bpf->bytes_asked = bytes;
	}
	if (pids > bpf->pids_asked) {
		if (sonde_grow(self, &bpf->pids, (uint64_t)pids * sizeof *bpf->pids))
			return -ENOMEM;
		bpf->pids_asked = pids;
	}
	return 0;
}

static void bpf_grown(struct bpf *bpf)
{
	bpf->bytes_size = bpf->bytes_asked;
	bpf->pids_size = bpf->pids_asked;
}

/* The highest possible CPU's number and one; 0: not known. */
static uint32_t count_cpus(struct sonde_instance *self)
{
	struct sonde_file *file = sonde_open(self, SONDE_KEEP, "/sys/devices/system/cpu/possible");
	const char *text = "";
	int64_t length = file ? sonde_read(self, file, &text) : 0;
	uint64_t last = 0;
	const char *at = text, *end = text + (length > 0 ? length : 0);

	sonde_close(self, file);
	while (at < end)
		if (!take_digits(&at, end, end, &last))
			at++;
	return end > text && last < 64 * RECORD_CPU_WORDS ? (uint32_t)last + 1 : 0;
}

static bool read_rss(struct sonde_instance *self, const char *path, bool status, uint64_t *kib)
{
	struct sonde_file *file = sonde_open(self, SONDE_FRESH, "%s", path);
	uint64_t slots[PROCESS_COLUMNS], have[1] = { 0 };
	struct sonde_strings none = { 0 };
	struct sonde_row row = { slots, have, &none };
	struct process_stat stat;
	const char *text = "";
	int64_t length = file ? sonde_read(self, file, &text) : 0;
	bool known;

	sonde_close(self, file);
	if (status) {
		process_parse_status(text, length > 0 ? (size_t)length : 0, &row);
		known = sonde_has(&row, VM_RSS);
		*kib = known ? slots[VM_RSS] : 0;
	} else {
		known = length > 0 && !process_parse_stat(text, (size_t)length, &stat) &&
			stat.last >= STAT_RSS;
		*kib = known ? stat.field[STAT_RSS] * (self->header->page_size / 1024) : 0;
	}
	return known;
}

/* Since Linux 6.16, and in older ones that were mended, status is exact to the page and stat is not: where the two differ. */
static bool is_exact(struct sonde_instance *self)
{
	static const char *const paths[][2] = { { "/proc/self/stat", "/proc/self/status" },
						{ "/proc/1/stat", "/proc/1/status" } };
	unsigned major = 0, minor = 0;

	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		uint64_t before, exact, after;

		if (read_rss(self, paths[i][0], false, &before) &&
		    read_rss(self, paths[i][1], true, &exact) &&
		    read_rss(self, paths[i][0], false, &after) && before == after &&
		    before != exact)
			return true;
	}
	return sscanf(self->header->kernel, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 16));
}

static int64_t namespace_call(void *context, void *buffer, uint64_t size)
{
	(void)context, (void)buffer, (void)size;
	return procevents_first_namespace() ? 0 : -ENOTUNIQ;
}

void bpf_stop(struct bpf *bpf)
{
	if (bpf->on && bpf->link >= 0)
		close(bpf->link);
	if (bpf->on && bpf->walk >= 0)
		close(bpf->walk);
	if (bpf->on && bpf->told)
		munmap((void *)bpf->told, bpf->told_size);
	bpf->on = false;
}

int bpf_start(struct sonde_instance *self, struct bpf *bpf, uint32_t tasks, uint32_t period,
	      char *why, size_t size)
{
	struct bpf_load asked = { .bpf = bpf };
	uint32_t room = tasks + tasks / 8 + SPARE, hz = self->header->user_hz;
	int64_t err;

	bpf->link = bpf->walk = -1;
	bpf->told = NULL;
	bpf->form = (struct record_form) {
		.tick = 1000000000 /
			(hz && hz <= 1000000 ? hz : 100), /* of a recording, whatever it says */
		.page = self->header->page_size,
		.ncpus = count_cpus(self),
	};
	if (!bpf->form.ncpus) {
		snprintf(why, size, "there are more than %d CPUs", 64 * RECORD_CPU_WORDS);
		return -E2BIG;
	}
	if (*self->root || sonde_obtain(self, "bpf namespace", namespace_call, NULL, NULL, 0)) {
		snprintf(why, size,
			 "the iterator tells of the first pid namespace, not of others "
			 "and not of trees");
		return -ENOTUNIQ;
	}
	asked.constants = (struct record_constants) {
		.ncpus = bpf->form.ncpus,
		.period = period,
		.room = tasks < UINT32_MAX / WALK_BYTES / 2 ? tasks * WALK_BYTES + WALK_LEAST
							    : WALK_LEAST,
		.exact = bpf->form.ncpus <= RECORD_EXACT_CPUS && is_exact(self),
	};
	err = sonde_obtain(self, "bpf load", bpf_load, &asked, NULL, 0);
	if (err) {
		bpf_explain((int)err, why, size);
		return (int)err;
	}
	bpf->on = true;
	err = bpf_reserve(self, bpf, room * TASK_BYTES, room);
	bpf_grown(bpf);
	if (err)
		bpf_stop(bpf);
	return (int)err;
}

/* ---- Reading */

/* A first sample has whole records of all, the later ones of few. What they will hardly need is memory no longer. */
static void give_back(char *block, size_t used, size_t size, uintptr_t page)
{
	uintptr_t begin = ((uintptr_t)block + used + used / 2 + page - 1) & ~(page - 1);
	uintptr_t end = ((uintptr_t)block + size) & ~(page - 1);

	if (begin < end)
		madvise((void *)begin, end - begin, MADV_DONTNEED);
}

/* 0: it can't, or its map has no room for all; then the iterator does. */
static int64_t walk(const struct bpf *bpf, struct record_total *total, size_t room)
{
	union bpf_attr attr = { .test.prog_fd = (uint32_t)bpf->walk };

	if (bpf->walk < 0 || syscall(SYS_bpf, BPF_PROG_TEST_RUN, &attr, sizeof attr) ||
	    attr.test.retval)
		return 0;
	*total = *bpf->told;
	if (total->bytes > bpf->told_size - RECORD_MARGIN || total->bytes > room)
		return 0;
	memcpy(total + 1, bpf->told + 1, total->bytes);
	return (int64_t)(sizeof *total + total->bytes);
}

static int64_t iterate(void *context, void *buffer, uint64_t size)
{
	const struct bpf *bpf = context;
	union bpf_attr attr = { .iter_create.link_fd = (uint32_t)bpf->link };
	struct record_total *total = buffer;
	char *at = (char *)buffer + sizeof *total;
	size_t room = size - sizeof *total, used = 0;
	ssize_t n = walk(bpf, total, room);
	int fd;

	if (n) {
		give_back(buffer, (size_t)n, size, bpf->form.page);
		return n;
	}
	fd = (int)syscall(SYS_bpf, BPF_ITER_CREATE, &attr, sizeof attr);
	if (fd < 0)
		return -errno;
	total->bytes = 0;
	do {
		/* What does not fit is only counted: all of it is of no use then. */
		used = used < room ? used : 0;
		n = read(fd, at + used, room - used);
		if (n > 0) {
			total->bytes += (uint64_t)n;
			used += (size_t)n;
		}
	} while (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)));
	n = n < 0 ? -errno : (ssize_t)(sizeof *total + used);
	close(fd);
	give_back(buffer, sizeof *total + used, size, bpf->form.page);
	return n;
}

static int by_pid(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* A walk is in the order of birth, in which numbers wrap; where one ended meanwhile its number may come again. */
static void sort_pids(struct bpf *bpf)
{
	uint32_t n = 0;

	qsort(bpf->pids, bpf->npids, sizeof *bpf->pids, by_pid);
	for (uint32_t i = 0; i < bpf->npids; i++)
		if (!n || bpf->pids[i] != bpf->pids[n - 1])
			bpf->pids[n++] = bpf->pids[i];
	bpf->npids = n;
}

int bpf_read(struct sonde_instance *self, struct bpf *bpf)
{
	const struct record_total *total = (const struct record_total *)bpf->bytes;
	struct record record;
	bool ascends = true;
	char *at, *end;
	int64_t n;

	bpf_grown(bpf);
	bpf->npids = bpf->used = 0;
	n = sonde_obtain(self, "bpf tasks", iterate, bpf, bpf->bytes, bpf->bytes_size);
	if (n < (int64_t)sizeof *total)
		return n < 0 ? (int)n : -EBADMSG;
	if (total->bytes > (uint64_t)n - sizeof *total) {
		uint64_t want = total->bytes + total->bytes / 2;

		if (want < UINT32_MAX)
			bpf_reserve(self, bpf, (uint32_t)want, 0);
		return -ENOSPC;
	}
	at = bpf->bytes + sizeof *total;
	end = bpf->bytes + n;
	/* Some kernels' iterators begin behind the first process (seen on 6.18). It always lives; /proc tells of it. */
	bpf->pids[bpf->npids++] = 1;
	while (record_next(&at, end, bpf->form.ncpus, &record)) {
		if (record.task)
			record.task->next = record.task->last = 0;
		if (!record.leader || record.pid == 1)
			continue;
		if (bpf->npids == bpf->pids_size) {
			bpf_reserve(self, bpf, 0, bpf->pids_size * 2);
			return -ENOSPC;
		}
		ascends = ascends && record.pid > bpf->pids[bpf->npids - 1];
		bpf->pids[bpf->npids++] = record.pid;
	}
	if (at != end)
		return -EBADMSG;
	if (!ascends)
		sort_pids(bpf);
	bpf->used = (uint32_t)n;
	return 0;
}

/* Records are 8-byte aligned: their places are counted in words, the total's is 0. */
static uint32_t place_of(const struct bpf *bpf, const void *record)
{
	return (uint32_t)(((const char *)record - bpf->bytes) / 8);
}

static bool record_at(const struct bpf *bpf, uint32_t place, struct record *record)
{
	char *at = bpf->bytes + (size_t)place * 8;

	return place && at < bpf->bytes + bpf->used &&
	       record_next(&at, bpf->bytes + bpf->used, bpf->form.ncpus, record);
}

static struct record_task *task_at(const struct bpf *bpf, uint32_t place)
{
	return (struct record_task *)(bpf->bytes + (size_t)place * 8);
}

static void assign_leaders(const struct bpf *bpf, struct tasks *tasks, char *at, const char *end)
{
	struct record record;
	uint32_t i = 0, last = 0;

	for (uint32_t k = 0; k < tasks->count; k++)
		tasks->task[tasks->order[k]].record = 0;
	while (record_next(&at, end, bpf->form.ncpus, &record)) {
		struct task *task;

		if (!record.leader)
			continue;
		/* Almost all ascend; the others are looked for. */
		if (record.pid < last) {
			task = tasks_find(tasks, record.pid);
		} else {
			last = record.pid;
			while (i < tasks->count && tasks->task[tasks->order[i]].pid < last)
				i++;
			task = i < tasks->count ? &tasks->task[tasks->order[i]] : NULL;
		}
		if (task && task->pid == record.pid)
			task->record =
				place_of(bpf, record.idle ? (void *)record.idle : record.task);
	}
}

void bpf_assign(const struct bpf *bpf, struct tasks *tasks)
{
	char *at = bpf->bytes + sizeof(struct record_total), *end = bpf->bytes + bpf->used;
	struct record record;

	assign_leaders(bpf, tasks, at, end);
	while (record_next(&at, end, bpf->form.ncpus, &record)) {
		const struct task *task;
		struct record_task *leader;
		uint32_t place;

		if (record.leader)
			continue;
		place = place_of(bpf, record.task);
		task = tasks_find(tasks, record.task->tgid);
		if (!task || !task->record || task_at(bpf, task->record)->has & RECORD_IDLE)
			continue;
		leader = task_at(bpf, task->record);
		task_at(bpf, leader->last ? leader->last : task->record)->next = place;
		leader->last = place;
	}
}

bool bpf_is_idle(const struct bpf *bpf, const struct task *task, struct process_sched *sched)
{
	struct record record;

	if (!bpf->on || !record_at(bpf, task->record, &record) || !record.idle ||
	    task->start != record.idle->start / bpf->form.tick)
		return false;
	*sched = (struct process_sched) { record.idle->sum_exec, record.idle->wait,
					  record.idle->slices };
	return true;
}

bool bpf_find(const struct bpf *bpf, const struct task *task, struct record *record,
	      struct record_cpu *sum)
{
	struct record thread;
	uint32_t count = 1;

	if (!bpf->on || !record_at(bpf, task->record, record) || !record->process)
		return false;
	*sum = record->process->ended;
	record_add(sum, &record->task->cpu_time);
	for (thread = *record; bpf_next_thread(bpf, &thread); count++)
		record_add(sum, &thread.task->cpu_time);
	return count == record->process->nr_threads;
}

bool bpf_next_thread(const struct bpf *bpf, struct record *record)
{
	return record_at(bpf, record->task->next, record);
}
