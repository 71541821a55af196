/* The rings: opened for each CPU, since an inherited event has a buffer only where it is bound to one; emptied at each sample,
 * and merged by time. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "perf.h"

enum {
	PAGES_MOST = 128, /* with the first page 516 KiB: kernel.perf_event_mlock_kb */
	PAGES_LEAST = 8,
	PAGES_OF_ALL = 4096,    /* of a machine with many CPUs each gets fewer */
	CPUS_COUNTED_MOST = 32, /* each end is told by as many records as there are CPUs */
	SPARE = 1 << 16,        /* for what waits from one sample to the next */
};

/* ---- records */

enum { HEAD = sizeof(struct perf_event_header), TIME = 8 };

static uint32_t word_at(const char *bytes)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof word);
	return word;
}

static uint64_t long_at(const char *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof value);
	return value;
}

/* pid, ppid, tid, ptid, time. */
static void parse_task(const char *body, struct life_event *event)
{
	event->pid = word_at(body);
	event->parent = word_at(body + 4);
	event->tid = word_at(body + 8);
	event->parent_tid = word_at(body + 12);
}

/* pid, tid, name with NULs up to a multiple of 8. */
static void parse_comm(const char *body, uint64_t length, struct life_event *event)
{
	size_t most = length - 8 < sizeof event->comm ? length - 8 : sizeof event->comm;

	event->pid = word_at(body);
	event->tid = word_at(body + 4);
	memcpy(event->comm, body + 8, strnlen(body + 8, most));
}

/* Bytes between head and the time that attr.sample_id_all puts at the end. */
static uint32_t parse_body(const struct perf_event_header *head, const char *body, uint64_t length,
			   struct life_event *event)
{
	switch (head->type) {
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		if (length < 24)
			return LIFE_NOTHING;
		parse_task(body, event);
		return head->type == PERF_RECORD_FORK ? LIFE_FORK : LIFE_EXIT;
	case PERF_RECORD_COMM:
		if (length < 16)
			return LIFE_NOTHING;
		parse_comm(body, length, event);
		return head->misc & PERF_RECORD_MISC_COMM_EXEC ? LIFE_EXEC : LIFE_NAME;
	case PERF_RECORD_READ:
		if (length < 16)
			return LIFE_NOTHING;
		event->pid = word_at(body);
		event->tid = word_at(body + 4);
		event->value = long_at(body + 8);
		return LIFE_CPU;
	case PERF_RECORD_LOST:
		if (length < 16)
			return LIFE_NOTHING;
		event->value = long_at(body + 8);
		return LIFE_LOST;
	default:
		return LIFE_NOTHING;
	}
}

bool perf_next(const char *bytes, uint64_t length, uint64_t *at, struct life_event *event)
{
	struct perf_event_header head;
	const char *from = bytes + *at;

	if (length - *at < HEAD + TIME)
		*at = length;
	if (*at == length)
		return false;
	memcpy(&head, from, sizeof head);
	if (head.size < HEAD + TIME || head.size > length - *at) {
		*at = length;
		return false;
	}
	*event = (struct life_event) { .time = long_at(from + head.size - TIME) };
	event->what = parse_body(&head, from + HEAD, head.size - HEAD - TIME, event);
	*at += head.size;
	return true;
}

/* ---- rings */

struct open_call {
	struct perf_ring *ring;
	uint32_t pid, pages;
	bool counts, of_buffer;
};

static int64_t open_ring(void *context, void *buffer, uint64_t size)
{
	struct open_call *call = context;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = call->counts ? PERF_COUNT_SW_TASK_CLOCK : PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.disabled = 1,
		.inherit = 1,
		.inherit_stat = call->counts,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.enable_on_exec = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_BOOTTIME,
	};
	struct perf_ring *ring = call->ring;
	void *mapped;
	int fd = (int)syscall(SYS_perf_event_open, &attr, call->pid, ring->cpu, -1,
			      PERF_FLAG_FD_CLOEXEC);

	(void)buffer, (void)size;
	if (fd < 0)
		return -errno;
	mapped = mmap(NULL, ((size_t)call->pages + 1) * (size_t)sysconf(_SC_PAGESIZE),
		      PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mapped == MAP_FAILED) {
		int err = -errno;

		call->of_buffer = true;
		close(fd);
		return err;
	}
	ring->fd = fd;
	ring->mapped = mapped;
	return 0;
}

