/* Reading from a moment on: what is delivered is the same with an index, without one, and with one that lies. */
#include "stream.h"
#include "test.h"

#include "wire/format.h"
#include "wire/index.h"

const char suite[] = "index";

enum { SEGMENTS = 200, EACH = 3, STEP = 1000, MARKS = FORMAT_SKIP_HEAD + FORMAT_MARK_BYTES };

static const uint8_t id[16] = "an index' tests";

/* Row 7 changes always, row 8 in every 50th instant only. */
static struct bytes record(void)
{
	struct sonde_schema *task = make_schema(&t_table);
	struct scene scene = { 0 };
	struct bytes bytes = { 0 };
	struct writer_options options = { .emit = bytes_emit,
					  .context = &bytes,
					  .segment_instants = EACH };
	struct writer *writer;

	memcpy(options.id, id, sizeof id);
	writer = writer_new(&options);
	scene_table(&scene, task, "process");
	for (uint64_t n = 1; n <= SEGMENTS * EACH; n++) {
		frame_begin(&scene.frame);
		scene_task(&scene, 0, 7, "seven", n * n);
		scene_task(&scene, 0, 8, "eight", n / 50);
		CU_ASSERT_EQUAL(writer_instant(writer, scene_instant(&scene, n, n * STEP)), 0);
	}
	CU_ASSERT_EQUAL(writer_close(writer), 0);
	frame_free(&scene.frame);
	schema_free(task);
	return bytes;
}

/* What a reader delivers; *read: the bytes that it asked for. */
struct counted {
	struct bytes *bytes;
	size_t read;
};

static int64_t counted_read(void *context, void *buffer, size_t size)
{
	struct counted *counted = context;
	int64_t n = bytes_read(counted->bytes, buffer, size);

	counted->read += (size_t)n;
	return n;
}

static int64_t counted_seek(void *context, int64_t offset, int whence)
{
	struct counted *counted = context;

	return bytes_seek(counted->bytes, offset, whence);
}

static struct text deliver(struct bytes *bytes, uint64_t since, uint64_t until, bool seek,
			   struct counted *counted)
{
	struct reader_options options = { .read = counted_read,
					  .seek = seek ? counted_seek : NULL,
					  .context = counted,
					  .since = since,
					  .until = until };
	struct reader *reader = reader_new(&options);
	const struct instant *instant;
	struct text text = { 0 };
	bool first = true;

	*counted = (struct counted) { bytes, 0 };
	bytes->at = 0;
	text_add(&text, "%s", "");
	while (reader_next(reader, &instant) == 1) {
		/* Against what was passed over nothing has "changed". */
		if (first && since)
			CU_ASSERT_PTR_NULL(instant->views[0].changed);
		first = false;
		CU_ASSERT_STRING_EQUAL(instant->views[0].schema->columns[0].help, "process");
		text_instant(&text, instant);
	}
	CU_ASSERT_EQUAL(reader_state(reader)->damaged, 0);
	reader_free(reader);
	return text;
}

/* From `since` on, cut out of the text of all. */
static const char *from(const struct text *all, uint64_t sequence)
{
	char head[40];

	snprintf(head, sizeof head, "#%" PRIu64 " ", sequence);
	return strstr(all->bytes, head);
}

static void test_since(void)
{
	static const uint64_t sequences[] = { 2, 3, 4, 47, 48, 49, 50, 192, 193, 400, 598, 600 };
	struct bytes bytes = record();
	struct counted counted;
	struct text all = deliver(&bytes, 0, 0, false, &counted);

	CU_ASSERT_EQUAL(counted.read, bytes.length);
	for (size_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++) {
		uint64_t since = sequences[i] * STEP;
		struct text with = deliver(&bytes, since, 0, true, &counted);
		struct text without = deliver(&bytes, since - 1, 0, false, &counted);

		CU_ASSERT_STRING_EQUAL(with.bytes, from(&all, sequences[i]));
		CU_ASSERT_STRING_EQUAL(without.bytes, with.bytes);
		free(with.bytes);
		free(without.bytes);
	}
	free(all.bytes);
	bytes_free(&bytes);
}

static void test_until(void)
{
	struct bytes bytes = record();
	struct counted counted;
	struct text all = deliver(&bytes, 0, 0, false, &counted);
	struct text some = deliver(&bytes, 300 * STEP, 302 * STEP, true, &counted);
	const char *begin = from(&all, 300), *end = from(&all, 303);

	CU_ASSERT_EQUAL(some.used, (size_t)(end - begin));
	CU_ASSERT_EQUAL(strncmp(some.bytes, begin, some.used), 0);
	free(some.bytes);
	some = deliver(&bytes, SEGMENTS * EACH * STEP + 1, 0, true, &counted);
	CU_ASSERT_STRING_EQUAL(some.bytes, ""); /* behind the end */
	free(some.bytes);
	free(all.bytes);
	bytes_free(&bytes);
}

/* A large recording is not read through: of 200 segments those from number 192, the last one with help, are, and the
 * window of 512 KiB at the start. */
