/* Files of lines "key value": /proc/vmstat, /proc/meminfo and their like. Part of the plugin ABI, inline throughout.
 *
 * Which keys there are differs from kernel to kernel, their order does not change while one runs. So the order is learned
 * at start, and a sample compares each line with the one that stood there before: where all of it is the same, so is its
 * value; where the key is, the value is parsed; else the key is looked up. */
#ifndef SONDE_KEYED_H
#define SONDE_KEYED_H

#include <stdio.h>

#include <sonde/host.h>
#include <sonde/text.h>

/* Keys that the static table lacks become columns of a built one, so that a newer kernel's are kept. */
enum { KEYED_MORE = 64, KEYED_NAME = 64 };

struct keyed_line {
	const char *key; /* as it begins the line, with the blank behind it */
	uint32_t length;
	uint32_t slot;
	uint32_t more; /* the slot is one of the built table's */
	uint32_t reserved;
};

struct keyed {
	struct keyed_line *lines; /* then the bytes of the keys */
	uint32_t count;
	uint32_t more; /* index of the built table; 0: there is none */
	uint32_t room; /* for a text in struct keyed_last; a longer one is parsed anew each time */
	uint32_t reserved;
};

/* What a line was in the sample before: where in the text it began, its length with the LF (0: not known), its value. */
struct keyed_seen {
	uint32_t at, span;
	uint64_t value;
};

/* The sample before of one file: its lines, as they were learned, and its text. NULL: none is kept. */
struct keyed_last {
	struct keyed_seen *lines;
	char *text;
};

struct keyed_more {
	struct sonde_column columns[KEYED_MORE];
	char names[KEYED_MORE][KEYED_NAME];
	char origins[KEYED_MORE][KEYED_NAME];
	uint32_t count;
};

/* "MemAvailable:" -> "mem_available", "Active(anon):" -> "active_anon", "SReclaimable:" -> "s_reclaimable". False: no
 * column can have this name. */
static inline bool keyed_name(const char *key, size_t length, char name[KEYED_NAME])
{
	size_t n = 0;

	if (length && key[length - 1] == ':')
		length--;
	if (length && key[length - 1] == ')')
		length--;
	for (size_t i = 0; i < length; i++) {
		char c = key[i], before = i ? key[i - 1] : '_',
		     after = i + 1 < length ? key[i + 1] : '_';
		bool upper = c >= 'A' && c <= 'Z';

		if (n + 2 >= KEYED_NAME)
			return false;
		if (upper && ((before >= 'a' && before <= 'z') ||
			      (before >= 'A' && before <= 'Z' && after >= 'a' && after <= 'z')))
			name[n++] = '_';
		if (upper)
			name[n++] = (char)(c - 'A' + 'a');
		else if ((c >= 'a' && c <= 'z') || (n && c >= '0' && c <= '9'))
			name[n++] = c;
		else if (n && (c == '_' || c == '(' || c == '-'))
			name[n++] = '_';
		else
			return false;
	}
	name[n] = '\0';
	return n != 0;
}

/* Bytes that the lines of this text need. */
static inline uint64_t keyed_size(const char *text, size_t length)
{
	struct cursor line = cursor(text, length);
	uint64_t lines = 0;

	while (next_line(&line))
		lines++;
	return lines * sizeof(struct keyed_line) + length;
}

/* Index of the column of `columns` that is a number and whose origin is this key, or -1. */
static inline int64_t keyed_column(const struct sonde_array *columns, const char *key,
				   size_t length)
{
	for (uint32_t i = 0; i < columns->count; i++) {
		const struct sonde_column *column =
			(const void *)((const char *)columns->items + (size_t)i * columns->stride);

		if (column->type == SONDE_U64 && column->semantics != SONDE_KEY && column->origin &&
		    strlen(column->origin) == length && memcmp(column->origin, key, length) == 0)
			return i;
	}
	return -1;
}

/* A column for a key that the static table lacks: the kernel names gauges nr_*, and says kB where it means it. Its index,
 * or -1 where there is no room, no possible name, or the name is taken. */
