/* Rows into msgpack: what of a row differs from the one before it. */
#include <errno.h>

#include "wire/format.h"
#include "wire/rows.h"

/* One row more has at most SCHEMA_MAX_SLOTS values (16,384) of 9 bytes and a bitmap: with these it fits a block. */
enum { FULL_BYTES = 64 << 10, FULL_ITEMS = 32 << 10 };

int frames_init(struct frames *frames)
{
	*frames = (struct frames) { 0 };
	if (pack_new(&frames->structure, FORMAT_BLOCK_BYTES) ||
	    pack_new(&frames->values, FORMAT_BLOCK_BYTES) ||
	    pack_new(&frames->rows, FORMAT_BLOCK_BYTES)) {
		frames_free(frames);
		return -ENOMEM;
	}
	return 0;
}

void frames_free(struct frames *frames)
{
	free(frames->structure.bytes);
	free(frames->values.bytes);
	free(frames->rows.bytes);
	*frames = (struct frames) { 0 };
}

void frames_empty(struct frames *frames)
{
	pack_empty(&frames->structure);
	pack_empty(&frames->values);
	frames->structure_items = frames->value_items = 0;
}

void frames_open(struct frames *frames, uint32_t table, bool partial)
{
	pack_empty(&frames->rows);
	frames->nrows = 0;
	frames->table = table;
	frames->partial = partial;
	frames->previous = UINT32_MAX;
}

void frames_close(struct frames *frames)
{
	int64_t table = frames->table;

	pack_int64(&frames->structure, frames->partial ? -1 - table : table);
	pack_uint32(&frames->structure, frames->nrows);
	pack_raw(&frames->structure, frames->rows.bytes, frames->rows.used);
	frames->structure.full |= frames->rows.full;
	frames->structure_items += 2 + 2 * frames->nrows;
}

bool frames_full(const struct frames *frames)
{
	return frames->structure.used + frames->rows.used + frames->values.used > FULL_BYTES ||
	       frames->structure_items + 2 * frames->nrows + frames->value_items > FULL_ITEMS;
}

/* How far the row's number is from the one after the row before. */
static void pack_gap(struct frames *frames, uint32_t number)
{
	pack_int64(&frames->rows, (int64_t)number - (int64_t)(uint32_t)(frames->previous + 1));
	frames->previous = number;
	frames->nrows++;
}

void frames_ended(struct frames *frames, uint32_t number)
{
	pack_gap(frames, number);
	pack_nil(&frames->rows);
}

/* Bits of the slots in which two rows differ. */
static uint64_t differing(const uint64_t *a, const uint64_t *b, uint32_t n)
{
	uint64_t mask = 0;
	uint32_t i = 0;

	for (; i + 8 <= n; i += 8) {
		uint64_t any = (a[i] ^ b[i]) | (a[i + 1] ^ b[i + 1]) | (a[i + 2] ^ b[i + 2]) |
			       (a[i + 3] ^ b[i + 3]) | (a[i + 4] ^ b[i + 4]) |
			       (a[i + 5] ^ b[i + 5]) | (a[i + 6] ^ b[i + 6]) |
			       (a[i + 7] ^ b[i + 7]);

		for (uint32_t j = i; any && j < i + 8; j++)
			mask |= (uint64_t)(a[j] != b[j]) << j;
	}
	for (; i < n; i++)
		mask |= (uint64_t)(a[i] != b[i]) << i;
	return mask;
}

/* Of the string slots in `candidates`, those whose bytes are not the ones sent last. */
static uint64_t differing_strings(uint64_t candidates, const uint64_t *mine, const uint64_t *theirs,
				  const char *bytes, const struct strings *strings)
{
	uint64_t mask = 0;

	for (; candidates; candidates &= candidates - 1) {
		int i = __builtin_ctzll(candidates);

		if (!strings_equal(strings, (uint32_t)mine[i], bytes + (theirs[i] >> 32),
				   (uint32_t)theirs[i]))
			mask |= candidates & -candidates;
	}
	return mask;
}

/* Changed slots among the 64 of bitmap word `w`. */
static uint64_t changed_word(const struct kept *kept, uint32_t w, bool is_new, const uint64_t *mine,
			     const uint64_t *theirs, const char *bytes,
			     const struct strings *strings)
{
	const uint64_t *my = mine + kept->nhave + w * 64, *their = theirs + kept->nhave + w * 64;
	uint32_t n = kept->nslots - w * 64 < 64 ? kept->nslots - w * 64 : 64;
	uint64_t both = mine[w] & theirs[w], changed = mine[w] ^ theirs[w];
	uint64_t same;

	if (is_new)
		return changed;
	same = kept->is_string[w] | kept->is_key[w];
	changed |= differing(my, their, n) & both & ~same;
	return changed | differing_strings(both & kept->is_string[w] & ~kept->is_key[w], my, their,
					   bytes, strings);
}

void frames_bitmap(struct pack *pack, const uint64_t *changed, uint32_t nslots)
{
	unsigned char bytes[(16384 + 63) / 64 * 8];
	uint32_t n = (nslots + 63) / 64;

	if (nslots <= 64) {
		pack_uint64(pack, changed[0]);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		put_le64(bytes + 8 * i, changed[i]);
	for (n *= 8; n && !bytes[n - 1];)
		n--;
	pack_bytes(pack, bytes, n);
}

/* The values of the changed slots of one bitmap word; `mine` becomes `theirs`. */
static int pack_values(struct frames *frames, const struct kept *kept, uint32_t w, uint64_t changed,
		       uint64_t *mine, const uint64_t *theirs, const char *bytes,
		       struct strings *strings)
{
	uint64_t *my = mine + kept->nhave + w * 64;
	const uint64_t *their = theirs + kept->nhave + w * 64;

	for (uint64_t left = changed; left; left &= left - 1, frames->value_items++) {
		int i = __builtin_ctzll(left);
		uint64_t one = left & -left, value = their[i];

		if (!(theirs[w] & one)) {
			pack_nil(&frames->values);
			value = 0;
		} else if (kept->is_string[w] & one) {
			value = strings_add(strings, bytes + (value >> 32), (uint32_t)value);
			if (value == STRINGS_NONE)
				return -EFBIG;
			pack_uint64(&frames->values, value);
		} else if (kept->is_f64[w] & one) {
			pack_f64(&frames->values, value);
		} else {
			pack_int64(&frames->values, (int64_t)(value - my[i]));
		}
		my[i] = value;
	}
	mine[w] ^= (mine[w] ^ theirs[w]) & changed;
	return 0;
}

int frames_row(struct frames *frames, const struct kept *kept, uint32_t number, bool is_new,
	       uint64_t *mine, const uint64_t *theirs, const char *bytes, struct strings *strings)
{
	uint64_t changed[(16384 + 63) / 64], any = 0;
	int err = 0;

	for (uint32_t w = 0; w < kept->nhave; w++)
		any |= changed[w] = changed_word(kept, w, is_new, mine, theirs, bytes, strings);
	if (!any && !is_new)
		return 0;
	pack_gap(frames, number);
	frames_bitmap(&frames->rows, changed, kept->nslots);
	for (uint32_t w = 0; w < kept->nhave && !err; w++)
		err = pack_values(frames, kept, w, changed[w], mine, theirs, bytes, strings);
	return err;
}
