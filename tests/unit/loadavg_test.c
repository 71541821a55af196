/* loadavg: expected values are those of the text. */
#include "plugins/loadavg/loadavg.c"

#include "fakehost.h"

const char suite[] = "loadavg";

static void every_word(void)
{
	put("/proc/loadavg", "0.20 12.08 123.45 3/1977 4194303\n");
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("loadavg", "", "load1", "20");
	IS("loadavg", "", "load5", "1208");
	IS("loadavg", "", "load15", "12345");
	IS("loadavg", "", "runnable", "3");
	IS("loadavg", "", "tasks", "1977");
	IS("loadavg", "", "last_pid", "4194303");
	fake_end();
}

static void cut_anywhere(void)
{
	static const char text[] = "0.20 0.18 0.12 1/80 11206\n";

	for (size_t n = 0; n < sizeof text - 1; n++) {
		uint64_t have[1] = { 0 }, slots[6];
		struct sonde_row row = { slots, have, NULL };
		char *bytes = malloc(n + 1);

		memcpy(bytes, text, n);
		CU_ASSERT_EQUAL(loadavg_parse(bytes, n, &row), -EBADMSG);
		CU_ASSERT(!sonde_has(&row, LOAD5) || slots[LOAD5] == 18);
		CU_ASSERT(!sonde_has(&row, TASKS) || slots[TASKS] == 80);
		CU_ASSERT_FALSE(sonde_has(&row, LAST_PID));
		free(bytes);
	}
}

static void absent(void)
{
	CU_ASSERT_EQUAL(fake_start(""), -ENODEV);
	fake_end();
}

static void fixtures(void)
{
	fixture("6.18");
}

CU_TestInfo tests[] = {
	{ "every word", every_word },
	{ "cut anywhere", cut_anywhere },
	{ "absent", absent },
	{ "fixtures", fixtures },
	CU_TEST_INFO_NULL,
};
