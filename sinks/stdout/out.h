/* Bytes on their way to a descriptor, and numbers written into them. Rows are made in place:
 * nothing is allocated while the other end takes what it is given. */
#ifndef STDOUT_OUT_H
#define STDOUT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
	OUT_SIZE =
		256 << 10, /* at first: about a fourth of a second of a slow disk's, four pipes' */
	OUT_NEED = 4096,   /* the most that out_need() may ask for */
};

struct out {
	char *bytes;
	size_t used, size;
	int fd;    /* -1: none, a place to put text together */
	int err;   /* errno for which bytes were lost: EPIPE, ENOMEM; 0: none were */
	int stuck; /* errno for which they wait here; 0: they do not */
};

/* 0 or -ENOMEM. */
int out_make(struct out *out, int fd);
void out_free(struct out *out);

/* Hands everything to the kernel. 0; -EPIPE, the bytes being lost; or another negative errno, and
 * they are kept: ENOSPC, or EAGAIN where the descriptor does not block and nothing was taken for
 * 100 ms. */
int out_write(struct out *out);

/* Room for OUT_NEED bytes: by writing, or where that fails by growing. */
void out_make_room(struct out *out);

/* Room for `most` bytes, at most OUT_NEED. */
static inline void out_need(struct out *out, size_t most)
{
	if (out->size - out->used < most)
		out_make_room(out);
}

/* Any number of bytes. */
void out_add_long(struct out *out, const char *bytes, size_t length);

static inline void out_add(struct out *out, const char *bytes, size_t length)
{
	if (length > OUT_NEED) {
		out_add_long(out, bytes, length);
		return;
	}
	out_need(out, length);
	memcpy(out->bytes + out->used, bytes, length);
	out->used += length;
}

static inline void out_text(struct out *out, const char *text)
{
	out_add(out, text, strlen(text));
}

static inline void out_char(struct out *out, char c)
{
	out_need(out, 1);
	out->bytes[out->used++] = c;
}

/* Decimal, into at least 20 bytes. Returns how many. */
unsigned put_u64(char *to, uint64_t value);
unsigned put_i64(char *to, int64_t value);

/* The shortest decimal that reads back as the same double: "0.1", "1e+300", "NaN", "+Inf", "-Inf";
 * a decimal point whatever the locale. Into at least PUT_F64 bytes; returns how many. */
enum { PUT_F64 = 32 };
unsigned put_f64(char *to, double value);

static inline void out_u64(struct out *out, uint64_t value)
{
	out_need(out, 20);
	out->used += put_u64(out->bytes + out->used, value);
}

static inline void out_i64(struct out *out, int64_t value)
{
	out_need(out, 20);
	out->used += put_i64(out->bytes + out->used, value);
}

static inline void out_f64(struct out *out, double value)
{
	out_need(out, PUT_F64);
	out->used += put_f64(out->bytes + out->used, value);
}

/* 16 hexadecimal digits. */
void out_hash(struct out *out, uint64_t hash);

/* ns since 1970 as 2026-11-30T04:43:40.123456789Z. */
void out_time(struct out *out, int64_t ns);

#endif