static void test_saves(void)
{
	struct bytes bytes = record(), large = { 0 };
	struct counted counted;
	struct text text;
	size_t ends = 0;
	unsigned char *index;
	uint32_t length;

	/* Somebody's skippable frame of 3 MiB behind the first segment, which the first index then is as much further from. */
	while (large.length == 0 || get_le32(bytes.data + ends) != FORMAT_MARK_MAGIC || ends == 0) {
		for (ends++; get_le32(bytes.data + ends) != FORMAT_MARK_MAGIC;)
			ends++;
		large.length = ends + FORMAT_SKIP_HEAD + (3 << 20) + bytes.length - ends;
	}
	large.data = calloc(1, large.length);
	memcpy(large.data, bytes.data, ends);
	put_le32(large.data + ends, FORMAT_SKIP_LAST);
	put_le32(large.data + ends + 4, 3 << 20);
	memcpy(large.data + ends + FORMAT_SKIP_HEAD + (3 << 20), bytes.data + ends,
	       bytes.length - ends);
	for (index = large.data; get_le32(index) != FORMAT_INDEX_MAGIC;)
		index++;
	length = get_le32(index + 4);
	put_le64(index + 8, get_le64(index + 8) + FORMAT_SKIP_HEAD + (3 << 20));
	put_le32(index + 8 + length - 12, fnv32(index + 8, length - 12));
	text = deliver(&large, 598 * STEP, 0, true, &counted);
	CU_ASSERT_EQUAL(strncmp(text.bytes, "#598 ", 5), 0);
	CU_ASSERT_TRUE(counted.read < 1 << 20);
	free(text.bytes);
	bytes_free(&bytes);
	bytes_free(&large);
}

/* Whatever bit of the indexes is wrong, what is delivered is right. */
static void test_hints(void)
{
	struct bytes bytes = record();
	struct counted counted;
	struct text whole = deliver(&bytes, 500 * STEP, 0, true, &counted);
	size_t payload = 8 * FORMAT_INDEX_ENTRY + FORMAT_INDEX_TAIL; /* of the last */

	for (size_t bit = (bytes.length - payload) * 8; bit < bytes.length * 8; bit++) {
		struct text text;

		bytes.data[bit / 8] ^= 1 << bit % 8;
		text = deliver(&bytes, 500 * STEP, 0, true, &counted);
		CU_ASSERT_STRING_EQUAL(text.bytes, whole.bytes);
		free(text.bytes);
		bytes.data[bit / 8] ^= 1 << bit % 8;
	}
	free(whole.bytes);
	bytes_free(&bytes);
}

/* Of a recording and its copy behind it, the index at the end is the copy's: both are read all the same. */
static void test_copies(void)
{
	struct bytes bytes = record(), twice = { 0 };
	struct counted counted;
	struct text once = deliver(&bytes, 500 * STEP, 0, true, &counted), text;

	twice.length = 2 * bytes.length;
	twice.data = malloc(twice.length);
	memcpy(twice.data, bytes.data, bytes.length);
	memcpy(twice.data + bytes.length, bytes.data, bytes.length);
	text = deliver(&twice, 500 * STEP, 0, true, &counted);
	CU_ASSERT_EQUAL(text.used, 2 * once.used);
	CU_ASSERT_STRING_EQUAL(text.bytes + once.used, once.bytes);
	free(text.bytes);
	free(once.bytes);
	bytes_free(&twice);
	bytes_free(&bytes);
}

/* The layout of format.h, read back from bytes by hand: 200 segments are indexes of 64, 64, 64 and 8 entries. */
static void test_layout(void)
{
	static const uint32_t counts[] = { 8, 64, 64, 64 };
	struct bytes bytes = record();
	size_t end = bytes.length;

	for (int i = 0; i < 4; i++) {
		const unsigned char *tail = bytes.data + end - FORMAT_INDEX_TAIL, *entry;
		size_t length = get_le32(tail + 24), at = end - length - FORMAT_SKIP_HEAD;
		uint64_t number = 192 - 64 * (uint64_t)i;

		CU_ASSERT_EQUAL(memcmp(tail + 32, "sondeidx", 8), 0);
		CU_ASSERT_EQUAL(length, 40 + 32 * counts[i]);
		CU_ASSERT_EQUAL(get_le32(bytes.data + at), 0x184D2A54);
		CU_ASSERT_EQUAL(get_le32(tail + 28), fnv32(bytes.data + at + 8, length - 12));
		entry = bytes.data + at + FORMAT_SKIP_HEAD;
		CU_ASSERT_EQUAL(get_le64(entry + 8), number);
		CU_ASSERT_EQUAL(get_le64(entry + 16), (number * EACH + 1) * STEP);
		CU_ASSERT_EQUAL(get_le64(entry + 24), (number * EACH + EACH) * STEP + 300);
		CU_ASSERT_EQUAL(get_le32(bytes.data + at - get_le64(entry)), FORMAT_MARK_MAGIC);
		CU_ASSERT_EQUAL(get_le64(bytes.data + at - get_le64(entry) + 24), number);
		if (i == 3)
			CU_ASSERT_EQUAL(get_le64(tail + 16), 0);
		end = at - get_le64(tail + 16) + FORMAT_SKIP_HEAD +
		      get_le32(bytes.data + at - get_le64(tail + 16) + 4);
	}
	bytes_free(&bytes);
}

CU_TestInfo tests[] = {
	{ "since", test_since },
	{ "until", test_until },
	{ "the index saves reading", test_saves },
	{ "a wrong index", test_hints },
	{ "a copy behind it", test_copies },
	{ "the layout of indexes", test_layout },
	CU_TEST_INFO_NULL,
};
