/* Option tables into conf: values by type, ranges, defaults, mistakes with their line and the nearest name. Expected
 * numbers are arithmetic by hand. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/options.h"
#include "host/values.h"
#include "test.h"

const char suite[] = "options";

struct conf {
	uint32_t on, mode;
	uint64_t count, age, size;
	double share;
	const char *path;
	struct sonde_list event;
	struct sonde_cpulist cpus;
};

#define AT(field) offsetof(struct conf, field)

static const struct sonde_option options[] = {
	{ "on", SONDE_OPT_BOOL, AT(on), "yes", NULL, 0, 0, "a switch" },
	{ "mode", SONDE_OPT_CHOICE, AT(mode), "slow", "fast|slow|never", 0, 0, "a choice" },
	{ "count", SONDE_OPT_U64, AT(count), "7", NULL, 1, 1000, "a number" },
	{ "age", SONDE_OPT_DURATION, AT(age), "1s", NULL, 1e6, 3.6e12, "a duration" },
	{ "size", SONDE_OPT_SIZE, AT(size), "64KiB", NULL, 0, 0, "a size" },
	{ "share", SONDE_OPT_F64, AT(share), "0.25", NULL, 0, 1, "a share" },
	{ "path", SONDE_OPT_STRING, AT(path), "", NULL, 0, 0, "a path" },
	{ "event", SONDE_OPT_LIST, AT(event), "cycles\ninstructions", NULL, 0, 0, "events" },
	{ "cpus", SONDE_OPT_CPULIST, AT(cpus), "", NULL, 0, 0, "CPUs" },
};
enum { NOPTIONS = sizeof options / sizeof options[0] };

static struct config config;
static struct options_memory *memory;
static struct conf conf;

static int fill(const char *text)
{
	const struct options_target target = { options, NOPTIONS, &conf };

	memset(&conf, 0xa5, sizeof conf);
	config_read_text(&config, "a.ini", text);
	return options_fill(&config, &config.sections[0], &target, 1, &memory);
}

static void done(void)
{
	options_free(memory);
	memory = NULL;
	config_free(&config);
}

static void one_error(const char *text, const char *sentence)
{
	CU_ASSERT_EQUAL(fill(text), -EINVAL);
	CU_ASSERT_EQUAL(config.nerrors, 1);
	if (config.nerrors) {
		CU_ASSERT_STRING_EQUAL(config.errors[0], sentence);
		if (strcmp(config.errors[0], sentence) != 0)
			printf("  got: %s\n", config.errors[0]);
	}
	done();
}

static void test_defaults(void)
{
	CU_ASSERT_EQUAL(fill("[x]\n"), 0);
	CU_ASSERT_EQUAL(conf.on, 1);
	CU_ASSERT_EQUAL(conf.mode, 1);
	CU_ASSERT_EQUAL(conf.count, 7);
	CU_ASSERT_EQUAL(conf.age, 1000000000);
	CU_ASSERT_EQUAL(conf.size, 65536);
	CU_ASSERT_EQUAL(conf.share, 0.25);
	CU_ASSERT_STRING_EQUAL(conf.path, "");
	CU_ASSERT_EQUAL(conf.event.count, 2);
	CU_ASSERT_STRING_EQUAL(conf.event.items[1], "instructions");
	CU_ASSERT_EQUAL(conf.cpus.count, 0);
	done();
}

static void test_values(void)
{
	CU_ASSERT_EQUAL(fill("[x]\non = off\nmode = never\ncount = 0x10\nage = 1.5s\nsize = 2 MiB\n"
			     "share = 1e-2\npath = /a b\nevent = a,b\nevent = c\nevent = d\n"
			     "cpus = 8,0-3,2-4\n"),
			0);
	CU_ASSERT_EQUAL(conf.on, 0);
	CU_ASSERT_EQUAL(conf.mode, 2);
	CU_ASSERT_EQUAL(conf.count, 16);
	CU_ASSERT_EQUAL(conf.age, 1500000000);
	CU_ASSERT_EQUAL(conf.size, 2097152);
	CU_ASSERT_EQUAL(conf.share, 0.01);
	CU_ASSERT_STRING_EQUAL(conf.path, "/a b");
	CU_ASSERT_EQUAL(conf.event.count,
			3); /* they replace the default; commas are part of an item */
	CU_ASSERT_STRING_EQUAL(conf.event.items[0], "a,b");
	CU_ASSERT_STRING_EQUAL(conf.event.items[2], "d");
	CU_ASSERT_EQUAL(conf.cpus.count, 6);
	CU_ASSERT_EQUAL(conf.cpus.ids[4], 4);
	CU_ASSERT_EQUAL(conf.cpus.ids[5], 8);
	done();
}

