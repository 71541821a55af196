/* The stdout sink in a test: all of its files in one, and a way to have views written. */
#ifndef STDOUT_HOST_H
#define STDOUT_HOST_H

#include "sink_host.h"

#include "sinks/stdout/out.c"
#include "sinks/stdout/number.c"
#include "sinks/stdout/plan.c"
#include "sinks/stdout/json.c"
#include "sinks/stdout/csv.c"
#include "sinks/stdout/logfmt.c"
#include "sinks/stdout/influx.c"
#include "sinks/stdout/msgpack.c"
#include "sinks/stdout/table.c"
#include "sinks/stdout/stdout.c"

static struct conf set; /* what the options say; path is a file of the test's */
static struct state held;
static char target[] = "/tmp/sonde-stdout-XXXXXX";

/* An instance that writes in this format to a new file. */
static inline struct sonde_instance opened(uint32_t format)
{
	struct sonde_instance self = told_instance(&set, sizeof set, &held, sizeof held);
	int fd;

	strcpy(target, "/tmp/sonde-stdout-XXXXXX");
	fd = mkstemp(target);
	CU_ASSERT_FATAL(fd >= 0);
	close(fd);
	set.path = target;
	set.format = format;
	return self;
}

/* What one view becomes. */
static inline const char *written(struct sonde_instance *self, const struct sonde_view *one)
{
	const char *text;

	CU_ASSERT_EQUAL_FATAL(start(self), 0);
	CU_ASSERT_EQUAL(view(self, one), 0);
	CU_ASSERT_EQUAL(flush(self), 0);
	stop(self);
	text = text_of(target);
	unlink(target);
	return text;
}

#endif
