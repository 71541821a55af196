/* Bytes of a stream as they come. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire/input.h"

int input_init(struct input *input, size_t size)
{
	input->bytes = malloc(size);
	input->size = size;
	return input->bytes ? 0 : -ENOMEM;
}

void input_free(struct input *input)
{
	free(input->bytes);
	input->bytes = NULL;
}

int64_t input_want(struct input *input, size_t n)
{
	while (input_left(input) < n) {
		int64_t got;

		if (input->size - input->at < n) {
			memmove(input->bytes, input->bytes + input->at, input_left(input));
			input->offset += input->at;
			input->used -= input->at;
			input->at = 0;
		}
		got = input->read(input->context, input->bytes + input->used,
				  input->size - input->used);
		if (got < 0)
			return got;
		if (!got)
			break;
		input->used += (size_t)got;
	}
	return (int64_t)input_left(input);
}

int input_seek(struct input *input, uint64_t offset)
{
	int64_t at = input->seek(input->context, (int64_t)offset, SEEK_SET);

	if (at < 0)
		return (int)at;
	input->at = input->used = 0;
	input->offset = offset;
	return 0;
}
