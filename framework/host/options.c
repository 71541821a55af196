/* Option tables into conf: defaults, then a section's keys, every mistake with its line and the nearest valid name. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>

#include "host/must.h"
#include "host/options.h"
#include "host/refuse.h"
#include "host/values.h"

/* What was allocated for conf fields; the blocks follow their head. */
struct options_memory {
	void **blocks;
	size_t count;
};

static void *keep(struct options_memory **memory, void *block)
{
	if (!*memory)
		*memory = must(calloc(1, sizeof **memory));
	(*memory)->blocks = must_grow((*memory)->blocks, (*memory)->count, sizeof(void *));
	(*memory)->blocks[(*memory)->count++] = must(block);
	return block;
}

void options_free(struct options_memory *memory)
{
	if (!memory)
		return;
	for (size_t i = 0; i < memory->count; i++)
		free(memory->blocks[i]);
	free(memory->blocks);
	free(memory);
}

/* The choices of "a|b|c" as words in one block; their number. */
static size_t split_choices(const char *choices, char ***words)
{
	char *copy = must_copy(choices ? choices : ""), *rest = copy, *word;
	size_t count = 0;

	*words = NULL;
	while ((word = strsep(&rest, "|"))) {
		*words = must_grow(*words, count, sizeof **words);
		(*words)[count++] = must_copy(word);
	}
	free(copy);
	return count;
}

static int parse_choice(const char *choices, const char *text, uint32_t *index, char *why,
			size_t size)
{
	char **words;
	size_t count = split_choices(choices, &words), i = 0;
	const char *near;
	int err = 0;

	while (i < count && strcmp(words[i], text) != 0)
		i++;
	*index = (uint32_t)i;
	if (i == count) {
		near = nearest(text, (const char *const *)words, count);
		err = near ? refuse(why, size, "\"%s\" is none of %s; did you mean `%s`?", text,
				    choices, near)
			   : refuse(why, size, "\"%s\" is none of %s", text, choices);
	}
	for (i = 0; i < count; i++)
		free(words[i]);
	free(words);
	return err;
}

static int parse_bool(const char *text, uint32_t *value, char *why, size_t size)
{
	static const char *const words[] = { "no", "yes", "false", "true", "off", "on" };

	for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (strcmp(text, words[i]) == 0) {
			*value = i & 1;
			return 0;
		}
	}
	return refuse(why, size, "\"%s\" is neither yes nor no", text);
}

/* Decimal, or hexadecimal behind 0x. */
static int parse_u64(const char *text, uint64_t *value, char *why, size_t size)
{
	bool hex = strncasecmp(text, "0x", 2) == 0;
	const char *digits = hex ? text + 2 : text;
	size_t n = strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789");

	if (!n || digits[n])
		return refuse(why, size, "\"%s\" is not a whole number, 0 or more", text);
	errno = 0;
	*value = strtoull(digits, NULL, hex ? 16 : 10);
	return errno ? refuse(why, size, "\"%s\" is 2^64 or more", text) : 0;
}

static int parse_f64(const char *text, double *value, char *why, size_t size)
{
	char *end;

	*value = strtod(text, &end);
	if (!*text || *end || strspn(text, "+-.0123456789eE") != strlen(text) || !isfinite(*value))
		return refuse(why, size, "\"%s\" is not a number", text);
	return 0;
}

/* One item more. The array has room for the power of two that is not below its count. */
static int parse_item(const char *text, struct sonde_list *list, struct options_memory **memory,
		      char *why, size_t size)
{
	const char **items = (const char **)list->items;

	if (!*text)
		return refuse(why, size, "an item of a list can't be empty");
	if (!(list->count & (list->count - 1))) {
		items = keep(memory,
			     calloc(list->count ? 2 * (size_t)list->count : 1, sizeof *items));
		if (list->count)
			memcpy(items, list->items, list->count * sizeof *items);
		list->items = items;
	}
	items[list->count++] = keep(memory, strdup(text));
	return 0;
}

/* A bound of the range as the value would be written. */
static const char *bound(uint32_t type, double value, char *text, size_t size)
{
	if (type == SONDE_OPT_DURATION)
		duration_print(text, size, (uint64_t)value);
	else if (type == SONDE_OPT_SIZE)
		size_print(text, size, (uint64_t)value);
	else
		snprintf(text, size, "%.15g", value);
	return text;
}

