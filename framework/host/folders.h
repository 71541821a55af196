/* Plugin files on the plugin path. */
#ifndef HOST_FOLDERS_H
#define HOST_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FOLDERS_NAME_MOST = 31 };

/* Why the plugin path is empty, and what to do. */
extern const char folders_nowhere[];

/* The file KIND-NAME.so in the first folder of the colon-separated path that has it; to be freed, NULL where none has. */
char *folders_find(const char *path, uint32_t kind, const char *name);

/* Base names of the plugin files ("collector-psi.so"), sorted, each once; *count of them. Free with folders_free(). */
char **folders_list(const char *path, size_t *count);
void folders_free(char **names, size_t count);

/* The kind and the name in "collector-psi.so": 0 and untouched name where it is not a plugin's. */
uint32_t folders_split(const char *base, char *name, size_t size);

/* The next folder of a path, which it walks; false at its end. Empty ones are passed over. */
bool folders_next(const char **path, char *folder, size_t size);

/* [a-z][a-z0-9_]* of at most 31 bytes. */
bool folders_good_name(const char *name);

/* With more rights than its user has (AT_SECURE, getauxval(3)) sonde takes code only from files that root owns, and that
 * nobody else can write or replace: every folder up to / is looked at. 0, or -EACCES and a sentence in `why`. */
int folders_trust(const char *file, char *why, size_t size);

#endif
