/* Messages of the sink fluent, by the bytes: msgpack's spec.md and Fluentd's Forward Protocol
 * Specification v1. Case 166 of the corpus: entries as str, time as ext type 0. */
#include "sink_host.h"

#include "sinks/fluent/message.c"

const char suite[] = "fluent messages";

static const struct sonde_column columns[] = {
	{ "name", SONDE_STR, SONDE_KEY, SONDE_NONE, .help = "a" },
	{ "total", SONDE_U64, SONDE_COUNTER, SONDE_US, .help = "b" },
};
static const struct sonde_table table = { "psi", SONDE_COLUMNS(columns), .help = "c" };

static struct batch batch;

/* One row: name "cpu", total 7. */
static void pack(const struct packing *packing)
{
	struct sample sample;
	struct sonde_row row;

	sample_make(&sample, &table);
	row = sample_row(&sample);
	sonde_set_str(&row, 0, "cpu");
	sonde_set_u64(&row, 1, 7);
	CU_ASSERT_EQUAL(batch_view(&batch, packing, sample_view(&sample, "psi")), 0);
	sample_free(&sample);
}

static bool holds(const char *bytes, size_t at, const char *expected, size_t length)
{
	return memcmp(bytes + at, expected, length) == 0;
}

/* 93 a9 "sonde.psi" db LENGTH, then 92 d7 00, 1700000000 s (6553f100) and 1 ns. */
static void as_str(void)
{
	static const char begin[] = "\x93\xa9sonde.psi\xdb",
			  time[] = "\x92\xd7\0\x65\x53\xf1\0\0\0\0\1";
	static const char end[] = "\x81\xa4size\x01";
	const char *bytes;
	size_t length;

	pack(&(struct packing) { .tag = "sonde", .entries_as_text = true });
	bytes = batch.buffer.bytes;
	CU_ASSERT(holds(bytes, 0, begin, 12));
	CU_ASSERT(holds(bytes, 16, time, 11));
	length = (size_t)(unsigned char)bytes[14] << 8 | (unsigned char)bytes[15];
	CU_ASSERT(holds(bytes, 12, "\0\0", 2));
	CU_ASSERT_EQUAL_FATAL(16 + length + 7, batch.buffer.used);
	CU_ASSERT(holds(bytes, 16 + length, end, 7));
	batch_free(&batch);
}

/* c6 is bin 32; a positive integer below 2^31 above 2^16 is ce; the option has the id that waits. */
static void as_bin_in_seconds(void)
{
	const char *bytes;
	size_t end;

	pack(&(struct packing) { .tag = "sonde", .seconds = true, .ack = true });
	bytes = batch.buffer.bytes;
	CU_ASSERT(holds(bytes, 11, "\xc6", 1));
	CU_ASSERT(holds(bytes, 16, "\x92\xce\x65\x53\xf1\0", 6));
	end = batch.buffer.used;
	CU_ASSERT(holds(bytes, end - 6 - 24 - 7,
			"\xa5"
			"chunk\xb8",
			7));
	CU_ASSERT(holds(bytes, end - 6 - 24, batch.messages[0].id, 24));
	CU_ASSERT(holds(bytes, end - 8, "==\xa4size\x01", 8));
	batch_free(&batch);
}

