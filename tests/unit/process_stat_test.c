/* /proc/PID/stat as the host reads it: fields by their numbers in proc_pid_stat(5). */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "live/process_stat.h"
#include "test.h"

const char suite[] = "process_stat";

/* Field 2 is a name of the process's own choosing. */
static const char hostile[] =
	"4711 (a) R 1 (b) S 9 9 9 9 9 9 9 9 9 8 8) D 1 4711 4711 0 -1 4194304 100 0 0 0 250 75 0 0 20 0 1 0 123456 1000 10\n";

static void fields(void)
{
	struct process_stat stat;

	CU_ASSERT(process_stat_parse(hostile, strlen(hostile), &stat));
	CU_ASSERT_EQUAL(stat.state, 'D');
	CU_ASSERT_EQUAL(stat.utime, 250);
	CU_ASSERT_EQUAL(stat.stime, 75);
	CU_ASSERT_EQUAL(stat.start, 123456);
}

/* Cut anywhere: never more is read than there is, and half a start time is none. */
static void cut(void)
{
	const char *start = strstr(hostile, "123456");
	struct process_stat stat;

	for (size_t length = 0; length < (size_t)(start - hostile); length++)
		CU_ASSERT_FALSE(process_stat_parse(hostile, length, &stat));
}

static void this_process(void)
{
	struct process_stat stat;

	CU_ASSERT_EQUAL(process_stat(getpid(), &stat), 0);
	CU_ASSERT_EQUAL(stat.state, 'R');
	CU_ASSERT(stat.start > 0);
	CU_ASSERT(process_stat(INT32_MAX, &stat) < 0);
}

CU_TestInfo tests[] = {
	{ "fields", fields },
	{ "cut", cut },
	{ "this process", this_process },
	CU_TEST_INFO_NULL,
};
