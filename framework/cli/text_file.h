/* A text that a user names, as a whole. */
#ifndef CLI_TEXT_FILE_H
#define CLI_TEXT_FILE_H

#include <stddef.h>

/* Of a file, or of stdin ("-"); to be freed. NULL, and said in a line, where it can't be read or is longer than IMPORT_MOST. */
char *text_file(const char *path, size_t *length);

#endif
