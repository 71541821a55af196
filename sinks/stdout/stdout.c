/* stdout: rows as text or msgpack for other programs, tables for people, or the stream of
 * docs/format.md; to standard output or a file. sinks/stdout/stdout.md has each form. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sonde/plugin.h>
#include <sonde/recording.h>

#include "format.h"

enum { FORMAT_SONDE, FORMATS = 7 };
#define FORMAT_NAMES "sonde|json|msgpack|csv|logfmt|influx|table"

static const struct format *const formats[FORMATS] = {
	[FORMAT_SONDE] = NULL, /* bytes as they come */
	[1] = &format_json,    [2] = &format_msgpack, [3] = &format_csv,
	[4] = &format_logfmt,  [5] = &format_influx,  [6] = &format_table,
};

struct conf {
	const char *path;
	uint32_t format, integers, rows, scaled, replace;
};

struct state {
	struct render render;
	const struct format *format;
	int said;       /* errno of the trouble that the log has been told of */
	bool reopening; /* the next stream's first bytes go into a file of their own */
};

static bool is_path(const struct conf *conf)
{
	return strcmp(conf->path, "-") != 0;
}

/* What waits was written, or why not was said once, and an agent waits for better times. A slow
 * reader is none of the log's business, and EPIPE is the reader's way to say that it has enough. */
static int write_out(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	int err = out_write(&state->render.out);

	if (err == -EPIPE || err == -EAGAIN)
		return err;
	if (err && state->said != -err)
		sonde_log(self, SONDE_WARNING, "%s: %s", is_path(conf) ? conf->path : "stdout",
			  strerror(-err));
	state->said = -err;
	return err && err != -EBADF ? -ENOSPC : err;
}

/* Nothing more is taken while there is something that could not be written. */
static int ready(struct sonde_instance *self)
{
	struct state *state = self->state;

	return state->render.out.stuck ? write_out(self) : 0;
}

static int taken(const struct state *state)
{
	return -state->render.out.err;
}

static int view(struct sonde_instance *self, const struct sonde_view *view)
{
	struct state *state = self->state;
	struct plan *plan;
	int err = ready(self);

	if (err)
		return err;
	plan = plan_of(&state->render.plans, view);
	if (!plan)
		return -ENOMEM;
	state->format->view(&state->render, plan, view);
	return taken(state);
}

static int flush(struct sonde_instance *self)
{
	return write_out(self);
}

static uint32_t choose_intake(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;

	return conf->format == FORMAT_SONDE ? SONDE_TAKES_STREAM : SONDE_TAKES_VIEWS;
}

/* What was torn by a crash shall not swallow the first new line. */
static int end_line(int fd, uint64_t size)
{
	char last = '\n';

	if (size && pread(fd, &last, 1, (off_t)size - 1) != 1)
		return -errno;
	return last == '\n' || write(fd, "\n", 1) == 1 ? 0 : -errno;
}

static const char is_recording[] = "it is a recording; choose another name";

static int prepare_file(struct sonde_instance *self, int fd, bool replace)
{
	const struct conf *conf = self->conf;
	const struct state *state = self->state;
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return 0;
	if (sonde_is_recording(fd)) {
		sonde_log(self, SONDE_ERROR, "path = %s: %s", conf->path, is_recording);
		return -EEXIST;
	}
	if (replace)
		return ftruncate(fd, 0) ? -errno : 0;
	return state->format && state->format->lines ? end_line(fd, (uint64_t)st.st_size) : 0;
}

