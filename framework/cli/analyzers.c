/* The analyzers of a pipeline that judges everything: all that are installed, with the configuration's thresholds. */
#include <stdlib.h>
#include <string.h>

#include <sonde/plugin.h>

#include "cli/cli.h"
#include "host/folders.h"
#include "host/loader.h"

/* Whether one of the sections is this analyzer's, with a label or without. */
static bool has_section(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->nsections; i++)
		if (strcmp(config->sections[i].type, "analyzer") == 0 &&
		    strcmp(config->sections[i].plugin, name) == 0)
			return true;
	return false;
}

static void add_others(struct config *config)
{
	char *path = plugin_path(NULL);
	size_t count;
	char **files = folders_list(path, &count), name[64], section[80];

	for (size_t i = 0; i < count; i++) {
		if (folders_split(files[i], name, sizeof name) != SONDE_KIND_ANALYZER ||
		    has_section(config, name))
			continue;
		snprintf(section, sizeof section, "analyzer:%s", name);
		config_add(config, section);
	}
	folders_free(files, count);
	free(path);
}

void cli_analyzers(struct config *config, const char *path)
{
	if (path)
		config_read(config, path);
	/* Only what concerns the analysis is taken from a configuration that was written for an agent. */
	for (size_t i = config->nsections; i-- > 0;)
		if (strcmp(config->sections[i].type, "analyzer") != 0)
			config_remove(config, config->sections[i].name);
	add_others(config);
}
