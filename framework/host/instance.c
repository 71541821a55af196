/* Instances: made from sections, checked, started, stopped. */
#include <errno.h>

#include "core/schema.h"
#include "host/header.h"
#include "host/ignored.h"
#include "host/instance.h"
#include "host/isolated.h"
#include "host/log.h"
#include "host/must.h"
#include "host/pipeline_parts.h"
#include "host/self.h"

/* A block of a plugin's that the host allocates. */
struct grown {
	struct grown *next;
	void **block;
	uint64_t size, wanted;
};

/* ---- From a section */

static const struct {
	const char *type;
	uint32_t kind;
} types[] = {
	{ "", SONDE_KIND_COLLECTOR },
	{ "sink", SONDE_KIND_SINK },
	{ "analyzer", SONDE_KIND_ANALYZER },
	{ "source", SONDE_KIND_SOURCE },
};

uint32_t section_kind(struct config *config, const struct config_section *section)
{
	static const char *const names[] = { "agent", "sink", "analyzer", "source" };
	const char *near;

	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (strcmp(types[i].type, section->type) == 0)
			return types[i].kind;
	near = nearest(section->type, names, sizeof names / sizeof names[0]);
	config_error(config, section->file, section->line,
		     "[%s]: there are no sections of type `%s`%s%s%s", section->name, section->type,
		     near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
	return 0;
}

static const struct plugin *find_plugin(const struct surroundings *around,
					const struct config_section *section, uint32_t kind)
{
	const struct plugin *plugin = NULL;
	char why[1024];

	if (kind == SONDE_KIND_COLLECTOR && strcmp(section->plugin, "self") == 0)
		return self_plugin();
	if (kind == SONDE_KIND_COLLECTOR && around->workers && isolated_wanted(section))
		return isolated_plugin(around, section);
	if (plugin_load(around->plugin_path, kind, section->plugin, &plugin, why, sizeof why) == 0)
		return plugin;
	config_error(around->config, section->file, section->line, "[%s]: %s", section->name, why);
	return NULL;
}

/* Of a plugin that is not loaded here, the host's keys alone: its worker looks at the others. */
static int fill_host_keys(struct instance *instance, const struct surroundings *around)
{
	size_t count;
	const struct sonde_option *keys = section_options(SONDE_KIND_COLLECTOR, &count);
	const struct options_target target = { keys, count, &instance->keys };
	struct config_section section = *instance->section;
	int err;

	section.keys = must(calloc(section.nkeys + 1, sizeof *section.keys));
	section.nkeys = 0;
	for (size_t i = 0; i < instance->section->nkeys; i++)
		for (size_t k = 0; k < count; k++)
			if (strcmp(keys[k].key, instance->section->keys[i].name) == 0)
				section.keys[section.nkeys++] = instance->section->keys[i];
	err = options_fill(around->config, &section, &target, 1, &instance->memory);
	free(section.keys);
	return err;
}

/* The host's keys and the plugin's together, since a key of neither is a mistake. */
static int fill(struct instance *instance, const struct surroundings *around, uint32_t kind)
{
	const struct plugin *plugin = instance->plugin;
	size_t count;
	const struct sonde_option *keys = section_options(kind, &count);
	const struct options_target targets[] = {
		{ keys, count, &instance->keys },
		{ plugin->options, plugin->noptions, instance->self.conf },
		{ filter_keys, filter_nkeys, &instance->filter },
	};

	if (instance->isolated)
		return fill_host_keys(instance, around);
	return options_fill(around->config, instance->section, targets,
			    kind == SONDE_KIND_SINK ? 3 : 2, &instance->memory);
}

/* What is inherited from [agent], and what the types of options can't say. */
static int settle_keys(struct instance *instance, const struct surroundings *around)
{
	size_t before = around->config->nerrors;
	const struct config_section *section = instance->section;
	struct section_keys *keys = &instance->keys;
	char why[200];

	if (!config_key(section, "capture"))
		keys->capture = around->agent->capture;
	/* What the host knows of itself is in no file. */
	if (instance->plugin == self_plugin())
		keys->capture = CAPTURE_NONE;
	if (!config_key(section, "interval"))
		keys->interval = around->agent->interval;
	if (!keys->lane)
		keys->lane = "";
	if (!keys->tags)
		keys->tags = "";
	if (!keys->isolation)
		keys->isolation = "none";
	if (!tags_valid(keys->tags, why, sizeof why))
		config_fault(around->config, section, "tags", "%s", why);
	if (strcmp(keys->isolation, "none") != 0 && strcmp(keys->isolation, "process") != 0 &&
	    strncmp(keys->isolation, "process:", 8) != 0)
		config_fault(around->config, section, "isolation",
			     "isolation is none, process or process:GROUP, not \"%s\"",
			     keys->isolation);
	if (instance->plugin->descriptor.kind == SONDE_KIND_SINK)
		filter_check(around->config, section);
	if (instance->plugin->descriptor.kind == SONDE_KIND_ANALYZER)
		ignored_check(around->config, instance);
	return around->config->nerrors == before ? 0 : -EINVAL;
}

static int make_frame(struct instance *instance)
{
	const struct plugin *plugin = instance->plugin;

	for (size_t i = 0; i < plugin->ntables; i++)
		if (frame_add_table(&instance->frame, plugin->schemas[i], plugin->tables[i].rows,
				    plugin->tables[i].max_rows))
			return -ENOMEM;
	return 0;
}

static struct instance *make(const struct surroundings *around,
			     const struct config_section *section, const struct plugin *plugin,
			     uint32_t kind)
{
	struct instance *instance = must(calloc(1, sizeof *instance));

	instance->plugin = plugin;
	instance->section = section;
	instance->stream = around->stream;
	instance->pipeline = around->pipeline;
	instance->self = (struct sonde_instance) {
		.host = &host_services,
		.conf = must(calloc(1, plugin->descriptor.conf_size + 1)),
		.state = must(calloc(1, plugin->descriptor.state_size + 1)),
		/* Copies: a thread that hangs outlives the configuration. */
		.name = must_copy(section->name),
		.label = must_copy(section->label ? section->label : ""),
		.root = kind == SONDE_KIND_COLLECTOR ? around->agent->root : "",
		.header = around->stream->header,
	};
	instance->files.root_fd = -1;
	if (kind == SONDE_KIND_COLLECTOR)
		instance->isolated =
			around->workers && plugin != self_plugin() && isolated_wanted(section);
	instance->sample = instance->isolated ? isolated_sample : plugin->ops.collector.sample;
	return instance;
}

/* What the plugin itself would refuse, of a section that has other mistakes: it belongs to the same pass. Those keys have their
 * defaults; where one that has none is missing there is nothing to look at. */
static void check_mistaken(struct instance *instance, const struct surroundings *around, int err)
{
	if (!instance->keys.enabled || err == -ENODATA)
		return;
	if (instance->isolated) {
		isolated_new(around, instance);
		return;
	}
	err = files_open(&instance->files, instance->self.root);
	if (!err)
		err = instance_check(instance);
	if (err)
		part_left_out(around->config, instance, err);
}

struct instance *instance_new(const struct surroundings *around,
			      const struct config_section *section, uint32_t kind, bool *left_out)
{
	const struct plugin *plugin = find_plugin(around, section, kind);
	struct instance *instance;
	int err;

	*left_out = false;
	if (!plugin)
		return NULL;
	instance = make(around, section, plugin, kind);
	err = fill(instance, around, kind);
	if (settle_keys(instance, around) || err) {
		check_mistaken(instance, around, err);
		instance_free(instance);
		return NULL;
	}
	instance->self.interval = instance->keys.interval;
	instance->self.descriptors = files_kept();
	*left_out = !instance->keys.enabled;
	err = *left_out ? 0 : files_open(&instance->files, instance->self.root);
	if (!err && kind == SONDE_KIND_COLLECTOR)
		err = make_frame(instance);
	if (!err && !*left_out && instance->isolated && isolated_new(around, instance)) {
		instance_free(instance);
		return NULL;
	}
	if (err)
		config_error(around->config, section->file, section->line, "[%s]: %s: %s",
			     section->name, instance->self.root[0] ? instance->self.root : "start",
			     strerror(-err));
	if (!err && !*left_out)
		return instance;
	instance_free(instance);
	return NULL;
}

/* ---- Its life */

int instance_check(struct instance *instance)
{
	const struct sonde_plugin *descriptor = &instance->plugin->descriptor;
	int err;

	if (instance->isolated)
		return isolated_check(instance);
	instance->starting = true;
	err = descriptor->check ? descriptor->check(&instance->self) : 0;
	instance->starting = false;
	return err;
}

int instance_start(struct instance *instance, const struct sonde_stream_header *header)
{
	const struct sonde_plugin *descriptor = &instance->plugin->descriptor;
	int err;

	instance->self.header = header;
	instance->starting = instance->started = true;
	if (instance->isolated)
		err = isolated_start(instance);
	else
		err = descriptor->start ? descriptor->start(&instance->self) : 0;
	instance->starting = false;
	if (err)
		instance_stop(instance);
	return err;
}

void instance_log(struct instance *instance, uint32_t level, const char *format, ...)
{
	char message[sizeof instance->reason];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof message, format, args);
	va_end(args);
	if (level == SONDE_ERROR && instance->starting)
		snprintf(instance->reason, sizeof instance->reason, "%s", message);
	else if (!instance->of_command)
		log_line(level < SONDE_DEBUG ? (enum sonde_level)level : SONDE_DEBUG,
			 instance->self.name, "%s", message);
	else if (level <= SONDE_WARNING && !instance->reason[0])
		snprintf(instance->reason, sizeof instance->reason, "%s", message);
}

