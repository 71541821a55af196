/* sonde ab -- A --vs B: two commands in turn, each run a recording; then sonde compare. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

static const char help[] =
	"usage: sonde ab [OPTION]... -- COMMAND_A [ARGUMENT]... --vs COMMAND_B [ARGUMENT]...\n\n"
	"Runs both commands in turn (A B B A, so that what drifts falls on both), records each run, and says which metrics\n"
	"differ beyond chance: how long they took (run.elapsed) by itself, then all else. Their stdout goes to /dev/null.\n\n"
	"  -n, --runs N              recorded runs of each; default 10\n"
	"      --warmup N            runs of each before those, not recorded; default 0\n"
	"      --setup COMMAND       before all runs, by sh -c; --setup-a, --setup-b: before the first of one side\n"
	"      --prepare COMMAND     before each run, in the same forms\n"
	"      --cleanup COMMAND     after all runs, in the same forms\n"
	"      --ignore-failure      a run that fails counts as any other; else it ends all\n"
	"  -i, --interval TIME       between two samples; default 100ms\n"
	"      --keep DIR            the recordings stay there: a01.sonde, b01.sonde...\n"
	"  -o, -m, --md, --json, --minimum, --alpha, --fail-on-regression: as in sonde compare\n"
	"  -h, --help                print this\n\n"
	"examples:\n"
	"  sonde ab -n 10 -- ./old --input big --vs ./new --input big\n"
	"  sonde ab --warmup 1 --prepare 'sync; echo 3 >/proc/sys/vm/drop_caches' -m 'run.*' -- make --vs make -j2\n";

enum side { BOTH, A, B, SIDES };
enum hook { SETUP, PREPARE, CLEANUP, HOOKS };
enum {
	RUNS_MOST = 1000,
	INTERVAL = 100000000,
	NAME_MOST = 1000 /* bytes of a command that are told */
};

/* Options of hooks are OPT_HOOK + hook * SIDES + side; those behind OPT_COMPARE are handed on. */
enum { OPT_WARMUP = 256, OPT_IGNORE, OPT_KEEP, OPT_HOOK, OPT_COMPARE = OPT_HOOK + HOOKS * SIDES };

#define HOOK(name, hook)                                                                           \
	{ name, required_argument, NULL, OPT_HOOK + (hook)*SIDES + BOTH },                         \
		{ name "-a", required_argument, NULL, OPT_HOOK + (hook)*SIDES + A },               \
	{                                                                                          \
		name "-b", required_argument, NULL, OPT_HOOK + (hook)*SIDES + B                    \
	}

static const struct option options[] = {
	{ "runs", required_argument, NULL, 'n' },
	{ "warmup", required_argument, NULL, OPT_WARMUP },
	HOOK("setup", SETUP),
	HOOK("prepare", PREPARE),
	HOOK("cleanup", CLEANUP),
	{ "ignore-failure", no_argument, NULL, OPT_IGNORE },
	{ "interval", required_argument, NULL, 'i' },
	{ "keep", required_argument, NULL, OPT_KEEP },
	{ "help", no_argument, NULL, 'h' },
	{ "output", required_argument, NULL, OPT_COMPARE },
	{ "metric", required_argument, NULL, OPT_COMPARE },
	{ "md", optional_argument, NULL, OPT_COMPARE },
	{ "json", optional_argument, NULL, OPT_COMPARE },
	{ "minimum", required_argument, NULL, OPT_COMPARE },
	{ "alpha", required_argument, NULL, OPT_COMPARE },
	{ "fail-on-regression", no_argument, NULL, OPT_COMPARE },
	{ 0 },
};

struct ab {
	uint64_t runs, warmup, interval;
	const char *hooks[HOOKS][SIDES];
	const char *keep;
	bool ignore_failure;
	char **command[SIDES];
	char folder[PATH_MAX]; /* of the recordings */
	char **words;          /* sonde compare's */
	size_t nwords;
};

