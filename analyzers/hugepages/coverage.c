/* hp.low_coverage: anonymous memory in small pages, where there is much of it, of a process (smaps) or of the machine. */
#include "hugepages.h"

/* Of whom, and what is known of it. */
struct memory {
	const char *about;
	double anonymous, coverage;
	bool tlb_pressure;
	const char *origin;
};

/* What to do depends on what is switched on. */
static const char *action_for(const char *modes)
{
	if (modes && strncmp(modes, "never", 5) == 0)
		return "Switch them on for programs that ask: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled; then "
		       "madvise(MADV_HUGEPAGE), or GLIBC_TUNABLES=glibc.malloc.hugetlb=1 in the environment (glibc 2.35 and later).";
	if (modes && strncmp(modes, "always", 6) == 0)
		return "They are on for all: see hp.thp_fallback for whether memory is in pieces (cat /proc/buddyinfo), and let khugepaged "
		       "collapse faster: echo 1000 > /sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs.";
	return "Ask for them: madvise(MADV_HUGEPAGE) on large buffers, or GLIBC_TUNABLES=glibc.malloc.hugetlb=1 in the environment "
	       "(glibc 2.35 and later).";
}

static bool is_low(const struct conf *conf, double anonymous, double coverage, double hugetlb)
{
	return anonymous >= conf->coverage_bytes && coverage < conf->coverage && hugetlb <= 0;
}

static void report(struct sonde_instance *self, const struct memory *memory)
{
	const struct sonde_advice advice = {
		.id = "hp.low_coverage",
		.why = "With small pages the TLB reaches over a few MiB: memory beyond that costs a page walk at many accesses.",
		.action = action_for(hugepages_modes(self)),
		.need = "root for the setting; a restart of the program",
		.risk = "memory in use grows where only parts of a huge page are touched",
		.undo = "remove the variable, or echo the word that was in brackets before",
	};
	const struct sonde_held held = sonde_all_along(self);
	struct sonde_proof proof = { 0 };
	struct sonde_words title;

	sonde_say(&title, "%.0f %% of %.1f GiB of anonymous memory are in huge pages%s",
		  memory->coverage * 100, memory->anonymous / (1 << 30),
		  memory->tlb_pressure ? ", and the TLB misses" : "");
	sonde_prove(&proof, "hp.coverage", memory->coverage, SONDE_BASE_RATIO, NULL,
		    memory->origin);
	sonde_prove(&proof, "hp.anonymous", memory->anonymous, SONDE_BASE_BYTES, NULL,
		    memory->origin);
	sonde_found(self, &advice,
		    memory->tlb_pressure ? SONDE_SEVERITY_WARNING : SONDE_SEVERITY_INFO,
		    memory->about, title.text, &held, memory->anonymous / (1 << 30), &proof);
}

static bool host_misses(struct sonde_instance *self)
{
	const struct sonde_series *tlb = sonde_single(self, TLB);

	return tlb && tlb->held.time;
}

/* How many were found. */
static uint32_t judge_processes(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	uint32_t count, found = 0;
	const struct sonde_series *series = sonde_series(self, ANONYMOUS, &count);

	for (uint32_t i = 0; i < count && found < conf->limit; i++) {
		const char *key = series[i].key;
		const struct sonde_series *coverage = sonde_series_of(self, COVERAGE, key, NULL);
		const struct sonde_series *hugetlb = sonde_series_of(self, HUGETLB, key, NULL);
		const struct sonde_series *tlb = sonde_series_of(self, PROCESS_TLB, key, NULL);
		struct sonde_words about;
		struct memory memory = {
			.anonymous = series[i].total.last,
			.coverage = coverage ? coverage->total.last : 0,
			.tlb_pressure = tlb ? tlb->held.time != 0 : host_misses(self),
			.origin = "/proc/PID/smaps_rollup AnonHugePages: Anonymous:"
		};

		if (strcmp(key, "other") == 0 || !is_low(conf, memory.anonymous, memory.coverage,
							 hugetlb ? hugetlb->total.last : 0))
			continue;
		memory.about = sonde_say(&about, "process %.*s (%s)", (int)strcspn(key, " "), key,
					 series[i].label);
		report(self, &memory);
		found++;
	}
	return found;
}

/* The largest processes have no row where they are above the ceiling of smaps: then the machine tells. */
void hugepages_coverage(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	const struct sonde_series *coverage = sonde_single(self, HOST_COVERAGE);
	const struct sonde_series *anonymous = sonde_single(self, HOST_ANONYMOUS);
	const struct sonde_series *hugetlb = sonde_single(self, HOST_HUGETLB);
	struct memory memory = { .about = "host",
				 .tlb_pressure = host_misses(self),
				 .origin = "/proc/meminfo AnonHugePages: AnonPages:" };

	if (judge_processes(self) || !coverage || !anonymous)
		return;
	memory.anonymous = sonde_mean(&anonymous->total);
	memory.coverage = sonde_mean(&coverage->total);
	if (is_low(conf, memory.anonymous, memory.coverage, hugetlb ? hugetlb->total.max : 0))
		report(self, &memory);
}
