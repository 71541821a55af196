/* The nearest valid name to a mistyped one: edit distance with transpositions (optimal string alignment). */
#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "host/config.h"

enum { WORD_MOST = 64 };

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Insertions, deletions, substitutions and swaps of neighbours that make `a` into `b`; large and
 * small letters are the same. */
static size_t distance(const char *a, size_t na, const char *b, size_t nb)
{
	size_t rows[3][WORD_MOST + 1];
	size_t *before = rows[0], *last = rows[1], *now = rows[2];

	for (size_t j = 0; j <= nb; j++)
		last[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t *spare = before;

		now[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			now[j] = least(least(last[j], now[j - 1]) + 1,
				       last[j - 1] + !same(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
				now[j] = least(now[j], before[j - 2] + 1);
		}
		before = last;
		last = now;
		now = spare;
	}
	return last[nb];
}

const char *nearest(const char *word, const char *const *candidates, size_t count)
{
	size_t length = strlen(word), best = SIZE_MAX;
	const char *found = NULL;

	if (!length || length > WORD_MOST)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		size_t n = strlen(candidates[i]), d;

		if (!n || n > WORD_MOST)
			continue;
		d = distance(word, length, candidates[i], n);
		/* A third of the word may be wrong, one letter of a short one. */
		if (d < best && d <= (length < 6 ? 1 : length / 3)) {
			best = d;
			found = candidates[i];
		}
	}
	return found;
}
