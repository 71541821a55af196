/* source --> instants --> [analyzers] --> sinks. Every verb describes one as configuration text and runs it here. */
#ifndef HOST_PIPELINE_H
#define HOST_PIPELINE_H

#include "core/instant.h"
#include "host/config.h"

struct reader; /* wire/reader.h */
struct join;
struct pipeline;

struct pipeline_options {
	uint64_t duration;     /* ns; 0: until stopped */
	uint64_t max_instants; /* of the main lane; 0: no bound */
	const char *label;     /* into the header; NULL: none */
	int64_t watch_pid;     /* ends when this process does; 0: none */
	bool whole; /* it failed where a sink did not get every instant: -ENOBUFS at the end */
	bool escorts; /* signals are the watched process's and no end: one sent to this process is handed on */
	bool adopts; /* this process is a subreaper (prctl(2)): orphans that end are waited for */
	bool rehearse; /* for pipeline_open(): it also starts and stops what can be without an effect */
	const char *reloads; /* the file that SIGHUP reads again; NULL: SIGHUP ends it */
	bool reparse; /* for pipeline_replay(): collectors read what the recording's read, not this machine */
	uint64_t
		judge_every; /* for pipeline_replay(): ns of time that each judgement is of; 0: one of all */
	struct join *join; /* for pipeline_replay(): host/join.h; NULL: the recording alone */
	struct outlet
		*outlet; /* of a recording: every instant, and what the analysis says; NULL: none */
	/* Called before a section's plugin is loaded, asked or started: whose fault a crash is. NULL: nothing. */
	void (*trying)(void *context, const char *section);
	/* Called once the first sample of every collector was taken: a command that waits may run. NULL: nothing. */
	void (*started)(void *context);
	/* Called when the watched process has ended, before the last sample. NULL: nothing. */
	void (*ended)(void *context);
	/* Called about once a second from pipeline_run(), for a progress line; NULL: none. */
	void (*progress)(void *context, uint64_t elapsed, uint64_t instants,
			 uint64_t bytes_delivered);
	void *context;
};

/* Loads the plugins that the sections name, fills their options, asks check(). With `rehearse` collectors and analyzers are
 * started as well, and stopped before a sample; sinks and sources are not, since their start may have an effect. Every
 * mistake is in config->errors, in one pass; then -EINVAL and no pipeline. The config must outlive the pipeline. */
int pipeline_open(struct config *config, const struct pipeline_options *options,
		  struct pipeline **pipeline);

/* Live: starts collectors, sinks, analyzers and sources, and returns when the duration, the instants or the watched process
 * end, or SIGTERM or SIGINT comes. Everything is flushed, an end record with
 * its reason is in every stream. 0, or a negative errno where it could not start, or lost what it should have kept. */
int pipeline_run(struct pipeline *pipeline);

/* Recorded: every instant of the reader goes through analyzers and sinks, one after the other in this thread; the analyzers
 * judge at the end and what they say goes to the sinks. With `reparse`, of a recording with `capture = raw`: today's
 * collectors of the configuration read what was read then, and their rows take the place of those recorded, at the same
 * times; everything else passes as it is. 0 or the first negative errno. */
int pipeline_replay(struct pipeline *pipeline, struct reader *reader);

/* The sections of the collectors whose raw bytes are in a recording, as they were configured; to be freed. "" where there
 * are none. Reads up to the first of them. NULL without memory or where the recording can't be read. */
char *pipeline_reparse_sections(struct reader *reader);

/* Stops what runs (from a signal handler too, where it only asks), frees. */
void pipeline_ask_stop(struct pipeline *pipeline);
void pipeline_close(struct pipeline *pipeline);

#endif
