/* The recording of a scenario: rows of the table `raw` as host/capture.h makes them of a real machine, written as any recording is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/records.h"
#include "core/schema.h"
#include "demo/texts.h"
#include "demo/scenarios.h"
#include "host/capture.h"
#include "host/stream.h"
#include "wire/writer.h"

enum { ROWS = 4096, PATH_MOST = 128 };

static const char *const sections[] = {
	"[cpu]\n",
	"[loadavg]\n",
	"[psi]\n",
	"[schedstat]\n",
	"[meminfo]\n",
	"[vmstat]\n",
	"[disk]\n",
	"[process]\n",
	"[topology]\n",
	"[numa]\n",
	"[thp]\n",
	"[numa_maps]\nmax = 2\nfull = yes\n",
	"[cgroup]\n",
	"[perf_event]\ngroup = core llc tlb branch topdown memory\n",
	"[taskstats]\nexits = no\n",
};

/* 2026-01-05 09:00:00 UTC, a Monday. */
static const int64_t first_sample = 1767603600;

struct recorder {
	struct model model;
	struct sonde_schema *schema;
	struct sonde_frame raw, records;
	struct sonde_stream_header header;
	struct writer *writer;
	uint32_t sequence;
	int err;
};

/* ---- Rows */

static void add_row(struct recorder *r, const char *instance, size_t ninstance, const char *call,
		    const char *path, const char *bytes, size_t length)
{
	struct sonde_row row;

	if (!frame_row(&r->raw, 0, &row))
		return; /* there is room at the next try */
	sonde_set_bytes(&row, RAW_INSTANCE, instance, ninstance);
	sonde_set_str(&row, RAW_CALL, call);
	sonde_set_str(&row, RAW_PATH, path);
	sonde_set_u64(&row, RAW_PART, 0);
	if (bytes)
		sonde_set_bytes(&row, RAW_BYTES, bytes, length);
}

/* For each of the collectors that read it. */
static void add_rows(struct recorder *r, const struct demo_file *file, const char *call,
		     const char *path, const char *bytes, size_t length)
{
	size_t n;

	for (const char *instance = file->instances; *instance;
	     instance += n + (instance[n] == ' ')) {
		n = strcspn(instance, " ");
		add_row(r, instance, n, call, path, bytes, length);
	}
}

static void path_of(const char *form, uint32_t number, char *path)
{
	const char *mark = strchr(form, '#');

	if (mark)
		snprintf(path, PATH_MOST, "%.*s%u%s", (int)(mark - form), form, number, mark + 1);
	else
		snprintf(path, PATH_MOST, "%s", form);
}

/* A collector may read a file at its start, for its first rows, and again where they are others than it knew then. What it
 * does not ask for is passed over. */
static void add_file(struct recorder *r, const struct demo_file *file, uint32_t which,
		     uint32_t number)
{
	bool first = r->sequence == 1, parts = file->kind == FILE_OF_PROCESS_IN_PARTS;
	char path[PATH_MOST], *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	path_of(file->path, number, path);
	if (out && file->text)
		fputs(file->text, out);
	else if (out)
		file->write(out, &r->model, which);
	if (!out || fclose(out)) {
		r->err = -ENOMEM;
		return;
	}
	for (int i = 0; i < (first && !parts ? 3 : 1); i++) {
		if (file->kind == FOLDER || file->kind >= OBTAINED) {
			add_rows(r, file, file->kind == FOLDER ? "list" : "obtain", path, text,
				 length);
			continue;
		}
		if (first || parts || file->kind == FILE_ANEW || file->kind == FILE_AT_REFRESH ||
		    file->kind == FILE_OF_PROCESS)
			add_rows(r, file, "open", path, NULL, 0);
		add_rows(r, file, "read", path, text, length);
		if (parts)
			add_rows(r, file, "read", path, "", 0);
	}
	free(text);
}

static void add_process(struct recorder *r, const struct demo_file *file)
{
	uint32_t pid;

	for (uint32_t i = 0; model_process(&r->model, i, &pid); i++)
		add_file(r, file, i, pid);
}

