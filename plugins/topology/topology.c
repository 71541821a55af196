/* topology: the machine as the kernel sees it, and as it was set up. Read at the start, again when a CPU comes or goes, and its
 * settings now and then; in between a sample reads one file. */
#include "topology.h"

static const struct sonde_option options[] = {
	{ "refresh", SONDE_OPT_DURATION, offsetof(struct conf, refresh), "1min", NULL, 1e8, 86400e9,
	  "how often settings and frequency limits are read again" },
	{ "cmdline", SONDE_OPT_CHOICE, offsetof(struct conf, cmdline), "known", "none|known|full",
	  0, 0,
	  "the kernel's command line: nothing, the parameters that bear on performance, or all" },
};

/* Everything. 0; -EAGAIN: there was not room for all of it, but will be. */
static int look(struct sonde_instance *self)
{
	struct state *state = self->state;
	int err;

	settings_read(self);
	err = cpus_scan(self);
	state->scanned = !err;
	if (!err || err == -EAGAIN)
		cpus_limits(self);
	return err;
}

/* Of thousands of CPUs that takes seconds, for which no sample is waited when sonde ends. */
static int start(struct sonde_instance *self)
{
	int err = cpus_start(self);

	if (!err)
		err = settings_start(self);
	if (err)
		return err;
	settings_once(self);
	err = look(self);
	return err == -EAGAIN ? 0 : err;
}

/* Whether CPUs came or went since they were looked at. */
static bool has_changed(struct sonde_instance *self)
{
	const struct state *state = self->state;
	char text[4096];
	struct set online;
	size_t length = topology_text(self, CPUS_FOLDER "/online", text, sizeof text);

	return length && list_parse(text, length, &online) &&
	       memcmp(&online, &state->online, sizeof online) != 0;
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;

	if (!state->scanned || has_changed(self)) {
		int err = look(self);

		if (err && err != -EAGAIN)
			return err;
		if (err)
			sonde_partial(self, frame);
	} else if (state->samples * self->interval >= conf->refresh) {
		settings_read(self);
		cpus_limits(self);
		state->samples = 0;
	}
	state->samples++;
	cpus_emit(self, frame);
	settings_emit(self, frame);
	return 0;
}

SONDE_COLLECTOR(topology, "CPUs, caches, nodes, and the kernel's settings", sample,
		.options = SONDE_OPTIONS(options), .tables = SONDE_TABLES(topology_tables),
		.conf_size = sizeof(struct conf), .state_size = sizeof(struct state),
		.start = start);
