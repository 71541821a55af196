/* A section and the keys of [agent] that matter to it, as one block of texts: for a worker. */
#ifndef HOST_SECTION_PACK_H
#define HOST_SECTION_PACK_H

#include <stdbool.h>
#include <stdio.h>

#include "host/agent_options.h"
#include "host/config.h"

struct packed_agent {
	struct agent_keys keys;
	char *plugin_path;
};

/* Texts, each ended by a NUL, onto `out`. */
void section_pack(FILE *out, const struct config_section *section, const struct agent_keys *agent,
		  const char *plugin_path);

/* The only section of `config`, which is empty before. Texts point into `block` (a NUL at its end) or are copied where
 * config_free() frees them. 0 or -EBADMSG. */
int section_unpack(const char *block, size_t length, struct config *config,
		   struct packed_agent *agent);

#endif
