/* The stdout sink as a whole: logfmt, msgpack and tables, and what becomes of bytes that the other
 * end does not take. */
#include <msgpack.h>
#include <signal.h>

#include "stdout_host.h"

const char suite[] = "stdout";

enum { MSGPACK = 2, CSV = 3, LOGFMT = 4, TABLE = 6 };

enum { RESOURCE, COMM, TOTAL, AVG, WAIT };

/* clang-format off */
static const struct sonde_column columns[] = {
	[RESOURCE] = { "resource", SONDE_STR,  SONDE_KEY,     SONDE_NONE, .help = "" },
	[COMM]     = { "comm",     SONDE_STR,  SONDE_INFO,    SONDE_NONE, .help = "" },
	[TOTAL]    = { "total",    SONDE_U64,  SONDE_COUNTER, SONDE_US, .help = "" },
	[AVG]      = { "avg",      SONDE_U64,  SONDE_GAUGE,   SONDE_PERCENT_CENTI, .help = "" },
	[WAIT]     = { "wait",     SONDE_HIST, SONDE_COUNTER, SONDE_COUNT("waits"), .slots = 2 },
};
static const struct sonde_column load_columns[] = {
	[0] = { "load1", SONDE_U64, SONDE_GAUGE, SONDE_COUNT_CENTI("tasks"), .help = "" },
	[1] = { "who",   SONDE_STR, SONDE_INFO,  SONDE_NONE, .help = "" },
	[2] = { "gone",  SONDE_U64, SONDE_GAUGE, SONDE_KIB, .help = "" },
	[3] = { "ways",  SONDE_U64, SONDE_GAUGE, SONDE_COUNT("ways"), .help = "" },
};
/* clang-format on */
static const struct sonde_table psi = { .name = "psi", .columns = SONDE_COLUMNS(columns) };
static const struct sonde_table load = { .name = "load", .columns = SONDE_COLUMNS(load_columns) };

static void fill(struct sample *sample)
{
	struct sonde_row row;

	sample_make(sample, &psi);
	row = sample_row(sample);
	sonde_set_str(&row, RESOURCE, "cpu");
	sonde_set_str(&row, COMM, "a b=\"c\"\n\xff");
	sonde_set_u64(&row, TOTAL, 73759571709);
	sonde_set_u64(&row, AVG, 1204);
	sonde_set_u64(&row, WAIT + 1, 9);
	row = sample_row(sample);
	sonde_set_str(&row, RESOURCE, "io");
	sonde_set_u64(&row, TOTAL, 5);
}

/* Plain words as they are; blanks, equal signs, quotes and all else between quotes. */
static void logfmt(void)
{
	struct sonde_instance self = opened(LOGFMT);
	struct sonde_stream_header header = some_header;
	char expected[1024];
	struct sample sample;
	unsigned long long hash;

	header.ntags = 2;
	fill(&sample);
	hash = sample.schema->hash;
	snprintf(expected, sizeof expected,
		 "time=1700000000000000001 boottime=5000000007 host=web1 boot=b-1 tags.env=prod "
		 "tags.dc=\"fra 1\" instance=\"psi a\" sequence=3 table=psi hash=%016llx "
		 "resource=cpu comm=\"a b=\\\"c\\\"\\n\xef\xbf\xbd\" total=73759571709 avg=1204 "
		 "wait_1=9\n"
		 "time=1700000000000000001 boottime=5000000007 host=web1 boot=b-1 tags.env=prod "
		 "tags.dc=\"fra 1\" instance=\"psi a\" sequence=3 table=psi hash=%016llx "
		 "resource=io total=5\n",
		 hash, hash);
	sample_view(&sample, "psi a");
	sample.view.header = &header;
	CU_ASSERT_STRING_EQUAL(written(&self, &sample.view), expected);
	sample_free(&sample);
}

/* A grid for rows with keys: names and units above, numbers at the right, absent values `-`, kernel
 * text with its decimals. Widths are of the longest in each column; nothing of a name acts on the
 * terminal. */
