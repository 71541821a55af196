/* The buffer behind every format (write(2), poll(2)); bytes are kept while the other end is
 * full. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "out.h"

enum { PATIENCE_MS = 100 };

int out_make(struct out *out, int fd)
{
	*out = (struct out) { .bytes = malloc(OUT_SIZE), .size = OUT_SIZE, .fd = fd };
	return out->bytes ? 0 : -ENOMEM;
}

void out_free(struct out *out)
{
	free(out->bytes);
	*out = (struct out) { .fd = -1 };
}

static bool wait_for_room(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLOUT };

	return poll(&pollfd, 1, PATIENCE_MS) != 0;
}

int out_write(struct out *out)
{
	size_t done = 0;

	out->stuck = 0;
	while (done < out->used && !out->stuck) {
		ssize_t n = write(out->fd, out->bytes + done, out->used - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno == EAGAIN)
			out->stuck = wait_for_room(out->fd) ? 0 : EAGAIN;
		else if (errno != EINTR)
			out->stuck = errno;
	}
	if (out->stuck == EPIPE) {
		out->err = EPIPE;
		done = out->used;
	}
	memmove(out->bytes, out->bytes + done, out->used - done);
	out->used -= done;
	return -out->stuck;
}

void out_make_room(struct out *out)
{
	char *bytes;

	if (out->fd >= 0 && !out->stuck)
		out_write(out);
	if (out->size - out->used >= OUT_NEED)
		return;
	bytes = realloc(out->bytes, out->size * 2);
	if (!bytes) {
		out->err = ENOMEM;
		out->used = 0;
		return;
	}
	out->bytes = bytes;
	out->size *= 2;
}

void out_add_long(struct out *out, const char *bytes, size_t length)
{
	while (length) {
		size_t n = length < OUT_NEED ? length : OUT_NEED;

		out_add(out, bytes, n);
		bytes += n;
		length -= n;
	}
}

void out_hash(struct out *out, uint64_t hash)
{
	static const char hex[] = "0123456789abcdef";

	out_need(out, 16);
	for (int shift = 60; shift >= 0; shift -= 4)
		out->bytes[out->used++] = hex[hash >> shift & 15];
}

static void out_digits(struct out *out, uint64_t value, unsigned digits)
{
	out_need(out, digits);
	for (unsigned i = digits; i--; value /= 10)
		out->bytes[out->used + i] = (char)('0' + value % 10);
	out->used += digits;
}

/* Days since 1970 as a date of the Gregorian calendar, whose years begin in March here so that the
 * leap day is the last (eras of 146,097 days). By arithmetic: gmtime(3) is not needed for years of
 * any size, and a peer's clock may say any. */
static void out_date(struct out *out, int64_t days)
{
	int64_t shifted = days + 719468; /* since 0000-03-01 */
	int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
	uint64_t day_of_era = (uint64_t)(shifted - era * 146097);
	uint64_t year_of_era =
		(day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	uint64_t day_of_year =
		day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	uint64_t shifted_month = (5 * day_of_year + 2) / 153;
	uint64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
	uint64_t year = (uint64_t)(era * 400) + year_of_era + (month <= 2);

	out_digits(out, year, 4);
	out_char(out, '-');
	out_digits(out, month, 2);
	out_char(out, '-');
	out_digits(out, day_of_year - (153 * shifted_month + 2) / 5 + 1, 2);
}

void out_time(struct out *out, int64_t ns)
{
	const int64_t day = 86400 * INT64_C(1000000000);
	int64_t days = ns / day - (ns % day < 0);
	uint64_t rest = (uint64_t)ns - (uint64_t)days * (uint64_t)day;

	out_date(out, days);
	out_char(out, 'T');
	out_digits(out, rest / UINT64_C(3600000000000), 2);
	out_char(out, ':');
	out_digits(out, rest / UINT64_C(60000000000) % 60, 2);
	out_char(out, ':');
	out_digits(out, rest / UINT64_C(1000000000) % 60, 2);
	out_char(out, '.');
	out_digits(out, rest % UINT64_C(1000000000), 9);
	out_char(out, 'Z');
}