void instance_stop(struct instance *instance)
{
	const struct sonde_plugin *descriptor = &instance->plugin->descriptor;

	if (instance->started && instance->isolated)
		isolated_stop(instance);
	else if (instance->started && descriptor->stop)
		descriptor->stop(&instance->self);
	instance->started = false;
	files_close(&instance->files);
	while (instance->grown) {
		struct grown *grown = instance->grown;

		instance->grown = grown->next;
		free(*grown->block);
		*grown->block = NULL;
		free(grown);
	}
	frame_free(&instance->frame);
	frame_free(&instance->raw);
}

void instance_free(struct instance *instance)
{
	if (!instance)
		return;
	instance_stop(instance);
	if (instance->isolated) {
		isolated_free(instance->role);
		free(instance->plugin->path);
		free((char *)instance->plugin->descriptor.name);
		free((struct plugin *)instance->plugin);
	}
	for (uint32_t i = 0; i < instance->nadded; i++)
		schema_free(instance->added[i]);
	free(instance->added);
	free((char *)instance->self.name);
	free((char *)instance->self.label);
	free(instance->self.conf);
	free(instance->self.state);
	options_free(instance->memory);
	free(instance);
}

static int grow_now(struct grown *grown)
{
	char *block;

	if (grown->wanted <= grown->size)
		return 0;
	/* What is new costs memory when it is used. */
	block = calloc(1, grown->wanted);
	if (!block)
		return -ENOMEM;
	if (grown->size)
		memcpy(block, *grown->block, grown->size);
	free(*grown->block);
	*grown->block = block;
	grown->size = grown->wanted;
	return 0;
}

