/* Texts of declared columns: pure parsers. */
#include "text.h"

/* The word at the cursor as what the field is. One that is no such number leaves the value absent. */
static bool take_value(const struct text_field *field, struct cursor *line, struct sonde_row *row)
{
	const char *word;
	uint64_t value;
	bool minus;
	size_t length;

	if (field->type == SONDE_STR) {
		length = next_word(line, &word);
		if (length)
			sonde_set_bytes(row, field->slot, word, length);
		return length != 0;
	}
	minus = field->type == SONDE_I64 && take(line, "-");
	if (!next_fixed(line, field->digits, &value) ||
	    (field->type == SONDE_I64 && value > INT64_MAX))
		return false;
	sonde_set_u64(row, field->slot, minus ? 0 - value : value);
	return true;
}

static bool skip_words(struct cursor *line, uint32_t count)
{
	const char *word;

	while (count && next_word(line, &word))
		count--;
	return !count;
}

void text_parse_keyed(const struct text_field *fields, uint32_t count, const char *text,
		      size_t length, struct sonde_row *row)
{
	struct cursor line = cursor(text, length);

	while (next_line(&line)) {
		const char *word;
		size_t n = next_word(&line, &word);

		for (uint32_t i = 0; n && i < count; i++) {
			struct cursor values = line;

			if (fields[i].nkey == n && memcmp(fields[i].key, word, n) == 0 &&
			    skip_words(&values, fields[i].word - 1))
				take_value(&fields[i], &values, row);
		}
	}
}

bool text_parse_line(const struct text_field *fields, uint32_t count, struct cursor line,
		     struct sonde_row *row)
{
	bool any = false;

	for (uint32_t i = 0; i < count; i++) {
		struct cursor words = line;

		if (skip_words(&words, fields[i].word - 1))
			any |= take_value(&fields[i], &words, row);
	}
	return any;
}