/* EventTime is unsigned: nothing before 1970, nothing after 2106. */
static void times(void)
{
	static const struct {
		int64_t ns;
		const char *body;
	} cases[] = {
		{ 0, "\0\0\0\0\0\0\0\0" },
		{ -1, "\0\0\0\0\0\0\0\0" },
		{ 1999999999, "\0\0\0\1\x3b\x9a\xc9\xff" },
		{ INT64_C(4294967295) * 1000000000, "\xff\xff\xff\xff\0\0\0\0" },
		{ INT64_C(4294967296) * 1000000000, "\xff\xff\xff\xff\0\0\0\0" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct buffer buffer = { 0 };
		msgpack_packer packer;

		msgpack_packer_init(&packer, &buffer, buffer_append);
		pack_time(&packer, cases[i].ns, false);
		CU_ASSERT_EQUAL_FATAL(buffer.used, 10);
		CU_ASSERT(holds(buffer.bytes, 0, "\xd7\0", 2));
		CU_ASSERT(holds(buffer.bytes, 2, cases[i].body, 8));
		free(buffer.bytes);
	}
}

/* What is acknowledged goes, in whatever order; the rest keeps its id and its bytes. */
static void ids(void)
{
	const struct packing packing = { .tag = "sonde", .ack = true };
	char id[3][ID_LENGTH];
	size_t length;

	for (int i = 0; i < 3; i++)
		pack(&packing);
	for (int i = 0; i < 3; i++)
		memcpy(id[i], batch.messages[i].id, ID_LENGTH);
	CU_ASSERT_NOT_EQUAL(memcmp(id[0], id[1], ID_LENGTH), 0);
	length = batch.messages[0].end;
	CU_ASSERT_FALSE(batch_acknowledge(&batch, "", 0));
	CU_ASSERT_FALSE(batch_acknowledge(&batch, id[1], ID_LENGTH - 1));
	CU_ASSERT_TRUE(batch_acknowledge(&batch, id[1], ID_LENGTH));
	CU_ASSERT_FALSE(batch_acknowledge(&batch, id[1], ID_LENGTH));
	CU_ASSERT_EQUAL(batch.waiting, 2);
	batch_compact(&batch);
	CU_ASSERT_EQUAL_FATAL(batch.nmessages, 2);
	CU_ASSERT_EQUAL(batch.buffer.used, 2 * length);
	CU_ASSERT_EQUAL(memcmp(batch.messages[1].id, id[2], ID_LENGTH), 0);
	CU_ASSERT(holds(batch.buffer.bytes, 2 * length - 6 - 24, id[2], 24));
	/* Without acknowledgements a message is done when its last byte is taken. */
	batch_handed(&batch, 2 * length - 1);
	CU_ASSERT_EQUAL(batch.waiting, 1);
	batch_handed(&batch, 2 * length);
	CU_ASSERT_EQUAL(batch.waiting, 0);
	batch_free(&batch);
}

static void answers(void)
{
	static const struct {
		const char *bytes;
		size_t length;
		int n;
		const char *id;
	} cases[] = {
		{ "\x81\xa3"
		  "ack\xa2"
		  "ab",
		  8, 8, "ab" },
		{ "\x81\xa3"
		  "ack\xd9\x02"
		  "ab",
		  9, 9, "ab" },
		{ "\x81\xa3"
		  "ack\xc4\x02"
		  "abX",
		  10, 9, "ab" },
		{ "\x81\xa3"
		  "ack\xa0",
		  6, 6, "" },
		{ "", 0, 0, NULL },
		{ "\x81\xa3"
		  "ac",
		  4, 0, NULL },
		{ "\x81\xa3"
		  "ack\xa2"
		  "a",
		  7, 0, NULL },
		{ "\x81\xa3"
		  "ack\xd9",
		  6, 0, NULL },
		{ "\x81\xa3"
		  "nak\xa1"
		  "a",
		  7, -EBADMSG, NULL },
		{ "\x81\xa3"
		  "ack\xc0",
		  6, -EBADMSG, NULL },
		{ "\xdd\xff\xff\xff\xff", 5, -EBADMSG, NULL },
		{ "\x81\xdb\xff\xff\xff\xff", 6, -EBADMSG, NULL },
		{ "HTTP/1.1 400", 12, -EBADMSG, NULL },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *id = NULL;
		size_t length = 0;

		CU_ASSERT_EQUAL(ack_parse(cases[i].bytes, cases[i].length, &id, &length),
				cases[i].n);
		if (!cases[i].id)
			continue;
		CU_ASSERT_EQUAL_FATAL(length, strlen(cases[i].id));
		CU_ASSERT_EQUAL(memcmp(id, cases[i].id, length), 0);
	}
}

/* A table larger than a message goes into several, and the rows that they tell of are all: cd is a
 * 16-bit number. The view's rows are one, again and again. */
static void splits(void)
{
	const struct packing packing = { .tag = "sonde", .ack = true };
	struct sonde_view view;
	struct sample sample;
	struct sonde_row row;
	unsigned rows = 0;

	sample_make(&sample, &table);
	row = sample_row(&sample);
	sonde_set_u64(&row, 1, 7);
	view = *sample_view(&sample, "psi");
	view.nrows = 10000;
	view.stride = 0;
	CU_ASSERT_EQUAL(batch_view(&batch, &packing, &view), 0);
	CU_ASSERT_FATAL(batch.nmessages > 1);
	for (size_t i = 0; i < batch.nmessages; i++) {
		const unsigned char *size =
			(unsigned char *)batch.buffer.bytes + batch.messages[i].end - 3;

		CU_ASSERT_EQUAL(size[0], 0xcd);
		rows += (unsigned)size[1] << 8 | size[2];
	}
	CU_ASSERT_EQUAL(rows, 10000);
	batch_free(&batch);
	sample_free(&sample);
}

CU_TestInfo tests[] = {
	{ "entries as str, time as ext 0", as_str },
	{ "entries as bin, seconds, an id", as_bin_in_seconds },
	{ "times", times },
	{ "ids", ids },
	{ "answers", answers },
	{ "a large table", splits },
	CU_TEST_INFO_NULL,
};