static inline int64_t keyed_unknown(struct keyed_more *more, const char *key, size_t length,
				    bool kib)
{
	bool gauge = kib || (length > 3 && memcmp(key, "nr_", 3) == 0) || key[length - 1] == ':';
	uint32_t n = more->count;

	if (n == KEYED_MORE || length >= KEYED_NAME || !keyed_name(key, length, more->names[n]))
		return -1;
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(more->names[i], more->names[n]) == 0)
			return -1;
	memcpy(more->origins[n], key, length);
	more->origins[n][length] = '\0';
	more->columns[n] = (struct sonde_column) {
		.name = more->names[n],
		.type = SONDE_U64,
		.semantics = gauge ? SONDE_GAUGE : SONDE_COUNTER,
		.unit = kib ? SONDE_BASE_BYTES : SONDE_BASE_COUNT,
		.scale_mul = kib ? 1024 : 1,
		.scale_div = 1,
		.counted = kib     ? NULL
			   : gauge ? "units"
				   : "events",
		.origin = more->origins[n],
		.help = "Newer than this version of sonde, which takes it by its name for what it is.",
	};
	more->count++;
	return n;
}

/* Whether a column of the static table has its line already: once is enough, however often a text repeats its key. */
static inline bool keyed_has(const struct keyed *keyed, uint32_t slot)
{
	for (uint32_t i = 0; i < keyed->count; i++)
		if (!keyed->lines[i].more && keyed->lines[i].slot == slot)
			return true;
	return false;
}

/* Learns the keys of `text`, whose lines begin with `skip` bytes that are not of the key ("Node 0 "). `columns` are those of
 * the static table; `nkeys` is where columns of the built one begin. `lines` has keyed_size() bytes. */
static inline void keyed_learn(struct keyed *keyed, const struct sonde_array *columns,
			       struct keyed_more *more, uint32_t nkeys, const char *text,
			       size_t length, size_t skip)
{
	struct cursor line = cursor(text, whole_words(text, length));
	char *bytes = (char *)keyed->lines + keyed_size(text, length) - length;
	const char *key;
	uint64_t value;

	keyed->count = 0;
	while (next_line(&line)) {
		int64_t column;
		size_t n;

		if ((size_t)(line.end - line.at) <= skip)
			continue;
		line.at += skip;
		n = next_word(&line, &key);
		if (!n || !next_u64(&line, &value))
			continue;
		column = keyed_column(columns, key, n);
		if (column >= 0 && keyed_has(keyed, (uint32_t)column))
			continue;
		keyed->lines[keyed->count] =
			(struct keyed_line) { bytes, (uint32_t)n + 1, (uint32_t)column, 0, 0 };
		if (column < 0) {
			column = keyed_unknown(more, key, n, take_word(&line, "kB"));
			if (column < 0)
				continue;
			keyed->lines[keyed->count].slot = nkeys + (uint32_t)column;
			keyed->lines[keyed->count].more = 1;
		}
		memcpy(bytes, key, n + 1);
		bytes += n + 1;
		keyed->count++;
	}
}

/* Only in start(): learns the keys of a file from its text. `table` is a static table of the descriptor, the origin of each
 * column its key; keys that it lacks go into a table built beside it, "vmstat_more". 0 or -ENOMEM. */
static inline int keyed_start(struct sonde_instance *self, struct keyed *keyed,
			      const struct sonde_table *table, const char *text, size_t length,
			      size_t skip)
{
	const struct sonde_column *first = (const struct sonde_column *)table->columns.items;
	struct keyed_more more = { .count = 0 };
	struct sonde_column columns[KEYED_MORE + 1];
	char name[KEYED_NAME];
	struct sonde_table built = *table;
	uint32_t nkeys = first->semantics == SONDE_KEY;
	int err;

	if (!length) /* no block: growing by nothing leaves it NULL */
		return 0;
	err = sonde_grow(self, &keyed->lines, keyed_size(text, length));
	if (err)
		return err;
	keyed_learn(keyed, &table->columns, &more, nkeys, text, length, skip);
	keyed->room = (uint32_t)(2 * length + 7) & ~(uint32_t)7;
	if (!more.count)
		return 0;
	if (nkeys)
		columns[0] = *first;
	memcpy(columns + nkeys, more.columns, more.count * sizeof more.columns[0]);
	snprintf(name, sizeof name, "%s_more", table->name);
	built.name = name;
	built.help = "Keys that this version of sonde does not know.";
	built.columns = (struct sonde_array) { columns, nkeys + more.count, sizeof columns[0] };
	err = sonde_add_table(self, &built);
	if (err < 0)
		return err;
	keyed->more = (uint32_t)err;
	return 0;
}

/* Bytes that the sample before of one file needs. */
static inline uint64_t keyed_last_size(const struct keyed *keyed)
{
	return keyed->count * sizeof(struct keyed_seen) + keyed->room;
}

