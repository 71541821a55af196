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
#include "host/agent_options.h"
#include "host/values.h"

const char *cli_verb, *cli_argv0;

int cli_flush(int status)
{
	errno = 0;
	if ((fflush(stdout) == 0 && !ferror(stdout)) || errno == EPIPE || status != EXIT_DONE)
		return status;
	return cli_error(EXIT_FAILED, "stdout: %s",
			 errno ? strerror(errno) : "not all of it could be written");
}

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

bool cli_is_duration(const char *text, uint64_t *ns, char *why, size_t size)
{
	char seconds[64];

	/* A bare number on the command line is seconds, as for sleep(1). */
	if (!*text || text[strspn(text, "0123456789.")] || strlen(text) >= sizeof seconds - 2)
		return duration_parse(text, ns, why, size) == 0;
	snprintf(seconds, sizeof seconds, "%ss", text);
	return duration_parse(seconds, ns, why, size) == 0;
}

bool cli_duration(const char *option, const char *text, uint64_t *ns)
{
	char why[256];

	if (cli_is_duration(text, ns, why, sizeof why))
		return true;
	cli_misuse("%s %s: %s", option, text, why);
	return false;
}

bool cli_time(const char *option, const char *text, uint64_t *ns)
{
	if (!cli_duration(option, text, ns))
		return false;
	if (!*ns)
		cli_misuse("%s %s: give a time above 0", option, text);
	return *ns;
}

bool cli_interval(const char *option, const char *text, uint64_t *ns)
{
	const struct sonde_option *key = agent_options;
	char least[32], most[32];

	if (!cli_time(option, text, ns))
		return false;
	while (strcmp(key->key, "interval") != 0)
		key++;
	if ((double)*ns >= key->min && (double)*ns <= key->max)
		return true;
	duration_print(least, sizeof least, (uint64_t)key->min);
	duration_print(most, sizeof most, (uint64_t)key->max);
	cli_misuse("%s %s: it is not within %s and %s", option, text, least, most);
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
				 "%s is there already: give another name with -o, or remove it",
				 path);
	return EXIT_DONE;
}

int cli_config_errors(const struct config *config)
{
	for (size_t i = 0; i < config->nerrors; i++)
		cli_error(EXIT_FAILED, "%s", config->errors[i]);
	return EXIT_FAILED;
}