static int check_range(const struct sonde_option *option, const char *text, double value, char *why,
		       size_t size)
{
	char least[32], most[32];

	if ((option->min == 0 && option->max == 0) ||
	    (value >= option->min && value <= option->max))
		return 0;
	return refuse(why, size, "\"%s\" is not within %s and %s", text,
		      bound(option->type, option->min, least, sizeof least),
		      bound(option->type, option->max, most, sizeof most));
}

int option_parse(const struct sonde_option *option, const char *text, void *conf,
		 struct options_memory **memory, char *why, size_t size)
{
	void *field = (char *)conf + option->offset;
	uint64_t number = 0;
	uint32_t *ids;
	double real;
	int err;

	switch (option->type) {
	case SONDE_OPT_BOOL:
		return parse_bool(text, field, why, size);
	case SONDE_OPT_CHOICE:
		return parse_choice(option->choices, text, field, why, size);
	case SONDE_OPT_STRING:
		*(const char **)field = keep(memory, strdup(text));
		return 0;
	case SONDE_OPT_LIST:
		return parse_item(text, field, memory, why, size);
	case SONDE_OPT_CPULIST:
		if (cpulist_parse(text, &ids, &((struct sonde_cpulist *)field)->count))
			return refuse(why, size, "\"%s\" is not a list of CPUs such as 0-3,8",
				      text);
		((struct sonde_cpulist *)field)->ids = keep(memory, ids);
		return 0;
	case SONDE_OPT_F64:
		err = parse_f64(text, &real, why, size);
		if (!err)
			err = check_range(option, text, real, why, size);
		if (!err)
			*(double *)field = real;
		return err;
	case SONDE_OPT_DURATION:
		err = duration_parse(text, &number, why, size);
		break;
	case SONDE_OPT_SIZE:
		err = size_parse(text, &number, why, size);
		break;
	case SONDE_OPT_U64:
		err = parse_u64(text, &number, why, size);
		break;
	default:
		return refuse(why, size, "the option has a type that this sonde does not know");
	}
	if (!err)
		err = check_range(option, text, (double)number, why, size);
	if (!err)
		*(uint64_t *)field = number;
	return err;
}

/* A default as it would stand in the file; of a list one item a line. */
int option_default(const struct sonde_option *option, void *conf, struct options_memory **memory,
		   char *why, size_t size)
{
	char *copy, *rest, *item;
	int err = 0;

	memset((char *)conf + option->offset, 0, value_size(option->type));
	if (!option->initial)
		return 0;
	if (option->type != SONDE_OPT_LIST)
		return option_parse(option, option->initial, conf, memory, why, size);
	copy = rest = must_copy(option->initial);
	while (!err && *copy && (item = strsep(&rest, "\n")))
		err = option_parse(option, item, conf, memory, why, size);
	free(copy);
	return err;
}

static const struct sonde_option *find(const char *key, const struct options_target *target)
{
	for (size_t i = 0; i < target->count; i++)
		if (strcmp(target->options[i].key, key) == 0)
			return &target->options[i];
	return NULL;
}