/* Of the call of sonde compare. */
__attribute__((format(printf, 2, 3))) static void add_word(struct ab *ab, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (vasprintf(&ab->words[ab->nwords++], format, args) < 0)
		exit(cli_error(EXIT_FAILED, "%s", strerror(ENOMEM)));
	va_end(args);
}

/* "--metric=cpu.*": as sonde compare reads it. */
static void hand_on(struct ab *ab, const char *name, const char *value)
{
	if (value)
		add_word(ab, "--%s=%s", name, value);
	else
		add_word(ab, "--%s", name);
}

static int take(struct ab *ab, int c, int index)
{
	switch (c) {
	case 'n':
		return cli_number("--runs", optarg, 1, RUNS_MOST, &ab->runs) ? EXIT_DONE
									     : EXIT_MISUSE;
	case 'i':
		return cli_interval("--interval", optarg, &ab->interval) ? EXIT_DONE : EXIT_MISUSE;
	case 'o':
		hand_on(ab, "output", optarg);
		return EXIT_DONE;
	case 'm':
		hand_on(ab, "metric", optarg);
		return EXIT_DONE;
	case OPT_WARMUP:
		return cli_number("--warmup", optarg, 0, RUNS_MOST, &ab->warmup) ? EXIT_DONE
										 : EXIT_MISUSE;
	case OPT_IGNORE:
		ab->ignore_failure = true;
		return EXIT_DONE;
	case OPT_KEEP:
		ab->keep = optarg;
		return EXIT_DONE;
	case OPT_COMPARE:
		hand_on(ab, options[index].name, optarg);
		return EXIT_DONE;
	case 'h':
		fputs(help, stdout);
		exit(EXIT_DONE);
	}
	ab->hooks[(c - OPT_HOOK) / SIDES][(c - OPT_HOOK) % SIDES] = optarg;
	return EXIT_DONE;
}

/* What stands behind --, on both sides of --vs. */
static int take_commands(struct ab *ab, char **words, int count)
{
	int vs = 0;

	while (vs < count && strcmp(words[vs], "--vs") != 0)
		vs++;
	if (vs == 0 || vs >= count - 1)
		return cli_misuse("two commands are wanted: -- COMMAND_A --vs COMMAND_B");
	words[vs] = NULL;
	ab->command[A] = words;
	ab->command[B] = words + vs + 1;
	return EXIT_DONE;
}

static int parse(struct ab *ab, int argc, char **argv)
{
	int status = EXIT_DONE, c, index = 0;

	opterr = 0;
	while (status == EXIT_DONE &&
	       (c = getopt_long(argc, argv, "+:n:i:o:m:h", options, &index)) != -1)
		status = c == '?' || c == ':' ? cli_bad_option(argv, c) : take(ab, c, index);
	if (status != EXIT_DONE)
		return status;
	if (optind < argc && strcmp(argv[optind - 1], "--") != 0)
		return cli_misuse("what is \"%s\"? the commands stand behind --", argv[optind]);
	return take_commands(ab, argv + optind, argc - optind);
}

/* ---- runs ---- */

/* Ctrl-C reaches the command and its recorder too; what is left is to clean up. */
static void interrupted(int signal)
{
	(void)signal;
}

static void catch_signals(void)
{
	const struct sigaction action = { .sa_handler = interrupted, .sa_flags = SA_RESTART };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static int told_failure(const char *what, int wait_status)
{
	if (WIFEXITED(wait_status))
		return cli_error(EXIT_FAILED, "%s: exit status %d", what, WEXITSTATUS(wait_status));
	if (WIFSIGNALED(wait_status))
		return cli_error(EXIT_FAILED, "%s: ended by signal %d", what,
				 WTERMSIG(wait_status));
	return cli_error(EXIT_FAILED, "%s: interrupted", what);
}

/* By sh -c; stdout is the comparison's alone. */
static int run_hook(const struct ab *ab, enum hook hook, enum side side)
{
	const char *command = ab->hooks[hook][side];
	int wait_status;
	pid_t pid;

	if (!command)
		return EXIT_DONE;
	pid = fork();
	if (pid == 0) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(cli_error(127, "/bin/sh: %s", strerror(errno)));
	}
	if (pid < 0 || waitpid(pid, &wait_status, 0) < 0)
		return cli_error(EXIT_FAILED, "%s: %s", command, strerror(errno));
	return wait_status ? told_failure(command, wait_status) : EXIT_DONE;
}

