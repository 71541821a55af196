/* What the files of the collector `cgroup` share: its columns, what is read of a cgroup, its pure parsers. */
#ifndef CGROUP_H
#define CGROUP_H

#include <sonde/plugin.h>

/* Columns of the table `cgroup`; each is its own slot. The keys are those of all its tables. */
enum {
	PATH,
	BIRTH,
	/* Found when the tree is walked, and kept between samples: strings first. */
	UNIT,
	POD_UID,
	POD,
	NAMESPACE,
	CONTAINER_ID,
	CONTAINER,
	CPUSET_CPUS,
	CPUSET_MEMS,
	EFFECTIVE_CPUS_FROM,
	EFFECTIVE_MEMORY_FROM,
	CPU_WEIGHT,
	CPU_SHARES,
	CPU_QUOTA,
	CPU_PERIOD,
	EFFECTIVE_CPUS,
	MEMORY_HIGH,
	MEMORY_MAX,
	EFFECTIVE_MEMORY_MAX,
	SWAP_MAX,
	PIDS_MAX,
	/* Read at each sample. */
	USAGE,
	USER,
	SYSTEM,
	NICE,
	NR_PERIODS,
	NR_THROTTLED,
	THROTTLED,
	NR_BURSTS,
	BURST,
	MEMORY_CURRENT,
	MEMORY_PEAK,
	SWAP_CURRENT,
	EVENTS_LOW,
	EVENTS_HIGH,
	EVENTS_MAX,
	EVENTS_OOM,
	EVENTS_OOM_KILL,
	EVENTS_OOM_GROUP_KILL,
	PIDS_CURRENT,
	PIDS_EVENTS_MAX,
	CGROUP_COLUMNS,

	FIRST_NAME = UNIT,
	FIRST_SETTING = CPUSET_CPUS,
	FIRST_NUMBER = CPU_WEIGHT,
	FOUND_COLUMNS = USAGE, /* of the columns above, those that are kept */
};

enum { RESOURCE = BIRTH + 1, SOME_TOTAL, FULL_TOTAL, PRESSURE_COLUMNS };
enum {
	MAJOR = BIRTH + 1,
	MINOR,
	RBYTES,
	WBYTES,
	RIOS,
	WIOS,
	DBYTES,
	DIOS,
	IO_COLUMNS,
	IO_VALUES = IO_COLUMNS - RBYTES
};

/* Columns of the table `cgroups`: one row, what the sample covered. */
enum { TOTAL_FOUND, TOTAL_ROWS, TOTAL_OMITTED, TOTAL_VANISHED, TOTAL_COLUMNS };

enum {
	TABLE_CGROUP,
	TABLE_MEMORY,
	TABLE_MEMORY_V1,
	TABLE_PRESSURE,
	TABLE_IO,
	TABLE_CGROUPS,
	CGROUP_TABLES
};

extern const struct sonde_table cgroup_tables[CGROUP_TABLES];

/* A key of a file of lines "key value", and its column; the column's unit is `scale` times finer than the file's. */
struct cgroup_key {
	const char *name;
	uint32_t slot;
	uint32_t scale;
};

struct cgroup_keys {
	const struct cgroup_key *keys;
	uint32_t count;
};

/* memory.stat of either version, each into a table of its own. */
extern const struct cgroup_keys memory_keys, memory_v1_keys;

/* The controllers that are read, as bits. CPUACCT is one of v1 alone. */
enum cgroup_controller {
	CPU = 1 << 0,
	CPUACCT = 1 << 1,
	CPUSET = 1 << 2,
	MEMORY = 1 << 3,
	IO = 1 << 4, /* blkio in v1 */
	PIDS = 1 << 5,
};

/* Controllers in a list of words between `separator`: "cpuset cpu io", "cpu,cpuacct". Others are passed over. */
uint32_t cgroup_controllers(const char *text, size_t length, char separator);

/* ---- Files of one cgroup (Documentation/admin-guide/cgroup-v2.rst, cgroup-v1). Values that are missing or malformed stay
 * absent. */

/* The values of the keys that the lines of `text` begin with. */
void cgroup_parse_keys(const char *text, size_t length, const struct cgroup_keys *keys,
		       struct sonde_row *row);

/* A number alone in its file; "max", -1 and what version 1 writes for no limit are none. */
bool cgroup_is_no_limit(uint64_t value);
bool cgroup_parse_limit(const char *text, size_t length, uint64_t *value);

/* "max 100000": quota and period of cpu.max. */
void cgroup_parse_cpu_max(const char *text, size_t length, struct sonde_row *row);

/* One of the *.pressure files, its totals. */
void cgroup_parse_pressure(const char *text, size_t length, struct sonde_row *row);

/* What was read of and written to devices; more of them than this are passed over. */
enum { IO_DEVICES = 64 };

struct cgroup_io {
	struct cgroup_device {
		uint64_t major, minor, value[IO_VALUES];
		uint32_t have; /* bits of values */
	} devices[IO_DEVICES];
	uint32_t count;
};

/* io.stat: keys in any order, any of them. */
void cgroup_parse_io_stat(const char *text, size_t length, struct cgroup_io *io);

/* A blkio.throttle.io_service* file of version 1: "8:0 Read 4096". */
void cgroup_parse_blkio(const char *text, size_t length, bool bytes, struct cgroup_io *io);

/* ---- Mounts and membership */

/* A cgroup file system: of one of version 1's hierarchies, or version 2's. */
struct cgroup_mount {
	char point[512],
		root[512]; /* root: the cgroup that is mounted there, "" where it is the hierarchy's own */
	uint32_t controllers; /* of version 1 */
	bool unified;         /* version 2 */
};

/* The next one in /proc/PID/mountinfo, or with `short_form` in /proc/mounts, which does not tell the root. Hierarchies of
 * version 1 without a controller that is read are passed over. */
bool cgroup_next_mount(struct cursor *line, bool short_form, struct cgroup_mount *mount);

/* The next line of /proc/PID/cgroup: the path is the rest of the line, whatever it holds. */
struct cgroup_member {
	const char *path;
	size_t length;
	uint32_t controllers;
	bool unified;
};
bool cgroup_next_member(struct cursor *line, struct cgroup_member *member);

/* ---- Names */

struct bytes {
	const char *at;
	size_t length;
};

bool cgroup_same(struct bytes a, struct bytes b);

/* What a path says of what runs in it. Absent: length 0. */
struct cgroup_names {
	struct bytes unit, pod_uid, container_id;
};
struct cgroup_names cgroup_path_names(const char *path, size_t length);

/* "POD_NAMESPACE_CONTAINER-ID.log" of /var/log/containers, "NAMESPACE_POD_UID" of /var/log/pods. */
struct cgroup_log {
	struct bytes pod, namespace, container, id;
};
bool cgroup_container_log(const char *name, struct cgroup_log *log);
bool cgroup_pod_log(const char *name, struct cgroup_log *log);

/* The name in Docker's config.v2.json; the one of container `id` in Podman's containers.json. Length 0: none. */
struct bytes cgroup_docker_name(const char *text, size_t length);
struct bytes cgroup_podman_name(const char *text, size_t length, struct bytes id);

#endif
