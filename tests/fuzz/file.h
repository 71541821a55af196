/* Bytes as a recording, for targets that read one. */
#ifndef FUZZ_FILE_H
#define FUZZ_FILE_H

#include "wire/index.h"
#include "wire/lz4.h"
#include "wire/reader.h"

struct file {
	const unsigned char *bytes;
	size_t length, at;
};

static inline int64_t file_read(void *context, void *buffer, size_t size)
{
	struct file *file = context;
	size_t n = file->length - file->at < size ? file->length - file->at : size;

	if (n)
		memcpy(buffer, file->bytes + file->at, n);
	file->at += n;
	return (int64_t)n;
}

static inline struct reader *file_reader(struct file *file)
{
	return reader_new(&(struct reader_options) { .read = file_read, .context = file });
}

/* The file whose one block has this content, with checksums that are right; valid until the next call. */
static inline struct file file_of_content(const unsigned char *bytes, size_t length)
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
	return (struct file) { out, used, 0 };
}

#endif
