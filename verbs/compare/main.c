/* sonde compare: recording --> analyzers --> report as JSON, for each of them; then what differs. sonde runs this program, with
 * its own path as argv[0], since it needs a library (jansson) that sonde does without. */
#include <assert.h>
#include <getopt.h>
#include <limits.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "compare.h"
#include "core/memory_file.h"

enum { EXIT_DONE, EXIT_FAILED, EXIT_MISUSE, EXIT_GATE };

static const char help[] =
	"usage: sonde compare [OPTION]... BEFORE AFTER\n"
	"       sonde compare [OPTION]... BEFORE... --vs AFTER...\n\n"
	"Says which metrics differ between two recordings, or between several of each side, and whether chance explains it:\n"
	"a permutation test of the rank sum, corrected for the number of metrics (Holm), with Cliff's delta as the size of\n"
	"the effect (+1: every run after is above every run before). One metric takes four runs a side, fifty take seven; of\n"
	"fewer nothing is claimed. How long commands took (run.elapsed) is tested by itself, all other metrics together.\n"
	"BEFORE and AFTER are recordings, folders of rotated ones, or reports of sonde report --json. Of recorded commands (sonde\n"
	"profile, sonde record -- COMMAND) what they took and used comes first, as in sonde summary: run.elapsed, run.cpu, ...\n\n"
	"  -o, --output FILE         the comparison as text into this file; without it or a document, on stdout\n"
	"      --md[=FILE]           as Markdown\n"
	"      --json[=FILE]         as JSON, see docs/compare.schema.json\n"
	"  -m, --metric NAME         only this metric; may be repeated, * is a wildcard: fewer need fewer runs\n"
	"      --minimum PERCENT     a smaller change is none; default 5\n"
	"      --alpha P             chance of a false alarm, of run.elapsed and among the others; default 0.05\n"
	"      --fail-on-regression  exit 3 where a metric became worse, 1 where runs are too few to tell, or a\n"
	"                            metric is of one side only\n"
	"      --folder DIR          where BEFORE and AFTER are; it is not told\n"
	"      --before-name TEXT    what to call the side instead of by its recordings; --after-name\n"
	"  -h, --help                print this\n\n"
	"examples:\n"
	"  sonde compare before.sonde after.sonde\n"
	"  sonde compare a[1-7].sonde --vs b[1-7].sonde\n"
	"  sonde compare -m 'run.*' before.sonde after.sonde\n"
	"  sonde compare -m run.elapsed --fail-on-regression main/*.json --vs branch/*.json\n";

enum {
	OPERAND = 1,
	OPT_MD = 256,
	OPT_JSON,
	OPT_MINIMUM,
	OPT_ALPHA,
	OPT_FAIL,
	OPT_VS,
	OPT_FOLDER,
	OPT_BEFORE,
	OPT_AFTER
};

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "md", optional_argument, NULL, OPT_MD },
	{ "json", optional_argument, NULL, OPT_JSON },
	{ "metric", required_argument, NULL, 'm' },
	{ "minimum", required_argument, NULL, OPT_MINIMUM },
	{ "alpha", required_argument, NULL, OPT_ALPHA },
	{ "fail-on-regression", no_argument, NULL, OPT_FAIL },
	{ "vs", no_argument, NULL, OPT_VS },
	{ "folder", required_argument, NULL, OPT_FOLDER },
	{ "before-name", required_argument, NULL, OPT_BEFORE },
	{ "after-name", required_argument, NULL, OPT_AFTER },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

enum { TEXT, MARKDOWN, JSON, DOCUMENTS };
static void (*const writers[DOCUMENTS])(struct page *page, const struct comparison *comparison) = {
	[TEXT] = compare_text,
	[MARKDOWN] = compare_markdown,
	[JSON] = compare_json,
};

struct call {
	const char *sonde; /* the program that runs recordings */
	const char *documents[DOCUMENTS];
	char **patterns;
	size_t npatterns;
	const char *folder;         /* of the files; NULL: they are called by their paths */
	const char *before, *after; /* names of the sides, or NULL */
	const char **files;         /* in their order */
	size_t nfiles, nbefore;
	bool vs; /* the first nbefore stand before it */
	double minimum, alpha;
	bool gate;
};

