/* msgpack into a buffer: what the template of msgpack-c lacks. */
#include "wire/pack.h"

/* Length of the UTF-8 sequence at p, by RFC 3629 table 3-7 of Unicode; 0: not one. */
static size_t utf8_sequence(const unsigned char *p, size_t left)
{
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	unsigned char low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
	unsigned char high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;

	if (!n || n > left || p[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++, low = 0x80, high = 0xbf)
		if (p[i] < low || p[i] > high)
			return 0;
	return n;
}

void pack_text(struct pack *pack, const char *text, size_t length)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t at = 0, n = 1;

	while (at < length && (n = utf8_sequence(p + at, length - at)))
		at += n;
	if (at < length) {
		pack_bytes(pack, text, length);
	} else {
		pack_str(pack, length);
		pack_str_body(pack, text, length);
	}
}

void pack_f64(struct pack *pack, uint64_t bits)
{
	double wide, back;
	float narrow;

	memcpy(&wide, &bits, sizeof wide);
	narrow = wide >= -3e38 && wide <= 3e38 ? (float)wide : 0;
	back = narrow;
	if (memcmp(&back, &wide, sizeof back) == 0)
		pack_float(pack, narrow);
	else
		pack_double(pack, wide);
}
