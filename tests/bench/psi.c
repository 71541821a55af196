/* A collector's own overhead: psi's sample() less its parse, the text in memory, rows in the host's real arena. Prints
 * nanoseconds a value, medians of many alternating pairs of a few milliseconds each, so that what disturbs some of them
 * does not matter: overhead, its quartiles, sample(), parse. With an argument, `sample` or `parse`, it only does so as often
 * as one of these is timed, for callgrind to count. */
#include "plugins/psi/psi.c"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/frame.h"
#include "core/schema.h"

enum { PAIRS = 201, ROUNDS = 5000, VALUES = 9 };

static const char text[] = "some avg10=12.34 avg60=5.60 avg300=1.02 total=184467440737\n"
			   "full avg10=0.00 avg60=0.12 avg300=0.03 total=98765432\n";

/* The fake host: a file is its text. */
static int64_t read_text(struct sonde_file *file, const char **bytes)
{
	*bytes = (const char *)file;
	return sizeof text - 1;
}

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double time_samples(struct sonde_instance *self, struct sonde_frame *frame)
{
	double begin = now_ns();

	for (int i = 0; i < ROUNDS; i++) {
		frame->tables[0].nrows = 0;
		frame->strings.used = 0;
		if (sonde_ops_.sample(self, frame))
			exit(1);
	}
	return now_ns() - begin;
}

static double time_parses(struct sonde_row *row)
{
	double begin = now_ns();

	for (int i = 0; i < ROUNDS * RESOURCES; i++)
		if (psi_parse(text, sizeof text - 1, row))
			exit(1);
	return now_ns() - begin;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a;
	const double *y = b;

	return (*x > *y) - (*x < *y);
}

/* Pairs, the order turned round each time. */
static void compare(struct sonde_instance *self, struct sonde_frame *frame, struct sonde_row *row)
{
	double overhead[PAIRS], samples[PAIRS], parses[PAIRS];
	const double values = (double)ROUNDS * RESOURCES * VALUES;

	for (int i = 0; i < PAIRS; i++) {
		double first = i % 2 ? time_parses(row) : time_samples(self, frame);
		double second = i % 2 ? time_samples(self, frame) : time_parses(row);

		samples[i] = (i % 2 ? second : first) / values;
		parses[i] = (i % 2 ? first : second) / values;
		overhead[i] = samples[i] - parses[i];
	}
	qsort(overhead, PAIRS, sizeof *overhead, by_value);
	qsort(samples, PAIRS, sizeof *samples, by_value);
	qsort(parses, PAIRS, sizeof *parses, by_value);
	printf("%.3f %.3f %.3f %.3f %.3f\n", overhead[PAIRS / 2], overhead[PAIRS / 4],
	       overhead[PAIRS * 3 / 4], samples[PAIRS / 2], parses[PAIRS / 2]);
}

int main(int argc, char **argv)
{
	struct sonde_host host = { .size = sizeof host, .read = read_text, .row = frame_row };
	struct state state;
	struct sonde_instance self = { .host = &host, .state = &state, .name = "psi" };
	struct sonde_frame frame = { 0 };
	struct sonde_schema *schema;
	struct sonde_row row;
	char why[200];

	for (int i = 0; i < RESOURCES; i++)
		state.file[i] = (struct sonde_file *)(void *)text;
	if (schema_make(tables, &schema, why, sizeof why) ||
	    frame_add_table(&frame, schema, RESOURCES, RESOURCES) || frame_begin(&frame) ||
	    !frame_row(&frame, 0, &row))
		return 1;
	if (argc == 1) {
		compare(&self, &frame, &row);
	} else {
		if (strcmp(argv[1], "sample") == 0)
			time_samples(&self, &frame);
		else
			time_parses(&row);
		printf("%d\n", ROUNDS * RESOURCES * VALUES);
	}
	frame_free(&frame);
	return 0;
}
