/* Any bytes as files of a process. The first byte says which; the others are the text, in memory of just their length. */
#include <stdlib.h>

#include "plugins/process/cmdline.c"
#include "plugins/process/parse.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void parse(uint8_t which, const char *text, size_t length, struct sonde_row *row)
{
	struct process_sched sched;
	struct process_stat stat;
	const char *path = text;
	char line[512];

	switch (which % 7) {
	case 0:
		if (process_parse_stat(text, length, &stat))
			return;
		check(stat.comm > text && stat.comm + stat.comm_length < text + length);
		check(stat.last >= STAT_START_TIME && stat.last <= STAT_LAST);
		process_set_stat(&stat, true, row);
		return;
	case 1:
		process_parse_status(text, length, row);
		return;
	case 2:
		process_parse_io(text, length, row);
		return;
	case 3:
		if (process_parse_schedstat(text, length, &sched))
			check(sched.run || sched.wait || sched.slices);
		return;
	case 4:
		check(process_parse_cgroup(text, length, &path) <= (size_t)(text + length - path));
		return;
	default:
		check(process_cmdline(which % 7 == 5 ? CMDLINE_REDACTED : CMDLINE_FULL, text,
				      length, line, sizeof line) <= sizeof line);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t slots[PROCESS_COLUMNS], have[(PROCESS_COLUMNS + 63) / 64] = { 0 };
	char bytes[1024];
	struct sonde_strings strings = { .bytes = bytes, .size = sizeof bytes };
	struct sonde_row row = { slots, have, &strings };
	char *text;

	if (!size)
		return 0;
	text = malloc(size > 1 ? size - 1 : 1);
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	parse(data[0], text, size - 1, &row);
	check(strings.used <= strings.size);
	check(!(have[PROCESS_COLUMNS / 64] >> PROCESS_COLUMNS % 64));
	free(text);
	return 0;
}
