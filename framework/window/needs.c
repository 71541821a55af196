/* Whether a recording has what a finding is judged from. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "window/needs.h"

void needs_note(struct needs_notes *notes, const char *instance, size_t instance_length,
		const char *text, size_t length)
{
	char *name = strndup(instance, instance_length), *copy = strndup(text, length);
	bool take = name && copy && *name && notes->count < NEEDS_NOTES;

	for (uint32_t i = 0; take && i < notes->count; i++)
		take = strcmp(notes->notes[i].instance, name) != 0;
	if (take) {
		notes->notes[notes->count].instance = name;
		notes->notes[notes->count++].text = copy;
	} else {
		free(name);
		free(copy);
	}
}

void needs_free(struct needs_notes *notes)
{
	for (uint32_t i = 0; i < notes->count; i++) {
		free(notes->notes[i].instance);
		free(notes->notes[i].text);
	}
	notes->count = 0;
}

/* "table.column", length bytes. */
static bool column_seen(const char *need, size_t length, struct track *const *tracks,
			uint32_t ntracks, bool *table_seen)
{
	const char *dot = memchr(need, '.', length);
	size_t table = dot ? (size_t)(dot - need) : length;

	*table_seen = false;
	for (uint32_t i = 0; i < ntracks; i++) {
		*table_seen = *table_seen || track_saw(tracks[i], need, table, "*", 1);
		if (dot && track_saw(tracks[i], need, table, dot + 1, length - table - 1))
			return true;
	}
	return !dot && *table_seen;
}

/* A section has the name of its table, or that name and a label. */
static const char *note_of(const struct needs_notes *notes, const char *need, size_t table)
{
	for (uint32_t i = 0; i < notes->count; i++) {
		const char *instance = notes->notes[i].instance;

		if (strncmp(instance, need, table) == 0 &&
		    (instance[table] == '\0' || instance[table] == ' '))
			return notes->notes[i].text;
	}
	return NULL;
}

static void add(char *reason, size_t size, const char *text, size_t length)
{
	size_t used = strlen(reason);

	if (used + 1 < size)
		snprintf(reason + used, size - used, "%.*s", (int)length, text);
}

static void say_missing(const char *need, size_t length, bool table_seen,
			const struct needs_notes *notes, char *reason, size_t size)
{
	const char *dot = memchr(need, '.', length);
	size_t table = dot ? (size_t)(dot - need) : length;
	const char *note = note_of(notes, need, table);

	if (*reason)
		add(reason, size, "; ", 2);
	add(reason, size, "no ", 3);
	add(reason, size, need, table_seen ? length : table);
	if (note) {
		add(reason, size, " (", 2);
		add(reason, size, note, strlen(note));
		add(reason, size, ")", 1);
	} else if (!table_seen) {
		add(reason, size, " in the recording", 17);
	}
}

/* One alternative: all of its columns. The first that is missing is said. */
static bool all_seen(const char *needs, const char *end, struct track *const *tracks,
		     uint32_t ntracks, const struct needs_notes *notes, char *reason, size_t size)
{
	while (needs < end) {
		size_t length = strcspn(needs, " |");
		bool table_seen;

		if (length && !column_seen(needs, length, tracks, ntracks, &table_seen)) {
			say_missing(needs, length, table_seen, notes, reason, size);
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
