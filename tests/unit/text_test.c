/* The text cursor and the reader of "key value" files: numbers of every width, edges, cut texts. */
#include <stdlib.h>

#include <sonde/plugin.h>

#include "test.h"

const char suite[] = "text";

/* The text in memory of exactly its size, so that a sanitiser sees any read beyond it. */
static bool number_of(const char *text, uint64_t *value, size_t *used)
{
	size_t length = strlen(text);
	char *bytes = malloc(length ? length : 1);
	struct cursor c;
	bool ok;

	memcpy(bytes, text, length);
	c = whole(bytes, length);
	ok = next_u64(&c, value);
	*used = (size_t)(c.at - bytes);
	free(bytes);
	return ok;
}

/* Expected: strtoull(3), for every count of digits, with and without something behind. */
static void numbers_of_every_width(void)
{
	static const char digits[] = "18446744073709551615";
	static const char *const behind[] = { "",  " ", "\n", " 12345678901", "x",
					      ":", "/", ".5", "\xff" };
	char text[64];
	uint64_t value;
	size_t used;

	for (int width = 1; width <= 20; width++)
		for (size_t i = 0; i < sizeof behind / sizeof behind[0]; i++) {
			snprintf(text, sizeof text, "%.*s%s", width, digits, behind[i]);
			CU_ASSERT(number_of(text, &value, &used));
			CU_ASSERT_EQUAL(value, strtoull(text, NULL, 10));
			CU_ASSERT_EQUAL(used, (size_t)width);
		}
}

static void numbers_that_are_none(void)
{
	static const char *const bad[] = { "",
					   " ",
					   "x1",
					   "-1",
					   "18446744073709551616",
					   "99999999999999999999",
					   "184467440737095516150",
					   ":12345678",
					   "/12345678" };
	uint64_t value;
	size_t used;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CU_ASSERT_FALSE(number_of(bad[i], &value, &used));
	CU_ASSERT(number_of("00000000000000000000000000000007", &value, &used));
	CU_ASSERT_EQUAL(value, 7);
}

static void a_number_ends_with_its_line(void)
{
	struct cursor c = cursor("12\n3456789 1", 12);
	uint64_t value;

	CU_ASSERT(next_line(&c));
	CU_ASSERT(next_u64(&c, &value));
	CU_ASSERT_EQUAL(value, 12);
	CU_ASSERT_FALSE(next_u64(&c, &value));
	c = whole("12345678", 8);
	c.end = c.at + 3; /* a line that somebody cut shorter than what is readable */
	CU_ASSERT(next_u64(&c, &value));
	CU_ASSERT_EQUAL(value, 123);
}

static void fixed_point(void)
{
	static const struct {
		const char *text;
		uint64_t value;
	} cases[] = { { "12.34", 1234 }, { "0.00", 0 },       { "0.05", 5 },   { "7", 700 },
		      { "7.5", 750 },    { "100.00", 10000 }, { "1.239", 123 } };
	uint64_t value;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct cursor c = whole(cases[i].text, strlen(cases[i].text));

		CU_ASSERT(next_fixed(&c, 2, &value));
		CU_ASSERT_EQUAL(value, cases[i].value);
	}
}

static void signed_numbers(void)
{
	struct cursor c = whole("-1948031333 -9223372036854775808 -9223372036854775809", 53);
	int64_t value;

	CU_ASSERT(next_i64(&c, &value));
	CU_ASSERT_EQUAL(value, -1948031333);
	CU_ASSERT(next_i64(&c, &value));
	CU_ASSERT_EQUAL(value, INT64_MIN);
	CU_ASSERT_FALSE(next_i64(&c, &value));
}

static void a_cut_word_is_no_word(void)
{
	CU_ASSERT_EQUAL(whole_words("a 12\nb 3", 8), 7);
	CU_ASSERT_EQUAL(whole_words("a 12\n", 5), 5);
	CU_ASSERT_EQUAL(whole_words("a12", 3), 0);
	CU_ASSERT_EQUAL(whole_words("", 0), 0);
}

static void names_of_columns(void)
{
	static const char *const names[][2] = {
		{ "MemAvailable:", "mem_available" }, { "Active(anon):", "active_anon" },
		{ "SReclaimable:", "s_reclaimable" }, { "HugePages_Total:", "huge_pages_total" },
		{ "NFS_Unstable:", "nfs_unstable" },  { "DirectMap2M:", "direct_map2m" },
		{ "GPUActive:", "gpu_active" },       { "Committed_AS:", "committed_as" },
		{ "nr_free_pages", "nr_free_pages" },
	};
	char name[KEYED_NAME];

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		CU_ASSERT(keyed_name(names[i][0], strlen(names[i][0]), name));
		CU_ASSERT_STRING_EQUAL(name, names[i][1]);
	}
	CU_ASSERT_FALSE(keyed_name("4k", 2, name));
	CU_ASSERT_FALSE(keyed_name("a/b", 3, name));
	CU_ASSERT_FALSE(keyed_name(":", 1, name));
	CU_ASSERT_FALSE(keyed_name(
		"a1234567890123456789012345678901234567890123456789012345678901234567", 68, name));
}

