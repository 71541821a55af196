/* For tests of perf_event: the whole collector, machines of puts, and a kernel behind perf_event_open(2) and read(2): which events
 * it has, how many counters, how often it lets a group run. */
#ifndef PERF_EVENT_KERNEL_H
#define PERF_EVENT_KERNEL_H

#include "plugins/perf_event/count.c"
#include "plugins/perf_event/event.c"
#include "plugins/perf_event/groupfile.c"
#include "plugins/perf_event/names.c"
#include "plugins/perf_event/open.c"
#include "plugins/perf_event/perf_event.c"
#include "plugins/perf_event/places.c"
#include "plugins/perf_event/plan.c"
#include "plugins/perf_event/pmu.c"
#include "plugins/perf_event/resolver.c"
#include "plugins/perf_event/tables.c"
#include "plugins/perf_event/words.c"

#include "plugins/perf_event/libpfm.h"

#include "fakehost.h"

/* A library that knows one name. */
int libpfm_encode(struct sonde_instance *self, struct libpfm **libpfm, const char *name,
		  struct encoding *code, char why[WORDS_SIZE])
{
	(void)self, (void)libpfm;
	if (strcmp(name, "ls_dispatch:ld_dispatch") != 0) {
		snprintf(why, WORDS_SIZE, "libpfm does not have it");
		return -ENOENT;
	}
	code->type = PERF_TYPE_RAW;
	code->config = 0x129;
	return 0;
}

void libpfm_end(struct libpfm *libpfm)
{
	(void)libpfm;
}

/* ---- A kernel */

enum { FDS = 512, FIRST_FD = 100000 };

static struct {
	struct {
		struct perf_event_attr attr;
		int pid, cpu, leader;
	} event[FDS];
	int nevents, nreads;
	int counters; /* of a PMU at once; 0: as many as one likes */
	uint64_t limit;
	/* errno for an event, 0: it opens. */
	int (*refuses)(const struct perf_event_attr *attr, int pid, int cpu);
	/* What a group's read gives, COUNTS_BYTES at most. */
	uint64_t enabled, running;
	uint64_t (*value)(const struct perf_event_attr *attr, int cpu);
} kernel;

static bool is_hardware(const struct perf_event_attr *attr)
{
	return attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_TRACEPOINT;
}

static int64_t kernel_open(struct call *call)
{
	int err = kernel.refuses ? kernel.refuses(&call->attr, call->pid, call->cpu) : 0, fit = 0;

	if (err)
		return -err;
	for (int i = 0; i < kernel.nevents && call->leader >= 0; i++)
		fit += (i == call->leader - FIRST_FD || kernel.event[i].leader == call->leader) &&
		       is_hardware(&kernel.event[i].attr);
	if (kernel.counters && is_hardware(&call->attr) && fit >= kernel.counters)
		return -EINVAL;
	if (kernel.nevents == FDS)
		return -EMFILE;
	kernel.event[kernel.nevents].attr = call->attr;
	kernel.event[kernel.nevents].pid = call->pid;
	kernel.event[kernel.nevents].cpu = call->cpu;
	kernel.event[kernel.nevents].leader = call->leader;
	call->fd = FIRST_FD + kernel.nevents++;
	return 0;
}

static int64_t kernel_read(int fd, uint64_t *words)
{
	uint64_t n = 0;

	kernel.nreads++;
	words[1] = kernel.enabled;
	words[2] = kernel.running;
	for (int i = 0; i < kernel.nevents; i++) {
		if (FIRST_FD + i != fd && kernel.event[i].leader != fd)
			continue;
		words[3 + n] = kernel.value
				       ? kernel.value(&kernel.event[i].attr, kernel.event[i].cpu)
				       : 1000 + n;
		n++;
	}
	words[0] = n;
	return (int64_t)(3 + n) * 8;
}

