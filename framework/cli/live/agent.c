/* sonde agent -c FILE: collectors --> analyzers --> sinks, live, until stopped. */
#include "cli/cli.h"

static const char help[] =
	"usage: sonde agent -c FILE [OPTION]...\n\n"
	"Runs the collectors, analyzers, sources and sinks of a configuration until SIGTERM or SIGINT.\n"
	"SIGHUP reads the configuration again and reopens files.\n\n"
	"  -c, --config FILE     the configuration (docs/configuration.md)\n"
	"  -d, --duration TIME   stop after this time\n"
	"      --max-frames N    stop after N samples\n"
	"  -h, --help            print this\n\n"
	"examples:\n"
	"  sonde check -c /etc/sonde/sonde.ini && sonde agent -c /etc/sonde/sonde.ini\n"
	"  kill -HUP $(pidof sonde)      after the file was changed\n";

enum { OPT_MAX_FRAMES = 256 };

static const struct option options[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "duration", required_argument, NULL, 'd' },
	{ "max-frames", required_argument, NULL, OPT_MAX_FRAMES },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

int verb_agent(int argc, char **argv)
{
	struct pipeline_options run_options = { 0 };
	struct config config = { 0 };
	const char *path = NULL;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":c:d:h", options, NULL)) != -1) {
		switch (c) {
		case 'c':
			path = optarg;
			break;
		case 'd':
			if (!cli_time("--duration", optarg, &run_options.duration))
				return EXIT_MISUSE;
			break;
		case OPT_MAX_FRAMES:
			if (!cli_number("--max-frames", optarg, 1, UINT64_MAX,
					&run_options.max_instants))
				return EXIT_MISUSE;
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
	run_options.reloads = path;
	config_read(&config, path);
	return cli_run(&config, &run_options, path);
}
