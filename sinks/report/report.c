/* report: what a stream says about its host, for people. A report is printed for each judgement: at the end of a
 * recording, or live each time the analyzers have judged; a file holds the newest one. */
#include <stdlib.h>
#include <string.h>

#include <sonde/frame.h>
#include <sonde/recording.h>

#include "report.h"

struct conf {
	const char *text, *brief, *markdown, *json, *html, *machine;
};

/* A document is a line here, a key and a file of its own. */
static const struct writer {
	const char *key;
	size_t path; /* offset in conf */
	void (*write)(struct page *page, const struct gathered *gathered);
	const char *frame; /* the page that it is put into; NULL: it is the document itself */
} writers[] = {
	{ "text", offsetof(struct conf, text), report_text, NULL },
	{ "brief", offsetof(struct conf, brief), report_brief, NULL },
	{ "markdown", offsetof(struct conf, markdown), report_markdown, NULL },
	{ "json", offsetof(struct conf, json), report_json, NULL },
	{ "html", offsetof(struct conf, html), report_json, "report.html" },
	{ "machine", offsetof(struct conf, machine), report_machine, NULL },
};
enum { WRITERS = sizeof writers / sizeof writers[0] };

struct state {
	struct gathered gathered;
	uint64_t printed; /* the judgement that was printed last */
	bool any;
};

static const struct sonde_option options[] = {
	{ "text", SONDE_OPT_STRING, offsetof(struct conf, text), "", NULL, 0, 0,
	  "file for the report as text, 96 columns wide; - is stdout, and so is none of these keys" },
	{ "brief", SONDE_OPT_STRING, offsetof(struct conf, brief), "", NULL, 0, 0,
	  "file for what was found alone, as text, what is only worth knowing in a line each; - is stdout" },
	{ "markdown", SONDE_OPT_STRING, offsetof(struct conf, markdown), "", NULL, 0, 0,
	  "file for the report as Markdown; - is stdout" },
	{ "json", SONDE_OPT_STRING, offsetof(struct conf, json), "", NULL, 0, 0,
	  "file for the report as JSON, as docs/report.schema.json describes it; - is stdout" },
	{ "html", SONDE_OPT_STRING, offsetof(struct conf, html), "", NULL, 0, 0,
	  "file for the report as a page with charts, which holds the JSON; - is stdout; needs `make web`" },
	{ "machine", SONDE_OPT_STRING, offsetof(struct conf, machine), "", NULL, 0, 0,
	  "file for what the machine is and how it is set up, as text, without what happened; - is stdout" },
};

static const char *writer_path(const struct sonde_instance *self, const struct writer *writer)
{
	return *(const char *const *)((const char *)self->conf + writer->path);
}

static int view(struct sonde_instance *self, const struct sonde_view *seen)
{
	struct state *state = self->state;

	gathered_view(&state->gathered, seen);
	return state->gathered.no_memory ? -ENOMEM : 0;
}

/* no-color.org */
static bool no_colour(void)
{
	const char *text = getenv("NO_COLOR");

	return text && *text;
}

static int print(struct sonde_instance *self, const struct writer *writer, const char *path)
{
	const struct state *state = self->state;
	struct page page = { 0 }, frame = { 0 };
	int err = writer->frame ? frame_read(self, writer->frame, &frame) : 0;
	int fd = -1;

	if (err) { /* it was logged */
		free(frame.bytes);
		return err;
	}
	fd = page_open(path);
	err = fd < 0 ? fd : 0;
	if (!err) {
		page.colour = isatty(fd) == 1 && !no_colour();
		writer->write(&page, &state->gathered);
		if (writer->frame)
			frame_fill(&frame, &page);
		err = page_write(&page, fd);
	}
	if (err && err != -EPIPE)
		sonde_log(self, SONDE_ERROR, "%s: %s", strcmp(path, "-") == 0 ? "stdout" : path,
			  page_error(err));
	free(frame.bytes);
	free(page.bytes);
	return err;
}

/* Every document that was asked for; without one, text. */
static int print_all(struct sonde_instance *self)
{
	struct state *state = self->state;
	bool any = false;
	int first = 0;

	for (size_t i = 0; i < WRITERS; i++) {
		const char *path = writer_path(self, &writers[i]);
		int err;

		if (!*path)
			continue;
		err = print(self, &writers[i], path);
		if (!first)
			first = err;
		any = true;
	}
	if (!any)
		first = print(self, &writers[0], "-");
	state->any = true;
	state->printed = state->gathered.judged;
	return first;
}

static int check(struct sonde_instance *self)
{
	for (size_t i = 0; i < WRITERS; i++) {
		const char *path = writer_path(self, &writers[i]);
		int err = *path && strcmp(path, "-") != 0 ? sonde_may_write(path) : 0;
		struct page frame = { 0 };

		if (!err && *path && writers[i].frame) {
			err = frame_read(self, writers[i].frame, &frame);
			free(frame.bytes);
			if (err) /* it was logged */
				return err;
		}
		if (!err)
			continue;
		sonde_log(self, SONDE_ERROR, "%s = %s: %s", writers[i].key, path,
			  err == -EEXIST ? "it is a recording; choose another name"
					 : strerror(-err));
		return err;
	}
	return 0;
}

static int flush(struct sonde_instance *self)
{
	const struct state *state = self->state;

	return state->gathered.judged != state->printed ? print_all(self) : 0;
}

static void stop(struct sonde_instance *self)
{
	struct state *state = self->state;

	if (!state->any && state->gathered.has_header)
		(void)print_all(self); /* it was logged */
	gathered_free(&state->gathered);
}

static const struct sonde_sink_ops ops = {
	.intake = SONDE_TAKES_VIEWS,
	.assertion = SONDE_HANDED,
	.view = view,
	.flush = flush,
};

SONDE_SINK(report, "findings, metrics and data quality as text, Markdown, JSON and HTML", ops,
	   .options = SONDE_OPTIONS(options), .conf_size = sizeof(struct conf),
	   .state_size = sizeof(struct state), .check = check, .stop = stop);
