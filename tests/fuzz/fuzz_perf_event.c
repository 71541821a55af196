/* Any bytes as what perf_event reads that is not its own: answers of the kernel, bits of sysfs, group files. */
#include "plugins/perf_event/counts.h"
#include "plugins/perf_event/groupfile.c"
#include "plugins/perf_event/names.c"
#include "plugins/perf_event/pmu.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct group_text group;
	const char *text = size ? (const char *)data : "";
	struct encoding code = { 0 };
	struct group_event event;
	struct counts counts;
	struct named named;
	char column[NAME_SIZE], why[WORDS_SIZE];
	bool exact;

	counts_parse(data, size, &counts);
	pmu_place(text, size, UINT64_MAX, &code);
	names_find(text, size, &named, column);
	groupfile_match(text, size, "GenuineIntel-6-8F", "cpu", &exact);
	if (!groupfile_check(text, size, why) && groupfile_find(text, size, "core", &group))
		groupfile_event(text, size, "cycles", &event);
	groupfile_find(text, size, "core", &group);
	return 0;
}
