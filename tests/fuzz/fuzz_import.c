/* Any bytes as what perf stat, vmstat or numastat printed: readings within their bounds, and a recording that the reader takes whole, or
 * a refusal with a sentence. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "import/import.h"
#include "import/perf_stat.h"
#include "wire/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int64_t read_fd(void *context, void *buffer, size_t size)
{
	return read(*(int *)context, buffer, size);
}

/* Every number of the text as a double that is finite, its share between 0 and 1. */
static void check_readings(const char *text, size_t size)
{
	struct perf_stat stat = perf_stat_text(text, size);
	struct perf_reading reading;

	while (perf_stat_next(&stat, &reading) > 0) {
		assert(reading.share >= 0 && reading.share <= 1.0001);
		assert(reading.value >= 0 && reading.value < 1e300);
		assert(*reading.event && memchr(reading.event, '\0', sizeof reading.event));
		assert(memchr(reading.place, '\0', sizeof reading.place));
	}
}

static void check_recording(int fd)
{
	struct reader_options options = { .read = read_fd, .context = &fd };
	struct reader *reader = reader_new(&options);
	const struct instant *instant;

	lseek(fd, 0, SEEK_SET);
	while (reader_next(reader, &instant) > 0)
		;
	assert(!reader_state(reader)->damaged && !reader_state(reader)->torn);
	assert(reader_state(reader)->ended);
	reader_free(reader);
}

static void check_import(import_text *import, const char *text, size_t size)
{
	const struct import_options options = { .interval = size & 1 ? 5 : 0,
						.unit = size & 2 ? 'M' : 'K',
						.cpus = size & 4 ? 3 : 0,
						.no_first = size & 8 };
	char why[256] = "";
	int fd = memfd_create("fuzz", 0);

	if (import(text, size, &options, fd, why, sizeof why))
		assert(*why);
	else
		check_recording(fd);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of its size, so that a byte beyond it is noticed. */
	char *text = malloc(size ? size : 1);

	memcpy(text, data, size);
	check_readings(text, size);
	check_import(import_perf_stat, text, size);
	check_import(import_vmstat, text, size);
	check_import(import_numastat, text, size);
	free(text);
	return 0;
}
