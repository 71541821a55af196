/* Configuration text into sections and keys, every mistake with its file and line. What keys mean is options.h's. */
#ifndef HOST_CONFIG_H
#define HOST_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config_key {
	char *name, *value; /* value after ${VAR} */
	const char *file;
	unsigned line;
};

/* "[sink:udp lab]": type sink, plugin udp, label lab. "[psi]": type "", plugin psi. "[agent]": type "agent". */
struct config_section {
	char *name; /* as between the brackets, blanks folded: "sink:udp lab" */
	char *type; /* "agent", "host", "analyzer", "sink", "source", or "" for a collector */
	char *plugin, *label;
	const char *file;
	unsigned line;
	struct config_key *keys;
	size_t nkeys;
};

struct config {
	struct config_section *sections;
	size_t nsections;
	char **files; /* read, includes too */
	size_t nfiles;
	char **errors;    /* "file:line: sentence", in the order of files and lines */
	uint64_t *places; /* by which they are in order */
	size_t nerrors;
};

/* Reads an INI file, with what it includes. Mistakes are added to config->errors, and reading goes on; returns the number
 * of them so far. Free with config_free(). A zeroed struct is an empty configuration. */
size_t config_read(struct config *config, const char *path);

/* The same of what is read behind the user's back, at a reload and by includes: a pipe or a device, which might be waited for
 * for ever, is a mistake. */
size_t config_read_file(struct config *config, const char *path);

/* The same from a text; `name` stands for its file in messages. */
size_t config_read_text(struct config *config, const char *name, const char *text);

/* A section that a verb puts together, in place of one of this name; and a key of the newest section, whose value is any
 * text, taken as it is. They stand in no file. */
void config_add(struct config *config, const char *name);
void config_set(struct config *config, const char *key, const char *value);

/* One more mistake. Without a line 0, without a file "". */
__attribute__((format(printf, 4, 5))) void config_error(struct config *config, const char *file,
							unsigned line, const char *format, ...);

/* A mistake in what a section's key says: in the key's line, or that of the section where the key does not stand in it. */
__attribute__((format(printf, 4, 5))) void config_fault(struct config *config,
							const struct config_section *section,
							const char *key, const char *format, ...);

const struct config_section *config_section(const struct config *config, const char *name);
const struct config_key *config_key(const struct config_section *section, const char *name);

/* Takes a section out, if it is there. */
void config_remove(struct config *config, const char *name);
void config_free(struct config *config);

/* The candidate nearest to `word` by edit distance, or NULL where none is near: for "did you mean". */
const char *nearest(const char *word, const char *const *candidates, size_t count);

#endif
