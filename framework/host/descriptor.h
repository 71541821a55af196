/* A plugin's descriptor, checked and copied into this host's layout. */
#ifndef HOST_DESCRIPTOR_H
#define HOST_DESCRIPTOR_H

#include "host/loader.h"

/* Fills plugin->descriptor, options, tables, schemas and ops from what the plugin exports, without calling any of its
 * functions. 0, or a negative errno and a sentence in `why`. Free with descriptor_free() either way. */
int descriptor_take(struct plugin *plugin, const struct sonde_plugin *exported, char *why,
		    size_t size);
void descriptor_free(struct plugin *plugin);

/* The eight frozen bytes and the size, of a descriptor or its note. 0, or -EINVAL and a sentence. */
int descriptor_version(uint32_t magic, uint16_t major, uint16_t minor, uint32_t bytes, char *why,
		       size_t size);

#endif
