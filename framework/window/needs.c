/* Whether a recording has what a finding is judged from. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/records.h"
#include "window/needs.h"

static char *text_of(const struct sonde_view *view, uint32_t row, uint32_t slot)
{
	uint32_t length;
	const char *text = record_text(view, row, slot, &length);

	return strndup(text, length);
}

void needs_take(struct needs_notes *notes, const struct sonde_view *view)
{
	for (uint32_t row = 0; row < view->nrows; row++) {
		char *instance = text_of(view, row, NOTE_INSTANCE);
		char *text = text_of(view, row, NOTE_TEXT);
		char *tables = text_of(view, row, NOTE_TABLES);
		bool wanted = instance && text && tables && *instance && notes->count < NEEDS_NOTES;

		for (uint32_t i = 0; wanted && i < notes->count; i++)
			wanted = strcmp(notes->notes[i].instance, instance) != 0;
		if (wanted) {
			notes->notes[notes->count].instance = instance;
			notes->notes[notes->count].text = text;
			notes->notes[notes->count++].tables = tables;
		} else {
			free(instance);
			free(text);
			free(tables);
		}
	}
}

void needs_free(struct needs_notes *notes)
{
	for (uint32_t i = 0; i < notes->count; i++) {
		free(notes->notes[i].instance);
		free(notes->notes[i].text);
		free(notes->notes[i].tables);
	}
	notes->count = 0;
}

/* What there is of a column. */
enum column {
	COLUMN_SEEN,
	COLUMN_MISSING,
	COLUMN_UNSCALED, /* ticks, and nobody knows how long they are */
	COLUMN_REFUSED,
	COLUMN_WITHOUT_TABLE,
};

/* Of "table.column", or of a table alone, length bytes. */
static size_t table_length(const char *need, size_t length)
{
	const char *dot = memchr(need, '.', length);

	return dot ? (size_t)(dot - need) : length;
}

/* "table.column", length bytes. Of several senders one that it can be judged by is enough. */
static enum column column_state(const char *need, size_t length, struct track *const *tracks,
				uint32_t ntracks)
{
	const char *dot = memchr(need, '.', length), *column = dot ? dot + 1 : "*";
	size_t table = table_length(need, length);
	size_t name = dot ? length - table - 1 : 1;
	enum column state = COLUMN_WITHOUT_TABLE;

	for (uint32_t i = 0; i < ntracks; i++) {
		if (track_saw(tracks[i], need, table, column, name)) {
			if (!dot || !track_refused(tracks[i], need, table, column, name))
				return COLUMN_SEEN;
			state = COLUMN_REFUSED;
		} else if (state == COLUMN_WITHOUT_TABLE &&
			   track_saw(tracks[i], need, table, "*", 1)) {
			state = track_unscaled(tracks[i], need, table, column, name)
					? COLUMN_UNSCALED
					: COLUMN_MISSING;
		}
	}
	return state;
}

/* Whether a table is one of these words. */
static bool names(const char *tables, const char *table)
{
	for (tables += strspn(tables, " "); *tables; tables += strspn(tables, " ")) {
		size_t length = strcspn(tables, " ");

		if (column_fits(tables, length, table))
			return true;
		tables += length;
	}
	return false;
}

/* Whether the section of a note has this table. */
static bool has_table(const struct needs_notes *notes, uint32_t i, struct track *const *tracks,
		      uint32_t ntracks, const char *table)
{
	for (uint32_t t = 0; t < ntracks; t++)
		if (strcmp(track_table(tracks[t]), table) == 0 &&
		    strcmp(track_instance(tracks[t]), notes->notes[i].instance) == 0)
			return true;
	return names(notes->notes[i].tables, table);
}

/* Where a note names no tables: how much of the table's name is that of its section, which may have a label; 0: none. */
static size_t alike(const struct needs_notes *notes, uint32_t i, const char *table)
{
	const char *instance = notes->notes[i].instance;
	size_t length = strcspn(instance, " ");

	if (*notes->notes[i].tables || strncmp(instance, table, length) != 0)
		return 0;
	return !table[length] || table[length] == '_' ? length : 0;
}