/* In a process of its own, so that each run begins as the others did. Its exit status goes through the pipe. */
static int child(const struct ab *ab, enum side side, const char *path, int pipe_end)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC), wait_status = -1, status;

	dup2(null, STDOUT_FILENO);
	if (!path) {
		execvp(ab->command[side][0], ab->command[side]);
		return cli_error(errno == ENOENT ? 127 : 126, "%s: %s", ab->command[side][0],
				 strerror(errno));
	}
	status = record_command(path, ab->interval, ab->command[side], &wait_status);
	if (write(pipe_end, &wait_status, sizeof wait_status) != sizeof wait_status)
		return EXIT_FAILED;
	return status;
}

/* A recorded run, or where `path` is NULL a warm-up. */
static int run(const struct ab *ab, enum side side, const char *path)
{
	int ends[2], wait_status = -1, of_child;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return cli_error(EXIT_FAILED, "%s", strerror(errno));
	pid = fork();
	if (pid == 0)
		_exit(child(ab, side, path, ends[1]));
	close(ends[1]);
	if (pid < 0 || waitpid(pid, &of_child, 0) < 0) {
		close(ends[0]);
		return cli_error(EXIT_FAILED, "%s", strerror(errno));
	}
	if (!path)
		wait_status = of_child;
	else if (read(ends[0], &wait_status, sizeof wait_status) != sizeof wait_status)
		wait_status = -1;
	close(ends[0]);
	/* What could not be started or recorded was said. */
	if (path && of_child)
		return WIFEXITED(of_child) ? WEXITSTATUS(of_child) : EXIT_FAILED;
	if (wait_status && (wait_status == -1 || !ab->ignore_failure))
		return told_failure(ab->command[side][0], wait_status);
	return EXIT_DONE;
}

static int prepared_run(const struct ab *ab, enum side side, const char *path)
{
	int status = run_hook(ab, PREPARE, BOTH);

	if (status == EXIT_DONE)
		status = run_hook(ab, PREPARE, side);
	return status == EXIT_DONE ? run(ab, side, path) : status;
}

static void name_run(const struct ab *ab, char *path, size_t size, enum side side, uint64_t number)
{
	snprintf(path, size, "%s/%c%02llu.sonde", ab->folder, side == A ? 'a' : 'b',
		 (unsigned long long)number);
}

/* A B, B A, A B... */
static int run_all(const struct ab *ab)
{
	int status = EXIT_DONE;

	for (uint64_t i = 0; i < 2 * ab->warmup && status == EXIT_DONE; i++)
		status = prepared_run(ab, i % 2 ? B : A, NULL);
	for (uint64_t i = 0; i < 2 * ab->runs && status == EXIT_DONE; i++) {
		enum side side = (i + i / 2) % 2 ? B : A;
		char path[PATH_MAX + 32];

		name_run(ab, path, sizeof path, side, i / 2 + 1);
		status = prepared_run(ab, side, path);
		if (status == EXIT_DONE && isatty(STDERR_FILENO))
			fprintf(stderr, "\rrun %llu of %llu\033[K", (unsigned long long)i + 1,
				2 * (unsigned long long)ab->runs);
	}
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
	return status;
}

static int run_hooked(const struct ab *ab)
{
	int status = EXIT_DONE, after = EXIT_DONE;

	for (int side = BOTH; side < SIDES && status == EXIT_DONE; side++)
		status = run_hook(ab, SETUP, (enum side)side);
	if (status == EXIT_DONE)
		status = run_all(ab);
	/* Also behind a run that failed. */
	for (int side = BOTH; side < SIDES && after == EXIT_DONE; side++)
		after = run_hook(ab, CLEANUP, (enum side)side);
	return status == EXIT_DONE ? after : status;
}

