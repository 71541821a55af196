/* text: columns as they are declared; expected values are those of the texts. */
#include "plugins/text/declare.c"
#include "plugins/text/parse.c"
#include "plugins/text/text.c"

#include "fakehost.h"

const char suite[] = "text_collector";

static struct conf conf;

#define LIST(...)                                                                                  \
	{                                                                                          \
		(const char *const[]) { __VA_ARGS__ },                                             \
			sizeof((const char *const[]) { __VA_ARGS__ }) / sizeof(const char *), 0    \
	}

static int start_with(struct conf with)
{
	conf = with;
	fake.self.conf = &conf;
	return fake_start("");
}

static const char *refused(const char *column, enum text_format format)
{
	static char why[512];
	struct text_field field;

	return text_declare(column, format, &field, why, sizeof why) ? why : "taken";
}

static void declarations(void)
{
	struct text_field field;
	char why[512];

	CU_ASSERT_EQUAL(text_declare("hits counter count:requests rc:2", FORMAT_KEYED, &field, why,
				     sizeof why),
			0);
	CU_ASSERT_STRING_EQUAL(field.name, "hits");
	CU_ASSERT_EQUAL(field.semantics, SONDE_COUNTER);
	CU_ASSERT_EQUAL(field.type, SONDE_U64);
	CU_ASSERT_EQUAL(field.unit, SONDE_BASE_COUNT);
	CU_ASSERT_STRING_EQUAL(field.counted, "requests");
	CU_ASSERT_EQUAL(field.nkey, 2);
	CU_ASSERT_EQUAL(field.word, 2);
	CU_ASSERT_EQUAL(
		text_declare(" total gauge kib MemTotal: ", FORMAT_KEYED, &field, why, sizeof why),
		0);
	CU_ASSERT_EQUAL(field.nkey, 9);
	CU_ASSERT_EQUAL(field.mul, 1024);
	CU_ASSERT_EQUAL(
		text_declare("heat gauge.3 celsius 7", FORMAT_COLUMNS, &field, why, sizeof why), 0);
	CU_ASSERT_EQUAL(field.digits, 3);
	CU_ASSERT_EQUAL(field.div, 1000);
	CU_ASSERT_EQUAL(field.word, 7);
}

static void refusals(void)
{
	static const struct {
		const char *column, *says;
		enum text_format format;
	} wrong[] = {
		{ "", "NAME KIND UNIT WHERE", FORMAT_KEYED },
		{ "a counter bytes", "NAME KIND UNIT WHERE", FORMAT_KEYED },
		{ "a counter bytes 1 2", "NAME KIND UNIT WHERE", FORMAT_COLUMNS },
		{ "A counter bytes 1", "small letters", FORMAT_COLUMNS },
		{ "1a counter bytes 1", "small letters", FORMAT_COLUMNS },
		{ "a count bytes 1", "the kind is", FORMAT_COLUMNS },
		{ "a gauge. bytes 1", "the kind is", FORMAT_COLUMNS },
		{ "a gauge.9 bytes 1", "the kind is", FORMAT_COLUMNS },
		{ "a info.1 none 1", "the kind is", FORMAT_COLUMNS },
		{ "a gauge byte 1", "the unit is", FORMAT_COLUMNS },
		{ "a gauge count 1", "the unit is", FORMAT_COLUMNS },
		{ "a gauge count: 1", "the unit is", FORMAT_COLUMNS },
		{ "a gauge bytes:x 1", "the unit is", FORMAT_COLUMNS },
		{ "a gauge bytes 0", "from 1", FORMAT_COLUMNS },
		{ "a gauge bytes x", "from 1", FORMAT_COLUMNS },
		{ "a gauge bytes rc:x", "begins with", FORMAT_KEYED },
		{ "a key none rc", "no key but its file", FORMAT_KEYED },
		{ "a info bytes 1", "unit none", FORMAT_COLUMNS },
	};

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		CU_ASSERT_PTR_NOT_NULL(
			strstr(refused(wrong[i].column, wrong[i].format), wrong[i].says));
	CU_ASSERT_STRING_EQUAL(refused("a gauge bytes rc", FORMAT_KEYED), "taken");
}

