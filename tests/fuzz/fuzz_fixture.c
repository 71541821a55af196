/* Any text as a fixture: a recording that the reader takes whole, or a refusal with a sentence. */
#include <sys/mman.h>
#include <unistd.h>

#include "verbs/replay/members.c"
#include "verbs/replay/read.c"
#include "verbs/replay/rows.c"
#include "verbs/replay/write.c"
#include "wire/reader.h"
#include "walk.h"

/* A table of 16,384 slots is a line of JSON; written again and again it is no more than slow. */
enum { WORDS_WRITTEN = 1 << 22 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static int64_t read_fd(void *context, void *buffer, size_t size)
{
	return read(*(int *)context, buffer, size);
}

/* All instants of the fixture, in their order. */
static void check_recording(const struct fixture *fixture, int fd)
{
	struct reader_options options = { .read = read_fd, .context = &fd };
	struct reader *reader = reader_new(&options);
	const struct instant *instant;
	uint32_t n = 0;

	lseek(fd, 0, SEEK_SET);
	while (reader_next(reader, &instant) > 0) {
		walk_require(n < fixture->ninstants);
		walk_require(instant->sequence == fixture->instants[n].sequence);
		walk_require(instant->begin == fixture->instants[n].begin);
		walk_require(instant->end == fixture->instants[n++].end);
		walk_instant(instant);
	}
	walk_require(n == fixture->ninstants);
	walk_require(!reader_state(reader)->damaged && !reader_state(reader)->torn);
	reader_free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct fixture fixture = { 0 };
	int err = fixture_read(&fixture, (const char *)bytes, length);

	if (err)
		walk_require(err == -EBADMSG && *fixture.why);
	else if (fixture.words <= WORDS_WRITTEN) {
		int fd = memfd_create("fuzz", 0);

		walk_require(fixture_write(&fixture, fd) == 0);
		check_recording(&fixture, fd);
		close(fd);
	}
	fixture_free(&fixture);
	return 0;
}
