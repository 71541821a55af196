/* Bytes of a stream as they come: a window over read(2)-like input. */
#ifndef WIRE_INPUT_H
#define WIRE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input {
	int64_t (*read)(void *context, void *buffer, size_t size);
	int64_t (*seek)(void *context, int64_t offset, int whence); /* NULL: it can't */
	void *context;
	unsigned char *bytes;  /* those from `offset` of the stream on */
	size_t at, used, size; /* at: what was taken of them */
	uint64_t offset;
};

/* A window of `size` bytes; 0 or -ENOMEM. */
int input_init(struct input *input, size_t size);
void input_free(struct input *input);

/* Reads until `n` bytes, at most the window's size, are there or nothing more comes. Bytes that are there, which may be fewer
 * or more, or the negative errno of read. */
int64_t input_want(struct input *input, size_t n);

static inline const unsigned char *input_bytes(const struct input *input)
{
	return input->bytes + input->at;
}

static inline size_t input_left(const struct input *input)
{
	return input->used - input->at;
}

static inline void input_take(struct input *input, size_t n)
{
	input->at += n;
}

/* Offset in the stream of the next byte. */
static inline uint64_t input_offset(const struct input *input)
{
	return input->offset + input->at;
}

/* Goes on at this offset of the stream. 0 or negative errno. */
int input_seek(struct input *input, uint64_t offset);

#endif
