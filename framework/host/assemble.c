/* From sections to instances: the start path minus the last step. Every mistake is told in one pass. */
#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "host/folders.h"
#include "host/header.h"
#include "host/log.h"
#include "host/must.h"
#include "host/pipeline_parts.h"

/* A folder that is not there (yet) is not refused, but whoever mistyped it shall know. */
static void warn_of_folders(const struct config_section *section, const char *path)
{
	const struct config_key *key = config_key(section, "plugin_path");
	char folder[PATH_MAX];

	while (key && folders_next(&path, folder, sizeof folder))
		if (access(folder, X_OK))
			log_line(SONDE_WARNING, NULL, "%s:%u: plugin_path: %s: %s", key->file,
				 key->line, folder, strerror(errno));
}

void refuse_root(struct config *config, struct agent_keys *keys, const char *why)
{
	config_fault(config, config_section(config, "agent"), "root", "root = %s: %s", keys->root,
		     why);
	keys->root = "";
}

void assemble_agent(struct config *config, struct agent_keys *keys, struct options_memory **memory)
{
	static const struct config_section none = { .name = (char *)"agent", .file = "" };
	const struct config_section *section = config_section(config, "agent");
	const struct options_target target = { agent_options, agent_noptions, keys };
	char why[200];

	if (!section)
		section = &none;
	options_fill(config, section, &target, 1, memory);
	if (keys->tags && !tags_valid(keys->tags, why, sizeof why))
		config_fault(config, section, "tags", "%s", why);
	if (keys->root && keys->root[0] && keys->root[0] != '/')
		refuse_root(config, keys, "it is not an absolute path");
	if (keys->plugin_path)
		warn_of_folders(section, keys->plugin_path);
}

/* ---- Sections that have not changed keep their instance */

static bool same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool same_section(const struct config_section *a, const struct config_section *b)
{
	if (!same_text(a->name, b->name) || a->nkeys != b->nkeys)
		return false;
	for (size_t i = 0; i < a->nkeys; i++)
		if (!same_text(a->keys[i].name, b->keys[i].name) ||
		    !same_text(a->keys[i].value, b->keys[i].value))
			return false;
	return true;
}

static struct instance *take_known(const struct config_section *section, struct parts *known)
{
	for (size_t i = 0; known && i < known->count; i++) {
		struct instance *instance = known->instances[i];

		if (instance && same_section(instance->section, section)) {
			known->instances[i] = NULL;
			return instance;
		}
	}
	return NULL;
}

/* ---- Checks */

/* The file that a sink writes to; NULL: none, or one of the kernel's, which several may write to. */
static const char *path_of(const struct instance *instance)
{
	const struct plugin *plugin = instance->plugin;

	if (instance_kind(instance) != SONDE_KIND_SINK)
		return NULL;
	for (size_t i = 0; i < plugin->noptions; i++) {
		const struct sonde_option *option = &plugin->options[i];
		const char *path;

		if (strcmp(option->key, "path") != 0 || option->type != SONDE_OPT_STRING)
			continue;
		path = *(const char **)((char *)instance->self.conf + option->offset);
		return path && *path && strncmp(path, "/dev/", 5) != 0 ? path : NULL;
	}
	return NULL;
}

static void refuse_same_path(struct config *config, const struct parts *parts)
{
	struct instance *const *instances = parts->instances;

	for (size_t i = 0; i < parts->count; i++) {
		const char *path = path_of(instances[i]);

		for (size_t j = 0; path && j < i; j++) {
			const char *before = path_of(instances[j]);

			if (!before || strcmp(before, path) != 0)
				continue;
			config_fault(config, instances[i]->section, "path",
				     "path = %s: [%s] writes there already; give each its own",
				     path, instances[j]->self.name);
			break;
		}
	}
}

static void refuse_second(struct config *config, const struct parts *parts)
{
	struct instance *const *instances = parts->instances;

	for (size_t i = 0; i < parts->count; i++) {
		const struct plugin *plugin = instances[i]->plugin;

		for (size_t j = 0; j < i; j++)
			if (instances[j]->plugin == plugin &&
			    (plugin->descriptor.flags & SONDE_SINGLE))
				config_error(
					config, instances[i]->section->file,
					instances[i]->section->line,
					"[%s]: there can be only one, and [%s] in line %u is it",
					instances[i]->self.name, instances[j]->self.name,
					instances[j]->section->line);
	}
}

