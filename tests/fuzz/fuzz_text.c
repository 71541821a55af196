/* Any bytes as a declaration of a column and, behind the first NUL, as a text with such a column. */
#include <stdlib.h>

#include "plugins/text/declare.c"
#include "plugins/text/parse.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t slots[1], have[1] = { 0 };
	char bytes[1 << 12], why[512];
	struct sonde_strings strings = { .bytes = bytes, .size = sizeof bytes };
	struct sonde_row row = { slots, have, &strings };
	const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
	struct text_field field;
	struct cursor line;
	size_t length;
	char *text;

	if (!nul)
		return 0;
	length = (size_t)(data + size - nul - 1);
	text = malloc(length + 1);
	if (!text)
		return 0;
	memcpy(text, nul + 1, length);
	if (!text_declare((const char *)data, FORMAT_KEYED, &field, why, sizeof why))
		text_parse_keyed(&field, 1, text, length, &row);
	line = cursor(text, length);
	if (!text_declare((const char *)data, FORMAT_COLUMNS, &field, why, sizeof why))
		while (next_line(&line))
			text_parse_line(&field, 1, line, &row);
	if (strings.used > strings.size || have[0] > 1)
		abort();
	free(text);
	return 0;
}
