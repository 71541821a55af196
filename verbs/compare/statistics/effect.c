/* Cliff's delta. */
#include "statistics.h"

double cliffs_delta(struct group before, struct group after)
{
	double larger = 0, smaller = 0;

	for (size_t i = 0; i < before.count; i++)
		for (size_t j = 0; j < after.count; j++) {
			larger += after.values[j] > before.values[i];
			smaller += after.values[j] < before.values[i];
		}
	return (larger - smaller) / ((double)before.count * (double)after.count);
}
