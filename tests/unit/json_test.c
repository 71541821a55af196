/* Numbers and JSON rows of the stdout sink. Expected texts are by hand after RFC 8259, those of
 * doubles what Python's repr() prints. */
#include "stdout_host.h"

const char suite[] = "json";

enum { JSON = 1 };

enum { CPU, NAME, TOTAL, LEFT, RATIO, WAIT, COLUMNS = WAIT + 1 };

/* clang-format off */
static const struct sonde_column columns[COLUMNS] = {
	[CPU]   = { "cpu",   SONDE_U64,  SONDE_KEY,     SONDE_NONE, .help = "" },
	[NAME]  = { "name",  SONDE_STR,  SONDE_KEY,     SONDE_NONE, .help = "" },
	[TOTAL] = { "total", SONDE_U64,  SONDE_COUNTER, SONDE_TICKS, .help = "" },
	[LEFT]  = { "left",  SONDE_I64,  SONDE_GAUGE,   SONDE_KIB, .help = "" },
	[RATIO] = { "ratio", SONDE_F64,  SONDE_GAUGE,   SONDE_PERCENT, .help = "" },
	[WAIT]  = { "wait",  SONDE_HIST, SONDE_COUNTER, SONDE_COUNT("waits"), .slots = 3 },
};
/* clang-format on */
static const struct sonde_table table = { .name = "thing", .columns = SONDE_COLUMNS(columns) };

#define HEAD                                                                                       \
	"{\"time\":1700000000000000001,\"boottime\":5000000007,\"host\":\"web1\",\"boot\":"        \
	"\"b-1\",\"instance\":\"thing a\",\"sequence\":3,\"table\":\"thing\",\"hash\":\"%016llx\"" \
	",\"keys\":{"

/* Whether the text is one line for each of `rests`, each behind the same head. */
static void check_rows(const char *text, const struct sample *sample, const char *const *rests)
{
	char expected[8192];
	size_t used = 0;

	for (; *rests; rests++) {
		used += (size_t)snprintf(expected + used, sizeof expected - used, HEAD,
					 (unsigned long long)sample->schema->hash);
		used += (size_t)snprintf(expected + used, sizeof expected - used, "%s\n", *rests);
	}
	CU_ASSERT_STRING_EQUAL(text, expected);
}

/* sinks/stdout/stdout.md: the form of a row. Absent values are left out, integers printed whole. */
static void rows(void)
{
	struct sonde_instance self = opened(JSON);
	struct sample sample;
	struct sonde_row row;

	sample_make(&sample, &table);
	row = sample_row(&sample);
	sonde_set_u64(&row, CPU, 7);
	sonde_set_str(&row, NAME, "a");
	sonde_set_u64(&row, TOTAL, UINT64_MAX);
	sonde_set_i64(&row, LEFT, INT64_MIN);
	sonde_set_f64(&row, RATIO, 0.1);
	sonde_set_u64(&row, WAIT, 0);
	sonde_set_u64(&row, WAIT + 2, 5);
	sample_row(&sample);
	check_rows(written(&self, sample_view(&sample, "thing a")), &sample,
		   (const char *[]) {
			   "\"cpu\":7,\"name\":\"a\"},\"values\":{\"total\":18446744073709551615,"
			   "\"left\":-9223372036854775808,\"ratio\":0.1,\"wait\":[0,null,5]}}",
			   "},\"values\":{}}", NULL });
	sample_free(&sample);
}

/* Readers that keep doubles round above 2^53: all integers as text, those of the head too. JSON has
 * no NaN. */
static void integers_as_text(void)
{
	struct sonde_instance self = opened(JSON);
	struct sample sample;
	struct sonde_row row;
	const char *text;

	set.integers = 1;
	sample_make(&sample, &table);
	row = sample_row(&sample);
	sonde_set_u64(&row, CPU, 7);
	sonde_set_i64(&row, LEFT, -3);
	sonde_set_f64(&row, RATIO, sonde_slot_f64(UINT64_C(0x7ff8000000000000)));
	text = written(&self, sample_view(&sample, "t"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "{\"time\":\"1700000000000000001\",\"boottime\":"
					    "\"5000000007\","));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"sequence\":\"3\","));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"keys\":{\"cpu\":\"7\"},\"values\":{\"left\":\"-3\","
					    "\"ratio\":null}}\n"));
	sample_free(&sample);
}

