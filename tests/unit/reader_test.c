/* Recordings that are torn, damaged or made by others: what is delivered was written, and what is wrong is said. */
#include "stream.h"
#include "test.h"

#include "wire/format.h"
#include "wire/index.h"
#include "wire/lz4.h"
#include "wire/pack.h"

const char suite[] = "reader";

/* A recording of `segments` segments of 3 instants, each instant a block; a process named `name`, and two that come and go. */
static struct bytes record(const uint8_t id[16], uint32_t segments, const char *name)
{
	struct sonde_schema *task = make_schema(&t_table);
	struct scene scene = { 0 };
	struct bytes bytes = { 0 };
	struct writer_options options = { .emit = bytes_emit,
					  .context = &bytes,
					  .segment_instants = 3 };
	struct writer *writer;

	memcpy(options.id, id, 16);
	writer = writer_new(&options);
	scene_table(&scene, task, "process");
	for (uint64_t n = 1; n <= segments * 3; n++) {
		frame_begin(&scene.frame);
		scene_task(&scene, 0, 7, name, n * 1000003);
		scene_task(&scene, 0, 100 + n, "worker", n);
		CU_ASSERT_EQUAL(writer_instant(writer, scene_instant(&scene, n, n * 1000)), 0);
		CU_ASSERT_EQUAL(writer_flush(writer), 0);
	}
	CU_ASSERT_EQUAL(writer_close(writer), 0);
	frame_free(&scene.frame);
	schema_free(task);
	return bytes;
}

/* Without repetitions, so that LZ4 leaves them as they are. */
static const uint8_t one_id[16] = "0123456789abcde", other_id[16] = "ghijklmnopqrstu";

static void copy(struct bytes *to, const struct bytes *from, size_t length)
{
	to->data = realloc(to->data, to->length + length + 1);
	memcpy(to->data + to->length, from->data, length);
	to->length += length;
}

/* Each instant that is delivered, without the gaps that the reader adds, is one of those written. */
static bool all_of(const struct text *got, const struct text *whole)
{
	char *at = got->bytes;

	while (*at == '#') {
		char *next = strstr(at + 1, "\n#"), *gap, kept;
		bool found;

		next = next ? next + 1 : at + strlen(at);
		gap = strstr(at, "\n/gap");
		gap = gap && gap < next ? gap + 1 : next;
		kept = *gap;
		*gap = '\0';
		found = strstr(whole->bytes, at) != NULL;
		*gap = kept;
		if (!found)
			return false;
		at = next;
	}
	return *at == '\0';
}

/* ---- Torn */

/* Case 144: whatever a kill left, all whole blocks are there, and it is no damage. */
static void every_length(void)
{
	struct bytes bytes = record(one_id, 2, "a"), cut = bytes;
	struct reader_state state;
	struct text whole, got;
	uint64_t instants = 0;
	int end;

	whole = text_stream(&bytes, &end, &state);
	CU_ASSERT_EQUAL(state.instants, 6);
	for (cut.length = 0; cut.length <= bytes.length; cut.length++) {
		got = text_stream(&cut, &end, &state);
		CU_ASSERT_EQUAL(end, cut.length < MARK_FRAME ? -EBADMSG : 0);
		CU_ASSERT_EQUAL(strncmp(got.bytes, whole.bytes, got.used), 0);
		CU_ASSERT_EQUAL(state.damaged, 0);
		CU_ASSERT(state.instants >= instants);
		instants = state.instants;
		free(got.bytes);
	}
	CU_ASSERT_EQUAL(instants, 6);
	CU_ASSERT_EQUAL(state.torn, 0);
	free(whole.bytes);
	bytes_free(&bytes);
}

/* A block that was flushed is read though its segment never ended. */
static void flushed_blocks(void)
{
	struct bytes bytes = record(one_id, 1, "a"), cut = bytes;
	struct reader_state state;
	int end;

	cut.length = bytes.ends[1] + 5; /* two instants, and a little */
	free(text_stream(&cut, &end, &state).bytes);
	CU_ASSERT_EQUAL(end, 0);
	CU_ASSERT_EQUAL(state.instants, 2);
	CU_ASSERT_EQUAL(state.torn, 5);
	bytes_free(&bytes);
}