const char *needs_note_of(const struct needs_notes *notes, struct track *const *tracks,
			  uint32_t ntracks, const char *table, size_t table_length)
{
	const char *note = NULL;
	size_t longest = 0;
	char name[64];

	snprintf(name, sizeof name, "%.*s", (int)table_length, table);
	for (uint32_t i = 0; i < notes->count; i++) {
		size_t length = alike(notes, i, name);

		if (has_table(notes, i, tracks, ntracks, name))
			return notes->notes[i].text;
		if (length > longest) {
			longest = length;
			note = notes->notes[i].text;
		}
	}
	return note;
}

static void add(char *reason, size_t size, const char *text, size_t length)
{
	size_t used = strlen(reason);

	if (used + 1 < size)
		snprintf(reason + used, size - used, "%.*s", (int)length, text);
}

/* Two alternatives may lack the same, and for the same reason. */
static void say(char *reason, size_t size, const char *phrase, const char *note)
{
	if (strstr(reason, phrase) || (note && strstr(reason, note)))
		return;
	if (*reason)
		add(reason, size, "; ", 2);
	add(reason, size, phrase, strlen(phrase));
}

static void say_missing(const char *need, size_t length, enum column state, const char *note,
			char *reason, size_t size)
{
	size_t table = table_length(need, length);
	char phrase[512];

	if (state == COLUMN_REFUSED) {
		snprintf(phrase, sizeof phrase,
			 "no value of %.*s that can be: it only falls, or is beyond its whole",
			 (int)length, need);
		say(reason, size, phrase, NULL);
		return;
	}
	if (state == COLUMN_UNSCALED) {
		say(reason, size,
		    "times in ticks, and USER_HZ of the recorded machine is not known", NULL);
		return;
	}
	snprintf(phrase, sizeof phrase, "no %.*s%s%s%s",
		 (int)(state == COLUMN_MISSING ? length : table), need,
		 note                      ? " ("
		 : state == COLUMN_MISSING ? ""
					   : " in the recording",
		 note ? note : "", note ? ")" : "");
	say(reason, size, phrase, note);
}

/* One alternative: all of its columns. The first that is missing is said. */
static bool all_seen(const char *needs, const char *end, struct track *const *tracks,
		     uint32_t ntracks, const struct needs_notes *notes, char *reason, size_t size)
{
	while (needs < end) {
		size_t length = strcspn(needs, " |");
		enum column state =
			length ? column_state(needs, length, tracks, ntracks) : COLUMN_SEEN;

		if (state != COLUMN_SEEN) {
			say_missing(needs, length, state,
				    needs_note_of(notes, tracks, ntracks, needs,
						  table_length(needs, length)),
				    reason, size);
			return false;
		}
		needs += length + 1;
	}
	return true;
}

bool needs_met(const char *needs, struct track *const *tracks, uint32_t ntracks,
	       const struct needs_notes *notes, char *reason, size_t size)
{
	*reason = '\0';
	while (needs && *needs) {
		size_t length = strcspn(needs, "|");

		if (all_seen(needs, needs + length, tracks, ntracks, notes, reason, size))
			return true;
		needs += length;
		needs += *needs == '|';
	}
	return !needs || !*reason;
}

bool needs_key(const struct sonde_catalogue *line, const char *key)
{
	const char *keys = line->keys;
	size_t length = strlen(key);

	if (!keys)
		return true;
	for (keys += strspn(keys, " "); *keys; keys += strspn(keys, " ")) {
		size_t n = strcspn(keys, " ");

		if (n == length && strncmp(keys, key, n) == 0)
			return true;
		keys += n;
	}
	return false;
}

static bool is_hold(const struct needs_holds *holds, const struct sonde_option *option)
{
	for (uint32_t i = 0; i < holds->nstreams; i++)
		if (option->offset && holds->streams[i].declared.hold == option->offset)
			return true;
	return false;
}

bool needs_time(const struct sonde_catalogue *line, const struct needs_holds *holds,
		uint64_t observed, char *reason, size_t size)
{
	for (size_t i = 0; i < holds->noptions; i++) {
		const struct sonde_option *option = &holds->options[i];
		uint64_t hold;

		if (!needs_key(line, option->key) || !is_hold(holds, option))
			continue;
		memcpy(&hold, holds->conf + option->offset, sizeof hold);
		if (store_lasts(observed, hold))
			continue;
		snprintf(
			reason, size,
			"%.3g s were observed, less than %s = %gs; record, or choose, a longer stretch",
			(double)observed / 1e9, option->key, (double)hold / 1e9);
		return false;
	}
	return true;
}
