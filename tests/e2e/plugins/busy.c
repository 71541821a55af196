/* A collector for tests: each sample() takes 20 ms of CPU time. */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include <sonde/plugin.h>

static const struct sonde_column columns[] = {
	{ "spent", SONDE_U64, SONDE_GAUGE, SONDE_NS, .origin = "CLOCK_THREAD_CPUTIME_ID" },
};
static const struct sonde_table table = { "busy", SONDE_COLUMNS(columns), .rows = 1 };

static uint64_t spent(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	uint64_t begin = spent(), now;
	struct sonde_row row;

	while ((now = spent()) - begin < 20000000)
		;
	if (sonde_row(self, frame, 0, &row))
		sonde_set_u64(&row, 0, now - begin);
	return 0;
}

SONDE_COLLECTOR(busy, "for tests", sample, .tables = { &table, 1, sizeof table });
