/* Lines of `ignore`: a mistyped id would ignore nothing, in silence. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/ignored.h"
#include "host/must.h"
#include "window/ignore.h"

static void check_id(struct config *config, const struct instance *instance,
		     const struct config_key *key, const char *id)
{
	const struct sonde_array *catalogue = &instance->plugin->ops.analyzer.catalogue;
	const char **ids = must(calloc(catalogue->count + 1, sizeof *ids)), *near;
	bool known = false;

	for (uint32_t i = 0; i < catalogue->count; i++) {
		const struct sonde_catalogue *line = (const void *)((const char *)catalogue->items +
								    (size_t)i * catalogue->stride);

		ids[i] = line->id ? line->id : "";
		known |= strcmp(ids[i], id) == 0;
	}
	near = nearest(id, ids, catalogue->count);
	if (!known)
		config_error(config, key->file, key->line,
			     "[%s]: no finding of it is called \"%s\"%s%s%s", instance->self.name,
			     id, near ? "; did you mean \"" : "", near ? near : "",
			     near ? "\"?" : "");
	free(ids);
}

void ignored_check(struct config *config, const struct instance *instance)
{
	const struct config_section *section = instance->section;

	for (size_t i = 0; i < section->nkeys; i++) {
		const struct config_key *key = &section->keys[i];
		struct ignore ignore;
		char why[400];

		if (strcmp(key->name, "ignore") != 0 || !*key->value)
			continue;
		if (ignore_parse(key->value, &ignore, why, sizeof why)) {
			config_error(config, key->file, key->line, "[%s]: ignore: %s",
				     instance->self.name, why);
			continue;
		}
		check_id(config, instance, key, ignore.id);
		ignore_free(&ignore);
	}
}
