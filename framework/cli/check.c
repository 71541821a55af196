/* sonde check -c FILE: the agent's start path minus the last step. */
#include <errno.h>
#include <string.h>

#include "cli/cli.h"

static const char help[] =
	"usage: sonde check -c FILE\n\n"
	"Checks a configuration as the agent would: every mistake with file and line, every plugin loaded.\n"
	"Starts nothing: what only shows when a collector opens its files or a sink its socket is not tried.\n\n"
	"  -c, --config FILE   the configuration\n"
	"  -h, --help          print this\n\n"
	"example:\n"
	"  sonde check -c sonde.ini\n";

static const struct option options[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

int verb_check(int argc, char **argv)
{
	struct pipeline_options none = { 0 };
	struct config config = { 0 };
	struct pipeline *pipeline = NULL;
	const char *path = NULL;
	int status = EXIT_DONE;
	int err;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":c:h", options, NULL)) != -1) {
		switch (c) {
		case 'c':
			path = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_DONE;
		default:
			return cli_bad_option(argv, c);
		}
	}
	if (!path || optind != argc)
		return cli_misuse("give one configuration file with -c FILE");
	config_read(&config, path);
	err = pipeline_open(&config, &none, &pipeline);
	if (err)
		status = config.nerrors ? cli_config_errors(&config)
					: cli_error(EXIT_FAILED, "%s: %s", path, strerror(-err));
	else
		printf("%s: no mistakes, %zu section%s\n", path, config.nsections,
		       config.nsections == 1 ? "" : "s");
	pipeline_close(pipeline);
	config_free(&config);
	return status;
}