/* Whether it is the sink of a command, whose keys are none that its user wrote: what it complains of is then told without them. */
static bool is_of_command(const struct instance *instance)
{
	return instance_kind(instance) == SONDE_KIND_SINK && !*instance->section->file;
}

/* The key that a plugin complains of: "path = /nowhere: ...". */
static const char *reason_key(const struct instance *instance, char *key, size_t size)
{
	snprintf(key, size, "%.*s", (int)strcspn(instance->reason, " =:"), instance->reason);
	return key;
}

static const char *without_key(const char *reason)
{
	size_t length = strcspn(reason, " =:");

	return strncmp(reason + length, " = ", 3) == 0 ? reason + length + 3 : reason;
}

void part_trying(const struct pipeline *pipeline, const struct config_section *section)
{
	if (pipeline->options.trying)
		pipeline->options.trying(pipeline->options.context, section->name);
}

/* Whether the machine is why it can't start, and not the configuration: it has no such thing, or files of it that can't be
 * read. */
static bool is_machine(const struct instance *instance, int err)
{
	return err == -ENODEV || (instance_kind(instance) == SONDE_KIND_COLLECTOR &&
				  err != -EINVAL && err != -ENOMEM);
}

bool part_left_out(struct config *config, struct instance *instance, int err)
{
	const struct config_section *section = instance->section;
	char key[64];

	if (instance->keys.optional && is_machine(instance, err)) {
		const char *why = instance->reason[0] ? instance->reason
				  : err == -ENODEV    ? "not available here"
						      : strerror(-err);

		log_line(err == -ENODEV ? SONDE_DEBUG : SONDE_NOTICE, instance->self.name,
			 "left out: %s", why);
		instance_note(instance, why);
		return true;
	}
	if (err == -ENODEV)
		config_fault(config, section, reason_key(instance, key, sizeof key),
			     "%s; with `optional = yes` this is a note",
			     instance->reason[0] ? instance->reason : "not available here");
	else if (is_of_command(instance) && instance->reason[0])
		config_error(config, "", 0, "%s", without_key(instance->reason));
	else
		config_fault(config, section, reason_key(instance, key, sizeof key),
			     "it can't start: %s",
			     instance->reason[0] ? instance->reason : strerror(-err));
	return false;
}

static void add(struct parts *parts, struct instance *instance)
{
	parts->instances = must_grow(parts->instances, parts->count, sizeof(void *));
	parts->instances[parts->count++] = instance;
}

/* A new instance, checked; NULL where there is none to be, or a mistake. */
static struct instance *make(const struct surroundings *around,
			     const struct config_section *section)
{
	uint32_t kind = section_kind(around->config, section);
	struct instance *instance = NULL;
	bool left_out = false;
	int err = 0;

	part_trying(around->pipeline, section);
	if (kind)
		instance = instance_new(around, section, kind, &left_out);
	if (instance && !(around->pipeline->options.reparse && kind == SONDE_KIND_COLLECTOR))
		err = instance_check(instance);
	if (err && part_left_out(around->config, instance, err)) {
		instance_free(instance);
		instance = NULL;
		left_out = true;
	}
	around->pipeline->left_out += left_out;
	return instance;
}

size_t assemble(struct pipeline *pipeline, struct config *config, const struct agent_keys *agent,
		const char *path, struct parts *known, struct parts *parts)
{
	const struct surroundings around = {
		config, agent, path, &pipeline->stream, pipeline, pipeline->workers,
	};

	for (size_t i = 0; i < config->nsections; i++) {
		const struct config_section *section = &config->sections[i];
		struct instance *instance;

		if (strcmp(section->type, "agent") == 0)
			continue;
		instance = take_known(section, known);
		if (!instance)
			instance = make(&around, section);
		if (instance)
			add(parts, instance);
	}
	refuse_second(config, parts);
	refuse_same_path(config, parts);
	return config->nerrors;
}
