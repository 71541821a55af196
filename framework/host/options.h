/* Options: tables of keys, with type, default, range and help; the plugins' and the host's own. */
#ifndef HOST_OPTIONS_H
#define HOST_OPTIONS_H

#include <sonde/plugin.h>

#include "host/config.h"

/* Fills `conf` from a section by the tables: defaults, then the section's keys. Unknown keys, bad values, missing required
 * keys are added to config->errors with the nearest valid name. A key of none of the tables is an error, so the host's and
 * the plugin's tables are given together. Each table has a conf of its own. Strings and lists are allocated into `memory`.
 * 0; -EINVAL: there were mistakes, and keys that have one hold their default; -ENODATA: likewise, and a table has keys without. */
struct options_target {
	const struct sonde_option *options;
	size_t count;
	void *conf;
};

struct options_memory; /* owns the strings and lists */

int options_fill(struct config *config, const struct config_section *section,
		 const struct options_target *targets, size_t ntargets,
		 struct options_memory **memory);
void options_free(struct options_memory *memory);

/* One value by its type, for verbs' arguments as well: "500ms" into a uint64_t. 0, or -EINVAL and a sentence in `why`. */
int option_parse(const struct sonde_option *option, const char *text, void *conf,
		 struct options_memory **memory, char *why, size_t size);

/* The option's default into its field; zero where it has none. As option_parse(); of a list, `initial` has one item a line. */
int option_default(const struct sonde_option *option, void *conf, struct options_memory **memory,
		   char *why, size_t size);

/* "key = default    help" lines of a table: for `sonde plugins NAME` and the documents. */
void options_print(const struct sonde_option *options, size_t count);

#endif