static void grid(void)
{
	struct sonde_instance self = opened(TABLE);
	struct sample sample;

	fill(&sample);
	CU_ASSERT_STRING_EQUAL(written(&self, sample_view(&sample, "psi a")),
			       "psi  2023-11-14T22:13:20.000000001Z  web1  [psi a]\n"
			       "  resource  comm             total[us]  avg[%]  wait[waits]\n"
			       "  cpu       a b=\"c\"\\n\\xff  73759571709   12.04          - 9\n"
			       "  io        -                        5       -          - -\n\n");
	sample_free(&sample);
}

/* A list for a table of one row: what is absent is left out. */
static void list(void)
{
	struct sonde_instance self = opened(TABLE);
	struct sample sample;
	struct sonde_row row;

	sample_make(&sample, &load);
	row = sample_row(&sample);
	sonde_set_u64(&row, 0, 105);
	sonde_set_str(&row, 1, "\xe2\x80\xae\x1b[31m");
	sonde_set_u64(&row, 3, 8);
	CU_ASSERT_STRING_EQUAL(written(&self, sample_view(&sample, "load")),
			       "load  2023-11-14T22:13:20.000000001Z  web1\n"
			       "  load1  1.05 tasks\n"
			       "  who    \\u202e\\x1b[31m\n"
			       "  ways   8\n\n");
	sample_free(&sample);
}

static const msgpack_object *member(const msgpack_object *map, const char *name)
{
	for (uint32_t i = 0; i < map->via.map.size; i++) {
		const msgpack_object_kv *each = &map->via.map.ptr[i];

		if (each->key.via.str.size == strlen(name) &&
		    memcmp(each->key.via.str.ptr, name, strlen(name)) == 0)
			return &each->val;
	}
	CU_FAIL_FATAL("no such member");
	return NULL;
}

static bool is_text(const msgpack_object *object, const char *text)
{
	return object->type == MSGPACK_OBJECT_STR && object->via.str.size == strlen(text) &&
	       memcmp(object->via.str.ptr, text, strlen(text)) == 0;
}

/* Read back by msgpack-c's own reader: the names of the JSON form; a text that is not UTF-8 is bin,
 * every byte of it kept (case 6 of the corpus). */
static void msgpack_rows(void)
{
	struct sonde_instance self = opened(MSGPACK);
	const msgpack_object *values;
	msgpack_unpacked row;
	struct sample sample;
	const char *text;
	struct stat st;
	char hash[20];
	size_t at = 0;

	fill(&sample);
	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	CU_ASSERT_EQUAL(view(&self, sample_view(&sample, "psi")), 0);
	stop(&self);
	text = text_of(target);
	CU_ASSERT_EQUAL_FATAL(stat(target, &st), 0);
	msgpack_unpacked_init(&row);
	CU_ASSERT_EQUAL_FATAL(msgpack_unpack_next(&row, text, (size_t)st.st_size, &at),
			      MSGPACK_UNPACK_SUCCESS);
	CU_ASSERT_EQUAL(row.data.via.map.size, 10);
	CU_ASSERT_EQUAL(member(&row.data, "time")->via.u64, 1700000000000000001);
	CU_ASSERT_EQUAL(member(&row.data, "boottime")->via.u64, 5000000007);
	CU_ASSERT_EQUAL(member(&row.data, "sequence")->via.u64, 3);
	CU_ASSERT(is_text(member(&row.data, "host"), "web1"));
	CU_ASSERT(is_text(member(&row.data, "boot"), "b-1"));
	CU_ASSERT(is_text(member(&row.data, "instance"), "psi"));
	CU_ASSERT(is_text(member(&row.data, "table"), "psi"));
	snprintf(hash, sizeof hash, "%016llx", (unsigned long long)sample.schema->hash);
	CU_ASSERT(is_text(member(&row.data, "hash"), hash));
	CU_ASSERT(is_text(member(member(&row.data, "keys"), "resource"), "cpu"));
	values = member(&row.data, "values");
	CU_ASSERT_EQUAL(values->via.map.size, 4);
	CU_ASSERT_EQUAL(member(values, "comm")->type, MSGPACK_OBJECT_BIN);
	CU_ASSERT_EQUAL(member(values, "comm")->via.bin.size, 9);
	CU_ASSERT_NSTRING_EQUAL(member(values, "comm")->via.bin.ptr, "a b=\"c\"\n\xff", 9);
	CU_ASSERT_EQUAL(member(values, "total")->via.u64, 73759571709);
	CU_ASSERT_EQUAL(member(values, "wait")->via.array.ptr[0].type, MSGPACK_OBJECT_NIL);
	CU_ASSERT_EQUAL(member(values, "wait")->via.array.ptr[1].via.u64, 9);
	CU_ASSERT_EQUAL_FATAL(msgpack_unpack_next(&row, text, (size_t)st.st_size, &at),
			      MSGPACK_UNPACK_SUCCESS);
	CU_ASSERT_EQUAL(member(&row.data, "values")->via.map.size, 1);
	CU_ASSERT_EQUAL(at, (size_t)st.st_size);
	msgpack_unpacked_destroy(&row);
	unlink(target);
	sample_free(&sample);
}

