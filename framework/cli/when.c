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
	int32_t utc_offset;  /* of the recorded host */
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
	reader = recording_reader(recording, NULL);
	got = reader ? reader_next(reader, &instant) : -ENOMEM;
	if (got == 1) {
		*span = (struct span) { instant->begin, instant->end, instant->realtime,
					instant->header->utc_offset };
		while (to_the_end && reader_next(reader, &instant) == 1)
			span->end = instant->end;
	}
	reader_free(reader);
	recording_close(recording);
	return got == 1 ? EXIT_DONE
			: cli_error(EXIT_FAILED, "%s: no instant in it can be read", path);
}

/* ±HH:MM, Z or nothing, which leaves the offset as it is, behind a time. False where it is something else. */
static bool zone(const char *text, long *offset)
{
	int hours, minutes, used = 0;
	char sign;

	if (!*text)
		return true;
	*offset = 0;
	if (strcmp(text, "Z") == 0)
		return true;
	if (sscanf(text, "%c%2d:%2d%n", &sign, &hours, &minutes, &used) != 3 || text[used] ||
	    (sign != '+' && sign != '-') || hours > 14 || minutes > 59)
		return false;
	*offset = (hours * 60L + minutes) * (sign == '-' ? -60 : 60);
	return true;
}

/* As far as 64 bits go: to the year 2262. */
static int64_t in_ns(int64_t seconds)
{
	const int64_t most = INT64_MAX / 1000000000;

	return (seconds < -most ? -most : seconds > most ? most : seconds) * 1000000000;
}

static uint64_t earlier(uint64_t at, uint64_t ns)
{
	return at > ns ? at - ns : 1;
}

static uint64_t later(uint64_t at, uint64_t ns)
{
	return at < UINT64_MAX - ns ? at + ns : UINT64_MAX;
}

/* A date and time, or a time of the recorded day, as ns since 1970; without a zone in that of the recorded host, in which
 * reports show it. */
static bool wall_clock(const char *text, const struct span *span, int64_t *realtime)
{
	static const char *const forms[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S",
					     "%Y-%m-%dT%H:%M", "%H:%M:%S", "%H:%M" };
	time_t day = (time_t)(span->realtime / 1000000000) + span->utc_offset;

	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		struct tm tm;
		const char *rest;
		long offset = span->utc_offset;

		gmtime_r(&day, &tm);
		tm.tm_sec = 0;
		rest = strptime(text, forms[i], &tm);
		if (!rest || !zone(rest, &offset))
			continue;
		*realtime = in_ns(timegm(&tm) - offset);
		return true;
	}
	return false;
}

static int resolve(const char *option, const char *text, const struct span *span, uint64_t *at)
{
	int64_t realtime;
	uint64_t ns;
	char why[256];

	if (wall_clock(text, span, &realtime)) {
		if (realtime < span->realtime)
			*at = earlier(span->begin, (uint64_t)span->realtime - (uint64_t)realtime);
		else
			*at = later(span->begin, (uint64_t)realtime - (uint64_t)span->realtime);
		return EXIT_DONE;
	}
	if (!cli_is_duration(text + (*text == '-'), &ns, why, sizeof why))
		return cli_misuse(
			"%s %s: a time is 10s (of the recording's start), -10s (of its end), "
			"09:30:15, 2026-11-30T09:30:15, or that with Z or +01:00",
			option, text);
	if (*text == '-')
		*at = earlier(span->end, ns);
	else
		*at = later(span->begin, ns);
	return EXIT_DONE;
}

/* Judged from nothing, a report would be a page of what is not in it. */
static int check_range(const char *path, uint64_t from, uint64_t to)
{
	const struct reading stretch = { .since = from, .until = to };
	const struct instant *instant;
	struct recording *recording = recording_open(path);
	struct reader *reader = recording ? recording_reader(recording, &stretch) : NULL;
	int got = reader ? reader_next(reader, &instant) : -ENOMEM;

	reader_free(reader);
	recording_close(recording);
	return got == 1 ? EXIT_DONE
			: cli_error(EXIT_FAILED, "%s: no instant lies in this stretch of time",
				    path);
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
	return status == EXIT_DONE ? check_range(path, *from, *to) : status;
}
