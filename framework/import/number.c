/* Numbers in any locale. */
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "import/number.h"

bool import_number(const char *text, bool groups, bool whole, double *value)
{
	char plain[64];
	size_t n = 0;
	const char *last = NULL;
	uint32_t marks = 0, kinds = 0;

	if (!isdigit((unsigned char)*text))
		return false;
	for (const char *c = text; *c; c++) {
		if (isdigit((unsigned char)*c))
			continue;
		if (!strchr(".,'", *c))
			return false;
		kinds += !last || *c != *last;
		last = c;
		marks++;
	}
	/* Alone and of a count it groups; one kind twice groups; of two kinds the last is the decimal mark. */
	if (groups && (whole ? kinds < 2 : kinds < 2 && marks > 1))
		last = NULL;
	if (!groups && marks > 1)
		return false;
	for (const char *c = text; *c && n < sizeof plain - 1; c++)
		if (isdigit((unsigned char)*c) || c == last)
			plain[n++] = c == last ? '.' : *c;
	plain[n] = '\0';
	*value = strtod(plain, NULL);
	return isfinite(*value);
}
