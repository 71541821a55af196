/* Times on the command line. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/recording.h"
#include "cli/when.h"

struct span {
	uint64_t begin, end; /* CLOCK_BOOTTIME ns of the first and the last instant */
	int64_t realtime;    /* of the first */
};

static int find_span(const char *path, bool to_the_end, struct span *span)
{
	const struct instant *instant;
	struct recording *recording;
	struct reader *reader;
	int got;

	if (strcmp(path, "-") == 0)
		return cli_misuse("--since and --until need a file: stdin can't be read twice");
	recording = recording_open(path);
	if (!recording)
		return EXIT_FAILED;
	reader = recording_reader(recording, 0, 0);
	got = reader ? reader_next(reader, &instant) : -ENOMEM;
	if (got == 1) {
		*span = (struct span) { instant->begin, instant->end, instant->realtime };
		while (to_the_end && reader_next(reader, &instant) == 1)
			span->end = instant->end;
	}
	reader_free(reader);
	recording_close(recording);
	return got == 1 ? EXIT_DONE
			: cli_error(EXIT_FAILED, "%s: no instant in it can be read", path);
}

/* ±HH:MM, Z or nothing behind a time. False where it is something else. */
static bool zone(const char *text, bool *local, long *offset)
{
	int hours, minutes, used = 0;
	char sign;

	*local = !*text;
	*offset = 0;
	if (!*text || strcmp(text, "Z") == 0)
		return true;
	if (sscanf(text, "%c%2d:%2d%n", &sign, &hours, &minutes, &used) != 3 || text[used] ||
	    (sign != '+' && sign != '-') || hours > 14 || minutes > 59)
		return false;
	*offset = (hours * 60L + minutes) * (sign == '-' ? -60 : 60);
	return true;
}

/* A date and time, or a time of the recorded day, as ns since 1970. */
static bool wall_clock(const char *text, int64_t recorded, int64_t *realtime)
{
	static const char *const forms[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S",
					     "%Y-%m-%dT%H:%M", "%H:%M:%S", "%H:%M" };
	time_t day = (time_t)(recorded / 1000000000);

	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		struct tm tm;
		const char *rest;
		long offset;
		bool local;

		localtime_r(&day, &tm);
		tm.tm_sec = 0;
		rest = strptime(text, forms[i], &tm);
		if (!rest || !zone(rest, &local, &offset))
			continue;
		tm.tm_isdst = -1;
		*realtime = (local ? mktime(&tm) : timegm(&tm) - offset) * 1000000000;
		return true;
	}
	return false;
}

static int resolve(const char *option, const char *text, const struct span *span, uint64_t *at)
{
	int64_t realtime;
	uint64_t ns;

	if (wall_clock(text, span->realtime, &realtime)) {
		int64_t boottime = (int64_t)span->begin + (realtime - span->realtime);

		*at = boottime > 0 ? (uint64_t)boottime : 1;
		return EXIT_DONE;
	}
	if (!cli_duration(option, text + (*text == '-'), &ns))
		return EXIT_MISUSE;
	if (*text == '-')
		*at = span->end > ns ? span->end - ns : 1;
	else
		*at = span->begin + ns;
	return EXIT_DONE;
}

int when_range(const char *path, const char *since, const char *until, uint64_t *from, uint64_t *to)
{
	struct span span = { 0 };
	int status = EXIT_DONE;

	*from = *to = 0;
	if (!since && !until)
		return status;
	status = find_span(path, (since && *since == '-') || (until && *until == '-'), &span);
	if (status == EXIT_DONE && since)
		status = resolve("--since", since, &span, from);
	if (status == EXIT_DONE && until)
		status = resolve("--until", until, &span, to);
	return status;
}
