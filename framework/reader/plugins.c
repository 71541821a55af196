/* The plugins of a build that only reads: analyzers and sinks that are linked into the program, in place of the shared objects that
 * live/loader.c finds. Their list is made by the build. */
#include "host/config.h"
#include "host/descriptor.h"
#include "host/folders.h"
#include "host/loader.h"
#include "host/must.h"
#include "host/refuse.h"

/* Descriptors; ends with NULL. */
extern const struct sonde_plugin *const reader_plugins[];

const char folders_nowhere[] = "there are no plugins";

static struct plugin **loaded;
static size_t nloaded;

char *plugin_path(const char *configured)
{
	(void)configured;
	return must_copy("this program");
}

char **folders_list(const char *path, size_t *count)
{
	char **names = NULL;

	(void)path;
	*count = 0;
	for (const struct sonde_plugin *const *plugin = reader_plugins; *plugin; plugin++) {
		names = must_grow(names, *count, sizeof *names);
		if (asprintf(&names[*count], "%s-%s.so", kind_name((*plugin)->kind),
			     (*plugin)->name) < 0)
			names[*count] = NULL;
		must(names[(*count)++]);
	}
	return names;
}

void folders_free(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

static const struct sonde_plugin *find(uint32_t kind, const char *name)
{
	for (const struct sonde_plugin *const *plugin = reader_plugins; *plugin; plugin++)
		if ((*plugin)->kind == kind && strcmp((*plugin)->name, name) == 0)
			return *plugin;
	return NULL;
}

int plugin_load(const char *path, uint32_t kind, const char *name, const struct plugin **out,
		char *why, size_t size)
{
	const struct sonde_plugin *exported = find(kind, name);
	struct plugin *plugin;
	int err;

	for (size_t i = 0; i < nloaded; i++)
		if (loaded[i]->descriptor.kind == kind &&
		    strcmp(loaded[i]->descriptor.name, name) == 0) {
			*out = loaded[i];
			return 0;
		}
	if (!exported && kind != SONDE_KIND_SINK && kind != SONDE_KIND_ANALYZER)
		return refuse(why, size, "this build only reads: it has no %s `%s`",
			      kind_name(kind), name);
	if (!exported)
		return plugin_not_found(path, kind, name, why, size);
	plugin = must(calloc(1, sizeof *plugin));
	err = descriptor_take(plugin, exported, why, size);
	if (err) {
		descriptor_free(plugin);
		free(plugin);
		return err;
	}
	loaded = must_grow(loaded, nloaded, sizeof *loaded);
	loaded[nloaded++] = plugin;
	*out = plugin;
	return 0;
}
