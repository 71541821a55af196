/* Where in a recording a moment is: the chain of indexes from the end of the file back. They are hints: the mark that they
 * lead to is read before it is believed. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "wire/lookup.h"

/* `size` bytes at `offset`, whole. */
static int read_at(struct input *input, uint64_t offset, void *bytes, size_t size)
{
	size_t got = 0;
	int err = input_seek(input, offset);

	while (!err && got < size) {
		int64_t n = input->read(input->context, (char *)bytes + got, size - got);

		if (n <= 0)
			err = n ? (int)n : -EBADMSG;
		else
			got += (size_t)n;
	}
	return err;
}

/* The index that ends at offset `end`; *at: where it begins. */
static int read_index(struct input *input, uint64_t end, const uint8_t id[16],
		      struct segment_index *index, uint64_t *at)
{
	unsigned char frame[INDEX_FRAME], tail[FORMAT_INDEX_TAIL];
	size_t length;
	int err;

	if (end < sizeof tail)
		return -EBADMSG;
	err = read_at(input, end - sizeof tail, tail, sizeof tail);
	if (err)
		return err;
	length = index_tail(tail, end);
	if (!length)
		return -EBADMSG;
	*at = end - length;
	err = read_at(input, *at, frame, length);
	if (err)
		return err;
	return index_read(frame, length, id, *at, index) ? 0 : -EBADMSG;
}

/* The index that begins at offset `at`, as the one behind it says. */
static int read_index_from(struct input *input, uint64_t at, const uint8_t id[16],
			   struct segment_index *index)
{
	unsigned char head[FORMAT_SKIP_HEAD];
	uint64_t found;
	int err = read_at(input, at, head, sizeof head);

	if (err)
		return err;
	err = read_index(input, at + FORMAT_SKIP_HEAD + get_le32(head + 4), id, index, &found);
	return err ? err : found == at ? 0 : -EBADMSG;
}

static bool is_mark(struct input *input, uint64_t at, const uint8_t id[16], uint64_t number)
{
	unsigned char frame[MARK_FRAME];
	struct mark mark;

	return read_at(input, at, frame, sizeof frame) == 0 && mark_read(frame, &mark) &&
	       memcmp(mark.id, id, 16) == 0 && mark.number == number;
}

/* What the entries say, from the last back. */
struct search {
	struct index_entry
		first; /* of the first segment that ends at `since` or later, else of the last of all */
	struct index_entry helped; /* of the last segment before it that has help */
	bool any, before; /* there is one; there is one before it, which is all over at `since` */
};

/* Takes one entry. False: those before it don't matter. */
static bool take_entry(struct search *search, const struct index_entry *entry, uint64_t since)
{
	if (!search->any || entry->end >= since) {
		search->first = *entry;
		search->any = true;
	}
	search->before |= entry->end < since;
	if (entry->number % FORMAT_HELP_EVERY == 0 && entry->number <= search->first.number)
		search->helped = *entry;
	return !search->before || (search->helped.number !=
				   search->first.number - search->first.number % FORMAT_HELP_EVERY);
}

/* Entries of segment `mark` and those behind it. Whether they lead to the mark itself: those of a copy of this stream that
 * was put behind it do not. */
static bool search_back(struct input *input, const struct mark *mark, uint64_t mark_at,
			uint64_t since, uint64_t end, struct search *search)
{
	struct segment_index index;
	bool more = true;
	uint64_t at;
	int err = read_index(input, end, mark->id, &index, &at);

	while (!err) {
		for (uint32_t i = index.count; i--;) {
			const struct index_entry *entry = &index.entries[i];

			if (entry->number < mark->number)
				return false;
			more = more && take_entry(search, entry, since);
			if (entry->number == mark->number)
				return entry->mark == mark_at;
		}
		if (!index.has_before || index.before >= at)
			return false;
		at = index.before;
		err = read_index_from(input, at, mark->id, &index);
	}
	return false;
}

int lookup(struct input *input, const struct mark *mark, uint64_t mark_at, uint64_t since)
{
	uint64_t stood = input_offset(input);
	int64_t end = input->seek(input->context, 0, SEEK_END);
	struct search search = { 0 };
	const struct index_entry *to = &search.first;
	int err;

	if (end < 0)
		return 0;
	if (!search_back(input, mark, mark_at, since, (uint64_t)end, &search))
		return input_seek(input, stood);
	if (search.helped.number > mark->number && search.helped.number <= to->number)
		to = &search.helped;
	if (!search.before || to->number <= mark->number || to->mark <= stood ||
	    !is_mark(input, to->mark, mark->id, to->number))
		return input_seek(input, stood);
	err = input_seek(input, to->mark);
	return err ? err : 1;
}