static void keyed(void)
{
	int err;

	put("/proc/net/rpc/nfsd",
	    "rc 7 9 12\nfh\nio 100 -5\nload 1.275 x\nrcx 1\nbig 18446744073709551615 18446744073709551616\n");
	err = start_with(
		(struct conf) { .file = LIST("/proc/net/rpc/nfsd", "/absent"),
				.column = LIST("hits counter count:requests rc",
					       "misses counter count:requests rc:2",
					       "written gauge bytes io:2", "load gauge.2 none load",
					       "what info none load:2", "none counter none fh",
					       "big counter none big", "bigger counter none big:2"),
				.format = FORMAT_KEYED });
	CU_ASSERT_EQUAL_FATAL(err, 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("text"), 1);
	IS("text", "/proc/net/rpc/nfsd", "hits", "7");
	IS("text", "/proc/net/rpc/nfsd", "misses", "9");
	IS("text", "/proc/net/rpc/nfsd", "written", "-5");
	IS("text", "/proc/net/rpc/nfsd", "load", "127");
	IS("text", "/proc/net/rpc/nfsd", "what", "x");
	IS("text", "/proc/net/rpc/nfsd", "none", "-");
	IS("text", "/proc/net/rpc/nfsd", "big", "18446744073709551615");
	IS("text", "/proc/net/rpc/nfsd", "bigger", "-");
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.notes, "/absent can't be read: No such file"));
	/* It comes later. */
	put("/absent", "rc 3\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("text", "/absent", "hits", "3");
	fake_end();
}

static void columns_of_words(void)
{
	int err;

	put("/proc/swaps",
	    "Filename\t\tType\t\tSize\t\tUsed\t\tPriority\n"
	    "/dev/zram0                              partition\t8388604\t\t17\t\t-2\n\n"
	    "/swapfile                               file\t\t100\n");
	fake.self.label = "swaps";
	err = start_with(
		(struct conf) { .file = LIST("/proc/swaps"),
				.column = LIST("size gauge kib 3", "device key none 1",
					       "used gauge kib 4", "priority gauge none 5"),
				.format = FORMAT_COLUMNS,
				.skip = 1 });
	CU_ASSERT_EQUAL_FATAL(err, 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("text_swaps"), 2);
	IS("text_swaps", "/proc/swaps /dev/zram0", "size", "8388604");
	IS("text_swaps", "/proc/swaps /dev/zram0", "priority", "-2");
	IS("text_swaps", "/proc/swaps /swapfile", "size", "100");
	IS("text_swaps", "/proc/swaps /swapfile", "used", "-");
	fake_end();
	/* Nothing is a key: the line's number is. */
	put("/proc/sys/fs/file-nr", "1184\t0\t9223372036854775807\n");
	err = start_with((struct conf) {
		.file = LIST("/proc/sys/fs/file-nr"),
		.column = LIST("allocated gauge count:files 1", "maximum gauge count:files 3"),
		.format = FORMAT_COLUMNS });
	CU_ASSERT_EQUAL_FATAL(err, 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("text", "/proc/sys/fs/file-nr 1", "allocated", "1184");
	IS("text", "/proc/sys/fs/file-nr 1", "maximum", "9223372036854775807");
	fake_end();
}

static void verbatim(void)
{
	int err;

	put("/etc/x", "any\nbytes \xff");
	err = start_with((struct conf) { .file = LIST("/etc/x"), .format = FORMAT_VERBATIM });
	CU_ASSERT_EQUAL_FATAL(err, 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("text", "/etc/x", "text", "any\nbytes \xff");
	fake_end();
}

static void mistakes(void)
{
	int err;

	put("/x", "");
	err = start_with((struct conf) { .file = LIST("x"), .format = FORMAT_VERBATIM });
	CU_ASSERT_EQUAL(err, -EINVAL);
	fake_end();
	put("/x", "");
	err = start_with((struct conf) { .file = LIST("/x"), .format = FORMAT_KEYED });
	CU_ASSERT_EQUAL(err, -EINVAL);
	fake_end();
	put("/x", "");
	err = start_with((struct conf) {
		.file = LIST("/x"), .column = LIST("a gauge none 1"), .format = FORMAT_VERBATIM });
	CU_ASSERT_EQUAL(err, -EINVAL);
	fake_end();
	err = start_with((struct conf) { .file = LIST("/x"), .format = FORMAT_VERBATIM });
	CU_ASSERT_EQUAL(err, -ENODEV);
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.unavailable, "/x"));
	fake_end();
}

CU_TestInfo tests[] = {
	{ "declarations", declarations },
	{ "refusals", refusals },
	{ "keyed", keyed },
	{ "columns", columns_of_words },
	{ "verbatim", verbatim },
	{ "mistakes", mistakes },
	CU_TEST_INFO_NULL,
};
