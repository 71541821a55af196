/* Why a finding is not judged: the note of the section that has its table. */
#include "core/records.h"
#include "core/schema.h"
#include "window/needs.h"

#include "test.h"

const char suite[] = "needs";

/* Notes of a recording: section, text, tables. */
static void noted(struct needs_notes *notes, const char *const (*lines)[3], size_t count)
{
	struct sonde_view views[RECORD_TABLES] = { 0 };
	struct sonde_frame records;
	struct sonde_row row;

	CU_ASSERT_EQUAL_FATAL(records_make(&records), 0);
	for (size_t i = 0; i < count; i++) {
		CU_ASSERT_EQUAL_FATAL(records_row(&records, RECORD_NOTE, &row), 0);
		records_str(&records, &row, NOTE_INSTANCE, lines[i][0]);
		records_str(&records, &row, NOTE_TEXT, lines[i][1]);
		if (lines[i][2])
			records_str(&records, &row, NOTE_TABLES, lines[i][2]);
	}
	frame_views(&records, views);
	needs_take(notes, &views[RECORD_NOTE]);
	frame_free(&records);
}

/* Why nothing can be judged by it, where these tables are there. */
static const char *why(const char *needs, const struct needs_notes *notes,
		       struct track *const *tracks, uint32_t ntracks)
{
	static char reason[200];

	CU_ASSERT_FALSE(needs_met(needs, tracks, ntracks, notes, reason, sizeof reason));
	return reason;
}

static void the_section_of_a_table(void)
{
	static const char *const lines[][3] = {
		{ "topology", "no /sys", "topology topology_cpu sysctl" },
		{ "numa", "one node", "numa numa_meminfo numa_distance" },
		{ "perf_event x", "no counters", "perf_event perf_event_*" },
		{ "", "of no section", "psi" },
	};
	struct needs_notes notes = { .count = 0 };

	noted(&notes, lines, 4);
	CU_ASSERT_STRING_EQUAL(why("sysctl.number", &notes, NULL, 0), "no sysctl (no /sys)");
	CU_ASSERT_STRING_EQUAL(why("numa_distance.distance", &notes, NULL, 0),
			       "no numa_distance (one node)");
	/* Of another collector, whatever its name begins with. */
	CU_ASSERT_STRING_EQUAL(why("numa_maps.pages", &notes, NULL, 0),
			       "no numa_maps in the recording");
	CU_ASSERT_STRING_EQUAL(why("topology_cache", &notes, NULL, 0),
			       "no topology_cache in the recording");
	CU_ASSERT_STRING_EQUAL(why("perf_event_core.cycles", &notes, NULL, 0),
			       "no perf_event_core (no counters)");
	CU_ASSERT_STRING_EQUAL(why("psi.some_total", &notes, NULL, 0), "no psi in the recording");
	needs_free(&notes);
}

/* Notes of older versions name no tables: the longest name of a section is meant. */
static void older_notes(void)
{
	static const char *const lines[][3] = { { "psi", "boot with psi=1", NULL },
						{ "numa", "one node", NULL },
						{ "numa_maps x", "hidden", NULL },
						{ "counts", "some are hidden", NULL } };
	static const struct sonde_column columns[] = { { "a", SONDE_U64, SONDE_KEY, SONDE_NONE,
							 .origin = "1" } };
	static const struct sonde_table table = { "things", SONDE_COLUMNS(columns), .origin = "x" };
	static const struct sonde_stream_header header;
	struct needs_notes notes = { .count = 0 };
	struct sonde_view view = { .instance = "counts", .header = &header };
	struct sonde_schema *schema = NULL;
	struct track *track;
	char text[200];

	noted(&notes, lines, 4);
	CU_ASSERT_STRING_EQUAL(why("psi.some_total", &notes, NULL, 0), "no psi (boot with psi=1)");
	CU_ASSERT_STRING_EQUAL(why("numa_maps.pages", &notes, NULL, 0), "no numa_maps (hidden)");
	CU_ASSERT_STRING_EQUAL(why("numa_distance.distance", &notes, NULL, 0),
			       "no numa_distance (one node)");
	CU_ASSERT_STRING_EQUAL(why("numastat.hit", &notes, NULL, 0),
			       "no numastat in the recording");
	/* A table that is there is of its section. */
	CU_ASSERT_EQUAL_FATAL(schema_make(&table, &schema, text, sizeof text), 0);
	view.schema = schema;
	track = track_new(&view, NULL, 0, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(track);
	CU_ASSERT_STRING_EQUAL(why("things.b", &notes, &track, 1), "no things.b (some are hidden)");
	track_free(track);
	schema_free(schema);
	needs_free(&notes);
}

static void keys_as_words(void)
{
	const struct sonde_catalogue line = { .keys = " busy imbalance_hold  limit" }, any = { 0 };

	CU_ASSERT(needs_key(&line, "busy"));
	CU_ASSERT(needs_key(&line, "limit"));
	CU_ASSERT_FALSE(needs_key(&line, "hold"));
	CU_ASSERT_FALSE(needs_key(&line, "imbalance"));
	CU_ASSERT(needs_key(&any, "hold"));
}

CU_TestInfo tests[] = {
	{ "the section of a table", the_section_of_a_table },
	{ "notes of older versions", older_notes },
	{ "whole words", keys_as_words },
	CU_TEST_INFO_NULL,
};
