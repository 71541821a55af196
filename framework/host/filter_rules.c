/* The words of a sink's filter keys, made ready. */
#include <fnmatch.h>
#include <unistd.h>

#include "core/records.h"
#include "host/config.h"
#include "host/filter_rules.h"
#include "host/must.h"
#include "host/refuse.h"

#define RECORD(table) ((uint32_t)KIND_RECORD << (table))

/* Words for more than one table; the name of a table of the host's own is a word as well. */
static const struct {
	const char *word;
	uint32_t kinds;
} kinds[] = {
	{ "data", KIND_DATA },
	{ "notes", RECORD(RECORD_NOTE) },
	{ "gaps", RECORD(RECORD_GAP) },
	{ "findings", RECORD(RECORD_FINDING) | RECORD(RECORD_EVIDENCE) | RECORD(RECORD_JUDGEMENT) },
	{ "metrics", RECORD(RECORD_METRIC) | RECORD(RECORD_SLICE) },
	{ "marks", RECORD(RECORD_ANCHOR) | RECORD(RECORD_CONFIG) | RECORD(RECORD_MARK) |
			   RECORD(RECORD_END) },
};

static const char *const sensitivities[] = {
	[SONDE_PUBLIC] = "",           [SONDE_NAME] = "name",       [SONDE_PATH] = "path",
	[SONDE_ARGUMENT] = "argument", [SONDE_ADDRESS] = "address",
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

uint32_t rules_kind(const char *table)
{
	for (size_t i = 0; i < RECORD_TABLES; i++)
		if (strcmp(record_tables[i].name, table) == 0)
			return RECORD(i);
	return KIND_DATA;
}

bool patterns_want(struct patterns *patterns, const char *name, const char *other)
{
	bool want = !patterns->chooses, leave = false;

	for (size_t i = 0; i < patterns->count; i++) {
		struct pattern *p = &patterns->items[i];

		if (fnmatch(p->text, name, 0) && (!other || fnmatch(p->text, other, 0)))
			continue;
		p->matched = true;
		if (p->leaves_out)
			leave = true;
		else
			want = true;
	}
	return want && !leave;
}

/* Calls `add` for each word of each item. */
static int each_word(const struct sonde_list *list, struct filter_rules *rules,
		     int (*add)(struct filter_rules *rules, char *word, char *why, size_t size),
		     char *why, size_t size)
{
	int err = 0;

	for (uint32_t i = 0; i < list->count && !err; i++) {
		char *copy = must_copy(list->items[i]), *rest = copy, *word;

		while (!err && (word = strsep(&rest, ", \t")))
			if (*word)
				err = add(rules, word, why, size);
		free(copy);
	}
	return err;
}

static int add_pattern(struct patterns *patterns, const char *word, char *why, size_t size)
{
	bool out = *word == '!';

	if (!word[out])
		return refuse(why, size, "there is nothing behind the !");
	patterns->items = must_grow(patterns->items, patterns->count, sizeof *patterns->items);
	patterns->items[patterns->count++] =
		(struct pattern) { .text = must_copy(word + out), .leaves_out = out };
	patterns->chooses |= !out;
	return 0;
}

static int add_table(struct filter_rules *rules, char *word, char *why, size_t size)
{
	return add_pattern(&rules->tables, word, why, size);
}

static int add_column(struct filter_rules *rules, char *word, char *why, size_t size)
{
	return add_pattern(&rules->columns, word, why, size);
}

static int add_kind(struct filter_rules *rules, char *word, char *why, size_t size)
{
	const char *words[COUNT(kinds)], *near;

	for (size_t i = 0; i < COUNT(kinds); i++) {
		words[i] = kinds[i].word;
		if (strcmp(word, words[i]) == 0) {
			rules->kinds |= kinds[i].kinds;
			return 0;
		}
	}
	if (record_is(word)) {
		rules->kinds |= rules_kind(word);
		return 0;
	}
	near = nearest(word, words, COUNT(words));
	return refuse(why, size,
		      "\"%s\" is none of data, notes, gaps, findings, metrics, marks%s%s%s", word,
		      near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}

static int add_privacy(struct filter_rules *rules, char *word, char *why, size_t size)
{
	char *action = strchr(word, '=');
	const char *near;
	bool drop = false;

	if (action) {
		*action++ = '\0';
		drop = strcmp(action, "drop") == 0;
		if (!drop && strcmp(action, "redact") != 0)
			return refuse(why, size, "\"%s\" is neither redact nor drop", action);
	}
	for (size_t i = SONDE_NAME; i < COUNT(sensitivities); i++) {
		if (strcmp(word, sensitivities[i]) == 0) {
			rules->privacy[i] = drop ? PRIVACY_DROP : PRIVACY_REDACT;
			rules->private = true;
			return 0;
		}
	}
	near = nearest(word, sensitivities, COUNT(sensitivities));
	return refuse(why, size, "\"%s\" is none of name, path, argument, address%s%s%s", word,
		      near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}

int rules_make(struct filter_rules *rules, const struct filter_options *options, char *why,
	       size_t size)
{
	int err;

	*rules = (struct filter_rules) { .every = options->every, .values = options->values };
	err = each_word(&options->tables, rules, add_table, why, size);
	if (!err)
		err = each_word(&options->columns, rules, add_column, why, size);
	if (!err)
		err = each_word(&options->kinds, rules, add_kind, why, size);
	if (!err)
		err = each_word(&options->privacy, rules, add_privacy, why, size);
	if (!err && rules->private && getentropy(rules->secret, sizeof rules->secret))
		err = refuse(why, size, "the kernel gives no random bytes");
	return err;
}

static void patterns_free(struct patterns *patterns)
{
	for (size_t i = 0; i < patterns->count; i++)
		free(patterns->items[i].text);
	free(patterns->items);
}

void rules_free(struct filter_rules *rules)
{
	patterns_free(&rules->tables);
	patterns_free(&rules->columns);
}
