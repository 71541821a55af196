/* An instance: one configured section of a plugin, with its conf, state, tables and files. */
#ifndef HOST_INSTANCE_H
#define HOST_INSTANCE_H

#include <stdatomic.h>
#include <stddef.h>

#include "core/frame.h"
#include "host/agent_options.h"
#include "host/config.h"
#include "host/files.h"
#include "host/filter.h"
#include "host/loader.h"
#include "host/options.h"
#include "host/stream.h"

enum { INSTANCE_NOTES = 64 };

/* What a collector did so far; read by other threads. */
struct instance_counts {
	atomic_ullong samples, errors, missed, lost_rows, cost; /* cost in ns */
};

struct instance {
	struct sonde_instance self; /* first: what the plugin sees */
	int (*sample)(struct sonde_instance *self, struct sonde_frame *frame); /* of a collector */
	const struct plugin *plugin;
	const struct config_section *section;
	struct section_keys keys;
	struct filter_options filter; /* of a sink */
	struct options_memory *memory;
	struct files files;
	struct sonde_frame frame;    /* of a collector */
	struct sonde_frame raw;      /* with capture: what it read since its last instant */
	struct sonde_schema **added; /* by sonde_add_table() */
	uint32_t nadded;
	struct grown *grown;            /* by sonde_grow() */
	uint64_t noted[INSTANCE_NOTES]; /* hashes of the notes that were made */
	bool starting; /* in check() or start(): errors that it logs are the reason */
	bool started;
	bool of_command; /* a sink whose warnings are kept: why the command failed is said at its end */
	bool isolated; /* its plugin is in a worker */
	char reason
		[512]; /* why it is not available, as it said itself; of a worker, what became of it */
	const char *failure; /* reason of the gap, where a sample failed; NULL: `error` */

	struct stream *stream;
	struct pipeline *pipeline;
	void *role; /* of a sink its delivery, of a source its receiver, of a collector its worker */

	/* Of its lane's thread alone. */
	struct instance_counts counts;
	bool due;              /* sampled in this tick */
	uint64_t next;         /* tick, CLOCK_MONOTONIC ns */
	uint64_t sampled;      /* begin of the newest good sample, CLOCK_BOOTTIME ns; 0: none */
	uint64_t missed;       /* ticks not yet told */
	uint64_t failed;       /* samples in a row, not yet told */
	uint64_t failed_at;    /* begin of the one that was told */
	const char *failed_as; /* its reason; static */
	uint64_t lost_rows;    /* of the frame, as told */
};

static inline struct instance *instance_of(struct sonde_instance *self)
{
	return (struct instance *)((char *)self - offsetof(struct instance, self));
}

/* What instances of one pipeline have in common. */
struct surroundings {
	struct config *config;
	const struct agent_keys *agent;
	const char *plugin_path;
	struct stream *stream;
	struct pipeline *pipeline;
	struct workers *workers; /* NULL: in a worker, or where nothing is sampled */
};

/* The kind of plugin that a section asks for; 0 with a mistake in the configuration where it is none. */
uint32_t section_kind(struct config *config, const struct config_section *section);

/* An instance of the section: its plugin loaded and its options filled. Mistakes are added to the configuration, then
 * NULL; *left_out where that is as configured (`enabled = no`). */
struct instance *instance_new(const struct surroundings *around,
			      const struct config_section *section, uint32_t kind, bool *left_out);

/* check(): 0; -ENODEV where this machine does not have it, with instance->reason; another negative errno likewise. */
int instance_check(struct instance *instance);

/* start(), likewise. `header`: of the machine that it reads, now or in a recording. */
int instance_start(struct instance *instance, const struct sonde_stream_header *header);

/* What it says, or the host says of it: into the log. While it starts its last error, and of a command's sink its first
 * warning, become instance->reason instead. */
__attribute__((format(printf, 3, 4))) void instance_log(struct instance *instance, uint32_t level,
							const char *format, ...);

/* stop() if it was started. Its tables and names stay, since instants in rings point to them. */
void instance_stop(struct instance *instance);
void instance_free(struct instance *instance);

/* One sample(), into an empty arena; before it what was asked to grow grows, and where that fails (-ENOMEM) there is no
 * sample: the plugin relies on what it asked for. */
int instance_sample(struct instance *instance);

/* Views of what the newest sample brought; `views` has room for frame.ntables. Tables of events without one are left out. */
uint32_t instance_views(const struct instance *instance, struct sonde_view *views);

/* A note in its stream, with the tables that it has. */
void instance_note(struct instance *instance, const char *text);

/* Behind sonde_grow(). */
int instance_grow(struct instance *instance, void **block, uint64_t size);

/* The services of <sonde/host.h>. */
extern const struct sonde_host host_services;

#endif
