/* Marks and indexes: the skippable frames of a recording. */
#include <string.h>

#include "wire/index.h"

static void skip_head(unsigned char *frame, uint32_t magic, uint32_t length)
{
	put_le32(frame, magic);
	put_le32(frame + 4, length);
}

static bool is_skip(const unsigned char *frame, uint32_t magic, size_t length)
{
	return get_le32(frame) == magic && get_le32(frame + 4) == length;
}

void mark_begin(unsigned char begin[MARK_BEGIN], const uint8_t id[16])
{
	skip_head(begin, FORMAT_MARK_MAGIC, FORMAT_MARK_BYTES);
	memcpy(begin + FORMAT_SKIP_HEAD, id, 16);
}

void mark_write(unsigned char frame[MARK_FRAME], const struct mark *mark)
{
	unsigned char *p = frame + FORMAT_SKIP_HEAD;

	mark_begin(frame, mark->id);
	put_le64(p + 16, mark->number);
	put_le32(p + 24, FORMAT_MARK_WORD);
	put_le32(p + 28, fnv32(p, 28));
}

bool mark_read(const unsigned char frame[MARK_FRAME], struct mark *mark)
{
	const unsigned char *p = frame + FORMAT_SKIP_HEAD;

	if (!is_skip(frame, FORMAT_MARK_MAGIC, FORMAT_MARK_BYTES) ||
	    get_le32(p + 24) != FORMAT_MARK_WORD || get_le32(p + 28) != fnv32(p, 28))
		return false;
	memcpy(mark->id, p, 16);
	mark->number = get_le64(p + 16);
	return true;
}

size_t index_write(unsigned char frame[INDEX_FRAME], const struct segment_index *index,
		   const uint8_t id[16], uint64_t at)
{
	unsigned char *p = frame + FORMAT_SKIP_HEAD, *tail;
	uint32_t length = index->count * FORMAT_INDEX_ENTRY + FORMAT_INDEX_TAIL;

	skip_head(frame, FORMAT_INDEX_MAGIC, length);
	for (uint32_t i = 0; i < index->count; i++) {
		const struct index_entry *entry = &index->entries[i];
		const uint64_t words[] = { at - entry->mark, entry->number, entry->begin,
					   entry->end };

		for (int w = 0; w < 4; w++)
			put_le64(p + i * FORMAT_INDEX_ENTRY + 8 * w, words[w]);
	}
	tail = p + index->count * FORMAT_INDEX_ENTRY;
	memcpy(tail, id, 16);
	put_le64(tail + 16, index->has_before ? at - index->before : 0);
	put_le32(tail + 24, length);
	put_le32(tail + 28, fnv32(p, length - 12));
	memcpy(tail + 32, FORMAT_INDEX_WORD, 8);
	return FORMAT_SKIP_HEAD + length;
}

size_t index_tail(const unsigned char tail[FORMAT_INDEX_TAIL], uint64_t end)
{
	uint32_t length = get_le32(tail + 24);

	if (memcmp(tail + 32, FORMAT_INDEX_WORD, 8) != 0 || length > INDEX_PAYLOAD ||
	    length < FORMAT_INDEX_TAIL || (length - FORMAT_INDEX_TAIL) % FORMAT_INDEX_ENTRY ||
	    FORMAT_SKIP_HEAD + (uint64_t)length > end)
		return 0;
	return FORMAT_SKIP_HEAD + length;
}

bool index_whole(const unsigned char *frame, size_t length, const uint8_t id[16])
{
	const unsigned char *p = frame + FORMAT_SKIP_HEAD, *tail;
	size_t payload = length - FORMAT_SKIP_HEAD;

	if (length < FORMAT_SKIP_HEAD + FORMAT_INDEX_TAIL || length > INDEX_FRAME ||
	    !is_skip(frame, FORMAT_INDEX_MAGIC, payload))
		return false;
	tail = p + payload - FORMAT_INDEX_TAIL;
	return get_le32(tail + 24) == payload && memcmp(tail, id, 16) == 0 &&
	       get_le32(tail + 28) == fnv32(p, payload - 12) &&
	       memcmp(tail + 32, FORMAT_INDEX_WORD, 8) == 0;
}

bool index_read(const unsigned char *frame, size_t length, const uint8_t id[16], uint64_t at,
		struct segment_index *index)
{
	const unsigned char *p = frame + FORMAT_SKIP_HEAD;
	size_t payload = length - FORMAT_SKIP_HEAD;
	uint64_t back;

	if (!index_whole(frame, length, id))
		return false;
	back = get_le64(p + payload - FORMAT_INDEX_TAIL + 16);
	if (back > at)
		return false;
	index->count = (uint32_t)((payload - FORMAT_INDEX_TAIL) / FORMAT_INDEX_ENTRY);
	index->before = at - back;
	index->has_before = back != 0;
	for (uint32_t i = 0; i < index->count; i++) {
		const unsigned char *entry = p + i * FORMAT_INDEX_ENTRY;

		if (get_le64(entry) > at)
			return false;
		index->entries[i] = (struct index_entry) { .mark = at - get_le64(entry),
							   .number = get_le64(entry + 8),
							   .begin = get_le64(entry + 16),
							   .end = get_le64(entry + 24) };
	}
	return true;
}
