/* The host's own keys. */
#include "host/agent_options.h"

#define AGENT(field) .offset = offsetof(struct agent_keys, field)
#define KEY(field)   .offset = offsetof(struct section_keys, field)

/* clang-format off */
const struct sonde_option agent_options[] = {
	{ .key = "host", .type = SONDE_OPT_STRING, AGENT(host), .initial = "",
	  .help = "name of this host in every stream; empty: the system's" },
	{ .key = "tags", .type = SONDE_OPT_STRING, AGENT(tags), .initial = "",
	  .help = "tags in every stream: env=prod, dc=fra1" },
	{ .key = "root", .type = SONDE_OPT_STRING, AGENT(root), .initial = "",
	  .help = "prefix of every path under which collectors look: /host in a container, or a captured tree" },
	{ .key = "interval", .type = SONDE_OPT_DURATION, AGENT(interval), .initial = "1s", .min = 1e6, .max = 86400e9,
	  .help = "time between two samples of a collector that has none of its own" },
	{ .key = "plugin_path", .type = SONDE_OPT_STRING, AGENT(plugin_path), .initial = "",
	  .help = "folders of plugins, separated by colons; empty: those beside the program" },
	{ .key = "include", .type = SONDE_OPT_LIST, AGENT(include), .initial = "",
	  .help = "further files, relative to this one: conf.d/*.ini" },
	{ .key = "log", .type = SONDE_OPT_CHOICE, AGENT(log), .initial = "notice", .choices = "error|warning|notice|debug",
	  .help = "how much of what happens is told on stderr" },
	{ .key = "keep", .type = SONDE_OPT_U64, AGENT(keep), .initial = "4096", .max = 1 << 20,
	  .help = "descriptors of processes' and cgroups' files that may be kept open: faster, 5 KiB of kernel memory each" },
	{ .key = "capture", .type = SONDE_OPT_CHOICE, AGENT(capture), .initial = "none", .choices = "none|raw",
	  .help = "raw: the text of every file that is read is recorded too, for sonde reparse" },
};
const size_t agent_noptions = sizeof agent_options / sizeof agent_options[0];

#define COMMON                                                                                                          \
	{ .key = "enabled", .type = SONDE_OPT_BOOL, KEY(enabled), .initial = "yes", .help = "no: as if it were not there" }, \
	{ .key = "optional", .type = SONDE_OPT_BOOL, KEY(optional), .initial = "no",                                    \
	  .help = "yes: where this machine does not have it, that is a note, not an error" }

static const struct sonde_option collector_keys[] = {
	COMMON,
	{ .key = "interval", .type = SONDE_OPT_DURATION, KEY(interval), .initial = "1s", .min = 1e6, .max = 86400e9,
	  .help = "time between two samples; default: that of [agent]" },
	{ .key = "offset", .type = SONDE_OPT_DURATION, KEY(offset), .initial = "0s", .max = 86400e9,
	  .help = "by how much its ticks are later than those of the others" },
	{ .key = "lane", .type = SONDE_OPT_STRING, KEY(lane), .initial = "",
	  .help = "thread that samples it: sections with the same word share one; empty: main, or one of its own where it may block or is costly" },
	{ .key = "isolation", .type = SONDE_OPT_STRING, KEY(isolation), .initial = "none",
	  .help = "process, or process:GROUP: runs in a worker process, alone or with those of the same group" },
	{ .key = "deadline", .type = SONDE_OPT_DURATION, KEY(deadline), .initial = "5s", .min = 1e6, .max = 3600e9,
	  .help = "with isolation: a worker that takes longer for a sample is ended and started anew" },
	{ .key = "capture", .type = SONDE_OPT_CHOICE, KEY(capture), .initial = "none", .choices = "none|raw",
	  .help = "raw: the text of every file that it reads is recorded too; default: as in [agent]" },
};

static const struct sonde_option sink_keys[] = {
	COMMON,
	{ .key = "ring", .type = SONDE_OPT_SIZE, KEY(ring), .initial = "8MiB", .min = 65536, .max = 1e12,
	  .help = "what waits for it at most; beyond, the oldest is dropped, counted, and told as a gap" },
	{ .key = "flush", .type = SONDE_OPT_DURATION, KEY(flush), .initial = "2s", .max = 3600e9,
	  .help = "time between two deliveries; 0s: each instant at once" },
	{ .key = "tags", .type = SONDE_OPT_STRING, KEY(tags), .initial = "", .help = "tags besides those of [agent]" },
};

static const struct sonde_option analyzer_keys[] = {
	COMMON,
	{ .key = "every", .type = SONDE_OPT_DURATION, KEY(every), .initial = "1min", .min = 1e9, .max = 86400e9,
	  .help = "live: time between two judgements" },
	{ .key = "for", .type = SONDE_OPT_DURATION, KEY(hold), .initial = "0s", .max = 86400e9,
	  .help = "live: a finding opens when it has held for that long" },
	{ .key = "clear", .type = SONDE_OPT_DURATION, KEY(clear), .initial = "2min", .max = 86400e9,
	  .help = "live: a finding closes when it has not held for that long" },
	{ .key = "repeat", .type = SONDE_OPT_DURATION, KEY(repeat), .initial = "1h", .max = 864000e9,
	  .help = "live: a finding that holds is told again after that long, or when it became worse" },
	{ .key = "ignore", .type = SONDE_OPT_LIST, KEY(ignore), .initial = "",
	  .help = "known findings, listed as ignored: id, about, reason, until" },
};

static const struct sonde_option source_keys[] = { COMMON };
/* clang-format on */

#define TABLE(options)                                                                             \
	{                                                                                          \
		options, sizeof(options) / sizeof((options)[0])                                    \
	}

const struct sonde_option *section_options(uint32_t kind, size_t *count)
{
	static const struct {
		const struct sonde_option *options;
		size_t count;
	} of_kind[] = {
		[SONDE_KIND_COLLECTOR] = TABLE(collector_keys),
		[SONDE_KIND_SINK] = TABLE(sink_keys),
		[SONDE_KIND_ANALYZER] = TABLE(analyzer_keys),
		[SONDE_KIND_SOURCE] = TABLE(source_keys),
	};

	*count = of_kind[kind].count;
	return of_kind[kind].options;
}