static int64_t on_obtain(const char *name, int64_t (*call)(void *, void *, uint64_t), void *context,
			 void *buffer, uint64_t size)
{
	if (strncmp(name, "open ", 5) == 0)
		return kernel_open(context);
	if (strncmp(name, "read ", 5) == 0)
		return kernel_read(*(const int *)context, buffer);
	if (strncmp(name, "stat ", 5) == 0) {
		char path[64];
		const char *text;

		snprintf(path, sizeof path, "/proc/%.16s/task/%.16s/stat", name + 5, name + 5);
		text = fake.put[fake_find(path)].text;
		memcpy(buffer, text, strlen(text));
		return (int64_t)strlen(text);
	}
	if (strcmp(name, "limit") == 0 && kernel.limit) {
		memcpy(buffer, &kernel.limit, sizeof kernel.limit);
		return sizeof kernel.limit;
	}
	return call(context, buffer, size);
}

/* ---- Machines */

static const char *const no_items[1];
static struct conf conf;

static inline void section(const char *const *groups, uint32_t ngroups, const char *const *events,
			   uint32_t nevents)
{
	conf = (struct conf) { .group = { groups ? groups : no_items, ngroups, 0 },
			       .event = { events ? events : no_items, nevents, 0 },
			       .group_path = "" };
}

#define SECTION(...)                                                                               \
	do {                                                                                       \
		static const char *const groups_[] = { __VA_ARGS__ };                              \
		section(groups_, sizeof groups_ / sizeof groups_[0], NULL, 0);                     \
	} while (0)
#define EVENTS(...)                                                                                \
	do {                                                                                       \
		static const char *const events_[] = { __VA_ARGS__ };                              \
		section(NULL, 0, events_, sizeof events_ / sizeof events_[0]);                     \
	} while (0)

static inline int begin(void)
{
	fake.obtain = on_obtain;
	fake.self.conf = &conf;
	fake.self.root = "";
	return fake_start("");
}

static inline void finish(void)
{
	if (fake.self.state)
		sonde_plugin.stop(&fake.self);
	fake_end();
	memset(&kernel, 0, sizeof kernel);
}

static inline void put_cpus(const char *present)
{
	kernel.enabled = kernel.running = 1000000000;
	put("/sys/devices/system/cpu/present", present);
	put("/sys/devices/system/cpu/online", present);
	put("/proc/sys/kernel/perf_event_paranoid", "2\n");
	put(PMU_FOLDER "/software/type", "1\n");
	put(PMU_FOLDER "/tracepoint/type", "2\n");
}

static inline void put_x86(const char *vendor, int family, int model)
{
	static char text[256];

	snprintf(
		text, sizeof text,
		"processor\t: 0\nvendor_id\t: %s\ncpu family\t: %d\nmodel\t\t: %d\nmodel name\t: x\n",
		vendor, family, model);
	put_cpus("0-1\n");
	put("/proc/cpuinfo", text);
	put(PMU_FOLDER "/cpu/type", "4\n");
	put(PMU_FOLDER "/cpu/format/event", "config:0-7,32-35\n");
	put(PMU_FOLDER "/cpu/format/umask", "config:8-15\n");
	put(PMU_FOLDER "/cpu/format/cmask", "config:24-31\n");
}

static inline void put_sapphire_rapids(void)
{
	put_x86("GenuineIntel", 6, 0x8f);
}

static inline void put_zen3(void)
{
	put_x86("AuthenticAMD", 25, 0x21);
}

static inline void put_arm64(const char *part)
{
	static char text[128];

	snprintf(
		text, sizeof text,
		"processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: %s\n",
		part);
	put_cpus("0-1\n");
	put("/proc/cpuinfo", text);
	put(PMU_FOLDER "/armv8_pmuv3_0/type", "8\n");
	put(PMU_FOLDER "/armv8_pmuv3_0/cpus", "0-1\n");
	put(PMU_FOLDER "/armv8_pmuv3_0/format/event", "config:0-15\n");
}

static inline bool has_column(const char *table, const char *column)
{
	struct frame_table *t = fake_table(table);

	return t && schema_column(t->schema, column) >= 0;
}

static inline bool noted(const char *words)
{
	return strstr(fake.notes, words) != NULL;
}

#endif
