/* The host's own keys: of [agent], and of every section by its kind. */
#ifndef HOST_AGENT_OPTIONS_H
#define HOST_AGENT_OPTIONS_H

#include <sonde/plugin.h>

enum capture { CAPTURE_NONE, CAPTURE_RAW };

struct agent_keys {
	const char *host, *tags, *root, *plugin_path;
	struct sonde_list include; /* config.c has followed it */
	uint64_t interval, keep;
	uint32_t log;     /* enum sonde_level */
	uint32_t capture; /* enum capture */
};

/* Of any section but [agent]. Zero durations are inherited or have no meaning for the kind. */
struct section_keys {
	uint32_t enabled, optional, capture;
	uint64_t interval, offset, deadline;
	const char *lane, *isolation, *tags;
	uint64_t ring, flush;
	uint64_t every, hold, clear, repeat;
	struct sonde_list ignore;
};

extern const struct sonde_option agent_options[];
extern const size_t agent_noptions;

/* Of sections of this kind (enum sonde_kind), into a struct section_keys. A sink's also has those of host/filter.h. */
const struct sonde_option *section_options(uint32_t kind, size_t *count);

#endif