/* Keys learned in one order are found in any other; unknown ones and cut values are passed over. */
static void keys_move(void)
{
	static const char learned[] = "a 1\nbb 2\na 5\nccc 3\nlonger_key_than_eight 4\n";
	static const char moved[] =
		"new 9\nccc 30\na 10\nlonger_key_than_eighx 7\nlonger_key_than_eight 40\nbb 2";
	static const struct sonde_column columns[] = {
		{ "a", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("x"), .origin = "a" },
		{ "bb", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("x"), .origin = "bb" },
		{ "ccc", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("x"), .origin = "ccc" },
		{ "longer", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("x"),
		  .origin = "longer_key_than_eight" },
	};
	const struct sonde_array array = SONDE_COLUMNS(columns);
	struct keyed_more more = { .count = 0 };
	struct keyed keyed = { .lines = malloc(keyed_size(learned, sizeof learned - 1)) };
	uint64_t have[1] = { 0 }, slots[4];
	struct sonde_row row = { slots, have, NULL };

	keyed_learn(&keyed, &array, &more, 0, learned, sizeof learned - 1, 0);
	CU_ASSERT_EQUAL(keyed.count, 4);
	CU_ASSERT_EQUAL(more.count, 0);
	keyed_parse(&keyed, (struct keyed_last) { NULL, NULL }, moved, sizeof moved - 1, 0, &row,
		    NULL);
	CU_ASSERT_EQUAL(have[0], 0xd); /* bb is cut */
	CU_ASSERT_EQUAL(slots[0], 10);
	CU_ASSERT_EQUAL(slots[2], 30);
	CU_ASSERT_EQUAL(slots[3], 40);
	free(keyed.lines);
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Lines of these keys in a text: most as they are, some left out, moved, twice, with another value, cut, or none of ours. */
static size_t shuffled(char *text, size_t size, uint32_t *random, const uint32_t values[8])
{
	static const char *const keys[] = { "a",       "bb", "ccc", "a_longer_key",
					    "Key(x):", "f",  "g",   "hh" };
	size_t n = 0;

	for (uint32_t i = 0; i < 8; i++) {
		uint32_t what = next_random(random) % 16;
		uint32_t k = what == 0 ? next_random(random) % 8 : i;

		if (what == 1)
			continue;
		if (what == 2)
			n += (size_t)snprintf(text + n, size - n, "other %u\n", k);
		n += (size_t)snprintf(text + n, size - n, "%s %s%u kB%s", keys[k],
				      what == 3 ? "   " : "", values[k],
				      what == 4 && i == 7 ? "" : "\n");
	}
	return n;
}

/* What is remembered of the sample before never changes a value: each text gives what it gives alone. */
static void the_sample_before_changes_nothing(void)
{
	static const char learned[] =
		"a 1\nbb 2\nccc 3\na_longer_key 4\nKey(x): 5 kB\nf 6\ng 7\nhh 8\n";
	struct keyed_more more = { .count = 0 };
	struct keyed keyed = { .lines = malloc(keyed_size(learned, sizeof learned - 1)),
			       .room = 88 };
	const struct sonde_array none = { NULL, 0, 0 };
	uint32_t random = 1, values[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, same = 0;
	char text[512];
	void *block;

	keyed_learn(&keyed, &none, &more, 0, learned, sizeof learned - 1, 0);
	CU_ASSERT_EQUAL_FATAL(keyed.count, 8);
	block = calloc(1, keyed_last_size(&keyed));
	for (int i = 0; i < 20000; i++) {
		struct keyed_last last = keyed_last(&keyed, block, 0);
		uint64_t have[2] = { 0 }, slots[2][8] = { { 0 } };
		struct sonde_row row = { NULL, NULL, NULL };
		struct sonde_row with = { slots[0], &have[0], NULL };
		struct sonde_row alone = { slots[1], &have[1], NULL };
		size_t length;

		if (next_random(&random) % 4 == 0)
			values[next_random(&random) % 8] = next_random(&random) % 2000;
		length = shuffled(text, sizeof text, &random, values);
		keyed_parse(&keyed, last, text, length, 0, &row, &with);
		keyed_parse(&keyed, (struct keyed_last) { NULL, NULL }, text, length, 0, &row,
			    &alone);
		same += have[0] == have[1] && memcmp(slots[0], slots[1], sizeof slots[0]) == 0;
	}
	CU_ASSERT_EQUAL(same, 20000);
	free(block);
	free(keyed.lines);
}

CU_TestInfo tests[] = {
	{ "numbers of every width", numbers_of_every_width },
	{ "numbers that are none", numbers_that_are_none },
	{ "a number ends with its line", a_number_ends_with_its_line },
	{ "fixed point", fixed_point },
	{ "signed numbers", signed_numbers },
	{ "a cut word is no word", a_cut_word_is_no_word },
	{ "names of columns", names_of_columns },
	{ "keys that move", keys_move },
	{ "the sample before changes nothing", the_sample_before_changes_nothing },
	CU_TEST_INFO_NULL,
};
