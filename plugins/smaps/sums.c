/* Columns and parser are one list: a line "Pss:   123 kB" belongs to the column whose origin is "Pss:". smaps has such lines for
 * each mapping, smaps_rollup once. */
#include "sums.h"

#define SUM(name, key, text)                                                                       \
	{                                                                                          \
		name, SONDE_U64, SONDE_GAUGE, SONDE_KIB, .origin = key, .help = text               \
	}

/* clang-format off */
const struct sonde_column smaps_columns[COLUMNS] = {
	[PID]        = { "pid", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "PID", .help = "with start_time the identity: the kernel reuses the number" },
	[START_TIME] = { "start_time", SONDE_U64, SONDE_KEY, SONDE_TICKS, .origin = "stat field 22", .help = "time after boot at which it started" },
	[COMM]       = { "comm", SONDE_STR, SONDE_INFO, SONDE_NONE, .origin = "stat field 2", .help = "name of the leader thread", .sensitivity = SONDE_NAME },
	[METHOD]     = { "method", SONDE_STR, SONDE_STATE, SONDE_NONE, .origin = "sonde", .help = "rollup: smaps_rollup; smaps: its mappings added up; none: not read so far, not permitted, or larger than the ceiling" },
	[TAKEN]      = { "taken", SONDE_U64, SONDE_INFO, SONDE_NS, .origin = "CLOCK_BOOTTIME", .help = "when that was finished; values stay until it is read again" },
	[RESIDENT]   = { "resident", SONDE_U64, SONDE_GAUGE, SONDE_BYTES, .origin = "stat field 24", .help = "resident memory at this sample, without hugetlb; the kernel rounds it" },
	[FIRST_SUM] =
	SUM("rss", "Rss:", "resident memory, shared pages in full"),
	SUM("pss", "Pss:", "its share: each page divided by the number of its mappers, so that the sum over the processes of a service counts what they share among themselves once"),
	SUM("pss_dirty", "Pss_Dirty:", "part of pss that was written to; since 6.0"),
	SUM("pss_anon", "Pss_Anon:", "part of pss that is anonymous; since 5.4, not where mappings were added up"),
	SUM("pss_file", "Pss_File:", "part of pss that is of files; likewise"),
	SUM("pss_shmem", "Pss_Shmem:", "part of pss that is shared memory and tmpfs; likewise"),
	SUM("shared_clean", "Shared_Clean:", "pages with other mappers, not written to"),
	SUM("shared_dirty", "Shared_Dirty:", "pages with other mappers, written to"),
	SUM("private_clean", "Private_Clean:", "pages of its own, not written to"),
	SUM("private_dirty", "Private_Dirty:", "pages of its own, written to: what its end would free"),
	SUM("referenced", "Referenced:", "accessed since that was last cleared"),
	SUM("anonymous", "Anonymous:", "pages that belong to no file, private copies included"),
	SUM("ksm", "KSM:", "pages that KSM merged; since 6.7"),
	SUM("lazy_free", "LazyFree:", "given back by MADV_FREE, not yet taken"),
	SUM("anon_huge_pages", "AnonHugePages:", "anonymous memory in transparent huge pages that one entry maps: of anonymous, its coverage"),
	SUM("shmem_pmd_mapped", "ShmemPmdMapped:", "shared memory that huge entries map"),
	SUM("file_pmd_mapped", "FilePmdMapped:", "files that huge entries map"),
	SUM("shared_hugetlb", "Shared_Hugetlb:", "hugetlb pages that others map too; not in rss nor pss"),
	SUM("private_hugetlb", "Private_Hugetlb:", "hugetlb pages of its own; likewise"),
	SUM("swap", "Swap:", "anonymous memory that is in swap"),
	SUM("swap_pss", "SwapPss:", "its share of that"),
	SUM("locked", "Locked:", "locked by mlock(2); its share, as pss"),
};
/* clang-format on */

/* Lines come in the order of the columns, mostly: the search begins behind the last. */
static uint32_t find(const char *key, size_t length, uint32_t next)
{
	for (uint32_t i = 0; i < SUMS; i++) {
		uint32_t n = (next + i) % SUMS;
		const char *origin = smaps_columns[FIRST_SUM + n].origin;

		if (origin[0] == key[0] && strlen(origin) == length &&
		    memcmp(origin, key, length) == 0)
			return n;
	}
	return SUMS;
}

void sums_parse(const char *text, size_t length, struct sums *sums)
{
	struct cursor line;
	uint32_t next = 0;

	while (length && text[length - 1] != '\n') /* half a line is none */
		length--;
	line = cursor(text, length);
	while (next_line(&line)) {
		const char *key;
		size_t n = next_word(&line, &key);
		uint32_t sum = n && key[n - 1] == ':' ? find(key, n, next) : SUMS;
		uint64_t kib;

		if (sum == SUMS || !next_u64(&line, &kib) || !take_word(&line, "kB"))
			continue;
		sums->kib[sum] += kib;
		sums->have |= (uint64_t)1 << sum;
		next = sum + 1;
	}
}
