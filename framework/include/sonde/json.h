/* A JSON document (RFC 8259) written onto a page, member by member; foreign text is escaped. Inline throughout. */
#ifndef SONDE_JSON_H
#define SONDE_JSON_H

#include <inttypes.h>

#include <sonde/page.h>

/* A document that is being written. `{ .page = page }` at first; the caller closes what it opens. */
struct json {
	struct page *page;
	unsigned depth;
	bool filled; /* a comma comes before the next member */
	bool flat;   /* members on one line */
};

static inline void json_string(struct json *json, const char *text)
{
	const char *end = text + strlen(text);
	char one[SONDE_JSON_MOST];

	page_add(json->page, "\"", 1);
	while (text < end) {
		unsigned n = sonde_json_next(&text, end, one);

		page_add(json->page, one, n);
	}
	page_add(json->page, "\"", 1);
}

static inline void json_line(struct json *json)
{
	page_print(json->page, "\n%*s", (int)json->depth * 2, "");
}

/* The comma, the line and the key (NULL in an array) before a value. */
static inline void json_member(struct json *json, const char *key)
{
	if (json->filled)
		page_add(json->page, ",", 1);
	if (json->depth && !json->flat)
		json_line(json);
	else if (json->filled)
		page_add(json->page, " ", 1);
	json->filled = true;
	if (!key)
		return;
	json_string(json, key);
	page_add(json->page, ": ", 2);
}

/* '{' or '['. */
static inline void json_open(struct json *json, const char *key, char bracket)
{
	json_member(json, key);
	page_add(json->page, &bracket, 1);
	json->depth++;
	json->filled = false;
}

static inline void json_close(struct json *json, char bracket)
{
	json->depth--;
	if (json->filled && !json->flat)
		json_line(json);
	page_add(json->page, &bracket, 1);
	json->filled = true;
	if (!json->depth)
		page_add(json->page, "\n", 1);
}

static inline void json_text(struct json *json, const char *key, const char *text)
{
	json_member(json, key);
	json_string(json, text);
}

static inline void json_null(struct json *json, const char *key)
{
	json_member(json, key);
	page_print(json->page, "null");
}

static inline void json_bool(struct json *json, const char *key, bool value)
{
	json_member(json, key);
	page_print(json->page, value ? "true" : "false");
}

static inline void json_count(struct json *json, const char *key, uint64_t value)
{
	json_member(json, key);
	page_print(json->page, "%" PRIu64, value);
}

/* A moment (ns since 1970) as RFC 3339 has it, in a zone `utc_offset` seconds east; null where it is none. */
static inline void json_time(struct json *json, const char *key, int64_t realtime,
			     int32_t utc_offset)
{
	char text[64], zone[16];

	say_time(text, sizeof text, realtime, utc_offset, true);
	if (strlen(text) < 21) {
		json_null(json, key);
		return;
	}
	say_zone(zone, sizeof zone, utc_offset);
	text[10] = 'T';
	snprintf(text + 20, sizeof text - 20, "%06d%s", (int)(realtime % 1000000000 / 1000),
		 utc_offset / 60 ? zone : "Z");
	json_text(json, key, text);
}

/* With as many digits as read back the same, at most `digits`; null where it is no number. */
static inline void json_rounded(struct json *json, const char *key, double value, int digits)
{
	char text[40];
	int n = digits < 15 ? digits : 15;

	json_member(json, key);
	do
		snprintf(text, sizeof text, "%.*g", n, value);
	while (++n <= digits && strtod(text, NULL) != value);
	page_print(json->page, "%s", isfinite(value) ? text : "null");
}

static inline void json_number(struct json *json, const char *key, double value)
{
	json_rounded(json, key, value, 17);
}

#endif