static const char *json_of(const char *bytes, size_t length)
{
	static char text[4096];
	struct out out;

	CU_ASSERT_EQUAL_FATAL(out_make(&out, -1), 0);
	json_string(&out, bytes, length);
	snprintf(text, sizeof text, "%.*s", (int)out.used, out.bytes);
	out_free(&out);
	return text;
}

#define JSON_OF(literal) json_of(literal, sizeof literal - 1)

/* Cases 3, 5, 6 and 167 of the corpus: names that are text of a record, lines, quotes or cut
 * UTF-8. */
static void foreign_names(void)
{
	CU_ASSERT_STRING_EQUAL(JSON_OF("my file with\nsp"), "\"my file with\\nsp\"");
	CU_ASSERT_STRING_EQUAL(JSON_OF("bad) S 1 2 3 4"), "\"bad) S 1 2 3 4\"");
	CU_ASSERT_STRING_EQUAL(JSON_OF("inner-job-\xe5\x90\x8c\xe6\xad"),
			       "\"inner-job-\xe5\x90\x8c\xef\xbf\xbd\xef\xbf\xbd\"");
	CU_ASSERT_STRING_EQUAL(JSON_OF("a\"b\n\\c"), "\"a\\\"b\\n\\\\c\"");
}

/* RFC 8259, 7. What moves a cursor or turns a line around is escaped, too: C1, U+202E, U+2028, and
 * U+E0041 as its two surrogates D800 + (0xD0041 >> 10), DC00 + (0xD0041 & 0x3ff). */
static void escapes(void)
{
	CU_ASSERT_STRING_EQUAL(JSON_OF("\b\f\n\r\t\x01\x1f\x7f"),
			       "\"\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\"");
	CU_ASSERT_STRING_EQUAL(JSON_OF("\0x"), "\"\\u0000x\"");
	CU_ASSERT_STRING_EQUAL(JSON_OF("\xc2\x9b\xe2\x80\xae\xe2\x80\xa8\xef\xbb\xbf"),
			       "\"\\u009b\\u202e\\u2028\\ufeff\"");
	CU_ASSERT_STRING_EQUAL(JSON_OF("\xf3\xa0\x81\x81"), "\"\\udb40\\udc41\"");
	CU_ASSERT_STRING_EQUAL(JSON_OF("/ \xc3\xa4 \xf0\x9f\x98\x80"),
			       "\"/ \xc3\xa4 \xf0\x9f\x98\x80\"");
}

/* The Unicode Standard 15.0, table 3-7: overlong forms, surrogates, beyond U+10FFFF, lone and cut
 * bytes are not UTF-8. */
static void not_utf8(void)
{
	static const char *const bad[] = {
		"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80",
		"\x80",     "\xff",         "\xc3",         "\xe2\x82",         "\xf0\x9f\x98"
	};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char expected[64] = "\"";

		for (size_t n = 0; n < strlen(bad[i]); n++)
			strcat(expected, "\xef\xbf\xbd");
		strcat(expected, "\"");
		CU_ASSERT_STRING_EQUAL(json_of(bad[i], strlen(bad[i])), expected);
	}
}

/* Of `tags = env=prod, dc=fra 1`. */
static void tags(void)
{
	struct sonde_instance self = opened(JSON);
	struct sonde_stream_header header = some_header;
	struct sample sample;

	header.ntags = 2;
	sample_make(&sample, &table);
	sample_row(&sample);
	sample_view(&sample, "t");
	sample.view.header = &header;
	CU_ASSERT_PTR_NOT_NULL(strstr(written(&self, &sample.view),
				      "\"boot\":\"b-1\",\"tags\":{\"env\":\"prod\",\"dc\":"
				      "\"fra 1\"},\"instance\":\"t\""));
	sample_free(&sample);
}

