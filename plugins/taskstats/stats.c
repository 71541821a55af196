/* The fields of struct taskstats: where they lie, and where they go. By offset and length, never by sizeof: the struct grows
 * with the kernel, and the header here is older or newer than that. */
#include <linux/taskstats.h>

#include "stats.h"

enum { PLAIN = 0, DELAY = 1 << 0, GROUP = 1 << 1 /* in a group's record as well */ };

struct field {
	uint16_t offset;
	uint8_t size;
	uint8_t before; /* delays that stand before it: each is 16 bytes longer in version 15 */
	uint8_t flags;
	uint8_t slot, exit_slot; /* 0, a pid's: none */
};

#define FIELD(name, before_, flags_, slot_, exit_)                                                 \
	{                                                                                          \
		offsetof(struct taskstats, name), sizeof(((struct taskstats *)0)->name), before_,  \
			flags_, slot_, exit_                                                       \
	}
#define DELAY_AT(offset_, which, flags_)                                                           \
	{ (offset_), 8, which, flags_, STATS_DELAYS + 2 * (which), EXIT_DELAYS + 2 * (which) },    \
	{                                                                                          \
		(offset_) + 8, 8, which, flags_, STATS_DELAYS + 2 * (which) + 1,                   \
			EXIT_DELAYS + 2 * (which) + 1                                              \
	}
#define OFFSET(name) offsetof(struct taskstats, name)

enum {
	BTIME64 = 344,
	WPCOPY = 400,
	IRQ = 416
}; /* of versions 10, 13 and 14, which headers may lack */

static const struct field fields[] = {
	DELAY_AT(OFFSET(cpu_count), 0, GROUP),
	DELAY_AT(OFFSET(blkio_count), 1, GROUP | DELAY),
	DELAY_AT(OFFSET(swapin_count), 2, GROUP | DELAY),
	FIELD(cpu_run_real_total, 3, GROUP, STATS_CPU_RUN_REAL, EXIT_CPU_RUN_REAL),
	FIELD(cpu_run_virtual_total, 3, GROUP, STATS_CPU_RUN_VIRTUAL, EXIT_CPU_RUN_VIRTUAL),
	FIELD(ac_exitcode, 0, PLAIN, 0, EXIT_CODE),
	FIELD(ac_flag, 0, PLAIN, 0, EXIT_FLAG),
	FIELD(ac_uid, 3, PLAIN, 0, EXIT_UID),
	FIELD(ac_ppid, 3, PLAIN, 0, EXIT_PPID),
	FIELD(ac_etime, 3, PLAIN, 0, EXIT_ETIME),
	FIELD(ac_utime, 3, PLAIN, 0, EXIT_UTIME),
	FIELD(ac_stime, 3, PLAIN, 0, EXIT_STIME),
	FIELD(ac_minflt, 3, PLAIN, 0, EXIT_MINFLT),
	FIELD(ac_majflt, 3, PLAIN, 0, EXIT_MAJFLT),
	FIELD(hiwater_rss, 3, PLAIN, 0, EXIT_HIWATER_RSS),
	FIELD(hiwater_vm, 3, PLAIN, 0, EXIT_HIWATER_VM),
	FIELD(read_char, 3, PLAIN, 0, EXIT_READ_CHAR),
	FIELD(write_char, 3, PLAIN, 0, EXIT_WRITE_CHAR),
	FIELD(read_syscalls, 3, PLAIN, 0, EXIT_READ_SYSCALLS),
	FIELD(write_syscalls, 3, PLAIN, 0, EXIT_WRITE_SYSCALLS),
	FIELD(read_bytes, 3, PLAIN, 0, EXIT_READ_BYTES),
	FIELD(write_bytes, 3, PLAIN, 0, EXIT_WRITE_BYTES),
	FIELD(cancelled_write_bytes, 3, PLAIN, 0, EXIT_CANCELLED_WRITE_BYTES),
	FIELD(nvcsw, 3, PLAIN, 0, EXIT_NVCSW),
	FIELD(nivcsw, 3, PLAIN, 0, EXIT_NIVCSW),
	DELAY_AT(OFFSET(freepages_count), 3, GROUP | DELAY),
	DELAY_AT(OFFSET(thrashing_count), 4, GROUP | DELAY),
	{ BTIME64, 8, 5, PLAIN, 0, EXIT_BTIME },
	DELAY_AT(BTIME64 + 8, 5, GROUP | DELAY), /* compact */
	{ BTIME64 + 24, 4, 6, PLAIN, 0, EXIT_TGID },
	DELAY_AT(WPCOPY, 6, GROUP | DELAY),
	DELAY_AT(IRQ, 7, GROUP | DELAY),
};

static bool get(const struct stats *stats, enum stats_layout layout, const struct field *field,
		uint64_t *value)
{
	size_t offset = field->offset + (layout == STATS_VERSION_15 ? 16u * field->before : 0u);
	const char *at = stats->at + offset;
	uint32_t word;

	if (offset + field->size > stats->length)
		return false;
	if (field->size == 8) {
		memcpy(value, at, 8);
	} else if (field->size == 4) {
		memcpy(&word, at, sizeof word);
		*value = word;
	} else {
		*value = *(const unsigned char *)at;
	}
	return true;
}

enum stats_layout stats_layout(const struct stats *stats)
{
	static const struct field pid = FIELD(ac_pid, 3, PLAIN, 0, 0);
	enum stats_layout layout = STATS_USUAL;
	uint64_t value;

	while (layout < STATS_UNKNOWN && (!get(stats, layout, &pid, &value) || value != stats->id))
		layout++;
	return layout;
}

void stats_set(const struct stats *stats, enum stats_layout layout, bool delays,
	       struct sonde_row *row)
{
	uint64_t value;

	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
		if (fields[i].slot && (delays || !(fields[i].flags & DELAY)) &&
		    get(stats, layout, &fields[i], &value))
			sonde_set_u64(row, fields[i].slot, value);
}

void stats_set_exit(const struct stats *stats, enum stats_layout layout, bool delays,
		    struct sonde_row *row)
{
	static const struct field comm = FIELD(ac_comm, 3, PLAIN, 0, 0);
	size_t offset = comm.offset + (layout == STATS_VERSION_15 ? 16u * comm.before : 0u);
	uint64_t value;

	sonde_set_u64(row, EXIT_PID, stats->id);
	sonde_set_u64(row, EXIT_GROUP, stats->group);
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
		if ((delays || !(fields[i].flags & DELAY)) &&
		    (!stats->group || fields[i].flags & GROUP) &&
		    get(stats, layout, &fields[i], &value))
			sonde_set_u64(row, fields[i].exit_slot, value);
	if (stats->group)
		sonde_set_u64(row, EXIT_TGID, stats->id);
	else if (offset + comm.size <= stats->length)
		sonde_set_bytes(row, EXIT_COMM, stats->at + offset,
				strnlen(stats->at + offset, comm.size));
}