/* Only in start(), once the keys are learned: room in *block for the samples before of this many files. 0 or -ENOMEM. */
static inline int keyed_keep(struct sonde_instance *self, const struct keyed *keyed, void **block,
			     uint32_t files)
{
	return keyed->count ? sonde_grow(self, block, files * keyed_last_size(keyed)) : 0;
}

/* The sample before of one of these files. */
static inline struct keyed_last keyed_last(const struct keyed *keyed, void *block, uint32_t file)
{
	struct keyed_seen *lines;

	if (!block)
		return (struct keyed_last) { NULL, NULL };
	lines = (struct keyed_seen *)((char *)block + file * keyed_last_size(keyed));
	return (struct keyed_last) { lines, (char *)(lines + keyed->count) };
}

/* Whether `length` bytes are equal; keys are short, so eight at a time without a call. */
static inline bool keyed_equal(const char *a, const char *b, size_t length)
{
	uint64_t x, y;

	if (length < 8)
		return memcmp(a, b, length) == 0;
	for (size_t i = 0; i + 8 < length; i += 8) {
		memcpy(&x, a + i, 8);
		memcpy(&y, b + i, 8);
		if (x != y)
			return false;
	}
	memcpy(&x, a + length - 8, 8);
	memcpy(&y, b + length - 8, 8);
	return x == y;
}

/* Whether `p` begins with this learned line's key and has a value behind it. */
static inline bool keyed_here(const struct keyed_line *line, const char *p, const char *end)
{
	return (size_t)(end - p) > line->length && keyed_equal(p, line->key, line->length);
}

/* Number of the learned line that `p` begins, looked for from `next` on; keyed->count: it is not learned. */
static inline uint32_t keyed_find(const struct keyed *keyed, uint32_t next, const char *p,
				  const char *end)
{
	for (uint32_t i = 0; i < keyed->count; i++) {
		uint32_t n = (next + i) % keyed->count;

		if (keyed_here(&keyed->lines[n], p, end))
			return n;
	}
	return keyed->count;
}

static inline void keyed_forget(const struct keyed_last *last, uint32_t from, uint32_t to)
{
	for (; last->lines && from < to; from++)
		last->lines[from].span = 0;
}

/* Line n is met. Those from *unmet to it were left out; one that was met before (a key that stands there twice) is not
 * known any more. */
static inline void keyed_meet(const struct keyed_last *last, uint32_t n, uint32_t *unmet,
			      struct keyed_seen seen)
{
	if (n < *unmet) {
		keyed_forget(last, n, n + 1);
		return;
	}
	keyed_forget(last, *unmet, n);
	if (last->lines)
		last->lines[n] = seen;
	*unmet = n + 1;
}

/* Past the blanks at `p`, eight at a time: /proc/meminfo sets its values flush right. */
static inline const char *keyed_blanks(const char *p, const char *end)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint64_t bytes;

	if (p < end && *p != ' ')
		return p;
	while (end - p >= 8) {
		memcpy(&bytes, p, sizeof bytes);
		bytes ^= 0x2020202020202020u;
		if (bytes)
			return p + __builtin_ctzll(bytes) / 8;
		p += 8;
	}
#endif
	while (p < end && *p == ' ')
		p++;
	return p;
}

/* To the line behind the one that `p` is in; NULL: there is none. "\n" and " kB\n" are what mostly comes. */
static inline const char *keyed_next_line(const char *p, const char *end)
{
	if (p < end && *p == '\n')
		return p + 1;
	if (end - p >= 4 && p[3] == '\n' && p[1] != '\n' && p[2] != '\n')
		return p + 4;
	p = (const char *)memchr(p, '\n', (size_t)(end - p));
	return p ? p + 1 : NULL;
}

static inline void keyed_set(const struct keyed_line *line, struct sonde_row *row,
			     struct sonde_row *more, uint64_t value)
{
	if (!line->more)
		sonde_set_u64(row, line->slot, value);
	else if (more)
		sonde_set_u64(more, line->slot, value);
}

/* The lines from `next` on that are what they were in the sample before. Returns the first that is not; *p moves to it. */
static inline uint32_t keyed_unchanged(const struct keyed *keyed, const struct keyed_last *last,
				       uint32_t next, const char *text, const char **p,
				       const char *end, struct sonde_row *row,
				       struct sonde_row *more)
{
	const struct keyed_line *line = keyed->lines + next, *stop = keyed->lines + keyed->count;
	struct keyed_seen *seen = last->lines + next;
	const char *before = last->text, *at = *p;