static void test_mistakes(void)
{
	one_error("[x]\n\nagee = 1s\n", "a.ini:3: [x] has no key `agee`; did you mean `age`?");
	one_error("[x]\nquux = 1s\nquux = 2s\n", "a.ini:2: [x] has no key `quux`");
	one_error("[x]\nage = 1s\n\nage = 2s\n", "a.ini:4: `age` stands in line 2 already");
	one_error("[x]\non = maybe\n", "a.ini:2: on: \"maybe\" is neither yes nor no");
	one_error("[x]\nmode = fats\n",
		  "a.ini:2: mode: \"fats\" is none of fast|slow|never; did you mean `fast`?");
	one_error("[x]\ncount = 1001\n", "a.ini:2: count: \"1001\" is not within 1 and 1000");
	one_error("[x]\ncount = -1\n", "a.ini:2: count: \"-1\" is not a whole number, 0 or more");
	one_error("[x]\ncount = 18446744073709551616\n",
		  "a.ini:2: count: \"18446744073709551616\" is 2^64 or more");
	one_error("[x]\nage = 100\n", "a.ini:2: age: \"100\" is not a duration; write a number and "
				      "ns, us, ms, s, min, h or d: 500ms");
	one_error("[x]\nage = 5m\n",
		  "a.ini:2: age: \"5m\": there is no unit m; ns, us, ms, s, min, h or d");
	one_error("[x]\nage = 10us\n", "a.ini:2: age: \"10us\" is not within 1ms and 1h");
	one_error("[x]\nsize = 64K\n",
		  "a.ini:2: size: \"64K\" may mean 1000 or 1024; write KiB for 1024");
	one_error("[x]\nshare = 1,5\n", "a.ini:2: share: \"1,5\" is not a number");
	one_error("[x]\nshare = nan\n", "a.ini:2: share: \"nan\" is not a number");
	one_error("[x]\nshare = 0x1p-1\n", "a.ini:2: share: \"0x1p-1\" is not a number");
	one_error("[x]\nevent =\n", "a.ini:2: event: an item of a list can't be empty");
	one_error("[x]\ncpus = 3-1\n",
		  "a.ini:2: cpus: \"3-1\" is not a list of CPUs such as 0-3,8");
}

static void test_required(void)
{
	static const struct sonde_option needed[] = {
		{ "path", SONDE_OPT_STRING, AT(path), NULL, NULL, 0, 0, "where to" },
	};
	const struct options_target target = { needed, 1, &conf };

	config_read_text(&config, "a.ini", "\n[x]\n");
	CU_ASSERT_EQUAL(options_fill(&config, &config.sections[0], &target, 1, &memory), -ENODATA);
	CU_ASSERT_STRING_EQUAL(config.errors[0], "a.ini:2: [x] needs the key `path`: where to");
	done();
}

/* The host's keys and the plugin's stand in one section; each goes to its own conf. */
static void test_two_tables(void)
{
	struct {
		uint64_t interval, age;
	} host = { 0 };
	static const struct sonde_option keys[] = {
		{ "interval", SONDE_OPT_DURATION, 0, "1s", NULL, 0, 0, "how often" },
		{ "age", SONDE_OPT_DURATION, 8, "4s", NULL, 0, 0, "of both" },
	};
	const struct options_target targets[] = { { keys, 2, &host },
						  { options, NOPTIONS, &conf } };

	config_read_text(&config, "a.ini",
			 "[x]\ncount = 3\ninterval = 2s\nintervl = 1s\nage = 3s\n");
	CU_ASSERT_EQUAL(options_fill(&config, &config.sections[0], targets, 2, &memory), -EINVAL);
	CU_ASSERT_EQUAL(config.nerrors, 1);
	CU_ASSERT_STRING_EQUAL(config.errors[0],
			       "a.ini:4: [x] has no key `intervl`; did you mean `interval`?");
	CU_ASSERT_EQUAL(host.interval, 2000000000);
	CU_ASSERT_EQUAL(conf.count, 3);
	CU_ASSERT_EQUAL(host.age, 3000000000);
	CU_ASSERT_EQUAL(conf.age, 3000000000);
	done();
}

static uint64_t duration(const char *text)
{
	char why[256];
	uint64_t ns = 0;

	return duration_parse(text, &ns, why, sizeof why) ? UINT64_MAX : ns;
}

