/* sonde receive: sources --> sinks, and what the source lost as rows among those that it took. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const char help[] =
	"usage: sonde receive [OPTION]...\n\n"
	"Takes frames that other hosts send by [sink:udp], until Ctrl-C or SIGTERM. What came, was lost or refused is among\n"
	"the rows, in the table self_source of this host.\n\n"
	"  -l, --listen ADDRESS:PORT   where to listen, * for every address; default: 127.0.0.1:8125\n"
	"  -o, --output FILE           write a recording\n"
	"      --json[=FILE]           print JSON lines\n"
	"      --csv[=FILE]            print CSV\n"
	"  -d, --duration TIME         stop after this time\n"
	"  -h, --help                  print this\n\n"
	"Without -o, --json or --csv it prints text. For several sinks, filters or analyzers write a\n"
	"configuration with a [source:udp] section and run sonde agent.\n\n"
	"examples:\n"
	"  sonde receive --listen 0.0.0.0:8125 --json | jq .\n"
	"  sonde receive -l '[::]:8125' -o fleet.sonde\n";

enum { OPT_JSON = 256, OPT_CSV };

static const struct option options[] = {
	{ "listen", required_argument, NULL, 'l' },
	{ "output", required_argument, NULL, 'o' },
	{ "json", optional_argument, NULL, OPT_JSON },
	{ "csv", optional_argument, NULL, OPT_CSV },
	{ "duration", required_argument, NULL, 'd' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct receive {
	struct pipeline_options run;
	const char *listen, *format, *output;
};

static int parse(struct receive *r, int argc, char **argv)
{
	int c;

	*r = (struct receive) { .listen = "127.0.0.1:8125", .format = "table" };
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":l:o:d:h", options, NULL)) != -1) {
		switch (c) {
		case 'l':
			r->listen = optarg;
			break;
		case 'o':
			r->format = NULL;
			r->output = optarg;
			break;
		case OPT_JSON:
		case OPT_CSV:
			r->format = c == OPT_JSON ? "json" : "csv";
			r->output = optarg;
			break;
		case 'd':
			if (!cli_time("--duration", optarg, &r->run.duration))
				return EXIT_MISUSE;
			break;
		case 'h':
			fputs(help, stdout);
			exit(cli_flush(EXIT_DONE));
		default:
			return cli_bad_option(argv, c);
		}
	}
	return optind == argc ? EXIT_DONE : cli_misuse("what is \"%s\"?", argv[optind]);
}

static void compose(struct config *config, const struct receive *r)
{
	config_add(config, "source:udp");
	config_set(config, "listen", r->listen);
	config_add(config, "self");
	if (r->format) {
		config_add(config, "sink:stdout");
		config_set(config, "format", r->format);
		if (r->output)
			config_set(config, "path", r->output);
	} else {
		cli_recording(config, r->output);
	}
}

int verb_receive(int argc, char **argv)
{
	struct receive r;
	struct config config = { 0 };
	int status = parse(&r, argc, argv);

	if (status == EXIT_DONE && !r.format)
		status = cli_output(r.output);
	if (status != EXIT_DONE)
		return status;
	compose(&config, &r);
	return cli_run(&config, &r.run, r.listen);
}
