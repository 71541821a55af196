/* Any bytes as datagrams: each a length of two bytes, then what it holds. The first bit of the length says whether that is the
 * datagram itself or its content, whose checksums are then all right. */
#include "walk.h"
#include "wire/datagram.h"
#include "wire/lz4.h"

static volatile uint64_t sum;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static int take_instant(struct outlet *outlet, const struct instant *instant)
{
	(void)outlet;
	sum += walk_instant(instant);
	return 0;
}

static void receive_content(struct datagram_reader *reader, const unsigned char *bytes,
			    size_t length)
{
	static unsigned char out[1 << 18];
	struct lz4_encoder *encoder = lz4_encoder_new();
	size_t used = (size_t)lz4_begin(encoder, out, sizeof out);

	if (length)
		used += (size_t)lz4_block(encoder, bytes, length, out + used, sizeof out - used);
	used += (size_t)lz4_end(encoder, out + used, sizeof out - used);
	lz4_encoder_free(encoder);
	datagram_receive(reader, 1, out, used);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct outlet outlet = { take_instant };
	struct datagram_reader *reader = datagram_reader_new(&outlet);

	while (length > 2) {
		size_t n = (size_t)(bytes[0] & 0x7f) << 8 | bytes[1];
		int content = bytes[0] & 0x80;

		bytes += 2;
		length -= 2;
		n = n < length ? n : length;
		if (content)
			receive_content(reader, bytes, n);
		else
			datagram_receive(reader, 1, bytes, n);
		bytes += n;
		length -= n;
	}
	datagram_reader_free(reader);
	return 0;
}
