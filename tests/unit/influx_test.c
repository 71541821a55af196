/* InfluxDB line protocol of the stdout sink. Expected texts are by hand after docs.influxdata.com,
 * "Line protocol": special characters, data types, and the rule that a point has at least one
 * field. */
#include "stdout_host.h"

const char suite[] = "influx";

enum { INFLUX = 5 };

/* clang-format off */
enum { DEVICE, INDEX, READS, DELTA, SHARE, MODEL, WAIT };
static const struct sonde_column columns[] = {
	[DEVICE] = { "device", SONDE_STR,  SONDE_KEY,     SONDE_NONE, .help = "" },
	[INDEX]  = { "index",  SONDE_U64,  SONDE_KEY,     SONDE_NONE, .help = "" },
	[READS]  = { "reads",  SONDE_U64,  SONDE_COUNTER, SONDE_COUNT("reads"), .help = "" },
	[DELTA]  = { "delta",  SONDE_I64,  SONDE_GAUGE,   SONDE_NS, .help = "" },
	[SHARE]  = { "share",  SONDE_F64,  SONDE_GAUGE,   SONDE_RATIO, .help = "" },
	[MODEL]  = { "model",  SONDE_STR,  SONDE_INFO,    SONDE_NONE, .help = "" },
	[WAIT]   = { "wait",   SONDE_HIST, SONDE_COUNTER, SONDE_COUNT("waits"), .slots = 2 },
};
/* clang-format on */
static const struct sonde_table table = { .name = "disk", .columns = SONDE_COLUMNS(columns) };

/* U64 has the suffix u, I64 i, a text quotes. */
static void types(void)
{
	struct sonde_instance self = opened(INFLUX);
	struct sample sample;
	struct sonde_row row;

	sample_make(&sample, &table);
	row = sample_row(&sample);
	sonde_set_str(&row, DEVICE, "sda");
	sonde_set_u64(&row, INDEX, 2);
	sonde_set_u64(&row, READS, UINT64_MAX);
	sonde_set_i64(&row, DELTA, -5);
	sonde_set_f64(&row, SHARE, 0.5);
	sonde_set_str(&row, MODEL, "SSD");
	sonde_set_u64(&row, WAIT + 1, 7);
	CU_ASSERT_STRING_EQUAL(
		written(&self, sample_view(&sample, "disk")),
		"disk,host=web1,instance=disk,device=sda,index=2 reads=18446744073709551615u,"
		"delta=-5i,share=0.5,model=\"SSD\",wait_1=7u 1700000000000000001\n");
	sample_free(&sample);
}

/* Commas, equal signs and blanks of a tag; quotes and backslashes of a field. A backslash before a
 * special character, line feeds and bytes that are not UTF-8 can't be said: U+FFFD. Case 167 of the
 * corpus. */
static void escapes(void)
{
	struct sonde_instance self = opened(INFLUX);
	struct sample sample;
	struct sonde_row row;

	sample_make(&sample, &table);
	row = sample_row(&sample);
	sonde_set_str(&row, DEVICE, "a b,c=d\"\\e\\,\nf\xff\\");
	sonde_set_str(&row, MODEL, "a\"b\n\\c, d=\xff\xc3\xa4");
	CU_ASSERT_STRING_EQUAL(
		written(&self, sample_view(&sample, "my disks")),
		"disk,host=web1,instance=my\\ disks,device=a\\ b\\,c\\=d\"\\e\xef\xbf\xbd\\,"
		"\xef\xbf\xbd"
		"f\xef\xbf\xbd\xef\xbf\xbd model=\"a\\\"b\xef\xbf\xbd\\\\c, "
		"d=\xef\xbf\xbd\xc3\xa4\" 1700000000000000001\n");
	sample_free(&sample);
}

/* A row without a field is no point, a NaN no value, an empty text no tag. */
static void left_out(void)
{
	struct sonde_instance self = opened(INFLUX);
	struct sample sample;
	struct sonde_row row;

	sample_make(&sample, &table);
	row = sample_row(&sample);
	sonde_set_str(&row, DEVICE, "sda");
	sonde_set_f64(&row, SHARE, sonde_slot_f64(UINT64_C(0x7ff8000000000000)));
	row = sample_row(&sample);
	sonde_set_str(&row, DEVICE, "");
	sonde_set_u64(&row, READS, 0);
	CU_ASSERT_STRING_EQUAL(written(&self, sample_view(&sample, "")),
			       "disk,host=web1 reads=0u 1700000000000000001\n");
	sample_free(&sample);
}

/* Points of one series and time replace each other: rows of an events table are a nanosecond apart.
 * A column of the name of one of the sink's own tags stands in for it. */
static void events(void)
{
	static const struct sonde_column note[] = {
		[0] = { "instance", SONDE_STR, SONDE_INFO, SONDE_NONE, .help = "" },
		[1] = { "text", SONDE_STR, SONDE_INFO, SONDE_NONE, .help = "" },
	};
	const struct sonde_table notes = { .name = "note",
					   .columns = SONDE_COLUMNS(note),
					   .flags = SONDE_EVENTS };
	struct sonde_instance self = opened(INFLUX);
	struct sonde_stream_header header = some_header;
	struct sample sample;
	struct sonde_row row;

	header.ntags = 2;
	sample_make(&sample, &notes);
	row = sample_row(&sample);
	sonde_set_str(&row, 0, "psi");
	sonde_set_str(&row, 1, "one");
	row = sample_row(&sample);
	sonde_set_str(&row, 1, "two");
	sample_view(&sample, "host");
	sample.view.header = &header;
	CU_ASSERT_STRING_EQUAL(written(&self, &sample.view),
			       "note,host=web1,env=prod,dc=fra\\ 1 instance=\"psi\",text=\"one\" "
			       "1700000000000000001\n"
			       "note,host=web1,env=prod,dc=fra\\ 1 text=\"two\" "
			       "1700000000000000002\n");
	sample_free(&sample);
}

CU_TestInfo tests[] = {
	{ "types", types },   { "escapes", escapes }, { "left out", left_out },
	{ "events", events }, CU_TEST_INFO_NULL,
};
