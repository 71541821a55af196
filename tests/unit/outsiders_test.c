/* The collector `outsiders`: CPU time in ticks, worked out by hand, and command lines of runtimes as they are (proc_pid_cmdline(5)). */
/* clang-format off: the descriptor's settings stand before the first include of the header. */
#include "plugins/outsiders/outsiders.c"
/* clang-format on */
#include "plugins/outsiders/program.c"

#include "fakehost.h"

static const char *const root[] = { "190" };
static struct conf conf;
static char texts[400][160];

/* stime is 1, cstime 0. */
static void put_one(uint32_t pid, uint32_t ppid, uint64_t start, uint64_t utime, uint64_t cutime)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/%u/stat", pid);
	snprintf(texts[pid], sizeof texts[pid],
		 "%u (task %u) S %u 1 1 0 -1 0 0 0 0 0 %llu 1 %llu 0 20 0 1 0 %llu 4096 7\n", pid,
		 pid, ppid, (unsigned long long)utime, (unsigned long long)cutime,
		 (unsigned long long)start);
	put(path, texts[pid]);
}

static void end_one(uint32_t pid)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/%u/stat", pid);
	put(path, NULL);
}

static void begin_with(uint64_t max)
{
	conf = (struct conf) { .tree = { root, 1, 0 }, .max = max };
	fake.self.conf = &conf;
	put_one(101, 0, 1, 1000, 5000);
	put_one(120, 101, 10, 300, 0);
	put_one(121, 120, 11, 70, 7);
	put_one(122, 121, 12, 40, 0);
	put_one(190, 101, 50, 1, 0);
	put_one(180, 190, 51, 1, 0);
	CU_ASSERT_EQUAL_FATAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("outsider"), 0);
}

/* What was before the first sample is nobody's; the tree's time, 301's too, neither. */
static void since_the_first_sample(void)
{
	begin_with(32);
	put_one(120, 101, 10, 310, 0);
	put_one(180, 190, 51, 900, 0);
	put_one(300, 101, 60, 24, 0);
	put_one(301, 180, 60, 24, 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("outsider"), 2);
	IS("outsider", "300 60", "cpu", "25");
	IS("outsider", "120 10", "cpu", "10");
	IS("outsider", "120 10", "comm", "task 120");
	IS("outsider", "120 10", "program", "-");
	/* Another process gets a number. */
	put_one(120, 101, 70, 2, 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("outsider", "120 70", "cpu", "3");
	IS("outsider", "120 10", "cpu", "no row");
	fake_end();
}

/* 122 (41 ticks before) and 121 (71, and 7 of children) end after 9 and 2 ticks more: 120 is told of the whole of 130. */
static void children_that_lived_before(void)
{
	begin_with(32);
	end_one(122);
	end_one(121);
	put_one(120, 101, 10, 300, 130);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("outsider"), 1);
	IS("outsider", "120 10", "cpu", "0");
	IS("outsider", "120 10", "children_cpu", "11");
	fake_end();
}

static void the_busiest(void)
{
	begin_with(2);
	put_one(200, 101, 60, 5, 0);
	put_one(201, 101, 60, 9, 0);
	put_one(202, 101, 60, 7, 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("outsider"), 2);
	IS("outsider", "201 60", "cpu", "10");
	IS("outsider", "202 60", "cpu", "8");
	fake_end();
}

/* Arguments with blanks for NULs. */
static const char *program_in(const char *words)
{
	static char text[256], name[256];
	const char *program = "";
	size_t length = strlen(words);
	char *alone = malloc(length + 1);
	size_t n;

	for (size_t i = 0; i <= length; i++)
		alone[i] = words[i] == ' ' ? '\0' : words[i];
	memcpy(text, alone, length + 1);
	n = program_of(alone, length, &program);
	snprintf(name, sizeof name, "%.*s", (int)n, program);
	free(alone);
	return name;
}

static void what_a_runtime_runs(void)
{
	CU_ASSERT_STRING_EQUAL(program_in("/opt/jdk/bin/java -Xmx2g -cp /a.jar:/b.jar "
					  "org.gradle.launcher.daemon.bootstrap.GradleDaemon 8.5"),
			       "GradleDaemon");
	CU_ASSERT_STRING_EQUAL(
		program_in("java -Xverify:none -jar /install/A-server.jar --secret=x"),
		"A-server.jar");
	CU_ASSERT_STRING_EQUAL(program_in("bazel(project) -Xmx1 -jar A-server.jar"), "");
	CU_ASSERT_STRING_EQUAL(program_in("node /usr/lib/tsserver.js --stdio"), "tsserver.js");
	CU_ASSERT_STRING_EQUAL(program_in("/usr/bin/python3.11 -S /srv/x/build.py token"),
			       "build.py");
	CU_ASSERT_STRING_EQUAL(program_in("python3 -c password=1"), "");
	CU_ASSERT_STRING_EQUAL(program_in("javac A.java"), "");
	CU_ASSERT_STRING_EQUAL(program_in("/bin/sh -c java"), "");
	CU_ASSERT_STRING_EQUAL(program_in("java"), "");
	CU_ASSERT_STRING_EQUAL(program_in("java -cp"), "");
	CU_ASSERT_STRING_EQUAL(program_in(""), "");
}

static void wrong_trees(void)
{
	static const char *const word[] = { "x" };

	conf = (struct conf) { .tree = { word, 1, 0 }, .max = 32 };
	fake.self.conf = &conf;
	CU_ASSERT_EQUAL(fake_start(""), -EINVAL);
	fake_end();
}

const char suite[] = "outsiders";
CU_TestInfo tests[] = {
	{ "since the first sample", since_the_first_sample },
	{ "children that lived before", children_that_lived_before },
	{ "the busiest", the_busiest },
	{ "what a runtime runs", what_a_runtime_runs },
	{ "wrong trees", wrong_trees },
	CU_TEST_INFO_NULL,
};