static void add_files(struct recorder *r, const struct demo_files *files)
{
	for (uint32_t i = 0; i < files->count; i++) {
		const struct demo_file *file = &files->items[i];

		if (r->sequence > 1 &&
		    (file->kind == FILE_AT_START || file->kind == OBTAINED_AT_START ||
		     (file->kind == FILE_AT_REFRESH && r->sequence <= DEMO_SECONDS)))
			continue;
		if (file->kind == FILE_OF_PROCESS || file->kind == FILE_OF_PROCESS_IN_PARTS ||
		    file->kind == OBTAINED_OF_PROCESS)
			add_process(r, file);
		else if (!file->count)
			add_file(r, file, file->first, 0);
		for (uint32_t n = 0; n < file->count; n++)
			add_file(r, file, file->first + n, file->first + n);
	}
}

/* ---- Instants */

/* What the host would say: which collectors read, and that the recording is whole. */
static void add_records(struct recorder *r)
{
	struct sonde_row row;

	frame_begin(&r->records);
	for (size_t i = 0; r->sequence == 1 && i < sizeof sections / sizeof *sections; i++) {
		char text[128];

		snprintf(text, sizeof text, "%sinterval = 1s\n", sections[i]);
		r->err = records_row(&r->records, RECORD_CONFIG, &row);
		if (r->err)
			return;
		records_str(&r->records, &row, CONFIG_TEXT, text);
	}
	if (r->sequence < DEMO_SECONDS + 1 || r->err)
		return;
	r->err = records_row(&r->records, RECORD_END, &row);
	if (r->err)
		return;
	records_str(&r->records, &row, END_REASON, "duration");
	sonde_set_u64(&row, END_INSTANTS, r->sequence);
}

static void write_instant(struct recorder *r)
{
	struct sonde_view views[1 + RECORD_TABLES];
	struct instant instant = { .header = &r->header, .views = views, .nviews = 1 };

	instant.sequence = r->sequence;
	instant.begin = (uint64_t)(r->model.seconds * 1e9);
	instant.end = instant.begin + 1000000;
	instant.realtime = (first_sample + r->sequence - 1) * 1000000000;
	frame_views(&r->raw, views);
	views[0].instance = "sonde";
	instant.nviews += record_views(&r->records, views + 1);
	instant_stamp(&instant, views);
	r->err = writer_instant(r->writer, &instant);
}

static void record_instant(struct recorder *r)
{
	r->sequence++;
	do {
		r->err = frame_begin(&r->raw);
		add_files(r, &system_files);
		add_files(r, &process_files);
		add_files(r, &delay_files);
		add_files(r, &memory_files);
		add_files(r, &cgroup_files);
		add_files(r, &counter_files);
		add_files(r, &fixed_files);
	} while (!r->err && (r->raw.tables[0].lost || r->raw.strings.lost));
	if (!r->err)
		add_records(r);
	if (!r->err)
		write_instant(r);
	r->model.seconds++;
}

/* ---- Life */

/* The id only tells its segments from those of other recordings. */
static int start(struct recorder *r, const struct scenario *scenario, int *fd)
{
	struct writer_options options = { .emit = writer_to_fd, .context = fd };
	char why[256];

	memcpy(options.id, "demo", 4);
	r->header = (struct sonde_stream_header) {
		.start_id = 1,
		.host = "demo",
		.machine_id = "",
		.boot_id = "",
		.kernel = "6.12.0",
		.arch = "x86_64",
		.label = scenario->name,
		.user_hz = DEMO_TICKS,
		.page_size = DEMO_PAGE,
		.ncpus = DEMO_CPUS,
		.online = "0-31",
		.nodes = "0-1",
		.version = "",
		.anchor = { .boottime = DEMO_UPTIME * 1000000000ull,
			    .monotonic = DEMO_UPTIME * 1000000000ull,
			    .realtime = first_sample * 1000000000,
			    .synchronised = 1 },
	};
	r->model = scenario_model(scenario);
	r->err = schema_make(&raw_table, &r->schema, why, sizeof why);
	if (!r->err)
		r->err = frame_add_table(&r->raw, r->schema, ROWS, 0);
	if (!r->err)
		r->err = records_make(&r->records);
	if (!r->err)
		r->writer = writer_new(&options);
	return r->err ? r->err : r->writer ? 0 : -ENOMEM;
}

int demo_record(const struct scenario *scenario, int fd)
{
	struct recorder r = { 0 };
	int err = start(&r, scenario, &fd);

	while (!err && r.sequence < DEMO_SECONDS + 1) {
		record_instant(&r);
		err = r.err;
	}
	if (r.writer) {
		int closed = writer_close(r.writer);

		err = err ? err : closed;
	}
	frame_free(&r.raw);
	frame_free(&r.records);
	schema_free(r.schema);
	return err;
}
