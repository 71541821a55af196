/* "NAME KIND UNIT WHERE": a column as an INI file declares it, since a number without unit and semantics is none. */
#include "text.h"

static const struct {
	const char *word;
	uint32_t unit, mul, div;
} units[] = {
	{ "none", SONDE_BASE_NONE, 1, 1 },       { "count", SONDE_BASE_COUNT, 1, 1 },
	{ "bytes", SONDE_BASE_BYTES, 1, 1 },     { "kib", SONDE_BASE_BYTES, 1024, 1 },
	{ "sectors", SONDE_BASE_BYTES, 512, 1 }, { "ns", SONDE_BASE_NS, 1, 1 },
	{ "us", SONDE_BASE_NS, 1000, 1 },        { "ms", SONDE_BASE_NS, 1000000, 1 },
	{ "s", SONDE_BASE_NS, 1000000000, 1 },   { "ticks", SONDE_BASE_NS, 0, 1 },
	{ "hz", SONDE_BASE_HZ, 1, 1 },           { "khz", SONDE_BASE_HZ, 1000, 1 },
	{ "ratio", SONDE_BASE_RATIO, 1, 1 },     { "percent", SONDE_BASE_RATIO, 1, 100 },
	{ "celsius", SONDE_BASE_CELSIUS, 1, 1 }, { "joule", SONDE_BASE_JOULE, 1, 1 },
	{ "watt", SONDE_BASE_WATT, 1, 1 },       { "volt", SONDE_BASE_VOLT, 1, 1 },
	{ "ampere", SONDE_BASE_AMPERE, 1, 1 },
};

static const struct {
	const char *word;
	uint32_t semantics, type;
} kinds[] = {
	{ "key", SONDE_KEY, SONDE_STR },     { "counter", SONDE_COUNTER, SONDE_U64 },
	{ "gauge", SONDE_GAUGE, SONDE_I64 }, { "state", SONDE_STATE, SONDE_STR },
	{ "info", SONDE_INFO, SONDE_STR },
};

static bool is(const char *word, size_t length, const char *text)
{
	return strlen(text) == length && memcmp(word, text, length) == 0;
}

/* "gauge", or "gauge.2": of a number with decimals two are kept. */
static bool take_kind(const char *word, size_t length, struct text_field *field)
{
	const char *dot = memchr(word, '.', length);
	size_t n = dot ? (size_t)(dot - word) : length;

	field->digits = 0;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		if (!is(word, n, kinds[i].word))
			continue;
		field->semantics = kinds[i].semantics;
		field->type = kinds[i].type;
		if (!dot)
			return true;
		field->digits = length == n + 2 ? (uint32_t)(unsigned char)(word[n + 1] - '0') : 10;
		return field->type != SONDE_STR && field->digits && field->digits <= 6;
	}
	return false;
}

/* "bytes", or "count:requests". */
static bool take_unit(const char *word, size_t length, struct text_field *field)
{
	const char *colon = memchr(word, ':', length);
	size_t n = colon ? (size_t)(colon - word) : length;

	if (colon && (length - n - 1 >= NAME_MOST || length == n + 1))
		return false;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		if (!is(word, n, units[i].word) ||
		    (units[i].unit == SONDE_BASE_COUNT) != (colon != NULL))
			continue;
		field->unit = units[i].unit;
		field->mul = units[i].mul;
		field->div = units[i].div;
		for (uint32_t d = 0; d < field->digits; d++)
			field->div *= 10;
		if (colon)
			memcpy(field->counted, colon + 1, length - n - 1);
		return true;
	}
	return false;
}

/* "3"; or of a keyed text "rc", "rc:2", "MemTotal:". */
static bool take_where(const char *word, size_t length, enum text_format format,
		       struct text_field *field)
{
	struct cursor number;
	const char *colon = memrchr(word, ':', length);
	uint64_t n = 1;

	field->key = NULL;
	if (format == FORMAT_COLUMNS) {
		number = whole(word, length);
	} else {
		bool numbered = colon && colon + 1 < word + length && colon > word;

		number = numbered ? whole(colon + 1, (size_t)(word + length - colon - 1))
				  : whole("1", 1);
		field->key = word;
		field->nkey = (uint32_t)(numbered ? (size_t)(colon - word) : length);
	}
	if (!next_u64(&number, &n) || number.at != number.end || !n || n > 4096)
		return false;
	field->word = (uint32_t)n;
	return true;
}

static bool take_name(const char *word, size_t length, struct text_field *field)
{
	if (!length || length >= NAME_MOST || word[0] < 'a' || word[0] > 'z')
		return false;
	for (size_t i = 0; i < length; i++)
		if (!((word[i] >= 'a' && word[i] <= 'z') || (word[i] >= '0' && word[i] <= '9') ||
		      word[i] == '_'))
			return false;
	memcpy(field->name, word, length);
	return true;
}

int text_declare(const char *text, enum text_format format, struct text_field *field, char *why,
		 size_t size)
{
	struct cursor line = whole(text, strlen(text));
	const char *word[4], *more, *wrong = NULL;
	size_t length[4];

	*field = (struct text_field) { .name = "" };
	for (int i = 0; i < 4; i++)
		length[i] = next_word(&line, &word[i]);
	if (!length[3] || next_word(&line, &more))
		wrong = "a column is NAME KIND UNIT WHERE, as in: hits counter count:requests 2";
	else if (!take_name(word[0], length[0], field))
		wrong = "a name has small letters, digits and _, a letter first";
	else if (!take_kind(word[1], length[1], field))
		wrong = "the kind is key, counter, gauge, state or info; of a number with decimals gauge.2 keeps two";
	else if (!take_unit(word[2], length[2], field))
		wrong = "the unit is none, count:WHAT, bytes, kib, sectors, ns, us, ms, s, ticks, hz, khz, ratio, percent, celsius, joule, watt, volt or ampere";
	else if (!take_where(word[3], length[3], format, field))
		wrong = format == FORMAT_COLUMNS
				? "where is the number of the word in its line, from 1"
				: "where is the word that the line begins with, or that and a number: rc:2";
	else if (field->semantics == SONDE_KEY && format == FORMAT_KEYED)
		wrong = "a keyed text is one row and has no key but its file";
	else if (field->type == SONDE_STR && field->unit != SONDE_BASE_NONE)
		wrong = "a text has the unit none";
	if (!wrong)
		return 0;
	snprintf(why, size, "column = %s: %s", text, wrong);
	return -EINVAL;
}
