/* A sink for tests: takes views, and is in the mood that its section names. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <sonde/plugin.h>

enum mood { WELL, BLOCKS, FAILS, SLOW, BUSY, LATER, REPLACES };

struct conf {
	const char *path;
	uint64_t pause;
	uint32_t mood;
};

struct state {
	FILE *out;
	uint64_t sequence, calls;
};

static int start(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;

	state->out = fopen(conf->path, "a");
	return state->out ? 0 : -errno;
}

static void stop(struct sonde_instance *self)
{
	struct state *state = self->state;

	if (state->out)
		fclose(state->out);
}

static void wait_a_moment(uint64_t ns)
{
	struct timespec pause = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	nanosleep(&pause, NULL);
}

/* One line for each instant that is taken: its number, and what the gap table said. */
static int view(struct sonde_instance *self, const struct sonde_view *view)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;

	state->calls++;
	if (conf->mood == BLOCKS)
		for (;;)
			pause();
	if (conf->mood == FAILS && view->sequence % 2)
		return -EIO;
	if (conf->mood == BUSY && state->calls % 4)
		return -EAGAIN;
	if (conf->mood == SLOW)
		wait_a_moment(conf->pause);
	if (strcmp(view->schema->name, "gap") == 0)
		for (uint32_t i = 0; i < view->nrows; i++)
			fprintf(state->out, "gap %llu\n",
				(unsigned long long)sonde_view_slots(view, i)[4]);
	if (view->sequence != state->sequence) {
		state->sequence = view->sequence;
		fprintf(state->out, "%llu\n", (unsigned long long)view->sequence);
		if (conf->mood == LATER && view->sequence % 2 == 0)
			sonde_acknowledge(self, 2);
	}
	fflush(state->out);
	return 0;
}

static int flush(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;

	return conf->mood == LATER ? -EINPROGRESS : 0;
}

static int reopen(struct sonde_instance *self)
{
	struct state *state = self->state;

	fprintf(state->out, "reopen\n");
	fflush(state->out);
	return 0;
}

static uint32_t choose_assertion(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;

	return conf->mood == REPLACES ? SONDE_REPLACED : SONDE_HANDED;
}

static const struct sonde_option options[] = {
	{ .key = "path",
	  .type = SONDE_OPT_STRING,
	  .offset = offsetof(struct conf, path),
	  .help = "what was taken" },
	{ .key = "pause",
	  .type = SONDE_OPT_DURATION,
	  .offset = offsetof(struct conf, pause),
	  .initial = "100ms" },
	{ .key = "mood",
	  .type = SONDE_OPT_CHOICE,
	  .offset = offsetof(struct conf, mood),
	  .initial = "well",
	  .choices = "well|blocks|fails|slow|busy|later|replaces" },
};

static const struct sonde_sink_ops ops = { .intake = SONDE_TAKES_VIEWS,
					   .assertion = SONDE_HANDED,
					   .view = view,
					   .flush = flush,
					   .reopen = reopen,
					   .choose_assertion = choose_assertion };

SONDE_SINK(moody, "for tests", ops, .options = SONDE_OPTIONS(options),
	   .conf_size = sizeof(struct conf), .state_size = sizeof(struct state), .start = start,
	   .stop = stop);
