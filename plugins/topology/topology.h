/* The tables of the collector `topology`, its state, and its two halves: CPUs and caches (cpus.c), and what the kernel was
 * told (settings.c). */
#ifndef TOPOLOGY_H
#define TOPOLOGY_H

#define SONDE_USE_MINOR    1
#define SONDE_PLUGIN_FLAGS SONDE_MAY_BLOCK
#include <sonde/plugin.h>
#include <sonde/set.h>

/* Columns of topology_cpu. A column whose origin has a slash is read from that file below cpuN. */
enum {
	CPU,
	ONLINE,
	NODE,
	DRAWER,
	BOOK,
	SOCKET,
	DIE,
	CLUSTER,
	CORE,
	SOCKET_CPU,
	CORE_CPU,
	L2_CPU,
	L3_CPU,
	CAPACITY,
	ISOLATED,
	NOHZ_FULL,
	CPUINFO_MIN_FREQ,
	CPUINFO_MAX_FREQ,
	BASE_FREQUENCY,
	SCALING_MIN_FREQ,
	SCALING_MAX_FREQ,
	CORE_THROTTLE_COUNT,
	PACKAGE_THROTTLE_COUNT,
	CPU_NUMBERS, /* those before are numbers, those from here on texts */
	KIND = CPU_NUMBERS,
	SCALING_GOVERNOR,
	SCALING_DRIVER,
	ENERGY_PREFERENCE,
	CPU_COLUMNS
};

enum {
	CACHE_LEVEL,
	CACHE_TYPE,
	CACHE_CPU,
	CACHE_CPUS,
	CACHE_SHARED,
	CACHE_SIZE,
	CACHE_LINE,
	CACHE_WAYS,
	CACHE_SETS,
	CACHE_ID
};
enum { NODE_NUMBER, NODE_CPUS, NODE_DISTANCE };
enum { SYSCTL_NAME, SYSCTL_VALUE, SYSCTL_NUMBER };
enum { MITIGATION_NAME, MITIGATION_STATE };
enum {
	TOTAL_ONLINE,
	TOTAL_OFFLINE,
	TOTAL_CPUS,
	TOTAL_CORES,
	TOTAL_SOCKETS,
	TOTAL_NODES,
	TOTAL_SMT,
	TOTAL_ISOLATED,
	TOTAL_NOHZ_FULL,
	TOTAL_VENDOR,
	TOTAL_MODEL,
	TOTAL_MICROCODE,
	TOTAL_CMDLINE
};

enum {
	TABLE_TOTAL,
	TABLE_CPU,
	TABLE_CACHE,
	TABLE_NODE,
	TABLE_SYSCTL,
	TABLE_MITIGATION,
	TOPOLOGY_TABLES
};

extern const struct sonde_table topology_tables[TOPOLOGY_TABLES];

#define CPUS_FOLDER  "/sys/devices/system/cpu"
#define NODES_FOLDER "/sys/devices/system/node"

enum {
	CPU_TEXT = 24,
	CACHES = 10, /* index0 to index9 */
	LIST_TEXT = 128,
	NODE_TEXT = 2048,
	SETTING_TEXT = 64,
	MITIGATIONS = 48,
	NODES_MOST = 1024,
	SOCKETS_MOST = 1024,
};

struct cpu {
	uint64_t value[CPU_NUMBERS];
	uint32_t have;                                  /* bits of those that are known */
	char text[CPU_COLUMNS - CPU_NUMBERS][CPU_TEXT]; /* "": not known */
};

struct cache {
	uint64_t value[CACHE_ID + 1];
	uint32_t have;
	char type[16];
	char cpus[LIST_TEXT]; /* "": longer */
};

struct node {
	uint64_t number;
	char cpus[NODE_TEXT], distance[NODE_TEXT]; /* "": longer, or none */
};

struct mitigation {
	char name[32], state[160];
};

enum cmdline { CMDLINE_NONE, CMDLINE_KNOWN, CMDLINE_FULL };

struct conf {
	uint64_t refresh; /* ns */
	uint32_t cmdline; /* enum cmdline */
};

struct state {
	struct cpu *cpus; /* ascending */
	struct cache *caches;
	struct node *nodes;
	char (*sysctl)[SETTING_TEXT]; /* in the order of settings.c; "": not there */
	struct mitigation *mitigations;
	uint32_t ncpus, cpus_room, wanted; /* CPUs for which there is room, and will be */
	uint32_t ncaches, caches_room;
	uint32_t nnodes, nodes_room;
	uint32_t nmitigations;
	struct set online, isolated, nohz_full;
	struct set covered[CACHES]; /* while caches are looked for: CPUs whose n-th is known */
	uint32_t next_limit;        /* CPU whose frequency limits are read next */
	uint32_t sockets, cores;    /* 0: not known */
	uint32_t samples;           /* since the last refresh */
	bool scanned, contradiction;
	char total[TOTAL_CMDLINE][LIST_TEXT]; /* texts of the table topology; "": not there */
	char cmdline[4096];
};

/* ---- cpus.c */

int cpus_start(struct sonde_instance *self);

/* Looks at all CPUs, caches and nodes anew. 0; -EAGAIN: there are more than there was room for, again at the next sample. */
int cpus_scan(struct sonde_instance *self);

/* Frequency limits and governors of some CPUs more: all of them where they are few. */
void cpus_limits(struct sonde_instance *self);

void cpus_emit(struct sonde_instance *self, struct sonde_frame *frame);

/* ---- settings.c */

int settings_start(struct sonde_instance *self);

/* The command line, the processor's names: what can't change. */
void settings_once(struct sonde_instance *self);

/* Settings, mitigations, nodes. */
void settings_read(struct sonde_instance *self);

void settings_emit(struct sonde_instance *self, struct sonde_frame *frame);

/* Of a kernel command line the parameters that bear on performance, with their values, into `out`; nothing of the others. */
void settings_cmdline(const char *text, size_t length, char *out, size_t size);

/* The value behind any of these keys, which NULL ends, in the lines "key : value" of /proc/cpuinfo, into `out` as a string;
 * "" where there is none. The first key that is there counts. */
void settings_cpuinfo(const char *text, size_t length, const char *const *keys, char *out,
		      size_t size);

/* ---- Both */

/* The file's first line into `out` as a string, cut where it is longer. Its length there; 0: empty, or not to be read. */
size_t topology_text(struct sonde_instance *self, const char *path, char *out, size_t size);

#endif
