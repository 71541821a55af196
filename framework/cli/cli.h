/* What the verbs share: one line of error, help, durations on the command line, and the composing of a pipeline. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "host/pipeline.h"

/* Exit statuses; EXIT_GATE: done, and what was found is what a gate was to stop. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_MISUSE = 2, EXIT_GATE = 3 };

/* A verb has a file of its own; argv[0] is its name. */
int verb_ab(int argc, char **argv);
int verb_agent(int argc, char **argv);
int verb_cat(int argc, char **argv);
int verb_check(int argc, char **argv);
int verb_demo(int argc, char **argv);
int verb_explain(int argc, char **argv);
int verb_export(int argc, char **argv);
int verb_profile(int argc, char **argv);
int verb_import(int argc, char **argv);
int verb_inspect(int argc, char **argv);
int verb_plugins(int argc, char **argv);
int verb_receive(int argc, char **argv);
int verb_record(int argc, char **argv);
int verb_reparse(int argc, char **argv);
int verb_report(int argc, char **argv);
int verb_summary(int argc, char **argv);
int verb_tree(int argc, char **argv);
int verb_timeline(int argc, char **argv);

/* Whether verb_report() understands this call, so that nobody learns it at the end of a long run. An exit status, said. */
int report_check(int argc, char **argv);

/* Of a recorded command what wait4(2) does not tell, on stdout. An exit status. */
int tree_brief(const char *path);

/* A verb whose program lies under libexec (verbs/NAME): sonde becomes it. Returns where it is not there. */
int verb_external(int argc, char **argv);

/* As `sonde record -q -o path -i interval -- command`; its end as waitpid(2) tells it, -1 where it goes on. An exit status. */
int record_command(const char *path, uint64_t interval, char **command, int *wait_status);

/* "sonde record: ..." on stderr, one line; returns the status that is given. */
__attribute__((format(printf, 2, 3))) int cli_error(int status, const char *format, ...);

/* The same for a wrong call: adds where help is. Returns EXIT_MISUSE. */
__attribute__((format(printf, 1, 2))) int cli_misuse(const char *format, ...);

/* At the end: what a full disk took from stdout is an error too; a reader that went away is not. The status, or EXIT_FAILED. */
int cli_flush(int status);

/* The verb that runs, for messages. */
extern const char *cli_verb;

/* What getopt_long() did not like, as cli_misuse(). */
int cli_bad_option(char **argv, int result);

/* "90", "500ms", "1m30s" is not: as in the configuration; without a unit, seconds. Nanoseconds; false and said in one line
 * where it is none. */
bool cli_duration(const char *option, const char *text, uint64_t *ns);
/* The same without a word: where it is none, a sentence in `why`. */
bool cli_is_duration(const char *text, uint64_t *ns, char *why, size_t size);
/* The same for a time that has to be above 0: a duration, an interval. */
bool cli_time(const char *option, const char *text, uint64_t *ns);
/* The same within the limits of `interval` in [agent]. */
bool cli_interval(const char *option, const char *text, uint64_t *ns);
bool cli_number(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* A section for each analyzer that is there: from this file where it has one, else with its defaults. `path` may be NULL.
 * What is wrong with the file is in config->errors. */
void cli_analyzers(struct config *config, const char *path);

/* Whether a recording may be written there: a recording is never written over, and neither is anything else; "-" is stdout
 * and no terminal. An exit status, said where it is not EXIT_DONE. */
int cli_output(const char *path);

/* The sink that writes a recording to this file, or to stdout where it is "-". */
void cli_recording(struct config *config, const char *path);

/* The mistakes of a configuration, one line each, on stderr. Returns EXIT_FAILED. */
int cli_config_errors(const struct config *config);

/* Opens and runs a live pipeline; what goes wrong is said, about `subject` where it is no mistake in the configuration.
 * Frees the configuration. An exit status. */
int cli_run(struct config *config, const struct pipeline_options *options, const char *subject);

/* What the program was called by. */
extern const char *cli_argv0;

/* The file of the program that runs; false where that can't be known. */
bool cli_program(char *path, size_t size);

/* The file of a profile: under conf/profiles beside the build, or the installed one. False where there is none. */
bool cli_profile_path(const char *name, char *path, size_t size);

#endif
