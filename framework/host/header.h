/* Who speaks: the header of this host's stream (uname(2), machine-id(5), random(4), /sys/devices/system). */
#ifndef HOST_HEADER_H
#define HOST_HEADER_H

#include <sonde/row.h>

#include "host/files.h"

/* Made from what is under the root of `files`; what a captured tree does not tell is unknown. `host` and `tags` are the
 * configuration's, "" where it has none. To be freed with free(). NULL with errno. */
struct sonde_stream_header *header_make(struct files *files, const char *host, const char *tags,
					const char *label);

/* The header with tags besides its own, to be freed with free(). */
struct sonde_stream_header *header_with_tags(const struct sonde_stream_header *header,
					     const char *tags);

/* Whether the text is "name=value, name=value"; `why` says what is wrong. */
bool tags_valid(const char *text, char *why, size_t size);

#endif
