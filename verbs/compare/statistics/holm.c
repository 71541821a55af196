/* Holm's correction. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "statistics.h"

struct test {
	double p;
	size_t index;
};

static int by_p(const void *a, const void *b)
{
	const struct test *x = a, *y = b;

	return x->p != y->p ? by_number(&x->p, &y->p)
			    : (x->index > y->index) - (x->index < y->index);
}

int holm(double *p, size_t count)
{
	struct test *tests = malloc((count + 1) * sizeof *tests);
	size_t n = 0;
	double least = 0;

	if (!tests)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (!isnan(p[i]))
			tests[n++] = (struct test) { p[i], i };
	qsort(tests, n, sizeof *tests, by_p);
	for (size_t i = 0; i < n; i++) {
		double corrected = tests[i].p * (double)(n - i);

		/* Never less than that of a smaller p. */
		if (corrected > least)
			least = corrected < 1 ? corrected : 1;
		p[tests[i].index] = least;
	}
	free(tests);
	return 0;
}
