/* sonde plugins: lists the plugins by what their files say, or tells all that one declares. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "live/confined.h"
#include "host/explain.h"
#include "host/folders.h"
#include "host/self.h"

static const char help[] =
	"usage: sonde plugins [NAME]\n"
	"       sonde plugins agent\n\n"
	"Lists the plugins, reading their files only. With a name (psi, sink:udp) one is loaded, in a process without\n"
	"privileges, and tells its keys with their defaults, its tables and what it needs. None of its functions runs.\n"
	"`agent` stands for the keys of [agent].\n\n"
	"  -h, --help   print this\n\n"
	"Folders: SONDE_PLUGIN_PATH, else those beside the program.\n\n"
	"examples:\n"
	"  sonde plugins\n"
	"  sonde plugins sink:file\n";

static const struct option options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct listing {
	int status;
};

static void line(uint32_t kind, const char *name, const char *version, const char *summary,
		 const char *capabilities)
{
	printf("%-9s  %-14s %-8s %s%s%s\n", kind_name(kind), name, version, summary,
	       capabilities && *capabilities ? "; needs " : "", capabilities ? capabilities : "");
}

static void list_one(void *context, const char *file, const struct sonde_elf_note *note,
		     const char *why)
{
	struct listing *listing = context;

	if (note)
		line(note->kind, note->name, note->version, note->summary, note->capabilities);
	else
		listing->status = cli_error(EXIT_FAILED, "%s: %s", file, why);
}

static int list(const char *path)
{
	const struct sonde_plugin *self = &self_plugin()->descriptor;
	struct listing listing = { EXIT_DONE };

	line(self->kind, self->name, self->version, self->summary, self->capabilities);
	plugin_each(path, list_one, &listing);
	return listing.status;
}

struct call {
	const char *path;
	const char *name; /* as given: "psi" or "sink:udp" */
	const char *base; /* without its kind */
	size_t told;
};

/* "psi" means every kind of this name, "sink:udp" one. */
static bool is_meant(const struct call *call, uint32_t kind, const char *name)
{
	size_t length = (size_t)(call->base - call->name);

	if (strcmp(call->base, name) != 0)
		return false;
	return !length || (strlen(kind_name(kind)) == length - 1 &&
			   strncmp(call->name, kind_name(kind), length - 1) == 0);
}

static void tell(struct call *call, const struct plugin *plugin)
{
	if (call->told++)
		putchar('\n');
	explain_plugin(plugin);
}

static void tell_one(void *context, const char *file, const struct sonde_elf_note *note,
		     const char *why)
{
	struct call *call = context;
	const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	const struct plugin *plugin;
	char sentence[1024];

	if (!note && strstr(base, call->base)) {
		cli_error(EXIT_FAILED, "%s: %s", file, why);
	} else if (note && is_meant(call, note->kind, note->name)) {
		if (plugin_load(call->path, note->kind, note->name, &plugin, sentence,
				sizeof sentence))
			cli_error(EXIT_FAILED, "%s", sentence);
		else
			tell(call, plugin);
	}
}

/* In a child of its own, so that a plugin which is only for workers can be told about too. */
static int tell_named(void *context)
{
	struct call *call = context;

	plugin_in_worker();
	if (is_meant(call, SONDE_KIND_COLLECTOR, "self"))
		tell(call, self_plugin());
	plugin_each(call->path, tell_one, call);
	return cli_flush(call->told ? EXIT_DONE : EXIT_FAILED);
}

struct names {
	char **items;
	size_t count;
};

static void gather(void *context, const char *file, const struct sonde_elf_note *note,
		   const char *why)
{
	struct names *names = context;
	char **items = realloc(names->items, (names->count + 1) * sizeof *items);

	(void)file;
	(void)why;
	if (!items)
		return;
	names->items = items;
	if (note && (items[names->count] = strdup(note->name)))
		names->count++;
}

static bool exists(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->items[i], name) == 0)
			return true;
	return strcmp(name, "self") == 0;
}

static int unknown(const char *name, const struct names *names)
{
	const char *near = nearest(name, (const char *const *)names->items, names->count);

	return cli_error(EXIT_FAILED, "there is no plugin \"%s\"%s%s%s", name,
			 near ? "; did you mean \"" : "; `sonde plugins` lists them",
			 near ? near : "", near ? "\"?" : "");
}

static int tell_about(const char *path, const char *name)
{
	struct call call = { .path = path, .name = name };
	struct names names = { 0 };
	char why[256];
	int status;

	call.base = strchr(name, ':') ? strchr(name, ':') + 1 : name;
	status = confined_run(tell_named, &call, why, sizeof why);
	if (status < 0)
		return cli_error(EXIT_FAILED, "%s: %s", name, why);
	plugin_each(path, gather, &names);
	if (status && !exists(&names, call.base))
		unknown(name, &names);
	for (size_t i = 0; i < names.count; i++)
		free(names.items[i]);
	free(names.items);
	return status;
}

int verb_plugins(int argc, char **argv)
{
	char *path;
	int status;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (c != 'h')
			return cli_bad_option(argv, c);
		fputs(help, stdout);
		return EXIT_DONE;
	}
	if (argc - optind > 1)
		return cli_misuse("one name at most");
	if (optind < argc && strcmp(argv[optind], "agent") == 0) {
		explain_agent();
		return EXIT_DONE;
	}
	path = plugin_path(NULL);
	if (!*path)
		status = cli_error(EXIT_FAILED, "%s", folders_nowhere);
	else
		status = optind < argc ? tell_about(path, argv[optind]) : list(path);
	free(path);
	return status;
}
