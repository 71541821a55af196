/* The sonde plugin ABI, version 1. The only header that a plugin includes.
 *
 * A plugin is a shared object that exports one symbol, `sonde_plugin`, a const descriptor; the macros at the end make
 * it. ABI 1 only grows: fields are appended, never moved, and both sides read each other's sizes. docs/plugin-guide.md
 * builds a collector in ten minutes. */
#ifndef SONDE_PLUGIN_H
#define SONDE_PLUGIN_H

#include <sonde/analysis.h>
#include <sonde/host.h>
#include <sonde/keyed.h>
#include <sonde/row.h>
#include <sonde/table.h>
#include <sonde/text.h>

#define SONDE_MAGIC     0x65646e73u /* "snde" */
#define SONDE_ABI_MAJOR 1
#define SONDE_ABI_MINOR 2

enum sonde_kind {
	SONDE_KIND_COLLECTOR = 1,
	SONDE_KIND_SINK = 2,
	SONDE_KIND_ANALYZER = 3,
	SONDE_KIND_SOURCE = 4
};

enum sonde_plugin_flags {
	SONDE_MAY_BLOCK = 1 << 0, /* sample() can wait for a device: a lane of its own */
	SONDE_COSTLY =
		1 << 1, /* sample() can take longer than a tick or holds up its target: likewise */
	SONDE_SINGLE = 1 << 2, /* a second instance has no sense: the configuration is refused */
	SONDE_THREADS =
		1 << 3, /* its library starts threads: sinks and sources only; never dlclosed */
	SONDE_FAMILY = 1 << 4, /* the tables that it adds in start() are named NAME_... after it */
};

enum sonde_option_type {
	SONDE_OPT_BOOL = 1,     /* uint32_t */
	SONDE_OPT_U64 = 2,      /* uint64_t */
	SONDE_OPT_F64 = 3,      /* double */
	SONDE_OPT_DURATION = 4, /* uint64_t, ns: "500ms" */
	SONDE_OPT_SIZE = 5,     /* uint64_t, bytes: "64KiB" */
	SONDE_OPT_STRING = 6,   /* const char * */
	SONDE_OPT_CHOICE = 7,   /* uint32_t, index into choices */
	SONDE_OPT_LIST = 8,     /* struct sonde_list: the key may repeat, one item a line */
	SONDE_OPT_CPULIST = 9,  /* struct sonde_cpulist: "0-3,8" */
};

struct sonde_list {
	const char *const *items;
	uint32_t count;
	uint32_t reserved;
};

/* Sorted, without doubles. */
struct sonde_cpulist {
	const uint32_t *ids;
	uint32_t count;
	uint32_t reserved;
};

/* A key of the plugin's section. The host parses, checks and stores it; strings live as long as the instance. */
struct sonde_option {
	const char *key;
	uint32_t type;       /* enum sonde_option_type */
	uint32_t offset;     /* of the field in conf */
	const char *initial; /* default, as it would stand in the file; NULL: required */
	const char *choices; /* of a CHOICE: "a|b|c" */
	double min, max;     /* of a number, in its own unit; both 0: no range */
	const char *help;
};

/* What a sink asserts of an instant that it counts as delivered. */
enum sonde_assertion {
	SONDE_PEER = 1,     /* the protocol acknowledged it */
	SONDE_DURABLE = 2,  /* fsync(2) returned */
	SONDE_HANDED = 3,   /* the kernel took it */
	SONDE_REPLACED = 4, /* the newest value waits to be fetched */
};

/* In which form a sink takes what it is to send. */
enum sonde_intake {
	SONDE_TAKES_VIEWS = 1,     /* view(): every table of every instant */
	SONDE_TAKES_STREAM = 2,    /* bytes(): the .sonde stream of docs/format.md, in order */
	SONDE_TAKES_DATAGRAMS = 3, /* bytes(): datagrams of docs/format.md, each alone decodable */
};

enum sonde_bytes_flags {
	SONDE_FIRST =
		1
		<< 0, /* first bytes of a stream: mark and header follow (start, or after sonde_restart()) */
	SONDE_LAST =
		1 << 1, /* a segment ends with these bytes: a good place to go on in another file */
};

struct sonde_collector_ops {
	/* Emits rows; called at each tick of the instance's interval. A negative errno is counted and logged, the rows of
	 * this tick are dropped, and the next tick comes as ever. */
	int (*sample)(struct sonde_instance *self, struct sonde_frame *frame);
};

/* Each returns 0, or a negative errno: -EAGAIN, or in an agent -ENOSPC, and the host offers the same again later, with growing
 * pauses, while its ring keeps the newest; any other error drops it, counted, and ends a command. */