int instance_sample(struct instance *instance)
{
	int err = 0;

	for (struct grown *grown = instance->grown; grown; grown = grown->next)
		if (grow_now(grown))
			err = -ENOMEM;
	frame_begin(&instance->frame);
	instance->self.descriptors = files_kept();
	instance->failure = NULL;
	if (!err)
		err = instance->sample(&instance->self, &instance->frame);
	frame_end(&instance->frame);
	if (err || frame_check(&instance->frame, instance->reason, sizeof instance->reason))
		return err;
	instance->failure = "error";
	return -EINVAL;
}

int instance_grow(struct instance *instance, void **block, uint64_t size)
{
	struct grown *grown = instance->grown;

	while (grown && grown->block != block)
		grown = grown->next;
	if (!grown) {
		grown = calloc(1, sizeof *grown);
		if (!grown)
			return -ENOMEM;
		*grown = (struct grown) { .next = instance->grown, .block = block };
		instance->grown = grown;
	}
	if (size > grown->wanted)
		grown->wanted = size;
	return instance->starting ? grow_now(grown) : 0;
}

uint32_t instance_views(const struct instance *instance, struct sonde_view *views)
{
	const struct sonde_frame *frame = &instance->frame;
	uint32_t n = 0;

	frame_views(frame, views);
	for (uint32_t i = 0; i < frame->ntables; i++) {
		if (!views[i].nrows && (views[i].schema->flags & SONDE_EVENTS))
			continue;
		views[n] = views[i];
		views[n++].instance = instance->self.name;
	}
	return n;
}

static void add_word(char *words, size_t size, const char *word, const char *behind)
{
	size_t used = strlen(words);

	snprintf(words + used, size - used, "%s%s%s", used ? " " : "", word, behind);
}

void instance_note(struct instance *instance, const char *text)
{
	const struct plugin *plugin = instance->plugin;
	char tables[1024] = "";

	for (size_t i = 0; i < plugin->ntables; i++)
		add_word(tables, sizeof tables, plugin->tables[i].name, "");
	for (uint32_t i = 0; i < instance->nadded; i++)
		add_word(tables, sizeof tables, instance->added[i]->name, "");
	if (plugin->descriptor.flags & SONDE_FAMILY)
		add_word(tables, sizeof tables, plugin->descriptor.name, "_*");
	stream_note(instance->stream, SONDE_NOTICE, instance->self.name, tables, text);
}