static int64_t read_ring(void *context, void *buffer, uint64_t size)
{
	const struct perf_ring *ring = context;
	struct perf_event_mmap_page *page = ring->mapped;
	const char *data = (const char *)ring->mapped + page->data_offset;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->data_tail, n = head - tail, from = tail % page->data_size, first;

	/* A part of a record is as good: the rest of it comes next. */
	n = n < size ? n : size;
	if (!n)
		return -EAGAIN;
	first = n < page->data_size - from ? n : page->data_size - from;
	memcpy(buffer, data + from, first);
	memcpy((char *)buffer + first, data, n - first);
	__atomic_store_n(&page->data_tail, tail + n, __ATOMIC_RELEASE);
	return (int64_t)n;
}

static void close_ring(const struct perf *perf, struct perf_ring *ring)
{
	if (ring->mapped)
		munmap(ring->mapped, ((size_t)perf->pages + 1) * (size_t)sysconf(_SC_PAGESIZE));
	if (ring->fd >= 0)
		close(ring->fd);
	ring->mapped = NULL;
	ring->fd = -1;
}

void perf_stop(struct perf *perf)
{
	for (uint32_t i = 0; i < perf->nrings; i++)
		close_ring(perf, &perf->ring[i]);
	perf->nrings = 0;
}

static int read_online(struct sonde_instance *self, const struct perf *perf, struct set *cpus)
{
	const char *text;
	int64_t n = perf->online ? sonde_read(self, perf->online, &text) : -ENOENT;

	return n > 0 && list_parse(text, (size_t)n, cpus) && set_count(cpus) ? 0 : -ENODATA;
}

/* On each of these CPUs, with buffers of that many pages. */
static int open_all(struct sonde_instance *self, struct perf *perf, uint32_t pid)
{
	perf->nrings = 0;
	for (EACH_IN_SET(cpu, &perf->cpus)) {
		struct perf_ring *ring = &perf->ring[perf->nrings++];
		struct open_call call = { ring, pid, perf->pages, perf->counts, false };
		char name[48];
		int err;

		*ring = (struct perf_ring) { .cpu = cpu, .fd = -1 };
		snprintf(name, sizeof name, "task records open %u %u", cpu, perf->pages);
		err = (int)sonde_obtain(self, name, open_ring, &call, NULL, 0);
		if (err == -ENODEV)
			perf->nrings--; /* it went offline */
		perf->locked = call.of_buffer;
		if (err && err != -ENODEV)
			return err;
	}
	return perf->nrings ? 0 : -ENODEV;
}

int perf_start(struct sonde_instance *self, struct perf *perf, uint32_t pid, bool counts)
{
	uint32_t count;
	int err;

	perf->online = sonde_open(self, SONDE_KEEP, "/sys/devices/system/cpu/online");
	err = read_online(self, perf, &perf->cpus);
	if (err) {
		sonde_close(self, perf->online);
		return err;
	}
	count = set_count(&perf->cpus);
	perf->counts = counts && count <= CPUS_COUNTED_MOST;
	perf->pages = PAGES_MOST;
	while (perf->pages > PAGES_LEAST && perf->pages * count > PAGES_OF_ALL)
		perf->pages /= 2;
	if (sonde_grow(self, &perf->ring, count * sizeof *perf->ring))
		return -ENOMEM;
	/* Other programs of this user may have what may be locked. */
	while ((err = open_all(self, perf, pid)) && perf->locked && perf->pages > PAGES_LEAST) {
		perf_stop(perf);
		perf->pages /= 2;
	}
	perf->room = (uint64_t)perf->pages * (uint64_t)sysconf(_SC_PAGESIZE) + SPARE;
	if (!err && sonde_grow(self, &perf->bytes, perf->nrings * perf->room))
		err = -ENOMEM;
	for (uint32_t i = 0; !err && i < perf->nrings; i++)
		perf->ring[i].bytes = perf->bytes + i * perf->room;
	if (err) {
		perf_stop(perf);
		sonde_close(self, perf->online);
	}
	return err;
}

