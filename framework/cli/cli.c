/* What the verbs share. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sonde/escape.h>

#include "cli/cli.h"
#include "host/options.h"

const char *cli_verb;

/* File names and arguments are foreign bytes: a terminal gets none of their control characters. `hint`: where help is. */
__attribute__((format(printf, 1, 0))) static void say(const char *format, va_list args,
						      const char *hint)
{
	char message[2 * PATH_MAX], safe[2 * sizeof message];

	vsnprintf(message, sizeof message, format, args);
	sonde_escape(message, strlen(message), safe, sizeof safe);
	fprintf(stderr, "sonde%s%s: %s%s\n", cli_verb ? " " : "", cli_verb ? cli_verb : "", safe,
		hint);
}

int cli_error(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args, "");
	va_end(args);
	return status;
}

int cli_misuse(const char *format, ...)
{
	char hint[64];
	va_list args;

	snprintf(hint, sizeof hint, " (see sonde %s%s--help)", cli_verb ? cli_verb : "",
		 cli_verb ? " " : "");
	va_start(args, format);
	say(format, args, hint);
	va_end(args);
	return EXIT_MISUSE;
}

int cli_bad_option(char **argv, int result)
{
	const char *word = argv[optind - 1];

	if (result == ':')
		return cli_misuse("option %s needs a value", word);
	if (optopt && word[0] == '-' && word[1] != '-')
		return cli_misuse("there is no option -%c", optopt);
	return cli_misuse("option %s is unknown, ambiguous or takes no value", word);
}

bool cli_duration(const char *option, const char *text, uint64_t *ns)
{
	static const struct sonde_option duration = { .key = "duration",
						      .type = SONDE_OPT_DURATION };
	char seconds[64];
	char why[256];

	/* A bare number on the command line is seconds, as for sleep(1). */
	if (*text && strspn(text, "0123456789.") == strlen(text) &&
	    strlen(text) < sizeof seconds - 2)
		snprintf(seconds, sizeof seconds, "%ss", text);
	else
		snprintf(seconds, sizeof seconds, "%s", text);
	if (option_parse(&duration, seconds, ns, NULL, why, sizeof why) == 0)
		return true;
	cli_misuse("%s %s: %s", option, text, why);
	return false;
}

bool cli_number(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9' || n < min || n > max) {
		cli_misuse("%s %s: a whole number from %llu to %llu is wanted", option, text,
			   (unsigned long long)min, (unsigned long long)max);
		return false;
	}
	*value = n;
	return true;
}

void text_add(struct text *text, const char *format, ...)
{
	char line[8192];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof line, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof line)
		abort(); /* no verb writes a line of that length: PATH_MAX is 4,096 */
	if (text->length + (size_t)n + 1 > text->size) {
		text->size = (text->size + (size_t)n + 1) * 2;
		text->bytes = realloc(text->bytes, text->size);
		if (!text->bytes)
			abort();
	}
	memcpy(text->bytes + text->length, line, (size_t)n + 1);
	text->length += (size_t)n;
}

/* A line feed would begin a line of its own, and so a key or a section; in its place the configuration reader meets a control
 * character, which it refuses. */
static void text_char(struct text *text, char c)
{
	text_add(text, "%c", c == '\n' ? '\v' : c);
}

void text_key(struct text *text, const char *key, const char *value)
{
	text_add(text, "%s = ", key);
	for (; *value; value++) {
		if (value[0] == '$' && value[1] == '{') /* not a variable's */
			text_add(text, "$");
		text_char(text, *value);
	}
	text_add(text, "\n");
}

int cli_output(const char *path)
{
	struct stat st;

	if (!*path)
		return cli_misuse("the name of the file to write is empty");
	if (strcmp(path, "-") == 0)
		return isatty(STDOUT_FILENO)
			       ? cli_misuse(
					 "a recording is not for a terminal: use -o FILE, or pipe it")
			       : EXIT_DONE;
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
		return cli_error(EXIT_FAILED,
				 "%s is there already: choose another name, or remove it", path);
	return EXIT_DONE;
}

void text_recording(struct text *text, const char *path)
{
	if (strcmp(path, "-") == 0) {
		text_add(text, "[sink:stdout]\nformat = sonde\n");
		return;
	}
	text_add(text, "[sink:file]\npath = ");
	for (; *path; path++) {
		if (*path == '%' || (path[0] == '$' && path[1] == '{')) /* a date's, a variable's */
			text_char(text, *path);
		text_char(text, *path);
	}
	text_add(text, "\n");
}

int cli_config_errors(const struct config *config)
{
	for (size_t i = 0; i < config->nerrors; i++)
		cli_error(EXIT_FAILED, "%s", config->errors[i]);
	return EXIT_FAILED;
}

int cli_run(struct config *config, const struct pipeline_options *options, const char *subject)
{
	struct pipeline *pipeline = NULL;
	int status = EXIT_DONE;
	/* Also where reading found mistakes: all of them are told in one pass. */
	int err = pipeline_open(config, options, &pipeline);

	if (!err)
		err = pipeline_run(pipeline);
	if (config->nerrors)
		status = cli_config_errors(config);
	else if (err)
		status = cli_error(EXIT_FAILED, "%s: %s", subject, strerror(-err));
	pipeline_close(pipeline);
	config_free(config);
	return status;
}

bool cli_profile_path(const char *name, char *path, size_t size)
{
	/* From the program's own folder: build/ and build/asan/ of a tree, PREFIX/bin of what is installed. */
	static const char *const folders[] = { "../conf", "../../conf", "../share/sonde" };
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);

	exe[n > 0 ? n : 0] = 0;
	if (strrchr(exe, '/'))
		*strrchr(exe, '/') = 0;
	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
		snprintf(path, size, "%s/%s/profiles/%s.ini", exe, folders[i], name);
		if (access(path, R_OK) == 0)
			return true;
	}
	return false;
}
