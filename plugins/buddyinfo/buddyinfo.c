/* buddyinfo: free memory by size of block (/proc/buddyinfo, Documentation/filesystems/proc.rst). */
#include <sonde/plugin.h>

enum { NODE, ZONE, ORDER0, ORDERS = 18, HUGE_UNUSABLE = ORDER0 + ORDERS, HUGE_EXTFRAG };

#define ORDER(n)                                                                                   \
	{                                                                                          \
		"order" #n, SONDE_U64, SONDE_GAUGE, SONDE_COUNT("blocks"),                         \
			.origin = "free blocks of 2^" #n " pages",                                 \
			.help = "Free blocks of 2^" #n " contiguous pages that are not part of "   \
				"a larger free one; absent where the kernel has no such order"     \
	}

static const struct sonde_column columns[] = {
	[NODE] = { "node", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "Node N,",
		   .help = "NUMA node; 0 without NUMA" },
	[ZONE] = { "zone", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "zone NAME",
		   .help = "DMA, DMA32, Normal, Movable..." },
	[ORDER0] = ORDER(0),
	ORDER(1),
	ORDER(2),
	ORDER(3),
	ORDER(4),
	ORDER(5),
	ORDER(6),
	ORDER(7),
	ORDER(8),
	ORDER(9),
	ORDER(10),
	ORDER(11),
	ORDER(12),
	ORDER(13),
	ORDER(14),
	ORDER(15),
	ORDER(16),
	ORDER(17),
	[HUGE_UNUSABLE] = { "huge_unusable", SONDE_U64, SONDE_GAUGE, SONDE_PERMILLE,
			    .origin = "extfrag/unusable_index",
			    .help = "Part of free memory in blocks too small for a huge page, as the "
				    "kernel computes it; absent without transparent huge pages" },
	[HUGE_EXTFRAG] = { "huge_extfrag", SONDE_I64, SONDE_GAUGE, SONDE_PERMILLE,
			   .origin = "extfrag/extfrag_index",
			   .help = "Why a huge page can't be had: towards 0 for want of memory, "
				   "towards 1 for fragmentation (vm.extfrag_threshold), a little below "
				   "0 where few large blocks are left; absent while there is a block" },
};

static const struct sonde_table tables[] = {
	{ "buddyinfo", SONDE_COLUMNS(columns), .origin = "/proc/buddyinfo",
	  .help = "Fragmentation: how much of free memory is in blocks large enough for huge pages.",
	  .rows = 64 },
};

struct state {
	struct sonde_file *file;
	uint32_t huge; /* order of a huge page; ORDERS: not known */
};

struct zone {
	uint64_t node;
	const char *name;
	size_t length;
	uint64_t free[ORDERS];
	uint32_t count; /* of orders: 11 on most machines, more with large base pages */
};

/* "Node 0, zone   Normal   1   0 ..."; false at the end. Lines of another form are passed over. */
static bool buddyinfo_next(struct cursor *line, struct zone *zone)
{
	while (next_line(line)) {
		if (!take_word(line, "Node") || !next_u64(line, &zone->node) || !take(line, ",") ||
		    !take_word(line, "zone"))
			continue;
		zone->length = next_word(line, &zone->name);
		for (zone->count = 0; zone->count < ORDERS; zone->count++)
			if (!next_u64(line, &zone->free[zone->count]))
				break;
		if (zone->length && zone->count)
			return true;
	}
	return false;
}

/* fragmentation index and unusable free space of an order, in thousandths (mm/vmstat.c; debugfs has them as extfrag/).
 * Counts that no machine has leave both absent: the sums below don't wrap. */
static void set_fragmentation(const struct zone *zone, uint32_t order, struct sonde_row *row)
{
	const uint64_t pages_most = UINT64_MAX / 1000 / ORDERS;
	uint64_t pages = 0, usable = 0, blocks = 0;

	if (order >= zone->count)
		return;
	for (uint32_t i = 0; i < ORDERS && i < zone->count; i++) {
		uint64_t in = zone->free[i] << i;

		if (zone->free[i] > pages_most >> i)
			return;
		pages += in;
		blocks += zone->free[i];
		usable += i >= order ? in : 0;
	}
	sonde_set_u64(row, HUGE_UNUSABLE, pages ? (pages - usable) * 1000 / pages : 1000);
	if (!usable && blocks)
		sonde_set_i64(row, HUGE_EXTFRAG,
			      1000 - (int64_t)((1000 + (pages * 1000 >> order)) / blocks));
}

static uint32_t huge_order(struct sonde_instance *self)
{
	struct sonde_file *file =
		sonde_open(self, SONDE_FRESH, "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
	const char *text;
	int64_t length = file ? sonde_read(self, file, &text) : -ENOENT;
	struct cursor c = whole(length > 0 ? text : "", length > 0 ? (size_t)length : 0);
	uint64_t bytes, page = self->header->page_size;
	uint32_t order = 0;

	sonde_close(self, file);
	if (!next_u64(&c, &bytes) || !page)
		return ORDERS;
	while (order < ORDERS && page << order < bytes)
		order++;
	return order;
}

static int start(struct sonde_instance *self)
{
	struct state *state = self->state;

	state->huge = huge_order(self);
	state->file = sonde_open(self, SONDE_KEEP, "/proc/buddyinfo");
	return state->file
		       ? 0
		       : sonde_unavailable(self, "no /proc/buddyinfo: /proc is not mounted here");
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	const struct state *state = self->state;
	struct cursor line;
	struct sonde_row row;
	struct zone zone;
	const char *text;
	int64_t length = sonde_read(self, state->file, &text);

	if (length < 0)
		return (int)length;
	line = cursor(text, whole_words(text, (size_t)length));
	while (buddyinfo_next(&line, &zone)) {
		if (!sonde_row(self, frame, 0, &row))
			continue;
		sonde_set_u64(&row, NODE, zone.node);
		sonde_set_bytes(&row, ZONE, zone.name, zone.length);
		for (uint32_t i = 0; i < zone.count; i++)
			sonde_set_u64(&row, ORDER0 + i, zone.free[i]);
		set_fragmentation(&zone, state->huge, &row);
	}
	return 0;
}

SONDE_COLLECTOR(buddyinfo, "free memory by size of block", sample, .tables = SONDE_TABLES(tables),
		.state_size = sizeof(struct state), .start = start);