struct sonde_sink_ops {
	uint32_t intake;    /* enum sonde_intake */
	uint32_t assertion; /* enum sonde_assertion */
	int (*view)(struct sonde_instance *self, const struct sonde_view *view);
	int (*bytes)(struct sonde_instance *self, const void *bytes, uint64_t length,
		     uint32_t flags);
	/* After each batch, and after `flush` time without one: what was taken so far is delivered when it returns 0.
	 * NULL: it is delivered when view() or bytes() returns 0. */
	int (*flush)(struct sonde_instance *self);
	/* SIGHUP: files and connections are to be opened anew. NULL: nothing to do. */
	int (*reopen)(struct sonde_instance *self);
	/* Largest datagram that it can send, bytes; NULL: 1,400. */
	uint64_t (*datagram_size)(struct sonde_instance *self);
	/* Where the configuration decides it (format = json): the intake, asked once after start(). NULL: `intake`. */
	uint32_t (*choose_intake)(struct sonde_instance *self);
	/* Where the configuration decides it (fsync = flush): the assertion, asked once after start(). NULL: `assertion`. */
	uint32_t (*choose_assertion)(struct sonde_instance *self);
};

struct sonde_analyzer_ops {
	struct sonde_array streams; /* of struct sonde_stream */
	struct sonde_array
		catalogue; /* of struct sonde_catalogue: every finding that it can judge */
	/* At the end of a recording; live, every `every`. Judges the window so far: findings, metrics, what could not be judged. */
	int (*judge)(struct sonde_instance *self);
};

struct sonde_source_ops {
	/* Waits at most timeout_ms for something to arrive and hands it on with sonde_receive(). Called again and again. */
	int (*poll)(struct sonde_instance *self, int32_t timeout_ms);
};

struct sonde_plugin {
	uint32_t magic; /* these eight bytes are frozen for ever */
	uint16_t abi_major;
	uint16_t abi_minor;

	uint32_t size;      /* of this struct, as the plugin was built */
	uint32_t host_need; /* bytes of struct sonde_host that it uses */
	uint32_t kind;      /* enum sonde_kind */
	uint32_t flags;     /* enum sonde_plugin_flags */
	const char *name;   /* [a-z][a-z0-9_]*, the section's name */
	const char *version;
	const char *summary; /* one line, no full stop */
	const char *vendor;
	const char *licence;        /* SPDX; "" or NULL, as vendor: unknown */
	const char *capabilities;   /* needed, separated by blanks: "CAP_PERFMON"; NULL: none */
	const char *devices;        /* device files needed, separated by blanks; NULL: none */
	struct sonde_array options; /* of struct sonde_option */
	struct sonde_array tables;  /* of struct sonde_table */
	uint32_t conf_size;
	uint32_t state_size;
	/* Before start(): may answer sonde_unavailable(). Of a sink or source `sonde check` calls it alone: what can be told
	 * without an effect. NULL: start() tells. */
	int (*check)(struct sonde_instance *self);
	int (*start)(struct sonde_instance *self); /* NULL: nothing to start */
	void (*stop)(
		struct sonde_instance
			*self); /* called where start() was, failed or not; NULL: nothing to stop */
	const void *ops;        /* of its kind */
	uint32_t ops_size;      /* of that struct, as the plugin was built */
	uint32_t reserved;
};

/* The note that lets a reader of the file know the plugin without loading it: section .note.sonde, type 1. */
struct sonde_elf_note {
	uint32_t namesz, descsz, type;
	char owner[8]; /* "sonde" */
	uint32_t magic;
	uint16_t abi_major, abi_minor;
	uint32_t size;
	uint32_t kind;
	uint32_t flags;
	char name[32];
	char version[32];
	char summary[120];
	char capabilities[64];
};

/* A plugin is built for the oldest host that has what it uses: services newer than ABI 1.0 are visible only where
 * SONDE_USE_MINOR is defined before the include, and then that much of the table is needed. */
#ifndef SONDE_USE_MINOR
#define SONDE_USE_MINOR 0
#endif
#define SONDE_HOST_1_0 (offsetof(struct sonde_host, analysis) + sizeof(void *))
#define SONDE_HOST_1_1 (offsetof(struct sonde_host, read_lines) + sizeof(void *))
#define SONDE_HOST_1_2 (offsetof(struct sonde_host, gap) + sizeof(void *))
#if SONDE_USE_MINOR >= 2
#define SONDE_HOST_NEED SONDE_HOST_1_2
#elif SONDE_USE_MINOR >= 1
#define SONDE_HOST_NEED SONDE_HOST_1_1
#else
#define SONDE_HOST_NEED SONDE_HOST_1_0
#endif

