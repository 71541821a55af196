/* Values of options: text into what a conf field holds. */
#include <ctype.h>
#include <inttypes.h>

#include "host/must.h"
#include "host/refuse.h"
#include "host/values.h"

enum { CPUS_MOST = 1 << 16 };

struct scale {
	const char *name;
	uint64_t factor;
};

static const struct scale durations[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000 },
	{ "s", 1000000000 },
	{ "min", 60000000000 },
	{ "h", 3600000000000 },
	{ "d", 86400000000000 },
};
static const struct scale sizes[] = {
	{ "B", 1 },
	{ "KiB", 1024 },
	{ "MiB", 1048576 },
	{ "GiB", 1073741824 },
	{ "TiB", 1099511627776 },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

size_t value_size(uint32_t type)
{
	static const size_t sizes_of[] = {
		[SONDE_OPT_BOOL] = sizeof(uint32_t),
		[SONDE_OPT_U64] = sizeof(uint64_t),
		[SONDE_OPT_F64] = sizeof(double),
		[SONDE_OPT_DURATION] = sizeof(uint64_t),
		[SONDE_OPT_SIZE] = sizeof(uint64_t),
		[SONDE_OPT_STRING] = sizeof(const char *),
		[SONDE_OPT_CHOICE] = sizeof(uint32_t),
		[SONDE_OPT_LIST] = sizeof(struct sonde_list),
		[SONDE_OPT_CPULIST] = sizeof(struct sonde_cpulist),
	};

	return type < COUNT(sizes_of) ? sizes_of[type] : 0;
}

/* Digits such as "1.5", as number_length() found them, times the factor; nine decimals count. */
static bool scaled(const char *digits, size_t length, uint64_t factor, uint64_t *value)
{
	const uint64_t billion = 1000000000;
	uint64_t whole = 0, part = 0, tenth = billion;
	bool dot = false;

	for (size_t i = 0; i < length; i++) {
		unsigned digit = (unsigned)(digits[i] - '0');

		if (digits[i] == '.')
			dot = true;
		else if (dot)
			part += (tenth /= 10) * digit;
		else if (__builtin_mul_overflow(whole, 10, &whole) ||
			 __builtin_add_overflow(whole, digit, &whole))
			return false;
	}
	/* part * factor / billion, in two steps that fit 64 bits */
	part = part * (factor / billion) + part * (factor % billion) / billion;
	return !__builtin_mul_overflow(whole, factor, &whole) &&
	       !__builtin_add_overflow(whole, part, value);
}

/* Digits with at most one dot between two of them; their length, 0 where there is no number. */
static size_t number_length(const char *text)
{
	size_t n = strspn(text, "0123456789"), decimals;

	if (!n || text[n] != '.')
		return n;
	decimals = strspn(text + n + 1, "0123456789");
	return decimals ? n + 1 + decimals : 0;
}

static const struct scale *scale_named(const struct scale *scales, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(scales[i].name, name) == 0)
			return &scales[i];
	return NULL;
}

int duration_parse(const char *text, uint64_t *ns, char *why, size_t size)
{
	size_t n = number_length(text);
	const char *unit = text + n + strspn(text + n, " ");
	const struct scale *scale = scale_named(durations, COUNT(durations), unit);

	if (n && !*unit && strspn(text, "0.") == n)
		scale = &durations[0];
	if (!n || (!scale && !*unit))
		return refuse(why, size,
			      "\"%s\" is not a duration; write a number and ns, us, ms, s, min, h "
			      "or d: 500ms",
			      text);
	if (!scale)
		return refuse(why, size, "\"%s\": there is no unit %s; ns, us, ms, s, min, h or d",
			      text, unit);
	if (!scaled(text, n, scale->factor, ns))
		return refuse(why, size, "\"%s\" is longer than 584 years", text);
	return 0;
}

int size_parse(const char *text, uint64_t *bytes, char *why, size_t size)
{
	size_t n = number_length(text);
	const char *unit = text + n + strspn(text + n, " ");
	const struct scale *scale = *unit ? scale_named(sizes, COUNT(sizes), unit) : &sizes[0];

	if (!n)
		return refuse(why, size,
			      "\"%s\" is not a size; write a number and B, KiB, MiB, GiB or TiB: "
			      "64KiB",
			      text);
	if (!scale && strchr("kKmMgGtT", *unit))
		return refuse(why, size, "\"%s\" may mean 1000 or 1024; write %ciB for 1024", text,
			      toupper((unsigned char)*unit));
	if (!scale)
		return refuse(why, size, "\"%s\": there is no unit %s; B, KiB, MiB, GiB or TiB",
			      text, unit);
	if (!scaled(text, n, scale->factor, bytes))
		return refuse(why, size, "\"%s\" is larger than 16 EiB", text);
	return 0;
}

static void print_scaled(char *text, size_t size, uint64_t value, const struct scale *scales,
			 size_t count)
{
	size_t i = count - 1;

	while (i && (!value || value % scales[i].factor))
		i--;
	snprintf(text, size, "%" PRIu64 "%s", value / scales[i].factor, scales[i].name);
}

void duration_print(char *text, size_t size, uint64_t ns)
{
	print_scaled(text, size, ns, durations, COUNT(durations));
}

void size_print(char *text, size_t size, uint64_t bytes)
{
	print_scaled(text, size, bytes, sizes, COUNT(sizes));
}

static bool list_number(const char **at, uint32_t *number)
{
	uint64_t n = 0;

	if (!isdigit((unsigned char)**at))
		return false;
	while (isdigit((unsigned char)**at)) {
		n = n * 10 + (unsigned)(*(*at)++ - '0');
		if (n >= CPUS_MOST)
			return false;
	}
	*number = (uint32_t)n;
	return true;
}

/* "4", "0-3" or "0-15:2/4" (the first 2 of each 4) into the set. */
static bool list_range(const char **at, bool *set)
{
	uint32_t first, last, used = 1, group = 1;

	if (!list_number(at, &first))
		return false;
	last = first;
	if (**at == '-') {
		++*at;
		if (!list_number(at, &last) || last < first)
			return false;
		if (**at == ':') {
			++*at;
			if (!list_number(at, &used) || *(*at)++ != '/' ||
			    !list_number(at, &group) || !group || !used || used > group)
				return false;
		}
	}
	for (uint32_t id = first; id <= last; id++)
		if ((id - first) % group < used)
			set[id] = true;
	return true;
}

/* The whole list into the set; a LF may end it. */
static bool list_set(const char *at, bool *set)
{
	at += strspn(at, " ");
	if (!*at || strcmp(at, "\n") == 0)
		return true;
	for (;;) {
		at += strspn(at, " ");
		if (!list_range(&at, set))
			return false;
		at += strspn(at, " ");
		if (!*at || strcmp(at, "\n") == 0)
			return true;
		if (*at++ != ',')
			return false;
	}
}

int cpulist_parse(const char *text, uint32_t **ids, uint32_t *count)
{
	bool *set = must(calloc(CPUS_MOST, sizeof *set));
	bool good = list_set(text, set);
	uint32_t n = 0;

	for (uint32_t id = 0; good && id < CPUS_MOST; id++)
		n += set[id];
	*ids = good ? must(calloc((size_t)n + 1, sizeof **ids)) : NULL;
	*count = n;
	for (uint32_t id = 0, i = 0; good && id < CPUS_MOST; id++)
		if (set[id])
			(*ids)[i++] = id;
	free(set);
	return good ? 0 : -EINVAL;
}
