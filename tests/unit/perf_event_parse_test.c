/* perf_event's pure parsers: what the kernel answers, what sysfs says of bits, group files. Expected values by hand, from
 * perf_event_open(2) and Documentation/ABI/testing/sysfs-bus-event_source-devices-format. */
#include <dirent.h>
#include <stdlib.h>

#include "plugins/perf_event/counts.h"
#include "plugins/perf_event/groupfile.c"
#include "plugins/perf_event/pmu.c"

#include "test.h"

const char suite[] = "perf_event_parse";

static void reads_of_groups(void)
{
	uint64_t words[4 + COUNTS_MOST] = { 2, 10, 5, 7, 8 };
	struct counts counts;

	CU_ASSERT_EQUAL(counts_parse(words, 40, &counts), 0);
	CU_ASSERT_EQUAL(counts.n, 2);
	CU_ASSERT_EQUAL(counts.enabled, 10);
	CU_ASSERT_EQUAL(counts.running, 5);
	CU_ASSERT_EQUAL(counts.value[1], 8);
	CU_ASSERT_EQUAL(counts_parse(words, 0, &counts), -ENODATA);
	CU_ASSERT_EQUAL(counts_parse(words, 39, &counts), -EBADMSG);
	CU_ASSERT_EQUAL(counts_parse(words, 48, &counts), -EBADMSG);
	words[0] = COUNTS_MOST + 1;
	CU_ASSERT_EQUAL(counts_parse(words, (3 + COUNTS_MOST + 1) * 8, &counts), -EBADMSG);
	words[0] = UINT64_MAX - 1;
	CU_ASSERT_EQUAL(counts_parse(words, 8, &counts), -EBADMSG);
}

static void formats(void)
{
	struct encoding code = { 0 };

	CU_ASSERT(pmu_place("config:0-7,32-35", 16, 0x1a0, &code));
	CU_ASSERT_EQUAL(code.config, 0x1000000a0);
	CU_ASSERT(pmu_place("config1:3", 9, 1, &code));
	CU_ASSERT_EQUAL(code.config1, 8);
	CU_ASSERT(pmu_place("config2:0-63", 12, UINT64_MAX, &code));
	CU_ASSERT_EQUAL(code.config2, UINT64_MAX);
	CU_ASSERT_FALSE(pmu_place("config:0-3", 10, 16, &code));
	CU_ASSERT_FALSE(pmu_place("config:60-64", 12, 1, &code));
	CU_ASSERT_FALSE(pmu_place("config3:0-3", 11, 1, &code));
	CU_ASSERT_FALSE(pmu_place("config:5-3", 10, 1, &code));
	CU_ASSERT_FALSE(pmu_place("", 0, 1, &code));
}

static void check_text(const char *text, uint32_t line, const char *words)
{
	char why[WORDS_SIZE] = "";

	CU_ASSERT_EQUAL(groupfile_check(text, strlen(text), why), line);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, words));
}

static void group_files(void)
{
	static const char text[] =
		"match = GenuineIntel-6-8F arm64-*\n[a] First.\nx = cycles [c] h\n"
		"match = *\n[a] Second.\ny = cycles [c] h\n";
	struct group_text group;
	bool exact;

	check_text("match = *\n[core] h\nx = cycles [cycles] h\ny := x / 2 [u] h\n", 0, "");
	check_text("x = cycles [cycles] h\n", 1, "no [group]");
	check_text("[core]\nx = cycles\n", 2, "unit");
	check_text("[core]\nX = cycles [c]\n", 2, "a name is");
	check_text("[core]\ntime_running = cycles [c]\n", 2, "of the table's own");
	check_text("[core]\nx = cycles [c]\nx = branches [c]\n", 3, "already");
	check_text("[core]\nx = cycles [c]\nx := x / 2 [u]\n", 3, "already");
	check_text("[core]\nx = cycles [c]\ny := x [u]\ny := x / 2 [u]\n", 4, "already");
	check_text("[core]\nx = cycles [c]\ny := x [u]\ny = cycles [c]\n", 4, "already");
	check_text("[core]\nx = cycles [c]\ny := x / z [u]\n", 3, "own group");
	check_text("[core]\nx = cycles [c]\ny := x % 2 [u]\n", 3, "a formula is of");
	check_text("[core]\nnonsense\n", 2, "not a group");
	check_text("[core\n", 1, "[name]");
	CU_ASSERT(groupfile_match(text, sizeof text - 1, "GenuineIntel-6-8F", "cpu", &exact));
	CU_ASSERT(exact);
	CU_ASSERT(groupfile_match(text, sizeof text - 1, "arm64-41-d0c", "cpu", &exact));
	CU_ASSERT_FALSE(groupfile_match(text, sizeof text - 1, "GenuineIntel-6-8", "cpu", &exact));
	CU_ASSERT(groupfile_match("match = *\n", 10, "", "cpu", &exact));
	CU_ASSERT_FALSE(exact);
	CU_ASSERT_FALSE(groupfile_match("match = *\npmu = cpu_atom\n", 25, "", "cpu", &exact));
	check_text("[core]\nslots = 6 * cycles [slots] h\n", 0, "");
	check_text("[core]\nslots = 0 * cycles [slots] h\n", 2, "whole number of times");
	check_text("[core]\nslots = cycles * 6 [slots] h\n", 2, "whole number of times");
	check_text("[core]\nslots = 6 * [slots] h\n", 2, "no event");
	CU_ASSERT(groupfile_find("[s]\nslots = 6 * cycles [slots] h\n", 32, "s", &group));
	CU_ASSERT_STRING_EQUAL(group.events[0].spec, "cycles");
	CU_ASSERT_EQUAL(group.events[0].times, 6);
	check_text("[m]\nr ?= a/x/ [bytes] h\nr ?= 64 * b/y/ [bytes] h\n", 0, "");
	check_text("[m]\nr = a/x/ [bytes] h\nr ?= b/y/ [bytes] h\n", 3, "column of this name");
	/* Of two files the first. */
	CU_ASSERT(groupfile_find(text, sizeof text - 1, "a", &group));
	CU_ASSERT_EQUAL(group.nevents, 1);
	CU_ASSERT_STRING_EQUAL(group.events[0].column, "x");
	CU_ASSERT_STRING_EQUAL(group.help, "First.");
	CU_ASSERT_FALSE(groupfile_find(text, sizeof text - 1, "b", &group));
}

/* Every file that is shipped is without a mistake. */
static void shipped_files(void)
{
	DIR *folder = opendir("plugins/perf_event/groups");
	struct dirent *entry;
	int files = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(folder);
	while ((entry = readdir(folder))) {
		static char text[1 << 16];
		char path[512], why[WORDS_SIZE] = "";
		size_t length;
		FILE *file;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "plugins/perf_event/groups/%s", entry->d_name);
		file = fopen(path, "r");
		CU_ASSERT_PTR_NOT_NULL_FATAL(file);
		length = fread(text, 1, sizeof text, file);
		fclose(file);
		CU_ASSERT(length > 0 && length < sizeof text);
		CU_ASSERT_EQUAL(groupfile_check(text, length, why), 0);
		if (why[0])
			fprintf(stderr, "%s: %s\n", path, why);
		files++;
	}
	closedir(folder);
	CU_ASSERT(files >= 8);
}

CU_TestInfo tests[] = {
	{ "reads of groups", reads_of_groups },
	{ "formats", formats },
	{ "group files", group_files },
	{ "shipped files", shipped_files },
	CU_TEST_INFO_NULL,
};
