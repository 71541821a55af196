/* Formulas of columns: names, numbers, + - * / and brackets, as group files of perf_event have them: "1000 * misses / instructions".
 * Part of the plugin ABI, header only. A name is [a-z_][a-z0-9_]*. */
#ifndef SONDE_FORMULA_H
#define SONDE_FORMULA_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* What a name stands for; NAN: it has no value. */
typedef double (*sonde_formula_value_fn)(void *context, const char *name, size_t length);

enum { SONDE_FORMULA_DEPTH = 32 }; /* of brackets */

struct sonde_formula_reading {
	const char *at, *end;
	sonde_formula_value_fn value;
	void *context;
	unsigned depth;
	bool bad;
};

static inline double sonde_formula_sum(struct sonde_formula_reading *r);

static inline char sonde_formula_peek(struct sonde_formula_reading *r)
{
	while (r->at < r->end && *r->at == ' ')
		r->at++;
	return r->at < r->end ? *r->at : '\0';
}

static inline size_t sonde_formula_name_length(const char *at, const char *end)
{
	const char *begin = at;

	if (at == end || !((*at >= 'a' && *at <= 'z') || *at == '_'))
		return 0;
	while (at < end && ((*at >= 'a' && *at <= 'z') || *at == '_' || (*at >= '0' && *at <= '9')))
		at++;
	return (size_t)(at - begin);
}

/* Digits with at most one point among them: the same in any locale. */
static inline double sonde_formula_number(struct sonde_formula_reading *r)
{
	double number = 0, place = 1;
	bool point = false, any = false;

	for (; r->at < r->end; r->at++) {
		if (*r->at == '.' && !point) {
			point = true;
		} else if (*r->at >= '0' && *r->at <= '9') {
			number = number * 10 + (*r->at - '0');
			place *= point ? 10 : 1;
			any = true;
		} else {
			break;
		}
	}
	r->bad = r->bad || !any;
	return number / place;
}

static inline double sonde_formula_factor(struct sonde_formula_reading *r)
{
	char c = sonde_formula_peek(r);
	size_t length = sonde_formula_name_length(r->at, r->end);
	double value;

	if (length) {
		value = r->value(r->context, r->at, length);
		r->at += length;
		return value;
	}
	if (c != '(')
		return sonde_formula_number(r);
	if (++r->depth > SONDE_FORMULA_DEPTH) {
		r->bad = true;
		return NAN;
	}
	r->at++;
	value = sonde_formula_sum(r);
	r->depth--;
	if (sonde_formula_peek(r) == ')')
		r->at++;
	else
		r->bad = true;
	return value;
}

static inline double sonde_formula_product(struct sonde_formula_reading *r)
{
	double value = sonde_formula_factor(r);

	for (char c; !r->bad && ((c = sonde_formula_peek(r)) == '*' || c == '/');) {
		double by;

		r->at++;
		by = sonde_formula_factor(r);
		value = c == '*' ? value * by : by != 0 ? value / by : NAN;
	}
	return value;
}

static inline double sonde_formula_sum(struct sonde_formula_reading *r)
{
	double value = sonde_formula_product(r);

	for (char c; !r->bad && ((c = sonde_formula_peek(r)) == '+' || c == '-');) {
		double other;

		r->at++;
		other = sonde_formula_product(r);
		value = c == '+' ? value + other : value - other;
	}
	return value;
}

/* Its value, NAN where a name has none or something is over 0. False: it is no formula. */
static inline bool sonde_formula(const char *text, size_t length, sonde_formula_value_fn value,
				 void *context, double *result)
{
	struct sonde_formula_reading r = { text, text + length, value, context, 0, false };

	*result = sonde_formula_sum(&r);
	return !r.bad && sonde_formula_peek(&r) == '\0' && r.at == r.end;
}

/* The next name, from *at on, which is moved behind it. Its length; 0: there is none. */
static inline size_t sonde_formula_next_name(const char **at, const char *end, const char **name)
{
	for (*name = *at; *name < end; (*name)++) {
		size_t length = sonde_formula_name_length(*name, end);

		if (!length)
			continue;
		*at = *name + length;
		return length;
	}
	*at = end;
	return 0;
}

#endif
