/* CSV rows of the stdout sink. Expected texts are by hand after RFC 4180; that a line is a row is
 * sonde's own promise. */
#include "stdout_host.h"

const char suite[] = "csv";

enum { CSV = 3 };

enum { PID, COMM, UTIME, WAIT, AVG = WAIT + 2, COLUMNS = 5 };

/* clang-format off */
static const struct sonde_column columns[COLUMNS] = {
	[0] = { "pid",   SONDE_U64,  SONDE_KEY,     SONDE_NONE, .help = "" },
	[1] = { "comm",  SONDE_STR,  SONDE_INFO,    SONDE_NONE, .help = "" },
	[2] = { "utime", SONDE_U64,  SONDE_COUNTER, SONDE_TICKS, .help = "" },
	[3] = { "wait",  SONDE_HIST, SONDE_COUNTER, SONDE_COUNT("waits"), .slots = 2 },
	[4] = { "avg",   SONDE_F64,  SONDE_GAUGE,   SONDE_RATIO, .help = "" },
};
/* clang-format on */
static const struct sonde_table table = { .name = "process", .columns = SONDE_COLUMNS(columns) };

#define OWN    "time,boottime,host,boot,tags,instance,sequence,hash"
#define HEADER "#process," OWN ",pid,comm,utime,wait_0,wait_1,avg\n"

/* "process,...,HASH,REST" for each of `rests`, in `text` at *at, which moves behind them. */
static void check_rows(const char **at, uint64_t hash, const char *const *rests)
{
	char expected[1024];

	for (; *rests; rests++) {
		size_t n = (size_t)snprintf(
			expected, sizeof expected,
			"process,1700000000000000001,5000000007,web1,b-1,,thing,3,%016llx,%s\n",
			(unsigned long long)hash, *rests);

		CU_ASSERT_NSTRING_EQUAL(*at, expected, n);
		*at += strnlen(*at, n);
	}
}

static void add(struct sample *sample, uint64_t pid, const char *comm)
{
	struct sonde_row row = sample_row(sample);

	sonde_set_u64(&row, PID, pid);
	sonde_set_str(&row, COMM, comm);
}

/* A header line before the first row. Absent is empty, an empty text is quoted. */
static void rows(void)
{
	struct sonde_instance self = opened(CSV);
	struct sample sample;
	struct sonde_row row;
	const char *text;

	sample_make(&sample, &table);
	row = sample_row(&sample);
	sonde_set_u64(&row, PID, 4711);
	sonde_set_str(&row, COMM, "spin");
	sonde_set_u64(&row, UTIME, UINT64_MAX);
	sonde_set_u64(&row, WAIT + 1, 9);
	sonde_set_f64(&row, AVG, 0.25);
	row = sample_row(&sample);
	sonde_set_str(&row, COMM, "");
	text = written(&self, sample_view(&sample, "thing"));
	CU_ASSERT_NSTRING_EQUAL(text, HEADER, strlen(HEADER));
	text += strlen(HEADER);
	check_rows(
		&text, sample.schema->hash,
		(const char *[]) { "4711,spin,18446744073709551615,,9,0.25", ",\"\",,,,", NULL });
	CU_ASSERT_STRING_EQUAL(text, "");
	sample_free(&sample);
}

/* Quotes are doubled, a comma needs them (RFC 4180, 2.6 and 2.7). Cases 3, 5, 6 and 167 of the
 * corpus: a line stays a row. */
static void foreign_names(void)
{
	struct sonde_instance self = opened(CSV);
	struct sample sample;
	const char *text;

	sample_make(&sample, &table);
	add(&sample, 1, "a,b");
	add(&sample, 2, "say \"hi\"");
	add(&sample, 3, "my file with\nsp");
	add(&sample, 4, "bad) S 1 2 3 4");
	add(&sample, 5, "inner-job-\xe5\x90\x8c\xe6\xad");
	add(&sample, 6, "a\"b\n\\c");
	add(&sample, 7, "\xe2\x80\xaegpj.exe");
	text = written(&self, sample_view(&sample, "thing")) + strlen(HEADER);
	check_rows(&text, sample.schema->hash,
		   (const char *[]) { "1,\"a,b\",,,,", "2,\"say \"\"hi\"\"\",,,,",
				      "3,my file with\\nsp,,,,", "4,bad) S 1 2 3 4,,,,",
				      "5,inner-job-\xe5\x90\x8c\\xe6\\xad,,,,",
				      "6,\"a\"\"b\\n\\\\c\",,,,", "7,\\u202egpj.exe,,,,", NULL });
	CU_ASSERT_STRING_EQUAL(text, "");
	sample_free(&sample);
}

