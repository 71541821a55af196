/* sonde inspect: collectors of what the machine is and how it is set up --> analyzers --> report. */
#include <stdlib.h>

#include "cli/documents.h"
#include "cli/live/root.h"

static const char help[] =
	"usage: sonde inspect [OPTION]...\n\n"
	"Says what this machine is and how it is set up (CPUs, caches, NUMA nodes, huge pages, governors, sysctls), and which of\n"
	"that costs performance. Nothing is recorded.\n\n"
	"      --root FOLDER    of a captured /proc and /sys instead of this machine's\n"
	"      --json[=FILE]    as JSON: a report, see docs/report.schema.json\n"
	"      --md[=FILE]      the report as Markdown\n"
	"      --html[=FILE]    as a page of one file\n"
	"  -h, --help           print this\n\n"
	"examples:\n"
	"  sonde inspect\n"
	"  sonde inspect --json | jq .topology\n";

enum { OPT_ROOT = 256 };

static const struct option options[] = {
	{ "root", required_argument, NULL, OPT_ROOT },
	DOCUMENT_OPTIONS,
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct inspect {
	struct documents documents;
	char *root; /* absolute; NULL: this machine */
};

static int parse(struct inspect *inspect, int argc, char **argv)
{
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (c) {
		case OPT_ROOT:
			free(inspect->root);
			inspect->root = root_folder(optarg);
			if (!inspect->root)
				return EXIT_FAILED;
			break;
		case 'h':
			fputs(help, stdout);
			exit(EXIT_DONE);
		default:
			if (!documents_take(&inspect->documents, c, optarg))
				return cli_bad_option(argv, c);
		}
	}
	return optind < argc ? cli_misuse("%s: no operand is wanted", argv[optind]) : EXIT_DONE;
}

static void compose(struct config *config, const struct inspect *inspect)
{
	static const char *const collectors[] = { "topology", "numa", "thp", "meminfo" };
	/* Whose findings are of settings; what they say of rates needs a recording. */
	static const char *const analyzers[] = { "analyzer:config", "analyzer:hugepages",
						 "analyzer:numa" };
	bool any = false;

	config_add(config, "agent");
	config_set(config, "interval", "100ms");
	if (inspect->root)
		config_set(config, "root", inspect->root);
	for (size_t i = 0; i < sizeof collectors / sizeof *collectors; i++) {
		config_add(config, collectors[i]);
		config_set(config, "optional", "yes");
	}
	for (size_t i = 0; i < sizeof analyzers / sizeof *analyzers; i++)
		config_add(config, analyzers[i]);
	documents_compose(&inspect->documents, config);
	for (int i = 0; i < DOCUMENTS; i++)
		any |= inspect->documents.path[i] != NULL;
	if (!any)
		config_set(config, "machine", "-");
}

int verb_inspect(int argc, char **argv)
{
	/* Of one sample an analysis does not say that anything is clear. */
	static const struct pipeline_options two = { .max_instants = 2 };
	struct inspect inspect = { 0 };
	struct config config = { 0 };
	unsigned in_files = 0;
	int status = parse(&inspect, argc, argv);

	if (status == EXIT_DONE)
		status = documents_check(&inspect.documents, &in_files);
	if (status == EXIT_DONE) {
		compose(&config, &inspect);
		status = cli_run(&config, &two, "inspect");
	}
	free(inspect.root);
	return status;
}
