/* Any bytes as a recording. The first byte says how: even, they are the file; odd, they are the content of a block of a segment,
 * whose checksums are all right, so that the objects themselves are what is changed. */
#include "tests/unit/shadow.h"
#include "file.h"
#include "walk.h"

static volatile uint64_t sum;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void read_all(struct file file)
{
	struct reader *reader = file_reader(&file);
	const struct instant *instant;
	struct shadows shadows = { 0 };

	while (reader_next(reader, &instant) > 0) {
		sum += walk_instant(instant);
		walk_require(shadow_instant(&shadows, instant));
	}
	shadows_free(&shadows);
	walk_require(!strchr(reader_state(reader)->damage, '\n'));
	reader_free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	if (length < 2 || length > 200000)
		return 0;
	if (bytes[0] & 1)
		read_all(file_of_content(bytes + 1, length - 1));
	else
		read_all((struct file) { bytes + 1, length - 1, 0 });
	return 0;
}
