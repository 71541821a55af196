/* The middle of some numbers, and how far they lie from it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "statistics.h"

int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_of(double *values, size_t count)
{
	qsort(values, count, sizeof *values, by_number);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

double median(struct group group)
{
	double values[STATISTICS_MOST];

	if (!group.count || group.count > STATISTICS_MOST)
		return NAN;
	memcpy(values, group.values, group.count * sizeof *values);
	return median_of(values, group.count);
}

double median_deviation(struct group group)
{
	double middle = median(group), distances[STATISTICS_MOST];

	if (isnan(middle))
		return NAN;
	for (size_t i = 0; i < group.count; i++)
		distances[i] = fabs(group.values[i] - middle);
	return 1.4826 * median_of(distances, group.count);
}
