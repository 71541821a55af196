/* report: what a stream says about its host, for people. A report is printed for each judgement: at the end of a
 * recording, or live each time the analyzers have judged; a file holds the newest one. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

struct conf {
	const char *path;
	uint32_t format;
};

struct state {
	struct gathered gathered;
	uint64_t printed; /* the judgement that was printed last */
	bool any;
};

static const struct sonde_option options[] = {
	{ "path", SONDE_OPT_STRING, offsetof(struct conf, path), "-", NULL, 0, 0,
	  "file that the report is written to; - is stdout" },
	{ "format", SONDE_OPT_CHOICE, offsetof(struct conf, format), "text", "text", 0, 0,
	  "text: for a terminal, 96 columns" },
};

static int view(struct sonde_instance *self, const struct sonde_view *seen)
{
	struct state *state = self->state;

	gather_view(&state->gathered, seen);
	return state->gathered.no_memory ? -ENOMEM : 0;
}

/* Magic numbers that a recording may begin with: an LZ4 frame, or a skippable one (LZ4 frame format 1.6). */
static bool is_recording(int fd)
{
	unsigned char begin[4];

	if (pread(fd, begin, sizeof begin, 0) != (ssize_t)sizeof begin)
		return false;
	return memcmp(begin, "\x04\x22\x4d\x18", 4) == 0 ||
	       ((begin[0] & 0xf0) == 0x50 && memcmp(begin + 1, "\x2a\x4d\x18", 3) == 0);
}

static int open_output(struct sonde_instance *self, const char *path)
{
	int fd, err;

	if (strcmp(path, "-") == 0)
		return STDOUT_FILENO;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 && (errno == EACCES || errno == ENXIO || errno == EINVAL))
		fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0) {
		err = -errno;
		sonde_log(self, SONDE_ERROR, "%s: %s", path, strerror(-err));
		return err;
	}
	if (is_recording(fd)) {
		sonde_log(self, SONDE_ERROR, "%s is a recording; give another name for the report",
			  path);
		close(fd);
		return -EEXIST;
	}
	/* A pipe or a device has no length to cut. */
	if (ftruncate(fd, 0) && errno != EINVAL) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static int write_all(int fd, const char *bytes, size_t length)
{
	while (length) {
		ssize_t n = write(fd, bytes, length);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			bytes += n;
			length -= (size_t)n;
		}
	}
	return 0;
}

static int print(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	struct page page = { 0 };
	int fd = open_output(self, conf->path);
	int err;

	if (fd < 0)
		return fd;
	page.colour = isatty(fd) == 1;
	report_text(&page, &state->gathered);
	err = page.no_memory ? -ENOMEM : write_all(fd, page.bytes, page.used);
	if (err && err != -EPIPE)
		sonde_log(self, SONDE_ERROR, "%s: %s", conf->path, strerror(-err));
	free(page.bytes);
	if (fd != STDOUT_FILENO)
		close(fd);
	state->any = true;
	state->printed = state->gathered.judged;
	return err;
}

static int flush(struct sonde_instance *self)
{
	const struct state *state = self->state;

	return state->gathered.judged != state->printed ? print(self) : 0;
}

static void stop(struct sonde_instance *self)
{
	struct state *state = self->state;

	if (!state->any && state->gathered.has_header)
		(void)print(self); /* it was logged */
	gather_free(&state->gathered);
}

static const struct sonde_sink_ops ops = {
	.intake = SONDE_TAKES_VIEWS,
	.assertion = SONDE_HANDED,
	.view = view,
	.flush = flush,
};

SONDE_SINK(report, "findings, metrics and data quality as text for people", ops,
	   .options = SONDE_OPTIONS(options), .conf_size = sizeof(struct conf),
	   .state_size = sizeof(struct state), .stop = stop);
