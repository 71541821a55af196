/* Numbers as decimal text. Integers two digits at a time; doubles by the shortest text that reads
 * back the same (W. Clinger, "How to Read Floating Point Numbers Accurately": below 2^53 one exact
 * division is exact enough). */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "out.h"

static const char pairs[201] = "00010203040506070809101112131415161718192021222324"
			       "25262728293031323334353637383940414243444546474849"
			       "50515253545556575859606162636465666768697071727374"
			       "75767778798081828384858687888990919293949596979899";

unsigned put_u64(char *to, uint64_t value)
{
	char digits[20];
	unsigned at = sizeof digits;

	while (value >= 100) {
		at -= 2;
		memcpy(digits + at, pairs + value % 100 * 2, 2);
		value /= 100;
	}
	if (value >= 10) {
		at -= 2;
		memcpy(digits + at, pairs + value * 2, 2);
	} else {
		digits[--at] = (char)('0' + value);
	}
	memcpy(to, digits + at, sizeof digits - at);
	return (unsigned)sizeof digits - at;
}

unsigned put_i64(char *to, int64_t value)
{
	if (value >= 0)
		return put_u64(to, (uint64_t)value);
	*to = '-';
	return 1 + put_u64(to + 1, 0 - (uint64_t)value);
}

/* n / 10^decimals. */
static unsigned put_fixed(char *to, uint64_t n, unsigned decimals)
{
	char digits[20];
	unsigned length = put_u64(digits, n), used = 0, whole;

	if (length <= decimals) {
		to[used++] = '0';
		to[used++] = '.';
		memset(to + used, '0', decimals - length);
		used += decimals - length;
		memcpy(to + used, digits, length);
		return used + length;
	}
	whole = length - decimals;
	memcpy(to, digits, whole);
	if (!decimals)
		return whole;
	to[whole] = '.';
	memcpy(to + whole + 1, digits + whole, decimals);
	return length + 1;
}

/* By the C library, with as few digits as read back the same; its locale's decimal point is put
 * right. */
static unsigned put_any(char *to, double value)
{
	char text[64];
	unsigned used = 0;
	int precision = value < DBL_MIN ? 1 : 15; /* subnormal: fewer may do */

	do
		snprintf(text, sizeof text, "%.*g", precision, value);
	while (strtod(text, NULL) != value && ++precision <= 17);
	for (const char *p = text; *p; p++) {
		if (strchr("0123456789e+-", *p))
			to[used++] = *p;
		else if (to[used - 1] != '.')
			to[used++] = '.';
	}
	return used;
}

unsigned put_f64(char *to, double value)
{
	static const double powers[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6 };
	const double exact = 9007199254740992.0; /* 2^53 */
	unsigned sign = signbit(value) ? 1 : 0;
	double size = fabs(value);

	if (isnan(value)) {
		memcpy(to, "NaN", 3);
		return 3;
	}
	if (isinf(value)) {
		memcpy(to, sign ? "-Inf" : "+Inf", 4);
		return 4;
	}
	if (sign)
		*to = '-';
	if (size >= 1e-5 || size == 0) {
		for (unsigned i = 0; i < sizeof powers / sizeof powers[0]; i++) {
			double scaled = size * powers[i] + 0.5;
			uint64_t n;

			if (scaled >= exact)
				break;
			n = (uint64_t)scaled;
			if ((double)n / powers[i] == size)
				return sign + put_fixed(to + sign, n, i);
		}
	}
	return sign + put_any(to + sign, size);
}