#ifndef SONDE_PLUGIN_VERSION
#define SONDE_PLUGIN_VERSION "1.0"
#endif
/* Of whom it is and under which licence is what its author says, or unknown. */
#ifndef SONDE_PLUGIN_VENDOR
#define SONDE_PLUGIN_VENDOR ""
#endif
#ifndef SONDE_PLUGIN_LICENCE
#define SONDE_PLUGIN_LICENCE ""
#endif
#ifndef SONDE_PLUGIN_CAPABILITIES
#define SONDE_PLUGIN_CAPABILITIES ""
#endif
#ifndef SONDE_PLUGIN_FLAGS
#define SONDE_PLUGIN_FLAGS 0
#endif

#define SONDE_COLUMNS(c)   SONDE_ARRAY(c)
#define SONDE_TABLES(t)    SONDE_ARRAY(t)
#define SONDE_OPTIONS(o)   SONDE_ARRAY(o)
#define SONDE_STREAMS(s)   SONDE_ARRAY(s)
#define SONDE_CATALOGUE(c) SONDE_ARRAY(c)

#define SONDE_DESCRIBE(kind_, name_, summary_, ops_, ...)                                          \
	__attribute__((section(".note.sonde"), used,                                               \
		       aligned(4))) static const struct sonde_elf_note sonde_note_ = {             \
		.namesz = 6,                                                                       \
		.descsz = sizeof(struct sonde_elf_note) - offsetof(struct sonde_elf_note, magic),  \
		.type = 1,                                                                         \
		.owner = "sonde",                                                                  \
		.magic = SONDE_MAGIC,                                                              \
		.abi_major = SONDE_ABI_MAJOR,                                                      \
		.abi_minor = SONDE_USE_MINOR,                                                      \
		.size = sizeof(struct sonde_plugin),                                               \
		.kind = kind_,                                                                     \
		.flags = SONDE_PLUGIN_FLAGS,                                                       \
		.name = name_,                                                                     \
		.version = SONDE_PLUGIN_VERSION,                                                   \
		.summary = summary_,                                                               \
		.capabilities = SONDE_PLUGIN_CAPABILITIES                                          \
	};                                                                                         \
	extern __attribute__((visibility("default"))) const struct sonde_plugin sonde_plugin;      \
	const struct sonde_plugin sonde_plugin = { .magic = SONDE_MAGIC,                           \
						   .abi_major = SONDE_ABI_MAJOR,                   \
						   .abi_minor = SONDE_USE_MINOR,                   \
						   .size = sizeof(struct sonde_plugin),            \
						   .host_need = SONDE_HOST_NEED,                   \
						   .kind = kind_,                                  \
						   .flags = SONDE_PLUGIN_FLAGS,                    \
						   .name = name_,                                  \
						   .version = SONDE_PLUGIN_VERSION,                \
						   .summary = summary_,                            \
						   .vendor = SONDE_PLUGIN_VENDOR,                  \
						   .licence = SONDE_PLUGIN_LICENCE,                \
						   .capabilities = SONDE_PLUGIN_CAPABILITIES,      \
						   .ops = &(ops_),                                 \
						   .ops_size = sizeof(ops_),                       \
						   __VA_ARGS__ }

/* SONDE_COLLECTOR(psi, "pressure stall information", sample, .tables = ..., .state_size = ..., .start = start); */
#define SONDE_COLLECTOR(name_, summary_, sample_, ...)                                             \
	static const struct sonde_collector_ops sonde_ops_ = { .sample = sample_ };                \
	SONDE_DESCRIBE(SONDE_KIND_COLLECTOR, #name_, summary_, sonde_ops_, __VA_ARGS__)

/* SONDE_SINK(file, "...", ops, ...): ops is a static const struct sonde_sink_ops. The other two likewise. */
#define SONDE_SINK(name_, summary_, ops_, ...)                                                     \
	SONDE_DESCRIBE(SONDE_KIND_SINK, #name_, summary_, ops_, __VA_ARGS__)
#define SONDE_ANALYZER(name_, summary_, ops_, ...)                                                 \
	SONDE_DESCRIBE(SONDE_KIND_ANALYZER, #name_, summary_, ops_, __VA_ARGS__)
#define SONDE_SOURCE(name_, summary_, ops_, ...)                                                   \
	SONDE_DESCRIBE(SONDE_KIND_SOURCE, #name_, summary_, ops_, __VA_ARGS__)

#endif