__attribute__((format(printf, 2, 3))) static int fail(int status, const char *format, ...)
{
	char message[8192], safe[2 * sizeof message];

	SONDE_FORMAT(message, format);
	sonde_escape(message, strlen(message), safe, sizeof safe);
	fprintf(stderr, "sonde compare: %s%s\n", safe,
		status == EXIT_MISUSE ? " (see sonde compare --help)" : "");
	return status;
}

static int number(const char *option, const char *text, double most, double *value)
{
	char *end;

	*value = strtod(text, &end);
	if (end == text || *end || !(*value >= 0 && *value <= most))
		return fail(EXIT_MISUSE, "%s %s: a number from 0 to %g is wanted", option, text,
			    most);
	return EXIT_DONE;
}

static int bad_option(char **argv, int result)
{
	const char *word = argv[optind - 1];

	return fail(EXIT_MISUSE,
		    result == ':' ? "option %s needs a value"
				  : "option %s is unknown, ambiguous or takes no value",
		    word);
}

static int take_vs(struct call *call)
{
	if (call->vs)
		return fail(EXIT_MISUSE,
			    "--vs stands once, between the recordings of the two sides");
	call->vs = true;
	call->nbefore = call->nfiles;
	return EXIT_DONE;
}

static int take(struct call *call, char **argv, int c)
{
	switch (c) {
	case OPERAND:
		call->files[call->nfiles++] = optarg;
		return EXIT_DONE;
	case 'o':
		call->documents[TEXT] = optarg;
		return EXIT_DONE;
	case OPT_MD:
		call->documents[MARKDOWN] = optarg ? optarg : "-";
		return EXIT_DONE;
	case OPT_JSON:
		call->documents[JSON] = optarg ? optarg : "-";
		return EXIT_DONE;
	case 'm':
		call->patterns[call->npatterns++] = optarg;
		return EXIT_DONE;
	case OPT_MINIMUM:
		return number("--minimum", optarg ? optarg : "", 1e6, &call->minimum);
	case OPT_ALPHA:
		return number("--alpha", optarg ? optarg : "", 1, &call->alpha);
	case OPT_FAIL:
		call->gate = true;
		return EXIT_DONE;
	case OPT_VS:
		return take_vs(call);
	case OPT_FOLDER:
		call->folder = optarg;
		return EXIT_DONE;
	case OPT_BEFORE:
		call->before = optarg;
		return EXIT_DONE;
	case OPT_AFTER:
		call->after = optarg;
		return EXIT_DONE;
	case 'h':
		fputs(help, stdout);
		exit(EXIT_DONE);
	default:
		return bad_option(argv, c);
	}
}

/* "-": operands come in their order among the options, since --vs divides them. */
static int parse(struct call *call, int argc, char **argv)
{
	int status = EXIT_DONE, c;

	opterr = 0;
	while (status == EXIT_DONE && (c = getopt_long(argc, argv, "-:o:m:h", options, NULL)) != -1)
		status = take(call, argv, c);
	for (; status == EXIT_DONE && optind < argc; optind++) {
		if (strcmp(argv[optind], "--vs") == 0)
			status = take_vs(call);
		else
			call->files[call->nfiles++] = argv[optind];
	}
	if (status != EXIT_DONE)
		return status;
	if (!call->vs && call->nfiles != 2)
		return fail(EXIT_MISUSE,
			    "give two recordings, or several of each side: A... --vs B...");
	if (!call->vs)
		call->nbefore = 1;
	if (!call->nbefore || call->nbefore == call->nfiles)
		return fail(EXIT_MISUSE, "--vs stands between the recordings of the two sides");
	return EXIT_DONE;
}

static int check_documents(const struct call *call)
{
	unsigned on_stdout = 0;

	for (int i = 0; i < DOCUMENTS; i++) {
		if (call->documents[i] && !*call->documents[i])
			return fail(EXIT_MISUSE, "the name of the file to write is empty");
		on_stdout += call->documents[i] && strcmp(call->documents[i], "-") == 0;
	}
	if (on_stdout > 1)
		return fail(EXIT_MISUSE, "two documents for stdout: give one a file, --json=FILE");
	return EXIT_DONE;
}

/* ---- runs ---- */

extern char **environ;