static void unknown_key(struct config *config, const struct config_section *section,
			const struct config_key *key, const struct options_target *targets,
			size_t ntargets)
{
	const char **names = NULL, *near;
	size_t count = 0;

	for (size_t t = 0; t < ntargets; t++) {
		for (size_t i = 0; i < targets[t].count; i++) {
			names = must_grow(names, count, sizeof *names);
			names[count++] = targets[t].options[i].key;
		}
	}
	near = nearest(key->name, names, count);
	config_error(config, key->file, key->line, "[%s] has no key `%s`%s%s%s", section->name,
		     key->name, near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
	free(names);
}

/* The first key of this name, where `key` is a later one. */
static const struct config_key *earlier(const struct config_section *section,
					const struct config_key *key)
{
	const struct config_key *first = config_key(section, key->name);

	return first == key ? NULL : first;
}

/* One key into the one table that has it. */
static void fill_option(struct config *config, const struct config_section *section,
			const struct config_key *key, const struct sonde_option *option, void *conf,
			struct options_memory **memory)
{
	const struct config_key *first = earlier(section, key);
	char why[512];

	if (first && option->type != SONDE_OPT_LIST) {
		config_error(config, key->file, key->line, "`%s` stands in line %u already",
			     key->name, first->line);
		return;
	}
	/* The first item replaces the list's default. */
	if (!first)
		memset((char *)conf + option->offset, 0, value_size(option->type));
	if (!option_parse(option, key->value, conf, memory, why, sizeof why))
		return;
	config_error(config, key->file, key->line, "%s: %s", key->name, why);
	/* What looks at the others sees a value that is possible. */
	option_default(option, conf, memory, why, sizeof why);
}

/* A key that the host's table and the plugin's both have (`for` of an analyzer) goes to both. */
static void fill_key(struct config *config, const struct config_section *section,
		     const struct config_key *key, const struct options_target *targets,
		     size_t ntargets, struct options_memory **memory)
{
	size_t errors = config->nerrors;
	bool known = false;

	for (size_t t = 0; t < ntargets && config->nerrors == errors; t++) {
		const struct sonde_option *option = find(key->name, &targets[t]);

		if (!option)
			continue;
		known = true;
		fill_option(config, section, key, option, targets[t].conf, memory);
	}
	if (!known && !earlier(section, key))
		unknown_key(config, section, key, targets, ntargets);
}

int options_fill(struct config *config, const struct config_section *section,
		 const struct options_target *targets, size_t ntargets,
		 struct options_memory **memory)
{
	size_t before = config->nerrors;
	bool whole = true;
	char why[512];

	for (size_t t = 0; t < ntargets; t++) {
		for (size_t i = 0; i < targets[t].count; i++) {
			const struct sonde_option *option = &targets[t].options[i];

			if (option_default(option, targets[t].conf, memory, why, sizeof why))
				config_error(config, section->file, section->line,
					     "[%s]: the default of `%s` is wrong: %s",
					     section->name, option->key, why);
			if (!option->initial)
				whole = false;
			if (!option->initial && !config_key(section, option->key))
				config_error(config, section->file, section->line,
					     "[%s] needs the key `%s`: %s", section->name,
					     option->key, option->help ? option->help : "");
		}
	}
	for (size_t i = 0; i < section->nkeys; i++)
		fill_key(config, section, &section->keys[i], targets, ntargets, memory);
	if (config->nerrors == before)
		return 0;
	return whole ? -EINVAL : -ENODATA;
}

static const char *type_word(const struct sonde_option *option)
{
	static const char *const words[] = {
		[SONDE_OPT_BOOL] = "yes or no",
		[SONDE_OPT_U64] = "whole number",
		[SONDE_OPT_F64] = "number",
		[SONDE_OPT_DURATION] = "duration",
		[SONDE_OPT_SIZE] = "size",
		[SONDE_OPT_STRING] = "text",
		[SONDE_OPT_CHOICE] = "one of",
		[SONDE_OPT_LIST] = "text, may repeat",
		[SONDE_OPT_CPULIST] = "list of CPUs",
	};

	return option->type < sizeof words / sizeof words[0] && words[option->type]
		       ? words[option->type]
		       : "?";
}

void options_print(const struct sonde_option *options, size_t count)
{
	size_t width = 0;

	for (size_t i = 0; i < count; i++) {
		size_t n = strlen(options[i].key) +
			   (options[i].initial ? strcspn(options[i].initial, "\n") : 10);

		width = n > width && n < 40 ? n : width;
	}
	for (size_t i = 0; i < count; i++) {
		const struct sonde_option *o = &options[i];
		char least[32], most[32];
		int n = printf("  %s = %.*s", o->key,
			       o->initial ? (int)strcspn(o->initial, "\n") : 10,
			       o->initial ? o->initial : "(required)");

		printf("%*s  %s%s%s", (int)width + 5 - n > 0 ? (int)width + 5 - n : 0, "",
		       type_word(o), o->type == SONDE_OPT_CHOICE ? " " : "",
		       o->type == SONDE_OPT_CHOICE ? o->choices : "");
		if (o->min != 0 || o->max != 0)
			printf(", %s to %s", bound(o->type, o->min, least, sizeof least),
			       bound(o->type, o->max, most, sizeof most));
		printf("; %s\n", o->help ? o->help : "");
	}
}
