/* Pipelines of a build that only reads: a recording, analyzers and sinks, opened and closed; host/replay.c is what runs them. */
#include <errno.h>
#include <stdlib.h>

#include "host/log.h"
#include "host/pipeline_parts.h"

/* Of whom there are no instants: notes of plugins have to be of somebody. */
static struct sonde_stream_header *nobody(void)
{
	static const struct sonde_stream_header header = {
		.host = "",
		.machine_id = "",
		.boot_id = "",
		.kernel = "",
		.arch = "",
		.label = "",
		.online = "",
		.nodes = "",
		.version = "",
	};

	return header_copy(&header);
}

static int make_stream(struct pipeline *pipeline)
{
	struct sonde_stream_header *header = nobody();

	return header ? stream_init(&pipeline->stream, header) : -ENOMEM;
}

static bool has_sink(const struct parts *parts)
{
	for (size_t i = 0; i < parts->count; i++)
		if (instance_kind(parts->instances[i]) == SONDE_KIND_SINK)
			return true;
	return false;
}

int pipeline_open(struct config *config, const struct pipeline_options *options,
		  struct pipeline **out)
{
	struct pipeline *pipeline = calloc(1, sizeof *pipeline);
	int err = -ENOMEM;

	*out = NULL;
	if (!pipeline)
		return err;
	pipeline->config = config;
	pipeline->options = *options;
	assemble_agent(config, &pipeline->agent, &pipeline->agent_memory);
	pipeline->plugin_path = plugin_path(NULL);
	err = make_stream(pipeline);
	if (!err && !config->nerrors) {
		log_level(pipeline->agent.log);
		assemble(pipeline, config, &pipeline->agent, pipeline->plugin_path, NULL,
			 &pipeline->parts);
	}
	if (!err && !config->nerrors && !has_sink(&pipeline->parts))
		config_error(config, config->nfiles ? config->files[0] : "", 0,
			     "there is no sink: add [sink:file]");
	if (!err && config->nerrors)
		err = -EINVAL;
	if (err)
		pipeline_close(pipeline);
	else
		*out = pipeline;
	return err;
}

void pipeline_close(struct pipeline *pipeline)
{
	if (!pipeline)
		return;
	for (size_t i = 0; i < pipeline->parts.count; i++) {
		struct instance *instance = pipeline->parts.instances[i];

		delivery_free(instance->role);
		instance_free(instance);
	}
	stream_free(&pipeline->stream);
	options_free(pipeline->agent_memory);
	free(pipeline->parts.instances);
	free(pipeline->plugin_path);
	free(pipeline);
}