/* `sonde VERB --json` of a recording, in a file without a name: its descriptor, or a negative errno; -EBADMSG: it said why. */
static int document_of(const struct call *call, const char *verb, const char *path)
{
	char json[] = "--json", behind[] = "--";
	int fd = memory_file(verb), err, status;
	char *args[] = { (char *)call->sonde, (char *)verb, json, behind, (char *)path, NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;

	if (fd < 0)
		return fd;
	posix_spawn_file_actions_init(&actions);
	err = posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
	if (!err)
		err = posix_spawn(&pid, call->sonde, &actions, NULL, args, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (!err)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	if (!err && status == 0)
		return fd;
	close(fd);
	return err ? -err : -EBADMSG;
}

/* A report begins with a brace; everything else is for sonde report. */
static bool is_json(const char *path)
{
	FILE *file = fopen(path, "re");
	char first = 0;
	bool is = file && fscanf(file, " %c", &first) == 1 && first == '{';

	if (file)
		fclose(file);
	return is;
}

/* What cannot be read twice has no summary. */
static bool is_lasting(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

/* A recording: as the documents that are made of it. */
static int read_recording(const struct call *call, struct run *run, const char *path,
			  const char *source, char *why, size_t size)
{
	static const char *const verbs[] = { "report", "summary" };
	int fds[] = { -1, -1 }, err = 0;

	for (int i = 0; i < (is_lasting(path) ? 2 : 1) && !err; i++) {
		fds[i] = document_of(call, verbs[i], path);
		err = fds[i] < 0 ? fds[i] : 0;
	}
	if (err && err != -EBADMSG)
		snprintf(why, size, "%s: %s", call->sonde, strerror(-err));
	if (!err)
		err = run_read(run, source, fds[0], fds[1], why, size);
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return err;
}

static int read_report(struct run *run, const char *path, const char *source, char *why,
		       size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err = fd < 0 ? -errno : run_read(run, source, fd, -1, why, size);

	if (fd >= 0)
		close(fd);
	return err;
}

static int add_run(const struct call *call, struct side *side, const char *source)
{
	const char *folder = call->folder ? call->folder : "";
	struct run *run = &side->runs[side->count];
	char path[PATH_MAX], why[512] = "";
	int err;

	if (snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", source) >=
	    (int)sizeof path)
		return fail(EXIT_FAILED, "%s: %s", source, strerror(ENAMETOOLONG));
	if (side->count == STATISTICS_MOST / 2)
		return fail(EXIT_FAILED, "more than %d runs a side", STATISTICS_MOST / 2);
	side->count++;
	if (is_json(path))
		err = read_report(run, path, source, why, sizeof why);
	else
		err = read_recording(call, run, path, source, why, sizeof why);
	if (!err)
		return EXIT_DONE;
	return err == -EBADMSG && !*why
		       ? EXIT_FAILED /* it was said */
		       : fail(EXIT_FAILED, "%s: %s", source, *why ? why : strerror(-err));
}

static int add_runs(const struct call *call, struct side *before, struct side *after)
{
	int status = EXIT_DONE;

	assert(call->nbefore && call->nbefore < call->nfiles); /* parse() */
	before->runs = calloc(call->nbefore, sizeof *before->runs);
	after->runs = calloc(call->nfiles - call->nbefore, sizeof *after->runs);
	if (!before->runs || !after->runs)
		return fail(EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < call->nfiles && status == EXIT_DONE; i++)
		status = add_run(call, i < call->nbefore ? before : after, call->files[i]);
	return status;
}

static void free_side(struct side *side)
{
	for (size_t i = 0; i < side->count; i++)
		run_free(&side->runs[i]);
	free(side->runs);
}

/* ---- metrics ---- */

static bool has_metric(const struct side *side, const char *pattern)
{
	for (size_t r = 0; r < side->count; r++)
		for (size_t i = 0; i < side->runs[r].nmetrics; i++)
			if (metric_matches(&side->runs[r].metrics[i], pattern))
				return true;
	return false;
}

/* A name that no run has is a mistake: a gate on it would hold nothing back. Its neighbours are those up to the point. */
static int check_metric(const char *pattern, const struct side *before, const struct side *after)
{
	const struct run *run = &before->runs[0];
	size_t family = strcspn(pattern, ".");
	char near[1024] = "";

	if (has_metric(before, pattern) || has_metric(after, pattern))
		return EXIT_DONE;
	for (size_t i = 0; i < run->nmetrics; i++) {
		const char *name = run->metrics[i].name;
		size_t used = strlen(near);

		if (!*run->metrics[i].about && strcspn(name, ".") == family &&
		    strncmp(name, pattern, family) == 0)
			snprintf(near + used, sizeof near - used, "%s%s", used ? ", " : "", name);
	}
	return fail(EXIT_FAILED, "no recording has a metric %s%s%s", pattern,
		    *near ? "; there are " : "; `sonde compare` without -m lists them", near);
}

/* ---- documents ---- */

static int print(int document, const char *path, const struct comparison *comparison)
{
	struct page page = { 0 };
	int fd = page_open(path);
	int err = fd < 0 ? fd : 0;

	if (!err) {
		writers[document](&page, comparison);
		err = page_write(&page, fd);
	}
	free(page.bytes);
	return err && err != -EPIPE
		       ? fail(EXIT_FAILED, "%s: %s", strcmp(path, "-") == 0 ? "stdout" : path,
			      page_error(err))
		       : EXIT_DONE;
}

static int print_all(const struct call *call, const struct comparison *comparison)
{
	int status = EXIT_DONE, any = 0;

	for (int i = 0; i < DOCUMENTS && status == EXIT_DONE; i++) {
		if (!call->documents[i])
			continue;
		any = 1;
		status = print(i, call->documents[i], comparison);
	}
	return any ? status : print(TEXT, "-", comparison);
}

static int gate(const struct comparison *comparison)
{
	size_t alone = comparison->alone[0].count + comparison->alone[1].count;
	size_t worse = verdict_count(comparison, VERDICT_WORSE),
	       wanted = runs_wanted_by_all(comparison);

	if (worse)
		return fail(EXIT_GATE,
			    worse == 1 ? "%zu metric became worse" : "%zu metrics became worse",
			    worse);
	if (wanted)
		return fail(
			EXIT_FAILED,
			"%zu and %zu runs can't tell a regression from chance: record at least %zu "
			"of each",
			comparison->before->count, comparison->after->count, wanted);
	if (alone)
		return fail(
			EXIT_FAILED,
			"%zu metrics are of one side only, %s first: choose metrics with --metric",
			alone, comparison->alone[comparison->alone[0].count ? 0 : 1].first->name);
	return EXIT_DONE;
}

static int run(struct call *call, int argc, char **argv)
{
	struct side before = { 0 }, after = { 0 };
	struct comparison comparison = { .before = &before, .after = &after };
	int status = parse(call, argc, argv);

	if (status == EXIT_DONE)
		status = check_documents(call);
	if (status == EXIT_DONE)
		status = add_runs(call, &before, &after);
	for (size_t i = 0; i < call->npatterns && status == EXIT_DONE; i++)
		status = check_metric(call->patterns[i], &before, &after);
	before.name = call->before;
	after.name = call->after;
	comparison.minimum = call->minimum;
	comparison.alpha = call->alpha;
	comparison.patterns = call->patterns;
	comparison.npatterns = call->npatterns;
	if (status == EXIT_DONE && compare(&comparison))
		status = fail(EXIT_FAILED, "out of memory");
	if (status == EXIT_DONE)
		status = print_all(call, &comparison);
	if (status == EXIT_DONE && !comparison.ndeltas)
		status = fail(EXIT_FAILED, "the two sides have no metric in common");
	if (status == EXIT_DONE && call->gate)
		status = gate(&comparison);
	comparison_free(&comparison);
	free_side(&before);
	free_side(&after);
	return status;
}

int main(int argc, char **argv)
{
	struct call call = { .minimum = 5, .alpha = 0.05 };
	int status;

	call.sonde = argv[0];
	call.patterns = calloc((size_t)argc, sizeof *call.patterns);
	call.files = calloc((size_t)argc, sizeof *call.files);
	status = call.patterns && call.files ? run(&call, argc, argv)
					     : fail(EXIT_FAILED, "out of memory");
	free(call.files);
	free(call.patterns);
	if (fflush(stdout) && errno != EPIPE && status == EXIT_DONE)
		return fail(EXIT_FAILED, "stdout: %s", strerror(errno));
	return status;
}
