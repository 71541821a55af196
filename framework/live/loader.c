/* Plugins: found by name, looked at as files, loaded by dlopen(3), and checked before any of their code runs. */
#include <dlfcn.h>
#include <pthread.h>

#include "host/config.h"
#include "host/descriptor.h"
#include "live/elffile.h"
#include "host/folders.h"
#include "host/must.h"
#include "host/refuse.h"

/* Sanitizers put a constructor into each object; a host that is built with one expects it. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

static struct {
	pthread_mutex_t lock;
	struct plugin **plugins;
	size_t count;
	bool is_worker;
} loaded = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* What can be told of a file without loading it: 0, or a sentence. */
static int look(const char *file, struct elf_facts *facts, char *why, size_t size)
{
	int err = elf_read(file, facts, why, size);

	if (err)
		return err;
	err = descriptor_version(facts->note.magic, facts->note.abi_major, facts->note.abi_minor,
				 facts->note.size, why, size);
	if (err)
		return err;
	if (!facts->has_symbol)
		return refuse(
			why, size,
			"it does not export sonde_plugin; end it with SONDE_COLLECTOR(...) or "
			"its like, and link it with plugin.map");
	if (facts->exports > 1)
		return refuse(why, size,
			      "it exports %u symbols and may export one, sonde_plugin (another is "
			      "%s); link it with -Wl,--version-script=plugin.map",
			      facts->exports, facts->other);
	return 0;
}

int plugin_peek(const char *file, struct sonde_elf_note *note, char *why, size_t size)
{
	struct elf_facts facts;
	int err = look(file, &facts, why, size);

	*note = facts.note;
	return err;
}

/* What this process does not let in, since it would share everything with it. */
static int check_guest(const struct elf_facts *facts, char *why, size_t size)
{
	bool threads = facts->note.flags & SONDE_THREADS;

	if (loaded.is_worker)
		return 0;
	if (threads && facts->note.kind != SONDE_KIND_SINK && facts->note.kind != SONDE_KIND_SOURCE)
		return refuse(
			why, size,
			"it starts threads, which only sinks and sources may; give its section "
			"isolation = process");
	if (facts->constructors && !SANITIZED && !threads)
		return refuse(
			why, size,
			"it has constructors (%u), code that runs before sonde has checked it; "
			"move it into start(), or give its section isolation = process",
			facts->constructors);
	return 0;
}

/* The file is what its name promises, and may be loaded into this process. */
static int admit(const char *file, uint32_t kind, const char *name, char *why, size_t size)
{
	struct elf_facts facts;
	int err = folders_trust(file, why, size);

	if (!err)
		err = look(file, &facts, why, size);
	if (err)
		return err;
	if (facts.note.kind != kind || strcmp(facts.note.name, name) != 0)
		return refuse(why, size, "inside it is the %s %s; call the file %s-%s.so",
			      kind_name(facts.note.kind), facts.note.name,
			      kind_name(facts.note.kind), facts.note.name);
	return check_guest(&facts, why, size);
}

/* A plugin out of an admitted file; frees what it made where it fails. */
static int load(struct plugin *plugin, uint32_t kind, const char *name, char *why, size_t size)
{
	const struct sonde_plugin *exported;
	int err;

	plugin->handle = dlopen(plugin->path, RTLD_NOW | RTLD_LOCAL);
	if (!plugin->handle)
		return refuse(why, size, "it can't be loaded: %s", dlerror());
	exported = dlsym(plugin->handle, "sonde_plugin");
	err = exported ? descriptor_take(plugin, exported, why, size)
		       : refuse(why, size, "it does not export sonde_plugin");
	if (exported && !err &&
	    (plugin->descriptor.kind != kind || strcmp(plugin->descriptor.name, name) != 0))
		err = refuse(why, size, "its descriptor and its note tell of different plugins");
	if (err) {
		descriptor_free(plugin);
		dlclose(plugin->handle);
	}
	return err;
}

static const struct plugin *find_loaded(uint32_t kind, const char *name)
{
	for (size_t i = 0; i < loaded.count; i++)
		if (loaded.plugins[i]->descriptor.kind == kind &&
		    strcmp(loaded.plugins[i]->descriptor.name, name) == 0)
			return loaded.plugins[i];
	return NULL;
}

static int load_new(const char *path, uint32_t kind, const char *name, const struct plugin **out,
		    char *why, size_t size)
{
	char sentence[768];
	char *file = folders_good_name(name) ? folders_find(path, kind, name) : NULL;
	struct plugin *plugin;
	int err;

	if (!file)
		return plugin_not_found(path, kind, name, why, size);
	plugin = must(calloc(1, sizeof *plugin));
	plugin->path = file;
	err = admit(file, kind, name, sentence, sizeof sentence);
	if (!err)
		err = load(plugin, kind, name, sentence, sizeof sentence);
	if (err) {
		refuse(why, size, "%s: %s", file, sentence);
		free(file);
		free(plugin);
		return err;
	}
	loaded.plugins = must_grow(loaded.plugins, loaded.count, sizeof(struct plugin *));
	loaded.plugins[loaded.count++] = plugin;
	*out = plugin;
	return 0;
}

void plugin_in_worker(void)
{
	loaded.is_worker = true;
}

int plugin_load(const char *path, uint32_t kind, const char *name, const struct plugin **plugin,
		char *why, size_t size)
{
	int err = 0;

	pthread_mutex_lock(&loaded.lock);
	*plugin = find_loaded(kind, name);
	if (!*plugin)
		err = load_new(path, kind, name, plugin, why, size);
	pthread_mutex_unlock(&loaded.lock);
	return err;
}

void plugin_each(const char *path,
		 void (*each)(void *context, const char *file, const struct sonde_elf_note *note,
			      const char *why),
		 void *context)
{
	size_t count;
	char **files = folders_list(path, &count), name[64], why[768];

	for (size_t i = 0; i < count; i++) {
		uint32_t kind = folders_split(files[i], name, sizeof name);
		char *file = folders_find(path, kind, name);
		struct sonde_elf_note note;

		if (!file)
			continue;
		if (plugin_peek(file, &note, why, sizeof why))
			each(context, file, NULL, why);
		else
			each(context, file, &note, NULL);
		free(file);
	}
	folders_free(files, count);
}
