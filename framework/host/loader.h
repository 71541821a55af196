/* Plugins: found by name, looked at without loading, loaded and checked before any of their code runs. */
#ifndef HOST_LOADER_H
#define HOST_LOADER_H

#include <sonde/plugin.h>

struct plugin {
	struct sonde_plugin
		descriptor; /* in this host's layout, zero-filled where the plugin's is shorter */
	const struct sonde_option *options; /* likewise, copied */
	size_t noptions;
	struct sonde_schema **schemas;    /* of the descriptor's tables */
	const struct sonde_table *tables; /* likewise, copied */
	size_t ntables;
	union {
		struct sonde_collector_ops collector;
		struct sonde_sink_ops sink;
		struct sonde_analyzer_ops analyzer;
		struct sonde_source_ops source;
	} ops;
	char *path;
	void *handle;
};

/* Folders to look in, in order: SONDE_PLUGIN_PATH (secure_getenv), `configured` (plugin_path =, colon-separated or NULL),
 * then build/plugins beside the running sonde or the installed folder. Colon-separated, to be freed. */
char *plugin_path(const char *configured);

/* What the file's ELF note says, without dlopen. 0, or -ENOEXEC/-errno and a sentence in `why`. */
int plugin_peek(const char *file, struct sonde_elf_note *note, char *why, size_t size);

/* Finds KIND-NAME.so on the path, looks, loads, checks. -ENOENT where there is none: `why` then has the nearest name.
 * Plugins stay loaded; loading one twice returns the same. */
int plugin_load(const char *path, uint32_t kind, const char *name, const struct plugin **plugin,
		char *why, size_t size);

/* "there is no collector `psii`", with the nearest name, or the kind under which there is one of this name. -ENOENT. */
int plugin_not_found(const char *path, uint32_t kind, const char *name, char *why, size_t size);

/* This process is a worker: plugins with constructors or threads are let in too, since nobody else lives here. Before the
 * first plugin_load(). */
void plugin_in_worker(void);

/* Every plugin file on the path, name order, first found wins; called with its note or with why it can't be one. */
void plugin_each(const char *path,
		 void (*each)(void *context, const char *file, const struct sonde_elf_note *note,
			      const char *why),
		 void *context);

const char *kind_name(uint32_t kind); /* "collector", "sink", "analyzer", "source" */

#endif
