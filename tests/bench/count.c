/* Reads a recording with sonde's own reader and nothing behind it: prints the changed values, the instants, and the time. */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "wire/reader.h"

static int64_t read_file(void *context, void *buffer, size_t size)
{
	const int *fd = context;

	return read(*fd, buffer, size);
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	struct reader_options options = { .read = read_file, .context = &fd };
	struct reader *reader = fd < 0 ? NULL : reader_new(&options);
	const struct reader_state *state;
	const struct instant *instant;
	struct timespec cpu;

	if (!reader)
		return 1;
	while (reader_next(reader, &instant) > 0)
		;
	state = reader_state(reader);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	printf("%llu changed values, %llu instants, %.3f s\n",
	       (unsigned long long)state->changed_values, (unsigned long long)state->instants,
	       (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9);
	reader_free(reader);
	return 0;
}
