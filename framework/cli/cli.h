/* What the verbs share: one line of error, help, durations on the command line, and the composing of a pipeline. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "host/pipeline.h"

/* Exit statuses; a gate's is 3. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_MISUSE = 2 };

/* A verb has a file of its own; argv[0] is its name. */
int verb_agent(int argc, char **argv);
int verb_cat(int argc, char **argv);
int verb_check(int argc, char **argv);
int verb_explain(int argc, char **argv);
int verb_plugins(int argc, char **argv);
int verb_receive(int argc, char **argv);
int verb_record(int argc, char **argv);
int verb_reparse(int argc, char **argv);
int verb_report(int argc, char **argv);

/* "sonde record: ..." on stderr, one line; returns the status that is given. */
__attribute__((format(printf, 2, 3))) int cli_error(int status, const char *format, ...);

/* The same for a wrong call: adds where help is. Returns EXIT_MISUSE. */
__attribute__((format(printf, 1, 2))) int cli_misuse(const char *format, ...);

/* The verb that runs, for messages. */
extern const char *cli_verb;

/* What getopt_long() did not like, as cli_misuse(). */
int cli_bad_option(char **argv, int result);

/* "90", "500ms", "1m30s" is not: as in the configuration; without a unit, seconds. Nanoseconds; false and said in one line
 * where it is none. */
bool cli_duration(const char *option, const char *text, uint64_t *ns);
bool cli_number(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* Configuration text that a verb puts together, "[section]\nkey = value\n". Zeroed at first; free(text->bytes). */
struct text {
	char *bytes;
	size_t length, size;
};
__attribute__((format(printf, 2, 3))) void text_add(struct text *text, const char *format, ...);
/* A key whose value is read back as it is here. */
void text_key(struct text *text, const char *key, const char *value);

/* Whether a recording may be written there: a recording is never written over, and neither is anything else; "-" is stdout
 * and no terminal. An exit status, said where it is not EXIT_DONE. */
int cli_output(const char *path);

/* The sink that writes a recording to this file, or to stdout where it is "-". */
void text_recording(struct text *text, const char *path);

/* The mistakes of a configuration, one line each, on stderr. Returns EXIT_FAILED. */
int cli_config_errors(const struct config *config);

/* Opens and runs a live pipeline; what goes wrong is said, about `subject` where it is no mistake in the configuration.
 * Frees the configuration. An exit status. */
int cli_run(struct config *config, const struct pipeline_options *options, const char *subject);

/* The file of a profile: under conf/profiles beside the build, or the installed one. False where there is none. */
bool cli_profile_path(const char *name, char *path, size_t size);

#endif