/* ---- taking */

static void fill(struct sonde_instance *self, const struct perf *perf, struct perf_ring *ring)
{
	char name[48];
	int64_t n;

	memmove(ring->bytes, ring->bytes + ring->at, ring->used - ring->at);
	ring->used -= ring->at;
	ring->at = 0;
	snprintf(name, sizeof name, "task records %u", ring->cpu);
	while (ring->used < perf->room) {
		uint64_t room = perf->room - ring->used;

		n = sonde_obtain(self, name, read_ring, ring, ring->bytes + ring->used,
				 room < SPARE ? room : SPARE);
		if (n <= 0 || (uint64_t)n > room)
			return;
		ring->used += (uint64_t)n;
	}
}

/* The oldest event of all rings that is not younger than `until`; `at`: where its ring goes on. */
static struct perf_ring *oldest(const struct perf *perf, uint64_t until, struct life_event *event,
				uint64_t *at)
{
	struct perf_ring *found = NULL;

	for (uint32_t i = 0; i < perf->nrings; i++) {
		struct perf_ring *ring = &perf->ring[i];
		struct life_event next;
		uint64_t behind = ring->at;

		if (!perf_next(ring->bytes, ring->used, &behind, &next) || next.time > until ||
		    (found && next.time >= event->time))
			continue;
		found = ring;
		*event = next;
		*at = behind;
	}
	return found;
}

static void tell_new_cpus(struct sonde_instance *self, struct perf *perf)
{
	struct set online;

	if (read_online(self, perf, &online))
		return;
	for (EACH_IN_SET(cpu, &online)) {
		if (in_set(&perf->cpus, cpu))
			continue;
		add_to_set(&perf->cpus, cpu);
		sonde_gap(self,
			  "CPU %u came online while this records: perf has no task records of what "
			  "happens on it from then on",
			  cpu);
	}
}

void perf_take(struct sonde_instance *self, struct perf *perf, struct lives *lives, uint64_t until)
{
	struct life_event event = { 0 };
	struct perf_ring *ring;
	uint64_t at = 0, lost = 0;

	tell_new_cpus(self, perf);
	for (uint32_t i = 0; i < perf->nrings; i++)
		fill(self, perf, &perf->ring[i]);
	while ((ring = oldest(perf, until, &event, &at))) {
		ring->at = at;
		if (event.what == LIFE_LOST)
			lost += event.value;
		else
			lives_take(lives, &event);
	}
	if (lost)
		sonde_gap(
			self,
			"%llu records of births, names and ends of tasks were lost: more than the "
			"buffers hold between two samples; a shorter interval loses none",
			(unsigned long long)lost);
}

void perf_why(struct sonde_instance *self, const struct perf *perf, int err, char *why, size_t size)
{
	struct sonde_file *file =
		sonde_open(self, SONDE_FRESH, "/proc/sys/kernel/perf_event_paranoid");
	const char *text = "";
	int64_t n = file ? sonde_read(self, file, &text) : 0;
	int level = n > 0 ? atoi(text) : 0;

	sonde_close(self, file);
	if (perf->locked)
		snprintf(why, size,
			 "no buffer (%s): kernel.perf_event_mlock_kb or ulimit -l is used up",
			 strerror(-err));
	else if ((err == -EACCES || err == -EPERM) && level > 2)
		snprintf(why, size, "kernel.perf_event_paranoid is %d, and must be 2 or less",
			 level);
	else if (err == -EACCES || err == -EPERM)
		snprintf(why, size,
			 "perf_event_open is not permitted, as in most containers: it needs "
			 "CAP_PERFMON or another seccomp profile");
	else
		snprintf(why, size, "perf_event_open: %s", strerror(-err));
}