/* Case 145: zeros are what a power cut left, behind a whole block or from the middle of one on. */
static void zeros(void)
{
	struct bytes bytes = record(one_id, 2, "a"), torn = { 0 };
	const struct bytes none = { .data = (unsigned char[4096]) { 0 } };
	struct reader_state state;
	int end;

	for (size_t length = bytes.ends[0]; length < bytes.ends[4]; length++) {
		copy(&torn, &bytes, length);
		copy(&torn, &none, 4096);
		free(text_stream(&torn, &end, &state).bytes);
		CU_ASSERT_EQUAL(end, 0);
		CU_ASSERT_EQUAL(state.damaged, 0);
		CU_ASSERT(state.instants > 0);
		CU_ASSERT(state.torn >= 4000);
		torn.data[torn.length - 1] = 1; /* but for that */
		if (state.torn > 4090) {
			free(text_stream(&torn, &end, &state).bytes);
			CU_ASSERT_EQUAL(state.damaged, 1);
		}
		bytes_free(&torn);
	}
	bytes_free(&bytes);
}

/* ---- Damaged */

static void every_bit(void)
{
	struct bytes bytes = record(one_id, 2, "a");
	struct reader_state state;
	struct text whole, got;
	int end;

	whole = text_stream(&bytes, &end, &state);
	for (size_t bit = 0; bit < bytes.length * 8; bit++) {
		bytes.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
		got = text_stream(&bytes, &end, &state);
		CU_ASSERT(end == 0 || (end == -EBADMSG && bit < MARK_FRAME * 8));
		CU_ASSERT_TRUE(all_of(&got, &whole));
		if (state.instants < 6 && end == 0)
			CU_ASSERT(state.damaged || state.torn);
		free(got.bytes);
		bytes.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
	free(whole.bytes);
	bytes_free(&bytes);
}

/* A length that is damaged, so that the block seems to go to the end of the file and beyond: nothing is taken for torn. */
static void lengths(void)
{
	struct bytes bytes = record(one_id, 3, "a");
	struct reader_state state;
	int end;

	bytes.data[bytes.ends[3] + 1] ^= 0x40; /* 16 KiB more */
	free(text_stream(&bytes, &end, &state).bytes);
	CU_ASSERT_EQUAL(end, 0);
	CU_ASSERT_EQUAL(state.damaged, 1);
	CU_ASSERT_EQUAL(state.torn, 0);
	CU_ASSERT_EQUAL(state.instants,
			4 + 3); /* of the second segment the first, of the third all */
	bytes_free(&bytes);
}

/* In the middle: its offset is said, what follows is read, and what is missing is a row of the table `gap`. */
static void middle(void)
{
	struct bytes bytes = record(one_id, 3, "a");
	struct reader_state state;
	struct text got;
	int end;

	bytes.data[bytes.ends[3] + 14] ^= 1; /* in the block of instant 5 */
	got = text_stream(&bytes, &end, &state);
	CU_ASSERT_EQUAL(end, 0);
	CU_ASSERT_EQUAL(state.damaged, 1);
	CU_ASSERT(state.damage_at >= bytes.ends[3] && state.damage_at < bytes.ends[6]);
	CU_ASSERT(state.damage[0] && !strchr(state.damage, '\n'));
	CU_ASSERT(state.instants >= 6 && state.instants < 9);
	CU_ASSERT_PTR_NOT_NULL(strstr(got.bytes, "\n/gap\n \"\" \"damaged\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(got.bytes, "#9 "));
	free(got.bytes);
	bytes_free(&bytes);
}

enum {
	NOISE = 65000
}; /* more than LZ4's window: what is behind it does not repeat what was before */

/* A segment that can be found in a name byte for byte: the number of its mark is none that LZ4 shortens. */
static struct bytes forge(const uint8_t id[16])
{
	struct bytes bytes = record(id, 1, "forged");
	struct mark mark = { .number = 0x8796a5b4c3d2e1f0 };

	memcpy(mark.id, id, 16);
	mark_write(bytes.data, &mark);
	bytes.length -= FORMAT_SKIP_HEAD + FORMAT_INDEX_ENTRY + FORMAT_INDEX_TAIL;
	return bytes;
}

/* A recording in which processes have noise and the bytes of another one as their names. */
static struct bytes record_name(const uint8_t id[16], const struct bytes *inner)
{
	struct sonde_schema *task = make_schema(&t_table);
	struct scene scene = { 0 };
	struct bytes bytes = { 0 };
	struct writer_options options = { .emit = bytes_emit, .context = &bytes };
	struct writer *writer;
	struct sonde_row row;
	char *noise = malloc(NOISE);

	for (uint32_t i = 0, state = 1; i < NOISE; i++)
		noise[i] = (char)((state = state * 1664525 + 1013904223) >> 24);
	memcpy(options.id, id, 16);
	writer = writer_new(&options);
	scene_table(&scene, task, "process");
	for (uint64_t n = 1; n <= 4; n++) { /* there is room for such names once they did not fit */
		frame_begin(&scene.frame);
		frame_row(&scene.frame, 0, &row);
		sonde_set_bytes(&row, T_COMM, noise, NOISE);
		frame_row(&scene.frame, 0, &row);
		sonde_set_bytes(&row, T_COMM, (char *)inner->data, (uint32_t)inner->length);
		CU_ASSERT_EQUAL(writer_instant(writer, scene_instant(&scene, n, n * 1000)), 0);
	}
	CU_ASSERT_EQUAL(writer_close(writer), 0);
	free(noise);
	frame_free(&scene.frame);
	schema_free(task);
	return bytes;
}

/* The segment that holds the name is damaged before it: no value of the inner recording counts. */
static void forged(void)
{
	struct bytes inner = forge(other_id), bytes = record_name(one_id, &inner);
	struct reader_state state;
	int end;

	CU_ASSERT_PTR_NOT_NULL(memmem(bytes.data, bytes.length, inner.data, inner.length));
	bytes.data[60] ^= 1;
	free(text_stream(&bytes, &end, &state).bytes);
	CU_ASSERT_EQUAL(end, 0);
	CU_ASSERT_EQUAL(state.instants, 0);
	CU_ASSERT_EQUAL(state.damaged, 1);
	CU_ASSERT(state.unread_at > NOISE);
	bytes_free(&inner);
	bytes_free(&bytes);
}

/* By somebody who reads the file as it grows, and so knows the stream's id: the name is cut before the mark, and wherever the
 * file is cut or damaged, all that is delivered was written. */
static void forged_with_the_id(void)
{
	struct bytes inner = forge(one_id), bytes = record_name(one_id, &inner), cut = bytes;
	struct reader_state state;
	struct text whole, got;
	int end;

	whole = text_stream(&bytes, &end, &state);
	CU_ASSERT_EQUAL(state.instants, 4);
	CU_ASSERT_EQUAL(state.damaged, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(whole.bytes, "\"\xe2\x80\xa6#"));
	for (size_t at = MARK_FRAME; at<bytes.length; at += at> 2000 && at < NOISE ? 997 : 1) {
		cut.length = at;
		got = text_stream(&cut, &end, &state);
		CU_ASSERT_TRUE(all_of(&got, &whole));
		free(got.bytes);
		bytes.data[at] ^= 0x10;
		got = text_stream(&bytes, &end, &state);
		CU_ASSERT_TRUE(all_of(&got, &whole));
		free(got.bytes);
		bytes.data[at] ^= 0x10;
	}
	free(whole.bytes);
	bytes_free(&inner);
	bytes_free(&bytes);
}

/* ---- Concatenated, and not recordings at all */

/* Case 190. */
static void concatenated(void)
{
	struct bytes one = record(one_id, 2, "a"), other = record(other_id, 1, "b"), both = { 0 };
	struct reader_state state;
	struct text got, first, second;
	int end;

	first = text_stream(&one, &end, &state);
	second = text_stream(&other, &end, &state);
	copy(&both, &one, one.length);
	copy(&both, &other, other.length);
	got = text_stream(&both, &end, &state);
	CU_ASSERT_EQUAL(end, 0);
	CU_ASSERT_EQUAL(state.instants, 9);
	CU_ASSERT_EQUAL(state.damaged, 0);
	CU_ASSERT_EQUAL(got.used, first.used + second.used);
	CU_ASSERT_EQUAL(strncmp(got.bytes, first.bytes, first.used), 0);
	CU_ASSERT_STRING_EQUAL(got.bytes + first.used, second.bytes);
	free(got.bytes);
	free(first.bytes);
	free(second.bytes);
	bytes_free(&one);
	bytes_free(&other);
	bytes_free(&both);
}

/* Marks of numbers that were there before: where a whole unit led, they begin a copy. */
static void concatenated_with_itself(void)
{
	struct bytes one = record(one_id, 2, "a"), both = { 0 };
	struct reader_state state;
	struct text once, twice;
	int end;

	once = text_stream(&one, &end, &state);
	copy(&both, &one, one.length);
	copy(&both, &one, one.length);
	twice = text_stream(&both, &end, &state);
	CU_ASSERT_EQUAL(end, 0);
	CU_ASSERT_EQUAL(state.damaged, 0);
	CU_ASSERT_EQUAL(state.torn, 0);
	CU_ASSERT_EQUAL(twice.used, 2 * once.used);
	CU_ASSERT_EQUAL(strncmp(twice.bytes, once.bytes, once.used), 0);
	CU_ASSERT_STRING_EQUAL(twice.bytes + once.used, once.bytes);
	free(once.bytes);
	free(twice.bytes);
	bytes_free(&one);
	bytes_free(&both);
}

/* Another recording behind one that was cut anywhere. Where whole units led to it, it is read (docs/format.md, "Recordings
 * behind one another"), else no value of it counts, and it is said where it begins. */
static void behind_a_torn_one(void)
{
	struct bytes one = record(one_id, 2, "a"), other = record(other_id, 1, "b");
	struct text first, second;
	struct reader_state state;
	uint32_t read = 0, unread = 0;
	int end;

	first = text_stream(&one, &end, &state);
	second = text_stream(&other, &end, &state);
	for (size_t length = MARK_FRAME; length <= one.length; length++) {
		struct bytes both = { 0 };
		struct text got;
		const char *found;

		copy(&both, &one, length);
		copy(&both, &other, other.length);
		got = text_stream(&both, &end, &state);
		CU_ASSERT_EQUAL(end, 0);
		found = strstr(got.bytes, second.bytes);
		if (found) {
			CU_ASSERT_EQUAL(state.damaged, 0);
			CU_ASSERT_EQUAL(state.unread_at, 0);
			CU_ASSERT_EQUAL(
				strncmp(got.bytes, first.bytes, (size_t)(found - got.bytes)), 0);
			read++;
		} else {
			CU_ASSERT_EQUAL(strncmp(got.bytes, first.bytes, got.used), 0);
			CU_ASSERT_EQUAL(state.unread_at, length);
			CU_ASSERT(state.torn || (state.damaged == 1 && state.lost));
			unread++;
		}
		free(got.bytes);
		bytes_free(&both);
	}
	/* Behind each of two marks, two frame headers, six blocks, two ends and the index. */
	CU_ASSERT_EQUAL(read, 13);
	CU_ASSERT_EQUAL(unread, one.length - MARK_FRAME + 1 - read);
	free(first.bytes);
	free(second.bytes);
	bytes_free(&one);
	bytes_free(&other);
}

/* The length of somebody's skippable frame is in no checksum: what it leads to may be a name that holds a recording. */
static void behind_a_stranger(void)
{
	struct bytes one = record(one_id, 1, "a"), other = record(other_id, 1, "b"), both = { 0 };
	unsigned char frame[FORMAT_SKIP_HEAD + 4] = { 0 };
	const struct bytes stranger = { .data = frame };
	struct reader_state state;
	int end;

	put_le32(frame, FORMAT_SKIP_LAST);
	put_le32(frame + 4, 4);
	copy(&both, &one, one.length);
	copy(&both, &stranger, sizeof frame);
	copy(&both, &other, other.length);
	free(text_stream(&both, &end, &state).bytes);
	CU_ASSERT_EQUAL(end, 0);
	CU_ASSERT_EQUAL(state.instants, 3);
	CU_ASSERT_EQUAL(state.damaged, 1);
	CU_ASSERT_EQUAL(state.unread_at, one.length + sizeof frame);
	bytes_free(&one);
	bytes_free(&other);
	bytes_free(&both);
}

static void not_recordings(void)
{
	static const char *const texts[] = {
		"", "a", "#!/bin/sh\necho a text file that is longer\n",
		"\x04\x22\x4d\x18\x64\x40\xa7 another LZ4 frame, of 40 bytes or more"
	};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct bytes bytes = { .data = (unsigned char *)texts[i],
				       .length = strlen(texts[i]) };
		struct reader_state state;
		int end;

		free(text_stream(&bytes, &end, &state).bytes);
		CU_ASSERT_EQUAL(end, -EBADMSG);
		CU_ASSERT_EQUAL(state.instants, 0);
	}
}

/* ---- What a writer may put in */

/* Cases 151 and 153: instants whose time goes back are as they were, in the order in which they came. */
static void time_goes_back(void)
{
	static const uint64_t begins[] = { 10000, 12000, 11000, 1, UINT64_MAX - 300, 5 };
	struct sonde_schema *task = make_schema(&t_table);
	struct scene scene = { 0 };
	struct bytes bytes = { 0 };
	struct writer_options options = { .emit = bytes_emit,
					  .context = &bytes,
					  .segment_instants = 4 };
	struct writer *writer = writer_new(&options);
	struct text want = { 0 }, got;
	int end;

	scene_table(&scene, task, "process");
	for (uint64_t i = 0; i < 6; i++) {
		frame_begin(&scene.frame);
		scene_task(&scene, 0, 7, "a", i);
		text_instant(&want, scene_instant(&scene, 100 - i * i, begins[i]));
		CU_ASSERT_EQUAL(writer_instant(writer, &scene.instant), 0);
	}
	CU_ASSERT_EQUAL(writer_close(writer), 0);
	got = text_stream(&bytes, &end, NULL);
	CU_ASSERT_EQUAL(end, 0);
	CU_ASSERT_STRING_EQUAL(got.bytes, want.bytes);
	free(got.bytes);
	free(want.bytes);
	bytes_free(&bytes);
	frame_free(&scene.frame);
	schema_free(task);
}

/* Case 184: the largest header and the widest table that a writer makes are none that a reader refuses. */
static void largest(void)
{
	static struct sonde_column columns[4096];
	static char names[4096][16], text[FORMAT_NAME_BYTES + 1];
	struct sonde_tag tags[FORMAT_TAGS];
	struct sonde_stream_header header = a_header;
	struct sonde_schema *schema;
	struct scene scene = { 0 };
	struct bytes bytes = { 0 };
	struct writer_options options = { .emit = bytes_emit, .context = &bytes };
	struct writer *writer = writer_new(&options);
	struct reader_state state;
	struct sonde_row row;
	struct text want = { 0 }, got;
	struct instant instant;
	int end;

	for (int i = 0; i < 4096; i++) {
		snprintf(names[i], sizeof names[i], "c%d", i);
		columns[i] = (struct sonde_column) { names[i], SONDE_HIST, SONDE_COUNTER,
						     SONDE_COUNT("things"), .slots = 4 };
	}
	memset(text, 'x', FORMAT_NAME_BYTES);
	for (int i = 0; i < FORMAT_TAGS; i++)
		tags[i] = (struct sonde_tag) { text, text };
	header.tags = tags;
	header.ntags = FORMAT_TAGS;
	schema = make_schema(&(struct sonde_table) { "wide", SONDE_ARRAY(columns), .origin = "" });
	scene_table(&scene, schema, "wide");
	frame_begin(&scene.frame);
	frame_row(&scene.frame, 0, &row);
	for (uint32_t i = 0; i < 16384; i++)
		sonde_set_u64(&row, i, UINT64_MAX / 2 - i);
	instant = *scene_instant(&scene, 1, 1000);
	instant.header = &header;
	text_instant(&want, &instant);
	CU_ASSERT_EQUAL(writer_instant(writer, &instant), 0);
	CU_ASSERT_EQUAL(writer_close(writer), 0);
	got = text_stream(&bytes, &end, &state);
	CU_ASSERT_EQUAL(end, 0);
	CU_ASSERT_EQUAL(state.damaged, 0);
	CU_ASSERT_EQUAL(state.changed_values, 16384);
	CU_ASSERT_STRING_EQUAL(got.bytes, want.bytes);
	free(got.bytes);
	free(want.bytes);
	bytes_free(&bytes);
	frame_free(&scene.frame);
	schema_free(schema);
}

/* ---- Hostile content, checksums all right */

static void put_segment(struct bytes *bytes, uint64_t number, const struct pack *content)
{
	struct lz4_encoder *encoder = lz4_encoder_new();
	struct mark mark = { .number = number };
	unsigned char *out = malloc(2 << 20);
	int64_t used = MARK_FRAME;

	memcpy(mark.id, one_id, 16);
	mark_write(out, &mark);
	used += lz4_begin(encoder, out + used, 1 << 20);
	used += lz4_block(encoder, content->bytes, content->used, out + used, 1 << 20);
	used += lz4_end(encoder, out + used, 1 << 20);
	bytes_emit(bytes, out, (size_t)used, 0);
	lz4_encoder_free(encoder);
	free(out);
}

/* Cases 182, 183, 185, 187, and counts, numbers and types that lie. Each is damage in a sentence; the next segment is read. */
static void hostile_objects(void)
{
	static const struct {
		const char *bytes;
		size_t length;
	} objects[] = {
		{ "\xdd\xff\x00\x00\x00", 5 },
		{ "\xdf\x40\x00\x00\x00", 5 },
		{ "\xc6\xff\xff\xff\xff", 5 },
		{ "\xc1", 1 },
		{ "\x90", 1 },
		{ "\x91\xc0", 2 },
		{ "\x92\x00\x81\xa6"
		  "format\x02",
		  10 },                            /* a newer format */
		{ "\x92\x00\x80", 3 },             /* none at all */
		{ "\x93\x01\x00\xa0", 4 },         /* a table in front of the header */
		{ "\x95\x04\x00\x00\x00\x90", 6 }, /* an instant likewise */
	};
	struct bytes good = record(one_id, 2, "a"), rest = good;
	struct pack content;

	/* The second segment, from its mark on. */
	rest.data = memmem(good.data + MARK_FRAME, good.length - MARK_FRAME, good.data, 24);
	rest.length = good.length - (size_t)(rest.data - good.data);

	pack_new(&content, 200000);
	for (size_t i = 0; i < sizeof objects / sizeof objects[0] + 2; i++) {
		struct bytes bytes = { 0 };
		struct reader_state state;
		int end;

		pack_empty(&content);
		pack_raw(&content, FORMAT_BLOCK_BEGIN, 2);
		if (i < sizeof objects / sizeof objects[0])
			pack_raw(&content, objects[i].bytes, objects[i].length);
		else if (i == sizeof objects / sizeof objects[0])
			while (content.used < 10000)
				pack_raw(&content, "\x91", 1);
		else
			while (content.used < 72000)
				pack_raw(&content, "\xdc\xff\xff", 3);
		put_segment(&bytes, 0, &content);
		copy(&bytes, &rest, rest.length);
		free(text_stream(&bytes, &end, &state).bytes);
		CU_ASSERT_EQUAL(end, 0);
		CU_ASSERT_EQUAL(state.damaged, 1);
		CU_ASSERT_EQUAL(state.instants, 3);
		CU_ASSERT(state.damage[0] && !strchr(state.damage, '\n'));
		bytes_free(&bytes);
	}
	free(content.bytes);
	bytes_free(&good);
}

CU_TestInfo tests[] = {
	{ "torn at every byte", every_length },
	{ "flushed blocks", flushed_blocks },
	{ "a tail of zeros", zeros },
	{ "every bit flipped", every_bit },
	{ "a damaged length", lengths },
	{ "damage in the middle", middle },
	{ "a forged segment in a name", forged },
	{ "a forged segment of somebody who knows the id", forged_with_the_id },
	{ "concatenated recordings", concatenated },
	{ "a recording twice", concatenated_with_itself },
	{ "a recording behind a torn one", behind_a_torn_one },
	{ "a recording behind a stranger's frame", behind_a_stranger },
	{ "what is no recording", not_recordings },
	{ "time that goes back", time_goes_back },
	{ "the largest header and table", largest },
	{ "hostile objects", hostile_objects },
	CU_TEST_INFO_NULL,
};
