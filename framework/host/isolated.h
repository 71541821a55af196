/* The host's side of isolation = process: an instance whose plugin lives in a worker, behind the same calls. */
#ifndef HOST_ISOLATED_H
#define HOST_ISOLATED_H

#include "host/foreign.h"
#include "host/instance.h"

struct workers; /* of one pipeline: those of a group share one */
struct isolated;

/* CPU time of all workers that ever were. */
struct worker_cpu {
	uint64_t user_us, system_us;
};
struct worker_cpu workers_cpu(struct workers *workers);

struct workers *workers_new(struct foreign *foreign);
void workers_free(struct workers *workers);

/* Whether there is any: its process is waited for where it ends. */
bool workers_any(const struct workers *workers);

/* The pipeline stops: no call of a worker lasts longer than until `deadline`, CLOCK_MONOTONIC ns. */
void workers_give_up(struct workers *workers, uint64_t deadline);

/* Whether a section asks for a worker. */
bool isolated_wanted(const struct config_section *section);

/* What is known of a collector's plugin without loading it, from its file; to be freed. NULL with a mistake in the
 * configuration. */
struct plugin *isolated_plugin(const struct surroundings *around,
			       const struct config_section *section);

/* A worker for the instance, which has the plugin above and its host keys, or a place in that of its group; the plugin's own
 * mistakes are added to the configuration. 0 or a negative errno. */
int isolated_new(const struct surroundings *around, struct instance *instance);
void isolated_free(struct isolated *isolated);

/* As instance_check(), instance_start(); as the plugin's sample() and stop(). A worker that ended or was too late is told
 * as a gap of the reason `crashed`, its sample() fails with -ECHILD, and another is started after a pause that grows. */
int isolated_check(struct instance *instance);
int isolated_start(struct instance *instance);
int isolated_sample(struct sonde_instance *self, struct sonde_frame *frame);
void isolated_stop(struct instance *instance);

#endif
