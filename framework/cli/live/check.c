/* sonde check -c FILE: the agent's start path up to its first sample. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "cli/cli.h"
#include "live/confined.h"

static const char help[] =
	"usage: sonde check -c FILE\n\n"
	"Checks a configuration as the agent would: every mistake with file and line, in one pass.\n"
	"Plugins are loaded; collectors and analyzers start, in a process of their own, and are stopped before\n"
	"a sample. Sinks and sources do not start: they look whether they could write, send and listen. An\n"
	"address that is in use is no mistake: the agent that runs may have it. Run it as the agent's user.\n\n"
	"  -c, --config FILE   the configuration\n"
	"  -h, --help          print this\n\n"
	"example:\n"
	"  sonde check -c sonde.ini\n";

static const struct option options[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

enum { SECTION = 128 };

struct call {
	const char *path;
	char *section; /* that is tried; memory that both processes see */
};

static void trying(void *context, const char *section)
{
	const struct call *call = context;

	snprintf(call->section, SECTION, "%s", section);
}

static int check(void *context)
{
	const struct pipeline_options rehearsal = { .rehearse = true,
						    .trying = trying,
						    .context = context };
	const char *path = ((const struct call *)context)->path;
	struct config config = { 0 };
	struct pipeline *pipeline = NULL;
	int status = EXIT_DONE;
	int err;

	config_read(&config, path);
	err = pipeline_open(&config, &rehearsal, &pipeline);
	if (err)
		status = config.nerrors ? cli_config_errors(&config)
					: cli_error(EXIT_FAILED, "%s: %s", path, strerror(-err));
	else
		printf("%s: no mistakes, %zu section%s\n", path, config.nsections,
		       config.nsections == 1 ? "" : "s");
	pipeline_close(pipeline);
	config_free(&config);
	return cli_flush(status);
}

int verb_check(int argc, char **argv)
{
	struct call call = { 0 };
	char why[256];
	int status;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":c:h", options, NULL)) != -1) {
		switch (c) {
		case 'c':
			call.path = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_DONE;
		default:
			return cli_bad_option(argv, c);
		}
	}
	if (!call.path || optind != argc)
		return cli_misuse("give one configuration file with -c FILE");
	call.section =
		mmap(NULL, SECTION, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (call.section == MAP_FAILED)
		return cli_error(EXIT_FAILED, "%s", strerror(errno));
	status = apart_run(check, &call, why, sizeof why);
	return status < 0 ? cli_error(EXIT_FAILED, "%s: [%s]: %s", call.path, call.section, why)
			  : status;
}