/* Base units: 5 ticks of 100 Hz are 50,000,000 ns, 3 KiB 3,072 bytes, 12.5 % 0.125. What 64 bits do
 * not hold is left out, and so are ticks of a machine whose USER_HZ is not known. */
static void base_units(void)
{
	struct sonde_stream_header unknown = some_header;
	struct sonde_instance self = opened(JSON);
	struct sample sample;
	struct sonde_row row;

	unknown.user_hz = 0;
	set.scaled = true;
	sample_make(&sample, &table);
	row = sample_row(&sample);
	sonde_set_u64(&row, TOTAL, 5);
	sonde_set_i64(&row, LEFT, -3);
	sonde_set_f64(&row, RATIO, 12.5);
	row = sample_row(&sample);
	sonde_set_u64(&row, TOTAL, UINT64_MAX / 9);
	sonde_set_i64(&row, LEFT, INT64_MIN);
	check_rows(written(&self, sample_view(&sample, "thing a")), &sample,
		   (const char *[]) {
			   "},\"values\":{\"total\":50000000,\"left\":-3072,\"ratio\":0.125}}",
			   "},\"values\":{}}", NULL });
	self = opened(JSON);
	set.scaled = true;
	sample.view.header = &unknown;
	sample.view.nrows = 1;
	check_rows(written(&self, &sample.view), &sample,
		   (const char *[]) { "},\"values\":{\"left\":-3072,\"ratio\":0.125}}", NULL });
	sample_free(&sample);
}

static void only_changed(void)
{
	static const uint32_t changed[] = { 1 };
	struct sonde_instance self = opened(JSON);
	struct sample sample;

	set.rows = 1;
	sample_make(&sample, &table);
	for (uint64_t i = 0; i < 3; i++) {
		struct sonde_row row = sample_row(&sample);

		sonde_set_u64(&row, CPU, i);
	}
	sample_view(&sample, "thing a");
	sample.view.changed = changed;
	sample.view.nchanged = 1;
	check_rows(written(&self, &sample.view), &sample,
		   (const char *[]) { "\"cpu\":1},\"values\":{}}", NULL });
	sample_free(&sample);
}

/* A text longer than the buffer's steps comes out whole. */
static void long_text(void)
{
	static char name[60000];
	struct sonde_instance self = opened(JSON);
	struct sample sample;
	const char *text;
	uint32_t lost;

	memset(name, 'x', sizeof name);
	name[0] = '"';
	sample_make(&sample, &table);
	for (int i = 0; i < 40; i++) { /* 2.4 MB: more than the arena's first strings */
		struct sonde_row row = sample_row(&sample);

		sonde_set_bytes(&row, NAME, name, sizeof name);
	}
	lost = sample.frame.strings.lost;
	CU_ASSERT_EQUAL_FATAL(frame_begin(&sample.frame), 0);
	CU_ASSERT_FATAL(lost > 0);
	for (int i = 0; i < 10; i++) {
		struct sonde_row row = sample_row(&sample);

		sonde_set_bytes(&row, NAME, name, sizeof name);
	}
	text = written(&self, sample_view(&sample, "t"));
	for (int i = 0; i < 10; i++) {
		text = strstr(text, "\"name\":\"\\\"x");
		CU_ASSERT_PTR_NOT_NULL_FATAL(text);
		text += strlen("\"name\":\"\\\"");
		CU_ASSERT_EQUAL(strspn(text, "x"), sizeof name - 1);
	}
	sample_free(&sample);
}

