/* A day of a recording's machine: its instants again and again, a second apart, with counters that go on from round to round.
 * Writes SECONDS of it to stdout. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "wire/reader.h"
#include "wire/writer.h"

enum { RECORDED_MOST = 1000 };
static const uint64_t second = 1000000000;

struct recorded {
	struct instant *instants[RECORDED_MOST];
	uint64_t count;
};

static int64_t read_file(void *context, void *buffer, size_t size)
{
	const int *fd = context;

	return read(*fd, buffer, size);
}

static struct instant *copy_of(const struct instant *instant)
{
	size_t size = instant_size(instant, true);
	void *block = aligned_alloc(16, size);

	return block ? instant_copy(block, instant, true) : NULL;
}

/* Of the lane that reads most, which is the first. */
static bool is_of_lane(const struct recorded *recorded, const struct instant *instant)
{
	return instant->nviews &&
	       (!recorded->count || instant->nviews == recorded->instants[0]->nviews);
}

/* How much the counters of a view grew from the first instant to the last, times `rounds`, is added to them. */
static void go_on(const struct recorded *recorded, struct instant *instant, uint32_t view,
		  uint64_t rounds)
{
	const struct sonde_view *first = &recorded->instants[0]->views[view];
	const struct sonde_view *last = &recorded->instants[recorded->count - 1]->views[view];
	const struct sonde_view *now = &instant->views[view];
	const struct sonde_schema *schema = now->schema;

	if (first->schema != schema || last->schema != schema || first->nrows != now->nrows ||
	    last->nrows != now->nrows)
		return;
	for (uint32_t row = 0; row < now->nrows; row++) {
		uint64_t *slots = (uint64_t *)sonde_view_slots(now, row);

		for (uint32_t i = 0; i < schema->ncolumns; i++) {
			uint32_t slot = schema->slot[i];

			if (schema->columns[i].semantics == SONDE_COUNTER &&
			    schema->columns[i].type == SONDE_U64)
				slots[slot] += rounds * (sonde_view_slots(last, row)[slot] -
							 sonde_view_slots(first, row)[slot]);
		}
	}
}

static int write_second(struct writer *writer, const struct recorded *recorded, uint64_t at)
{
	/* The last is where the next round begins. */
	uint64_t round = at / (recorded->count - 1), place = at % (recorded->count - 1);
	struct instant *instant = copy_of(recorded->instants[place]);
	int err;

	if (!instant)
		return -1;
	for (uint32_t view = 0; view < instant->nviews; view++)
		go_on(recorded, instant, view, round);
	instant->end -= instant->begin;
	instant->begin = recorded->instants[0]->begin + at * second;
	instant->end += instant->begin;
	instant->sequence = at + 1;
	instant_stamp(instant, (struct sonde_view *)instant->views);
	err = writer_instant(writer, instant);
	free(instant);
	return err || at % 2 ? err : writer_flush(writer);
}

static bool read_all(struct reader *reader, struct recorded *recorded)
{
	const struct instant *instant;

	while (reader_next(reader, &instant) > 0 && recorded->count < RECORDED_MOST) {
		if (!is_of_lane(recorded, instant))
			continue;
		recorded->instants[recorded->count] = copy_of(instant);
		if (!recorded->instants[recorded->count++])
			return false;
	}
	return recorded->count > 1;
}

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1, out = STDOUT_FILENO;
	struct reader_options from = { .read = read_file, .context = &fd };
	struct writer_options to = { .emit = writer_to_fd, .context = &out, .id = { 1 } };
	struct reader *reader = fd < 0 ? NULL : reader_new(&from);
	struct writer *writer = writer_new(&to);
	static struct recorded recorded;
	uint64_t seconds = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;

	if (!reader || !writer || !read_all(reader, &recorded))
		return 1;
	for (uint64_t at = 0; at < seconds; at++)
		if (write_second(writer, &recorded, at))
			return 1;
	if (writer_close(writer))
		return 1;
	while (recorded.count)
		free(recorded.instants[--recorded.count]);
	reader_free(reader);
	return 0;
}