static uint64_t bytes(const char *text)
{
	char why[256];
	uint64_t n = 0;

	return size_parse(text, &n, why, sizeof why) ? UINT64_MAX : n;
}

static void test_durations_and_sizes(void)
{
	CU_ASSERT_EQUAL(duration("0"), 0);
	CU_ASSERT_EQUAL(duration("1ns"), 1);
	CU_ASSERT_EQUAL(duration("0.5us"), 500);
	CU_ASSERT_EQUAL(duration("2min"), 120000000000);
	CU_ASSERT_EQUAL(duration("1.25h"), 4500000000000);
	CU_ASSERT_EQUAL(duration("7d"), 604800000000000);
	CU_ASSERT_EQUAL(duration("0.000000001s"), 1);
	CU_ASSERT_EQUAL(duration("213503d"), 18446659200000000000u); /* 213503 * 86400 * 10^9 */
	CU_ASSERT_EQUAL(duration("213504d"), UINT64_MAX);            /* beyond 2^64 */
	CU_ASSERT_EQUAL(duration("1."), UINT64_MAX);
	CU_ASSERT_EQUAL(duration(".5s"), UINT64_MAX);
	CU_ASSERT_EQUAL(duration("-1s"), UINT64_MAX);
	CU_ASSERT_EQUAL(duration(""), UINT64_MAX);
	CU_ASSERT_EQUAL(bytes("1400"), 1400);
	CU_ASSERT_EQUAL(bytes("1.5KiB"), 1536);
	CU_ASSERT_EQUAL(bytes("3GiB"), 3221225472);
	CU_ASSERT_EQUAL(bytes("16777215TiB"), 18446742974197923840u); /* 2^64 - 2^40 */
	CU_ASSERT_EQUAL(bytes("16777216TiB"), UINT64_MAX);
	CU_ASSERT_EQUAL(bytes("1kB"), UINT64_MAX);
	CU_ASSERT_EQUAL(bytes("1MB"), UINT64_MAX);
}

static void test_printed(void)
{
	char text[32];

	duration_print(text, sizeof text, 1500000000);
	CU_ASSERT_STRING_EQUAL(text, "1500ms");
	duration_print(text, sizeof text, 7200000000000);
	CU_ASSERT_STRING_EQUAL(text, "2h");
	duration_print(text, sizeof text, 0);
	CU_ASSERT_STRING_EQUAL(text, "0ns");
	size_print(text, sizeof text, 65536);
	CU_ASSERT_STRING_EQUAL(text, "64KiB");
	size_print(text, sizeof text, 1000);
	CU_ASSERT_STRING_EQUAL(text, "1000B");
}

static bool list_is(const char *text, uint32_t count, uint32_t last)
{
	uint32_t *ids = NULL, n = 0;
	bool same;

	if (cpulist_parse(text, &ids, &n))
		return false;
	same = n == count && (!n || ids[n - 1] == last);
	free(ids);
	return same;
}

/* 14 and 98; the grammar of Documentation/admin-guide/kernel-parameters.rst. */
static void test_cpulists(void)
{
	CU_ASSERT_TRUE(list_is("0,3-7\n", 6, 7));
	CU_ASSERT_TRUE(list_is("0-1,4-5,8-9,12-13", 8, 13));
	CU_ASSERT_TRUE(list_is("", 0, 0));
	CU_ASSERT_TRUE(list_is("\n", 0, 0));
	CU_ASSERT_TRUE(list_is("5", 1, 5));
	CU_ASSERT_TRUE(list_is("0-31:2/8", 8, 25)); /* 0,1 8,9 16,17 24,25 */
	CU_ASSERT_FALSE(list_is("0-", 1, 0));
	CU_ASSERT_FALSE(list_is("0,", 1, 0));
	CU_ASSERT_FALSE(list_is("a", 1, 0));
	CU_ASSERT_FALSE(list_is("0 1", 2, 1));
	CU_ASSERT_FALSE(list_is("4294967296", 1, 0));
	CU_ASSERT_FALSE(list_is("0-3:0/0", 1, 0));
}

CU_TestInfo tests[] = {
	{ "defaults", test_defaults },
	{ "values", test_values },
	{ "mistakes", test_mistakes },
	{ "required keys", test_required },
	{ "two tables", test_two_tables },
	{ "durations and sizes", test_durations_and_sizes },
	{ "durations and sizes printed", test_printed },
	{ "lists of CPUs", test_cpulists },
	CU_TEST_INFO_NULL,
};
