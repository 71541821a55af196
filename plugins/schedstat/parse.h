/* The text of /proc/schedstat, versions 14 to 17, line by line (Documentation/scheduler/sched-stats.rst, kernel/sched/stats.c).
 * A plain struct comes out; which column a number is, is told by its place in the tables here. */
#ifndef SCHEDSTAT_PARSE_H
#define SCHEDSTAT_PARSE_H

#include <sonde/text.h>

enum { NUMBERS = 45 };

/* What a number of a domain's line is: a field of one of three groups, or one of the twelve behind the groups. */
enum group { IDLE, BUSY, NEWIDLE, GROUPS };
enum field {
	LB_COUNT,
	LB_BALANCED,
	LB_FAILED,
	LB_IMBALANCE,
	LB_IMBALANCE_LOAD,
	LB_IMBALANCE_UTIL,
	LB_IMBALANCE_TASK,
	LB_IMBALANCE_MISFIT,
	LB_GAINED,
	LB_HOT_GAINED,
	LB_NOBUSYQ,
	LB_NOBUSYG,
	FIELDS,
};
enum { BEHIND_GROUPS = 12 };

/* One layout of a domain's line. Two kernels may print one layout under different versions (a state of git printed 17's as
 * 16), so the count of numbers decides on the fields, and the version on the order of the groups alone. */
struct layout {
	uint32_t numbers;
	bool named; /* a name stands before the mask */
	uint32_t nfields;
	uint8_t field[FIELDS];
};

static const struct layout layouts[] = {
	{ .numbers = 36,
	  .named = false,
	  .nfields = 8,
	  .field = { LB_COUNT, LB_BALANCED, LB_FAILED, LB_IMBALANCE, LB_GAINED, LB_HOT_GAINED,
		     LB_NOBUSYQ, LB_NOBUSYG } },
	{ .numbers = 45,
	  .named = true,
	  .nfields = 11,
	  .field = { LB_COUNT, LB_BALANCED, LB_FAILED, LB_IMBALANCE_LOAD, LB_IMBALANCE_UTIL,
		     LB_IMBALANCE_TASK, LB_IMBALANCE_MISFIT, LB_GAINED, LB_HOT_GAINED, LB_NOBUSYQ,
		     LB_NOBUSYG } },
};

static const uint8_t idle_first[GROUPS] = { IDLE, BUSY, NEWIDLE }; /* to version 15 */
static const uint8_t busy_first[GROUPS] = { BUSY, IDLE, NEWIDLE }; /* from version 16 */

enum line { LINE_END, LINE_CPU, LINE_DOMAIN };

struct word {
	const char *at;
	size_t length;
};

struct schedstat {
	struct cursor line;
	uint64_t version, timestamp; /* 0 until their lines came */
	uint64_t cpu;                /* of the newest CPU line; domains belong to it */
	bool has_cpu;
	uint64_t domain;
	struct word name, mask;      /* of a domain's line; the name is empty before version 17 */
	const struct layout *layout; /* of a domain's line */
	const uint8_t *groups;
	uint64_t number[NUMBERS];
	uint32_t count;
};

static inline bool domains_known(uint64_t version)
{
	return version >= 14 && version <= 17;
}

/* "domain0 NAME MASK 45 numbers" or "domain0 MASK 36 numbers". */
static inline bool domain_line(struct schedstat *s)
{
	struct word word[2];
	struct cursor numbers;

	if (!next_u64(&s->line, &s->domain))
		return false;
	word[0].length = next_word(&s->line, &word[0].at);
	numbers = s->line;
	word[1].length = next_word(&s->line, &word[1].at);
	for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
		struct cursor at = layouts[i].named ? s->line : numbers;
		const char *more;

		s->count = 0;
		while (s->count < layouts[i].numbers && next_u64(&at, &s->number[s->count]))
			s->count++;
		if (s->count != layouts[i].numbers || next_word(&at, &more))
			continue;
		s->layout = &layouts[i];
		s->groups = s->version >= 16 ? busy_first : idle_first;
		s->name = layouts[i].named ? word[0] : (struct word) { "", 0 };
		s->mask = layouts[i].named ? word[1] : word[0];
		return s->mask.length != 0;
	}
	return false;
}

/* The next line that is a CPU's or a domain's. Lines of vendors between them are passed over, and so are the domains of a
 * version that is not known: CPU lines have not changed since 2.6.24. */
static inline enum line schedstat_next(struct schedstat *s)
{
	while (next_line(&s->line)) {
		if (take(&s->line, "cpu") && next_u64(&s->line, &s->cpu)) {
			s->has_cpu = true;
			s->count = 0;
			while (s->count < NUMBERS && next_u64(&s->line, &s->number[s->count]))
				s->count++;
			return LINE_CPU;
		}
		if (take(&s->line, "domain")) {
			if (s->has_cpu && domains_known(s->version) && domain_line(s))
				return LINE_DOMAIN;
		} else if (take_word(&s->line, "version")) {
			next_u64(&s->line, &s->version);
		} else if (take_word(&s->line, "timestamp")) {
			next_u64(&s->line, &s->timestamp);
		}
	}
	return LINE_END;
}

/* A text in a buffer of bounded size; `used` is beyond `size` once something did not fit. */
struct list {
	char *at;
	size_t used, size;
};

static inline void put_char(struct list *list, char c)
{
	if (list->used < list->size)
		list->at[list->used] = c;
	list->used++;
}

static inline void put_number(struct list *list, uint32_t n)
{
	if (n >= 10)
		put_number(list, n / 10);
	put_char(list, (char)('0' + n % 10));
}

static inline void put_range(struct list *list, uint32_t first, uint32_t last)
{
	if (list->used)
		put_char(list, ',');
	put_number(list, first);
	if (first != last) {
		put_char(list, '-');
		put_number(list, last);
	}
}

static inline unsigned hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : 16;
}

/* "3" -> "0-1", "00000001,0000000c" -> "2-3,32": the mask as a list of CPUs. Its length; 0 where it does not fit or is no
 * mask. */
static inline size_t mask_list(struct word mask, char *text, size_t size)
{
	struct list list = { text, 0, size };
	uint32_t cpu = 0, first = 0;
	bool in = false;

	for (size_t i = mask.length + 1; i-- > 0;) {
		char c = i ? mask.at[i - 1] : '0'; /* one more digit ends the last range */
		unsigned digit = hex_digit(c);

		if (c == ',')
			continue;
		if (digit == 16)
			return 0;
		if (digit == (in ? 15 : 0)) {
			cpu += 4;
			continue;
		}
		for (unsigned bit = 0; bit < 4; bit++, cpu++) {
			bool set = digit >> bit & 1;

			if (set && !in)
				first = cpu;
			if (!set && in)
				put_range(&list, first, cpu - 1);
			in = set;
		}
	}
	return list.used <= size ? list.used : 0;
}

#endif
