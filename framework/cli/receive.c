/* sonde receive: sources --> sinks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const char help[] =
	"usage: sonde receive [OPTION]...\n\n"
	"Takes frames that other hosts send by [sink:udp], until Ctrl-C or SIGTERM.\n\n"
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
			if (!cli_duration("--duration", optarg, &r->run.duration))
				return EXIT_MISUSE;
			break;
		case 'h':
			fputs(help, stdout);
			exit(EXIT_DONE);
		default:
			return cli_bad_option(argv, c);
		}
	}
	return optind == argc ? EXIT_DONE : cli_misuse("what is \"%s\"?", argv[optind]);
}

static void compose(struct text *text, const struct receive *r)
{
	text_add(text, "[source:udp]\n");
	text_key(text, "listen", r->listen);
	if (r->format) {
		text_add(text, "[sink:stdout]\n");
		text_key(text, "format", r->format);
		if (r->output)
			text_key(text, "path", r->output);
	} else {
		text_recording(text, r->output);
	}
}

int verb_receive(int argc, char **argv)
{
	struct receive r;
	struct text text = { 0 };
	int status = parse(&r, argc, argv);

	if (status == EXIT_DONE && !r.format)
		status = cli_output(r.output);
	if (status == EXIT_DONE) {
		struct config config = { 0 };

		compose(&text, &r);
		config_read_text(&config, "receive", text.bytes);
		status = cli_run(&config, &r.run, r.listen);
	}
	free(text.bytes);
	return status;
}
