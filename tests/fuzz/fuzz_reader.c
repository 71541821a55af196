/* Any bytes as a recording. The first byte says how: even, they are the file; odd, they are the content of a block of a segment,
 * whose checksums are all right, so that the objects themselves are what is changed. */
#include "walk.h"
#include "wire/index.h"
#include "wire/lz4.h"
#include "wire/reader.h"

struct file {
	const unsigned char *bytes;
	size_t length, at;
};

static volatile uint64_t sum;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static int64_t file_read(void *context, void *buffer, size_t size)
{
	struct file *file = context;
	size_t n = file->length - file->at < size ? file->length - file->at : size;

	if (n)
		memcpy(buffer, file->bytes + file->at, n);
	file->at += n;
	return (int64_t)n;
}

static void read_all(const unsigned char *bytes, size_t length)
{
	struct file file = { bytes, length, 0 };
	struct reader *reader =
		reader_new(&(struct reader_options) { .read = file_read, .context = &file });
	const struct instant *instant;

	while (reader_next(reader, &instant) > 0)
		sum += walk_instant(instant);
	walk_require(!strchr(reader_state(reader)->damage, '\n'));
	reader_free(reader);
}

static void read_content(const unsigned char *bytes, size_t length)
{
	static unsigned char out[1 << 20];
	struct lz4_encoder *encoder = lz4_encoder_new();
	struct mark mark = { .number = 1 };
	size_t used = MARK_FRAME;

	mark_write(out, &mark);
	used += (size_t)lz4_begin(encoder, out + used, sizeof out - used);
	used += (size_t)lz4_block(encoder, bytes, length, out + used, sizeof out - used);
	used += (size_t)lz4_end(encoder, out + used, sizeof out - used);
	lz4_encoder_free(encoder);
	read_all(out, used);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	if (length < 2 || length > 200000)
		return 0;
	if (bytes[0] & 1)
		read_content(bytes + 1, length - 1);
	else
		read_all(bytes + 1, length - 1);
	return 0;
}
