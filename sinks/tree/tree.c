/* tree: the processes of a stream as they lived, at its end: a summary, one by one, or over time. */
#include <stdlib.h>
#include <string.h>

#include <sonde/frame.h>
#include <sonde/recording.h>

#include "tree.h"

struct conf {
	const char *brief, *summary, *summary_json, *tree, *tree_json;
	const char *timeline, *timeline_json, *perfetto, *speedscope;
};

static const struct document {
	const char *key;
	size_t path; /* offset in conf */
	void (*write)(struct page *page, const struct tree *tree);
	bool over_time;    /* it is made of lanes */
	const char *frame; /* the page that it is put into; NULL: it is the document itself */
} documents[] = {
	{ "brief", offsetof(struct conf, brief), brief_text, false, NULL },
	{ "summary", offsetof(struct conf, summary), summary_text, true, NULL },
	{ "summary_json", offsetof(struct conf, summary_json), summary_json, true, NULL },
	{ "tree", offsetof(struct conf, tree), tree_text, false, NULL },
	{ "tree_json", offsetof(struct conf, tree_json), tree_json, false, NULL },
	{ "timeline", offsetof(struct conf, timeline), timeline_json, true, "timeline.html" },
	{ "timeline_json", offsetof(struct conf, timeline_json), timeline_json, true, NULL },
	{ "perfetto", offsetof(struct conf, perfetto), timeline_perfetto, true, NULL },
	{ "speedscope", offsetof(struct conf, speedscope), timeline_speedscope, true, NULL },
};
enum { DOCUMENTS = sizeof documents / sizeof documents[0] };

static const struct sonde_option options[] = {
	{ "brief", SONDE_OPT_STRING, offsetof(struct conf, brief), "", NULL, 0, 0,
	  "file for what all processes did that wait4(2) does not tell, in four lines; - is stdout" },
	{ "summary", SONDE_OPT_STRING, offsetof(struct conf, summary), "", NULL, 0, 0,
	  "file for what all processes used, by program; - is stdout" },
	{ "summary_json", SONDE_OPT_STRING, offsetof(struct conf, summary_json), "", NULL, 0, 0,
	  "file for the same as JSON; - is stdout" },
	{ "tree", SONDE_OPT_STRING, offsetof(struct conf, tree), "", NULL, 0, 0,
	  "file for each process below its parent; - is stdout" },
	{ "tree_json", SONDE_OPT_STRING, offsetof(struct conf, tree_json), "", NULL, 0, 0,
	  "file for the same as JSON; - is stdout" },
	{ "timeline", SONDE_OPT_STRING, offsetof(struct conf, timeline), "", NULL, 0, 0,
	  "file for each process over time as a page, which holds that JSON; - is stdout; needs `make web`" },
	{ "timeline_json", SONDE_OPT_STRING, offsetof(struct conf, timeline_json), "", NULL, 0, 0,
	  "file for each process over time, as docs/timeline.schema.json describes it; - is stdout" },
	{ "perfetto", SONDE_OPT_STRING, offsetof(struct conf, perfetto), "", NULL, 0, 0,
	  "file for the same in the Trace Event Format, which ui.perfetto.dev opens; - is stdout" },
	{ "speedscope", SONDE_OPT_STRING, offsetof(struct conf, speedscope), "", NULL, 0, 0,
	  "file for CPU time, waiting and the chain that set the time, which speedscope.app opens; - is stdout" },
};

static const char *path_of(const struct sonde_instance *self, const struct document *document)
{
	return *(const char *const *)((const char *)self->conf + document->path);
}

static int check(struct sonde_instance *self)
{
	for (size_t i = 0; i < DOCUMENTS; i++) {
		const char *path = path_of(self, &documents[i]);
		int err = *path && strcmp(path, "-") != 0 ? sonde_may_write(path) : 0;
		struct page frame = { 0 };

		if (err) {
			sonde_log(self, SONDE_ERROR, "%s = %s: %s", documents[i].key, path,
				  page_error(err));
			return err;
		}
		if (*path && documents[i].frame)
			err = frame_read(self, documents[i].frame, &frame);
		free(frame.bytes);
		if (err) /* it was logged */
			return err;
	}
	return 0;
}

static int start(struct sonde_instance *self)
{
	struct tree *tree = self->state;

	for (size_t i = 0; i < DOCUMENTS; i++)
		if (documents[i].over_time && *path_of(self, &documents[i]))
			tree->keeps_lanes = true;
	return 0;
}

static int view(struct sonde_instance *self, const struct sonde_view *seen)
{
	struct tree *tree = self->state;

	tree_view(tree, seen);
	return tree->no_memory ? -ENOMEM : 0;
}

/* An error is logged. */
static void print(struct sonde_instance *self, const struct document *document, const char *path)
{
	const struct tree *tree = self->state;
	struct page page = { 0 }, frame = { 0 };
	int err = document->frame ? frame_read(self, document->frame, &frame) : 0, fd;

	if (!err) {
		fd = page_open(path);
		err = fd < 0 ? fd : 0;
		if (!err) {
			document->write(&page, tree);
			if (frame.bytes)
				frame_fill(&frame, &page);
			err = page_write(&page, fd);
		}
		if (err && err != -EPIPE)
			sonde_log(self, SONDE_ERROR, "%s: %s",
				  strcmp(path, "-") == 0 ? "stdout" : path, page_error(err));
	}
	free(frame.bytes);
	free(page.bytes);
}

static void stop(struct sonde_instance *self)
{
	struct tree *tree = self->state;
	bool ready = tree->any && tree_relate(tree);

	if (tree->any && !ready)
		sonde_log(self, SONDE_ERROR, "%s", strerror(ENOMEM));
	for (size_t i = 0; i < DOCUMENTS && ready; i++) {
		const char *path = path_of(self, &documents[i]);

		if (*path)
			print(self, &documents[i], path);
	}
	tree_free(tree);
}

static const struct sonde_sink_ops ops = {
	.intake = SONDE_TAKES_VIEWS,
	.assertion = SONDE_HANDED,
	.view = view,
};

SONDE_SINK(
	tree,
	"processes as they lived: what they used by program, each below its parent, and over time",
	ops, .options = SONDE_OPTIONS(options), .conf_size = sizeof(struct conf),
	.state_size = sizeof(struct tree), .check = check, .start = start, .stop = stop);
