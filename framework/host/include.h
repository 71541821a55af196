/* `include =` of [agent], and ${VAR} in values. */
#ifndef HOST_INCLUDE_H
#define HOST_INCLUDE_H

#include "host/config.h"

/* Reads what one `include` key names: a path or a pattern of glob(7), relative to the folder of the key's file. Mistakes
 * go to config->errors: a name without a wildcard that matches nothing, a file that was read already. */
void include_read(struct config *config, const struct config_key *key);

/* `value` with each ${VAR} and ${VAR:-default} replaced from the environment (secure_getenv(3)); the default also stands
 * in for an empty variable, as in sh(1). To be freed; NULL and one sentence in `why` where a variable is not set, or the
 * braces are not as above. */
char *expand(const char *value, char *why, size_t size);

#endif