static void integers(void)
{
	char text[32], expected[32];

	for (uint64_t n = 1; n; n = n > UINT64_MAX / 7 ? 0 : n * 7) {
		for (uint64_t value = n - 1; value <= n + 1; value++) {
			text[put_u64(text, value)] = '\0';
			snprintf(expected, sizeof expected, "%llu", (unsigned long long)value);
			CU_ASSERT_STRING_EQUAL(text, expected);
			text[put_i64(text, (int64_t)(0 - value))] = '\0';
			snprintf(expected, sizeof expected, "%lld", (long long)(0 - value));
			CU_ASSERT_STRING_EQUAL(text, expected);
		}
	}
	text[put_u64(text, UINT64_MAX)] = '\0';
	CU_ASSERT_STRING_EQUAL(text, "18446744073709551615");
	text[put_i64(text, INT64_MIN)] = '\0';
	CU_ASSERT_STRING_EQUAL(text, "-9223372036854775808");
}

/* Python's repr(), which gives the shortest text; exponents as C writes them. */
static void doubles(void)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{ 0.0, "0" },
		{ -0.0, "-0" },
		{ 1.0, "1" },
		{ -1.5, "-1.5" },
		{ 0.1, "0.1" },
		{ 0.30000000000000004, "0.30000000000000004" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 2.0 / 3, "0.6666666666666666" },
		{ 12.34, "12.34" },
		{ 0.00001, "0.00001" },
		{ 123456.789012, "123456.789012" },
		{ 9007199254740991.0, "9007199254740991" },
		{ 9007199254740992.0, "9007199254740992" },
		{ 1e22, "1e+22" },
		{ 1e300, "1e+300" },
		{ 1.7976931348623157e308, "1.7976931348623157e+308" },
		{ 2.2250738585072014e-308, "2.2250738585072014e-308" },
		{ 5e-324, "5e-324" },
		{ 123456789.123456789, "123456789.12345679" },
	};
	char text[PUT_F64 + 1];

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		text[put_f64(text, cases[i].value)] = '\0';
		CU_ASSERT_STRING_EQUAL(text, cases[i].text);
	}
}

/* Any bits at all: what strtod(3) reads back is the same number. */
static void doubles_round_trip(void)
{
	uint64_t bits = 88172645463325252u;
	char text[PUT_F64 + 1];
	unsigned wrong = 0;

	for (int i = 0; i < 100000; i++) {
		double value;
		unsigned length;

		bits ^= bits << 13; /* G. Marsaglia, "Xorshift RNGs" */
		bits ^= bits >> 7;
		bits ^= bits << 17;
		value = i & 1 ? sonde_slot_f64(bits) : (double)(bits >> 40) / 4096;
		length = put_f64(text, value);
		text[length] = '\0';
		if (length > PUT_F64 || (value == value && strtod(text, NULL) != value))
			wrong++;
	}
	CU_ASSERT_EQUAL(wrong, 0);
}

/* `date -u -d @N`. */
static void times(void)
{
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "1970-01-01T00:00:00.000000000Z" },
		{ -1, "1969-12-31T23:59:59.999999999Z" },
		{ 951827696000000005, "2000-02-29T12:34:56.000000005Z" },
		{ 1700000000123456789, "2023-11-14T22:13:20.123456789Z" },
		{ INT64_MAX, "2262-04-11T23:47:16.854775807Z" },
		{ INT64_MIN, "1677-09-21T00:12:43.145224192Z" },
	};
	struct out out;

	CU_ASSERT_EQUAL_FATAL(out_make(&out, -1), 0);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		out.used = 0;
		out_time(&out, cases[i].ns);
		out_char(&out, '\0');
		CU_ASSERT_STRING_EQUAL(out.bytes, cases[i].text);
	}
	out_free(&out);
}

CU_TestInfo tests[] = {
	{ "rows", rows },
	{ "integers as text", integers_as_text },
	{ "foreign names", foreign_names },
	{ "escapes", escapes },
	{ "not UTF-8", not_utf8 },
	{ "tags", tags },
	{ "base units", base_units },
	{ "only changed rows", only_changed },
	{ "long text", long_text },
	{ "integers", integers },
	{ "doubles", doubles },
	{ "doubles round trip", doubles_round_trip },
	{ "times", times },
	CU_TEST_INFO_NULL,
};