/* ---- comparing ---- */

/* As a shell takes it: what is more than letters, digits and the like stands in single quotes, themselves in double ones: a backslash would
 * be escaped where it is told. */
static void print_quoted(FILE *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";

	if (*word && word[strspn(word, plain)] == 0) {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\"'\"'", out);
		else
			fputc(*word, out);
	fputc('\'', out);
}

/* What runs: the recordings of a side have names that nobody gave them. */
static void name_side(struct ab *ab, enum side side)
{
	char *words = NULL;
	size_t size;
	FILE *out = open_memstream(&words, &size);

	for (char **word = ab->command[side]; out && *word; word++) {
		if (word > ab->command[side])
			fputc(' ', out);
		print_quoted(out, *word);
	}
	if (!out || fclose(out))
		exit(cli_error(EXIT_FAILED, "%s", strerror(ENOMEM)));
	add_word(ab, "--%s-name=%.*s%s", side == A ? "before" : "after", NAME_MOST, words,
		 size > NAME_MOST ? "..." : "");
	free(words);
}

static int compare(struct ab *ab)
{
	char verb[] = "compare", path[PATH_MAX + 32];
	int wait_status;
	pid_t pid;

	/* Of recordings that are not kept nobody wants to know where they were. */
	if (!ab->keep)
		add_word(ab, "--folder=%s", ab->folder);
	for (int side = A; side < SIDES; side++) {
		if (side == B)
			add_word(ab, "--vs");
		for (uint64_t i = 1; i <= ab->runs; i++) {
			name_run(ab, path, sizeof path, (enum side)side, i);
			add_word(ab, "%s", ab->keep ? path : strrchr(path, '/') + 1);
		}
	}
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		cli_verb = verb;
		_exit(verb_external((int)ab->nwords, ab->words));
	}
	if (pid < 0 || waitpid(pid, &wait_status, 0) < 0)
		return cli_error(EXIT_FAILED, "%s", strerror(errno));
	return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : EXIT_FAILED;
}

static int make_folder(struct ab *ab)
{
	const char *temporary = secure_getenv("TMPDIR");

	if (ab->keep) {
		snprintf(ab->folder, sizeof ab->folder, "%s", ab->keep);
		if (mkdir(ab->folder, 0777) == 0 || errno == EEXIST)
			return EXIT_DONE;
	} else {
		snprintf(ab->folder, sizeof ab->folder, "%s/sonde-ab-XXXXXX",
			 temporary && *temporary ? temporary : "/tmp");
		if (mkdtemp(ab->folder))
			return EXIT_DONE;
	}
	return cli_error(EXIT_FAILED, "%s: %s", ab->folder, strerror(errno));
}

static void remove_folder(const struct ab *ab)
{
	char path[PATH_MAX + 32];

	for (int side = A; side < SIDES; side++)
		for (uint64_t i = 1; i <= ab->runs; i++) {
			name_run(ab, path, sizeof path, (enum side)side, i);
			unlink(path);
		}
	rmdir(ab->folder);
}

int verb_ab(int argc, char **argv)
{
	struct ab ab = { .runs = 10, .interval = INTERVAL };
	int status;

	ab.words = calloc((size_t)argc + 2 * RUNS_MOST + 7, sizeof *ab.words);
	if (!ab.words)
		return cli_error(EXIT_FAILED, "%s", strerror(ENOMEM));
	add_word(&ab, "compare");
	status = parse(&ab, argc, argv);
	for (int side = A; side < SIDES && status == EXIT_DONE; side++)
		name_side(&ab, (enum side)side);
	if (status == EXIT_DONE)
		status = make_folder(&ab);
	if (status == EXIT_DONE) {
		catch_signals();
		status = run_hooked(&ab);
		if (status == EXIT_DONE)
			status = compare(&ab);
		if (!ab.keep)
			remove_folder(&ab);
	}
	for (size_t i = 0; i < ab.nwords; i++)
		free(ab.words[i]);
	free(ab.words);
	return status;
}