/* The stream's bytes pass as they come. */
static void stream(void)
{
	struct sonde_instance self = opened(FORMAT_SONDE);

	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	CU_ASSERT_EQUAL(choose_intake(&self), SONDE_TAKES_STREAM);
	CU_ASSERT_EQUAL(bytes(&self, "abc", 3, SONDE_FIRST), 0);
	CU_ASSERT_EQUAL(bytes(&self, "def", 3, SONDE_LAST), 0);
	CU_ASSERT_STRING_EQUAL(text_of(target), "");
	CU_ASSERT_EQUAL(flush(&self), 0);
	CU_ASSERT_STRING_EQUAL(text_of(target), "abcdef");
	stop(&self);
	unlink(target);
}

/* write(2): EPIPE once the reader is gone; the sink says nothing, the pipeline ends quietly. */
static void reader_gone(void)
{
	struct sonde_instance self = opened(CSV);
	struct sample sample;
	int ends[2];

	signal(SIGPIPE, SIG_IGN);
	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	fill(&sample);
	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	CU_ASSERT(dup2(ends[1], held.render.out.fd) >= 0);
	close(ends[1]);
	close(ends[0]);
	CU_ASSERT_EQUAL(view(&self, sample_view(&sample, "psi")), 0);
	CU_ASSERT_EQUAL(flush(&self), -EPIPE);
	CU_ASSERT_EQUAL(view(&self, &sample.view), -EPIPE);
	CU_ASSERT_STRING_EQUAL(told.log, "");
	stop(&self);
	unlink(target);
	sample_free(&sample);
}

/* full(4): /dev/full answers ENOSPC. Said once; nothing more is taken until what waits has been
 * written; then it goes on with every row, once. */
static void disk_full(void)
{
	struct sonde_instance self = opened(CSV);
	struct sample sample;
	unsigned lines = 0;
	int full, good;

	fill(&sample);
	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	good = dup(held.render.out.fd);
	full = open("/dev/full", O_WRONLY);
	CU_ASSERT_FATAL(good >= 0 && full >= 0);
	CU_ASSERT_EQUAL(view(&self, sample_view(&sample, "psi")), 0);
	dup2(full, held.render.out.fd);
	CU_ASSERT_EQUAL(flush(&self), -ENOSPC);
	CU_ASSERT_EQUAL(view(&self, &sample.view), -ENOSPC);
	CU_ASSERT_EQUAL(view(&self, &sample.view), -ENOSPC);
	CU_ASSERT_EQUAL(told.messages, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(told.log, "No space left on device"));
	dup2(good, held.render.out.fd);
	CU_ASSERT_EQUAL(view(&self, &sample.view), 0);
	CU_ASSERT_EQUAL(flush(&self), 0);
	stop(&self);
	for (const char *p = text_of(target); *p; p = strchr(p, '\n') + 1)
		lines += *p == 'p';
	CU_ASSERT_EQUAL(lines, 4);
	close(full);
	close(good);
	unlink(target);
	sample_free(&sample);
}

/* A pipe that does not block and is full for a while: nothing lost, nothing twice (pipe(7),
 * O_NONBLOCK). */