static int open_file(struct sonde_instance *self, bool replace)
{
	const struct conf *conf = self->conf;
	struct stat st;
	/* A FIFO opened for reading too would never tell that its reader is gone. */
	int mode = stat(conf->path, &st) || S_ISREG(st.st_mode) ? O_RDWR : O_WRONLY;
	int fd = open(conf->path, mode | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	int err;

	if (fd < 0) {
		err = -errno;
		sonde_log(self, SONDE_ERROR, "path = %s: %s", conf->path, strerror(errno));
		return err;
	}
	err = prepare_file(self, fd, replace);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

/* Whoever renamed the file gets no more of it; the new one is never emptied. */
static int open_again(struct sonde_instance *self)
{
	struct state *state = self->state;
	int fd;

	write_out(self);
	fd = open_file(self, false);
	if (fd < 0)
		return fd;
	close(state->render.out.fd);
	state->render.out.fd = fd;
	return 0;
}

/* A stream first ends in the file that it began in. */
static int reopen(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;

	if (!is_path(conf))
		return 0;
	if (conf->format != FORMAT_SONDE)
		return open_again(self);
	state->reopening = true;
	return sonde_restart(self);
}

static int bytes(struct sonde_instance *self, const void *data, uint64_t length, uint32_t flags)
{
	struct state *state = self->state;
	int err = ready(self);

	if (!err && state->reopening && flags & SONDE_FIRST) {
		err = open_again(self);
		state->reopening = err != 0;
		if (err)
			sonde_restart(self);
	}
	if (err)
		return err;
	out_add(&state->render.out, data, length);
	return taken(state);
}

static int start(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	struct render *render = &state->render;
	int fd;

	render->out.fd = render->head.fd = render->cells.fd = -1;
	state->format = formats[conf->format];
	if (state->format)
		render->plans = (struct plans) { .before = state->format->before,
						 .after = state->format->after,
						 .scaled = conf->scaled };
	render->integers_as_text = conf->integers;
	render->only_changed = conf->rows;
	fd = is_path(conf) ? open_file(self, conf->replace) : STDOUT_FILENO;
	if (fd < 0)
		return fd;
	if (out_make(&render->out, fd) || out_make(&render->head, -1) ||
	    out_make(&render->cells, -1))
		return -ENOMEM;
	return 0;
}

/* A start empties or makes the file. */
static int check(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	int err = is_path(conf) ? sonde_may_write(conf->path) : 0;

	if (err)
		sonde_log(self, SONDE_ERROR, "path = %s: %s", conf->path,
			  err == -EEXIST ? is_recording : strerror(-err));
	return err;
}

static void stop(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	struct render *render = &state->render;

	if (render->out.fd >= 0)
		write_out(self);
	if (render->out.fd >= 0 && is_path(conf))
		close(render->out.fd);
	out_free(&render->out);
	out_free(&render->head);
	out_free(&render->cells);
	plans_free(&render->plans);
}

/* clang-format off */
static const struct sonde_option options[] = {
	{ "format", SONDE_OPT_CHOICE, offsetof(struct conf, format), "json",
	  .choices = FORMAT_NAMES,
	  .help = "form of the rows; sonde is the compressed stream itself" },
	{ "path", SONDE_OPT_STRING, offsetof(struct conf, path), "-",
	  .help = "a file to append to; - is standard output" },
	{ "replace", SONDE_OPT_BOOL, offsetof(struct conf, replace), "no",
	  .help = "empty the file at the start" },
	{ "integers", SONDE_OPT_CHOICE, offsetof(struct conf, integers), "number",
	  .choices = "number|string",
	  .help = "JSON: string for readers that round above 2^53" },
	{ "scaled", SONDE_OPT_BOOL, offsetof(struct conf, scaled), "no",
	  .help = "values in base units (bytes, ns, ratio) in place of the kernel's own" },
	{ "rows", SONDE_OPT_CHOICE, offsetof(struct conf, rows), "all", .choices = "all|changed",
	  .help = "changed: only rows that differ from the instant before" },
};
/* clang-format on */

static const struct sonde_sink_ops ops = {
	.intake = SONDE_TAKES_VIEWS,
	.assertion = SONDE_HANDED,
	.view = view,
	.bytes = bytes,
	.flush = flush,
	.reopen = reopen,
	.choose_intake = choose_intake,
};

SONDE_SINK(stdout, "rows as JSON, msgpack, CSV, logfmt, influx lines, tables or the stream itself",
	   ops, .options = SONDE_OPTIONS(options), .conf_size = sizeof(struct conf),
	   .state_size = sizeof(struct state), .check = check, .start = start, .stop = stop);
