/* What a pipeline consists of; for the files that open, run, replay and reload it. */
#ifndef HOST_PIPELINE_PARTS_H
#define HOST_PIPELINE_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "host/delivery.h"
#include "host/foreign.h"
#include "host/isolated.h"
#include "host/judge.h"
#include "host/lane.h"
#include "host/pipeline.h"
#include "host/receiver.h"

/* Instances of the sections, in their order. */
struct parts {
	struct instance **instances;
	size_t count;
};

struct pipeline {
	struct config *config; /* the newest */
	struct pipeline_options options;
	struct agent_keys agent;
	struct options_memory *agent_memory;
	char *plugin_path;
	struct stream stream;
	struct foreign *foreign;
	struct workers *workers; /* NULL for a reparse */
	struct parts parts;      /* change only while no lane runs */
	size_t left_out;     /* sections that are not among them: disabled, or not available here */
	struct lane **lanes; /* the main one first */
	size_t nlanes;
	struct judge *judge; /* NULL: no analyzers */
	int poke;            /* eventfd(2): something happened in another thread */
	atomic_bool stop_asked;
	atomic_uint sampled; /* lanes that took their first sample */
	bool hung;           /* a thread is left to itself: nothing that it may touch is freed */
	/* Of reloads: what is no longer used but may be pointed to by instants. */
	struct parts retired;
	struct config **configs;
	size_t nconfigs;
	struct options_memory **memories;
	size_t nmemories;
};

/* Reads [agent]: its mistakes are added. */
void assemble_agent(struct config *config, struct agent_keys *keys, struct options_memory **memory);

/* Tells of a root that can't be, and goes on without, so that other mistakes are told too. */
void refuse_root(struct config *config, struct agent_keys *keys, const char *why);

/* An instance for each section; one of `known` (NULL: none) whose section says the same is taken from there, its place
 * becoming NULL. New ones are checked. The number of mistakes so far. */
size_t assemble(struct pipeline *pipeline, struct config *config, const struct agent_keys *agent,
		const char *plugin_path, struct parts *known, struct parts *parts);

/* Tells pipeline_options.trying whose turn it is. */
void part_trying(const struct pipeline *pipeline, const struct config_section *section);

/* What check() or start() found out. True: it is left out, with a note; false: it is a mistake of the configuration. */
bool part_left_out(struct config *config, struct instance *instance, int err);

/* Starts one instance in its role. 0; 1 where it is left out with a note; a negative errno, logged or a mistake. */
int part_start(struct pipeline *pipeline, struct config *config, struct instance *instance);

/* All of a kind; one that is left out is gone. 0 or the first negative errno. */
int pipeline_start_kind(struct pipeline *pipeline, uint32_t kind);
bool parts_have(const struct parts *parts, uint32_t kind);

/* -EINVAL, and a mistake, where there is no sink, or neither a collector nor a source. */
int parts_check_sinks(struct config *config, const struct parts *parts);
int parts_check_readers(struct config *config, const struct parts *parts);

/* Starts every part, so that all mistakes are told, and the lanes; *origin is their first tick, CLOCK_MONOTONIC ns. 0 or
 * the first negative errno. */
int pipeline_start_all(struct pipeline *pipeline, uint64_t *origin);

/* Everything that was sampled reaches the sinks, and an end record with the reason; NULL: nothing has begun. */
void pipeline_stop_all(struct pipeline *pipeline, const char *reason, enum last_sample last_sample);

/* Instants of the main lane so far. */
uint64_t pipeline_main_instants(const struct pipeline *pipeline);

/* What only a start can tell, as mistakes: see pipeline_open(). */
void pipeline_rehearse(struct pipeline *pipeline);

/* Patterns of sinks that match nothing of what the started collectors have: mistakes, or else notes. */
void pipeline_tell_unmatched(struct pipeline *pipeline, bool mistakes);

/* Why a command could not go on with it, as a mistake of its configuration; `why` NULL: what it said itself. Returns err. */
int part_failed(struct pipeline *pipeline, const struct instance *instance, const char *why,
		int err);

/* A sink of a command: an instant for it, and its end, as in delivery.h; where it failed, that was told so. */
int part_replay(struct pipeline *pipeline, struct delivery *sink, const struct instant *instant);
int part_finish(struct pipeline *pipeline, struct delivery *sink);

/* Stops all of a command; `err` so far, or that of a sink that failed as it stopped. */
int parts_stop(struct pipeline *pipeline, int err);

/* Asks to stop, waits, in two steps so that many stop at once. False: it hangs. */
void part_ask_stop(struct instance *instance, uint64_t deadline);
bool part_stopped(struct instance *instance, uint64_t deadline);
void part_free(struct instance *instance);

/* Puts collectors without a lane into one; starts lanes that do not run. 0 or negative errno. */
int lanes_fill(struct pipeline *pipeline, uint64_t origin);
int lanes_start(struct pipeline *pipeline);
/* False: a collector hangs. Its lane goes on when lanes_start() is called and it comes back. */
bool lanes_stop(struct pipeline *pipeline, enum last_sample last_sample, uint64_t deadline);

/* Wakes pipeline_run(). Any thread, any signal handler. */
void pipeline_poke(struct pipeline *pipeline);

/* The judge of these parts' analyzers: *judge NULL where there are none. 0 or negative errno. */
int judge_make(struct pipeline *pipeline, struct config *config, const struct parts *parts,
	       struct judge **judge);

/* SIGHUP. */
void pipeline_reload(struct pipeline *pipeline);

static inline uint32_t instance_kind(const struct instance *instance)
{
	return instance->plugin->descriptor.kind;
}

/* For [self]. */
void pipeline_each_collector(struct pipeline *pipeline,
			     void (*each)(void *context, const struct instance *instance),
			     void *context);
void pipeline_each_sink(struct pipeline *pipeline,
			void (*each)(void *context, const struct instance *instance,
				     const struct delivery_counts *counts),
			void *context);
void pipeline_each_source(struct pipeline *pipeline,
			  void (*each)(void *context, const struct instance *instance,
				       const struct receiver_counts *counts),
			  void *context);

#endif