	for (; line < stop; line++, seen++) {
		if (!seen->span || (size_t)(end - at) < seen->span ||
		    !keyed_equal(at, before + seen->at, seen->span))
			break;
		seen->at = (uint32_t)(at - text);
		at += seen->span;
		keyed_set(line, row, more, seen->value);
	}
	*p = at;
	return (uint32_t)(line - keyed->lines);
}

/* The values of `text` into `row`, those of the built table into `more` (NULL: passed over). Lines before `unmet` are in
 * `last` as they are in this text, the others as they were in the one before. */
static inline void keyed_parse(const struct keyed *keyed, struct keyed_last last, const char *text,
			       size_t length, size_t skip, struct sonde_row *row,
			       struct sonde_row *more)
{
	const char *p = text, *end = text + whole_words(text, length);
	uint32_t next = 0, unmet = 0;

	while (p && (size_t)(end - p) > skip) {
		struct keyed_seen seen = { 0, 0, 0 };
		const char *begin;
		bool good;

		if (last.lines && next == unmet)
			next = unmet =
				keyed_unchanged(keyed, &last, next, text, &p, end, row, more);
		if ((size_t)(end - p) <= skip)
			break;
		begin = p;
		if (next >= keyed->count || !keyed_here(&keyed->lines[next], p + skip, end))
			next = keyed_find(keyed, next, p + skip, end);
		if (next == keyed->count) {
			p = keyed_next_line(p, end);
			next = unmet;
			continue;
		}
		p = keyed_blanks(p + skip + keyed->lines[next].length, end);
		good = take_digits(&p, end, end, &seen.value);
		if (good)
			keyed_set(&keyed->lines[next], row, more, seen.value);
		p = keyed_next_line(p, end);
		if (good && p) {
			seen.at = (uint32_t)(begin - text);
			seen.span = (uint32_t)(p - begin);
		}
		keyed_meet(&last, next++, &unmet, seen);
	}
	keyed_forget(&last, length <= keyed->room ? unmet : 0, keyed->count);
	if (last.lines && length && length <= keyed->room)
		memcpy(last.text, text, length);
}

/* Only in sample(): a row of table `index` from this text, and one of the built table where there is one. Both begin with
 * the key *key, if it is not NULL. */
static inline void keyed_rows(struct sonde_instance *self, struct sonde_frame *frame,
			      const struct keyed *keyed, struct keyed_last last, uint32_t index,
			      const uint64_t *key, const char *text, size_t length, size_t skip)
{
	struct sonde_row row, more;

	if (!sonde_row(self, frame, index, &row) ||
	    (keyed->more && !sonde_row(self, frame, keyed->more, &more)))
		return;
	if (key)
		sonde_set_u64(&row, 0, *key);
	if (key && keyed->more)
		sonde_set_u64(&more, 0, *key);
	keyed_parse(keyed, last, text, length, skip, &row, keyed->more ? &more : NULL);
}

/* A collector that is one such file and one table: what it keeps, its start() and its sample(). */
struct keyed_file {
	struct sonde_file *file;
	struct keyed keyed;
	void *last;
};

/* `table` is the descriptor's first. `missing` is said where the file is not there. 0, -ENODEV, -ENOMEM or what reading said. */
static inline int keyed_file_start(struct sonde_instance *self, struct keyed_file *of,
				   const char *path, const struct sonde_table *table,
				   const char *missing)
{
	const char *text;
	int64_t length;
	int err;

	of->file = sonde_open(self, SONDE_KEEP, "%s", path);
	if (!of->file)
		return sonde_unavailable(self, "no %s: %s", path, missing);
	length = sonde_read(self, of->file, &text);
	if (length < 0)
		return (int)length;
	err = keyed_start(self, &of->keyed, table, text, (size_t)length, 0);
	return err ? err : keyed_keep(self, &of->keyed, &of->last, 1);
}

static inline int keyed_file_sample(struct sonde_instance *self, struct sonde_frame *frame,
				    const struct keyed_file *of)
{
	const char *text;
	int64_t length = sonde_read(self, of->file, &text);

	if (length < 0)
		return (int)length;
	keyed_rows(self, frame, &of->keyed, keyed_last(&of->keyed, of->last, 0), 0, NULL, text,
		   (size_t)length, 0);
	return 0;
}

#endif