static void add_text(char *to, size_t size, const char *line, uint64_t hash)
{
	size_t used = strlen(to);

	snprintf(to + used, size - used, line, (unsigned long long)hash);
}

/* Rows of one table may come with columns that differ (two hosts, two kernels): a header line
 * wherever they change, and none where another instance has the same ones. */
static void changing_columns(void)
{
	static const struct sonde_column short_columns[] = {
		[0] = { "pid", SONDE_U64, SONDE_KEY, SONDE_NONE, .help = "" },
		[1] = { "nice", SONDE_I64, SONDE_STATE, SONDE_NONE, .help = "" },
	};
	const struct sonde_table other = { .name = "process",
					   .columns = SONDE_COLUMNS(short_columns) };
	struct sonde_instance self = opened(CSV);
	struct sample first, second, third;
	char expected[4096] = "";

	sample_make(&first, &table);
	sample_make(&second, &other);
	sample_make(&third, &table); /* the same columns, of another instance */
	add(&first, 1, "a");
	add(&third, 3, "c");
	sample_row(&second);
	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	CU_ASSERT_EQUAL(view(&self, sample_view(&first, "x")), 0);
	CU_ASSERT_EQUAL(view(&self, sample_view(&third, "y")), 0);
	CU_ASSERT_EQUAL(view(&self, sample_view(&second, "z")), 0);
	CU_ASSERT_EQUAL(view(&self, sample_view(&first, "x")), 0);
	stop(&self);
#define ROW(instance, rest)                                                                        \
	"process,1700000000000000001,5000000007,web1,b-1,," instance ",3,%016llx," rest "\n"
	strcat(expected, HEADER);
	add_text(expected, sizeof expected, ROW("x", "1,a,,,,"), first.schema->hash);
	add_text(expected, sizeof expected, ROW("y", "3,c,,,,"), first.schema->hash);
	strcat(expected, "#process," OWN ",pid,nice\n");
	add_text(expected, sizeof expected, ROW("z", ","), second.schema->hash);
	strcat(expected, HEADER);
	add_text(expected, sizeof expected, ROW("x", "1,a,,,,"), first.schema->hash);
	CU_ASSERT_STRING_EQUAL(text_of(target), expected);
	unlink(target);
	sample_free(&first);
	sample_free(&second);
	sample_free(&third);
}

/* More tables than are remembered: rows stay right, header lines may repeat. */
static void many_tables(void)
{
	static char names[PLANS + 8][16];
	struct sonde_instance self = opened(CSV);
	const char *text;
	unsigned lines = 0;

	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < PLANS + 8; i++) {
			struct sample sample;
			struct sonde_table one = table;

			snprintf(names[i], sizeof names[i], "t%d", i);
			one.name = names[i];
			sample_make(&sample, &one);
			add(&sample, (uint64_t)i, "x");
			CU_ASSERT_EQUAL(view(&self, sample_view(&sample, "i")), 0);
			sample_free(&sample);
		}
	}
	stop(&self);
	for (text = text_of(target); *text; text = strchr(text, '\n') + 1)
		lines += *text == 't';
	CU_ASSERT_EQUAL(lines, 2 * (PLANS + 8));
	unlink(target);
}

static void tags(void)
{
	struct sonde_instance self = opened(CSV);
	struct sonde_stream_header header = some_header;
	struct sample sample;

	header.ntags = 2;
	sample_make(&sample, &table);
	add(&sample, 1, "a");
	sample_view(&sample, "thing");
	sample.view.header = &header;
	CU_ASSERT_PTR_NOT_NULL(
		strstr(written(&self, &sample.view), ",web1,b-1,env=prod;dc=fra 1,thing,3,"));
	sample_free(&sample);
}

CU_TestInfo tests[] = {
	{ "rows", rows },
	{ "foreign names", foreign_names },
	{ "changing columns", changing_columns },
	{ "more tables than remembered", many_tables },
	{ "tags", tags },
	CU_TEST_INFO_NULL,
};