static void slow_reader(void)
{
	static char taken_bytes[4 << 20];
	struct sonde_instance self = opened(CSV);
	size_t used = 0, lines = 0;
	struct sample sample;
	int ends[2];
	ssize_t n;

	fill(&sample);
	CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_NONBLOCK), 0);
	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	dup2(ends[1], held.render.out.fd);
	close(ends[1]);
	for (int i = 0; i < 3000; i++)
		while (view(&self, sample_view(&sample, "psi")) == -EAGAIN)
			used += (size_t)read(ends[0], taken_bytes + used, 65536);
	while (flush(&self) == -EAGAIN)
		used += (size_t)read(ends[0], taken_bytes + used, 65536);
	while ((n = read(ends[0], taken_bytes + used, 65536)) > 0)
		used += (size_t)n;
	for (size_t i = 0; i < used; i++)
		lines += taken_bytes[i] == '\n';
	CU_ASSERT_EQUAL(lines, 1 + 2 * 3000);
	CU_ASSERT_STRING_EQUAL(told.log, "");
	stop(&self);
	close(ends[0]);
	unlink(target);
	sample_free(&sample);
}

static void put_file(const char *text, size_t length)
{
	FILE *file = fopen(target, "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fwrite(text, 1, length, file);
	fclose(file);
}

/* A file is appended to; a line that a crash tore gets its end first. With `replace` it is
 * emptied. */
static void appending(void)
{
	struct sonde_instance self = opened(LOGFMT);
	struct sample sample;
	const char *text;

	fill(&sample);
	put_file("torn", 4);
	text = written(&self, sample_view(&sample, "psi"));
	CU_ASSERT_NSTRING_EQUAL(text, "torn\ntime=", 10);
	self = opened(LOGFMT);
	set.replace = true;
	put_file("torn", 4);
	text = written(&self, &sample.view);
	CU_ASSERT_NSTRING_EQUAL(text, "time=", 5);
	sample_free(&sample);
}

/* LZ4 frame format: 0x184D2A50 to 5F begin a skippable frame, 0x184D2204 a frame; little endian.
 * Not written over, whatever the options say. */
static void recordings_are_safe(void)
{
	static const char *const magics[] = { "\x50\x2a\x4d\x18", "\x5d\x2a\x4d\x18",
					      "\x04\x22\x4d\x18" };

	for (int i = 0; i < 6; i++) {
		struct sonde_instance self = opened(CSV);

		set.replace = i % 2;
		put_file(magics[i / 2], 4);
		CU_ASSERT_EQUAL(start(&self), -EEXIST);
		CU_ASSERT_PTR_NOT_NULL(strstr(told.log, "it is a recording"));
		stop(&self);
		CU_ASSERT_STRING_EQUAL(text_of(target), magics[i / 2]);
		unlink(target);
	}
}

/* logrotate: the file is renamed, then SIGHUP. What was taken before is in the old one. */
static void reopening(void)
{
	struct sonde_instance self = opened(LOGFMT);
	struct sample sample;
	char old[64];

	fill(&sample);
	snprintf(old, sizeof old, "%s.1", target);
	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	CU_ASSERT_EQUAL(view(&self, sample_view(&sample, "before")), 0);
	CU_ASSERT_EQUAL_FATAL(rename(target, old), 0);
	CU_ASSERT_EQUAL(reopen(&self), 0);
	CU_ASSERT_EQUAL(view(&self, sample_view(&sample, "after")), 0);
	stop(&self);
	CU_ASSERT_PTR_NOT_NULL(strstr(text_of(old), "instance=before"));
	CU_ASSERT_PTR_NULL(strstr(text_of(old), "instance=after"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text_of(target), "instance=after"));
	CU_ASSERT_PTR_NULL(strstr(text_of(target), "instance=before"));
	unlink(old);
	unlink(target);
	sample_free(&sample);
}

CU_TestInfo tests[] = {
	{ "logfmt", logfmt },       { "grid", grid },
	{ "list", list },           { "msgpack", msgpack_rows },
	{ "stream", stream },       { "reader gone", reader_gone },
	{ "disk full", disk_full }, { "slow reader", slow_reader },
	{ "appending", appending }, { "recordings are safe", recordings_are_safe },
	{ "reopening", reopening }, CU_TEST_INFO_NULL,
};
