/* Rows: how a collector writes one and how a sink or an analyzer reads one. Part of the plugin ABI. The setters are
 * inline, so the layout here is ABI: 64-bit slots, and one have-bit a slot; a clear bit is an absent value, not zero. */
#ifndef SONDE_ROW_H
#define SONDE_ROW_H

#include <stdbool.h>
#include <string.h>

#include <sonde/table.h>

/* Bytes of the strings of a frame. A STR slot is offset << 32 | length into them. The host provides them; a setter
 * that finds them full counts the loss, and the host grows them before the next sample. */
struct sonde_strings {
	char *bytes;
	uint32_t used;
	uint32_t size;
	uint32_t lost; /* bytes that did not fit */
	uint32_t reserved;
};

/* One row while it is written. Valid until sample() returns. Columns without a HIST before them have their own index
 * as slot; a table with histograms numbers its slots in its enum. */
struct sonde_row {
	uint64_t *slots;
	uint64_t *have;
	struct sonde_strings *strings;
};

static inline void sonde_set_u64(struct sonde_row *row, uint32_t slot, uint64_t value)
{
	row->have[slot >> 6] |= (uint64_t)1 << (slot & 63);
	row->slots[slot] = value;
}

static inline void sonde_set_i64(struct sonde_row *row, uint32_t slot, int64_t value)
{
	sonde_set_u64(row, slot, (uint64_t)value);
}

static inline void sonde_set_f64(struct sonde_row *row, uint32_t slot, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	sonde_set_u64(row, slot, bits);
}

/* Copies `length` raw bytes (kernel names are bytes, not UTF-8); longer than 65,535 is cut. Absent where they do not fit. */
static inline void sonde_set_bytes(struct sonde_row *row, uint32_t slot, const char *bytes,
				   size_t length)
{
	struct sonde_strings *strings = row->strings;
	uint32_t n = length > 65535 ? 65535 : (uint32_t)length, used = strings->used;
	char *to = strings->bytes + used;

	if (n > strings->size - used) {
		strings->lost += n;
		return;
	}
	strings->used = used + n;
	sonde_set_u64(row, slot, (uint64_t)used << 32 | n);
	memcpy(to, bytes, n); /* last: nothing is read again behind the call */
}

static inline void sonde_set_str(struct sonde_row *row, uint32_t slot, const char *text)
{
	struct sonde_strings *strings = row->strings;
	uint32_t used = strings->used, room = strings->size - used, n = 0;
	char *to = strings->bytes + used;

	/* Most are a few letters: strlen() and memcpy() would take longer than these. */
	if (room > 16)
		room = 16;
	for (; n < room && text[n]; n++)
		to[n] = text[n];
	if (n == room) {
		sonde_set_bytes(row, slot, text, strlen(text));
		return;
	}
	strings->used = used + n;
	sonde_set_u64(row, slot, (uint64_t)used << 32 | n);
}

static inline bool sonde_has(const struct sonde_row *row, uint32_t slot)
{
	return row->have[slot >> 6] >> (slot & 63) & 1;
}

enum sonde_view_flags {
	SONDE_PARTIAL = 1 << 0, /* rows are missing: one that is absent has not necessarily ended */
};

/* One table of one instance at one instant, as sinks and analyzers see it: live, recorded and received look the same.
 * Everything in it belongs to the host and is valid during the call only. */
struct sonde_view {
	const struct sonde_schema *schema;
	const struct sonde_stream_header *header; /* of the host that it comes from */
	const char *instance;  /* section name without brackets: "psi", "perf_event cache" */
	uint64_t sequence;     /* of the instant; the same in all its tables */
	uint64_t begin, end;   /* when it was read, CLOCK_BOOTTIME of that host, ns */
	int64_t realtime;      /* `begin` as ns since 1970, by the newest anchor before it */
	const uint64_t *words; /* nrows rows of `stride` words: have-bitmap, then slots */
	const char *strings;
	const uint32_t *
		changed; /* indices of rows that differ from the view before; NULL: not known, look at all */
	uint32_t nrows;
	uint32_t nchanged;
	uint32_t stride;
	uint32_t flags; /* enum sonde_view_flags */
};

static inline const uint64_t *sonde_view_have(const struct sonde_view *view, uint32_t row)
{
	return view->words + (size_t)row * view->stride;
}

static inline const uint64_t *sonde_view_slots(const struct sonde_view *view, uint32_t row)
{
	return sonde_view_have(view, row) + view->schema->nhave;
}

static inline bool sonde_view_has(const struct sonde_view *view, uint32_t row, uint32_t slot)
{
	return sonde_view_have(view, row)[slot >> 6] >> (slot & 63) & 1;
}

static inline double sonde_slot_f64(uint64_t slot)
{
	double value;

	memcpy(&value, &slot, sizeof value);
	return value;
}

/* The bytes of a STR slot, not terminated. */
static inline const char *sonde_view_bytes(const struct sonde_view *view, uint64_t slot,
					   uint32_t *length)
{
	*length = (uint32_t)slot;
	return view->strings + (slot >> 32);
}

/* One clock reading, all clocks at one instant (clock_gettime(2), adjtimex(2)). */
struct sonde_anchor {
	uint64_t monotonic, boottime; /* ns */
	int64_t realtime;             /* ns since 1970 */
	int64_t offset;               /* adjtimex offset, ns */
	uint64_t max_error;           /* adjtimex maxerror, ns */
	uint32_t synchronised;        /* 0 where STA_UNSYNC */
	uint32_t reserved;
};

struct sonde_tag {
	const char *name, *value;
};

/* Who speaks: the machine, the boot and the start of the agent. Unknown strings are "", unknown numbers 0. */
struct sonde_stream_header {
	uint64_t start_id; /* random, of this start of the sender */
	const char *host;
	const char
		*machine_id; /* machine-id(5), hashed with sonde's own key: "confidential" there */
	const char *boot_id; /* /proc/sys/kernel/random/boot_id */
	const char *kernel;  /* uname(2) release */
	const char *arch;    /* uname(2) machine */
	const char *label;   /* record --label */
	const struct sonde_tag *tags;
	struct sonde_anchor anchor;
	uint32_t ntags;
	uint32_t user_hz;
	uint32_t page_size;
	uint32_t ncpus;     /* online at start */
	const char *online; /* /sys/devices/system/cpu/online, cpulist */
	const char *nodes; /* /sys/devices/system/node/online, cpulist; "" where there is no NUMA */
	const char *version; /* of sonde */
	int32_t utc_offset;  /* of its local time, seconds east, when it started */
	uint32_t reserved;
};

#endif
