/* The findings of the analyzer `cache`, and its metrics, of all CPUs or of one process. */
#include "cache.h"

static const struct sonde_advice memory_bound = {
	.id = "cache.memory_bound",
	.why = "The CPU had the instructions and waited for their data: most of its cycles did nothing.",
	.action =
		"See which lines miss (perf record -e cache-misses:pp, perf mem record); make what is used together lie together, "
		"touch less memory, prefetch; on several nodes see numa.process_misplaced first.",
	.need = "perf, and a build with symbols",
	.risk = "",
	.undo = "",
};
static const struct sonde_advice tlb_pressure = {
	.id = "cache.tlb_pressure",
	.why = "Address translations were not in the TLB: each miss walks the page tables, which is some tens of cycles and more "
	       "where these miss the caches too.",
	.action =
		"Use huge pages: madvise(MADV_HUGEPAGE), or echo madvise > /sys/kernel/mm/transparent_hugepage/enabled first, or "
		"hugetlb; see hp.low_coverage for how much of the memory is huge already.",
	.need = "root for the setting; a change of the program for madvise",
	.risk = "memory in use grows where only parts of a huge page are touched",
	.undo = "echo the word that was in brackets before",
};
static const struct sonde_advice bad_speculation = {
	.id = "cache.bad_speculation",
	.why = "What was done behind a wrong guess was thrown away, some 15 cycles each time.",
	.action =
		"See which branches (perf record -e branch-misses:pp); sort what is branched on, use arithmetic or conditional "
		"moves instead, let the compiler know (profile-guided optimisation).",
	.need = "perf, and a build with symbols",
	.risk = "",
	.undo = "",
};
static const struct sonde_advice efficient = {
	.id = "cache.efficient",
	.why = "Nothing that was counted holds the CPU up: it does as much as it can.",
	.action =
		"Do less: a better algorithm, vector instructions, less copying. Memory and placement are no lever here.",
	.need = "",
	.risk = "",
	.undo = "",
};
static const struct sonde_advice frontend_bound = {
	.id = "cache.frontend_bound",
	.why = "The pipeline could have taken more than it was given: instructions came late from their cache, its TLB or the decoders.",
	.action =
		"See where (perf record -e cycles, perf report: flat, over much code); make what runs often lie together (profile-guided "
		"optimisation, BOLT, hot and cold parts apart), inline and unroll less, huge pages for code.",
	.need = "a build of the program",
	.risk = "",
	.undo = "",
};
static const struct sonde_advice backend_bound = {
	.id = "cache.backend_bound",
	.why = "Instructions were there and could not go on: they waited for data, for the results of others, or for a unit that was taken.",
	.action =
		"See which: with few misses of the caches it is a chain of long operations (division, dependent loads that hit) or one "
		"kind of unit; break the chain, vectorise, divide less. With many see cache.memory_bound.",
	.need = "perf, and a build with symbols",
	.risk = "",
	.undo = "",
};
static const struct sonde_advice multiplexed = {
	.id = "cache.multiplexed",
	.why = "Groups took turns on the PMU: counts are of part of the time, and a phase of the program may be missed. Ratios "
	       "within a group stay exact for the time that was counted.",
	.action =
		"Count fewer groups at once (group = in [perf_event]), or give the counter back that the NMI watchdog holds: "
		"sysctl kernel.nmi_watchdog=0.",
	.need = "root, for the watchdog",
	.risk = "a CPU that hangs with interrupts off is not noticed",
	.undo = "sysctl kernel.nmi_watchdog=1",
};

/* A stream as it is told: times `scale`. */
struct measure {
	uint32_t stream, direction;
	double scale;
	struct sonde_evidence form;
};

/* clang-format off */
#define MEASURE(stream_, scale_, name_, unit_, counted_, way, origin_) \
	[stream_] = { stream_, way, scale_, { .name = name_, .unit = unit_, .counted = counted_, .origin = origin_ } }
#define SHARE(stream_, name_, way, origin_) MEASURE(stream_, 1, name_, SONDE_BASE_RATIO, NULL, way, origin_)
static const struct measure measures[NOT_RUNNING] = {
	MEASURE(IPC, 1, "cache.ipc", SONDE_BASE_COUNT, "instructions per cycle", SONDE_UP_IS_BETTER, "perf_event_core instructions, of cycles"),
	MEASURE(CLOCK, 1e9, "cache.clock", SONDE_BASE_HZ, NULL, SONDE_NEITHER, "perf_event_core cycles, of time_enabled"),
	MEASURE(LLC, 1000, "cache.llc_misses_per_1000", SONDE_BASE_COUNT, "misses per 1,000 instructions", SONDE_DOWN_IS_BETTER, "perf_event_llc llc_misses, of instructions"),
	SHARE(LLC_SHARE, "cache.llc_miss_share", SONDE_DOWN_IS_BETTER, "perf_event_llc llc_misses, of llc_references"),
	SHARE(BACKEND, "cache.backend_stalls", SONDE_DOWN_IS_BETTER, "perf_event_core stalled_cycles_backend or stalled_cycles_llc_miss, of cycles"),
	SHARE(FRONTEND, "cache.frontend_stalls", SONDE_DOWN_IS_BETTER, "perf_event_core stalled_cycles_frontend, of cycles"),
	SHARE(TLB, "cache.dtlb_misses", SONDE_DOWN_IS_BETTER, "perf_event_tlb dtlb_load_misses, of dtlb_loads"),
	SHARE(BRANCHES, "cache.branch_misses", SONDE_DOWN_IS_BETTER, "perf_event_branch branch_misses, of branches"),
	MEASURE(L2, 1000, "cache.l2_misses_per_1000", SONDE_BASE_COUNT, "misses per 1,000 instructions", SONDE_DOWN_IS_BETTER, "perf_event_cache l2_misses, of instructions"),
	SHARE(L1D, "cache.l1d_refills", SONDE_DOWN_IS_BETTER, "perf_event_cache l1d_refills, of l1d_accesses"),
	SHARE(RETIRING, "cache.retiring", SONDE_UP_IS_BETTER, "perf_event_topdown slots_retiring or ops_retired, of slots"),
	SHARE(SPECULATING, "cache.bad_speculation", SONDE_DOWN_IS_BETTER, "perf_event_topdown slots_bad_speculation, or ops_dispatched less ops_retired, of slots"),
	SHARE(WAITING_FRONTEND, "cache.frontend_bound", SONDE_DOWN_IS_BETTER, "perf_event_topdown slots_frontend_bound, of slots"),
	SHARE(WAITING_BACKEND, "cache.backend_bound", SONDE_DOWN_IS_BETTER, "perf_event_topdown slots_backend_bound, of slots"),
};
/* clang-format on */

static const struct sonde_series *series_of(struct sonde_instance *self,
					    const struct subject *subject, uint32_t stream,
					    uint32_t *index)
{
	return sonde_series_of(self, subject->base + stream, subject->key, index);
}

/* The mean of a stream while something held; -1 where it was not counted then. */
static double mean_of(struct sonde_instance *self, const struct subject *subject, uint32_t stream,
		      const struct sonde_held *held)
{
	uint32_t index;
	struct sonde_slice sum;

	if (!series_of(self, subject, stream, &index))
		return -1;
	sum = sonde_between(self, subject->base + stream, index, held->begin, held->end);
	return sum.denominator > 0 ? sonde_mean(&sum) : -1;
}

/* A finding of the stream that holds, with the means of others beside it. */
struct rule {
	uint32_t stream;
	enum sonde_severity severity;
	const struct sonde_advice *advice;
	const char *title; /* of a number and about whom */
	uint32_t beside[4];
	uint32_t nbeside;
};

static void prove(struct sonde_proof *proof, uint32_t stream, double value)
{
	const struct measure *measure = &measures[stream];
	struct sonde_evidence item = measure->form;

	if (value < 0)
		return;
	item.value = value * measure->scale;
	sonde_prove(proof, item.name, item.value, item.unit, item.counted, item.origin);
}

/* Whether the CPUs did enough in that time for anybody to wait for it. */
static bool is_at_work(struct sonde_instance *self, const struct subject *subject,
		       const struct sonde_held *held)
{
	const struct conf *conf = self->conf;

	return mean_of(self, subject, CLOCK, held) > conf->clock;
}

static void report(struct sonde_instance *self, const struct subject *subject,
		   const struct rule *rule, const struct sonde_held *held)
{
	const struct measure *measure = &measures[rule->stream];
	double value = sonde_held_mean(held) * measure->scale;
	struct sonde_proof proof = { 0 };
	struct sonde_words title;

	if (measure->form.unit == SONDE_BASE_RATIO)
		sonde_say(&title, "%.1f %% %s", value * 100, rule->title);
	else
		sonde_say(&title, "%.1f %s", value, rule->title);
	prove(&proof, rule->stream, sonde_held_mean(held));
	for (uint32_t i = 0; i < rule->nbeside; i++)
		prove(&proof, rule->beside[i], mean_of(self, subject, rule->beside[i], held));
	sonde_found(self, rule->advice, rule->severity, subject->about, title.text, held,
		    sonde_weight(held), &proof);
}

static uint32_t judge_rule(struct sonde_instance *self, const struct subject *subject,
			   const struct rule *rule)
{
	uint32_t index;
	const struct sonde_series *series = series_of(self, subject, rule->stream, &index);

	if (!series || !series->held.time || !is_at_work(self, subject, &series->held))
		return 0;
	report(self, subject, rule, &series->held);
	return 1;
}

/* Misses hurt where little is done beside them; stalls are the same matter seen from the other side. */
static uint32_t judge_memory(struct sonde_instance *self, const struct subject *subject)
{
	static const struct rule misses = {
		LLC,
		SONDE_SEVERITY_WARNING,
		&memory_bound,
		"misses of the last-level cache for 1,000 instructions",
		{ IPC, LLC_SHARE, BACKEND, WAITING_BACKEND },
		4,
	};
	static const struct rule stalls = {
		BACKEND,
		SONDE_SEVERITY_WARNING,
		&memory_bound,
		"of cycles waited for data",
		{ IPC, LLC, WAITING_BACKEND },
		3,
	};
	const struct conf *conf = self->conf;
	uint32_t index;
	const struct sonde_series *series = series_of(self, subject, LLC, &index);

	if (series && series->held.time && mean_of(self, subject, CPI, &series->held) > conf->cpi)
		return judge_rule(self, subject, &misses);
	return judge_rule(self, subject, &stalls);
}

uint32_t cache_findings(struct sonde_instance *self, const struct subject *subject)
{
	static const struct rule rules[] = {
		{ TLB,
		  SONDE_SEVERITY_WARNING,
		  &tlb_pressure,
		  "of loads needed a page walk",
		  { IPC },
		  1 },
		{ BRANCHES,
		  SONDE_SEVERITY_INFO,
		  &bad_speculation,
		  "of branches were guessed wrong",
		  { IPC },
		  1 },
		{ IPC,
		  SONDE_SEVERITY_INFO,
		  &efficient,
		  "instructions in each cycle",
		  { LLC, CLOCK },
		  2 },
		{ WAITING_FRONTEND,
		  SONDE_SEVERITY_INFO,
		  &frontend_bound,
		  "of slots were empty for want of instructions",
		  { RETIRING, SPECULATING, WAITING_BACKEND, IPC },
		  4 },
	};
	static const struct rule backend = {
		WAITING_BACKEND,
		SONDE_SEVERITY_INFO,
		&backend_bound,
		"of slots were empty for want of data or units",
		{ RETIRING, WAITING_FRONTEND, IPC, LLC },
		4,
	};
	uint32_t found = judge_memory(self, subject);

	/* Memory is the reason that says more. */
	if (!found)
		found = judge_rule(self, subject, &backend);
	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
		found += judge_rule(self, subject, &rules[i]);
	return found;
}

void cache_multiplexed(struct sonde_instance *self)
{
	static const uint32_t bases[] = { HOST, PROCESS };

	for (uint32_t i = 0; i < 2 * GROUPS; i++) {
		uint32_t count;
		const struct sonde_series *series =
			sonde_series(self, bases[i / GROUPS] + NOT_RUNNING + i % GROUPS, &count);
		struct sonde_proof proof = { 0 };
		struct sonde_words about, title;
		double running;

		/* Of processes, the heaviest stands for all. */
		if (!count || !series->held.time)
			continue;
		running = 1 - sonde_held_mean(&series->held);
		sonde_say(&about, "group %s", cache_groups[i % GROUPS]);
		sonde_say(&title, "The counters of group %s were on the PMU %.0f %% of the time",
			  cache_groups[i % GROUPS], running * 100);
		sonde_prove(&proof, "cache.running_share", running, SONDE_BASE_RATIO, NULL,
			    "perf_event time_running, of time_enabled");
		sonde_found(self, &multiplexed, SONDE_SEVERITY_INFO, about.text, title.text,
			    &series->held, 0, &proof);
	}
}

/* The smallest share of time that any group was on the PMU. */
static void tell_running(struct sonde_instance *self, const struct subject *subject)
{
	double least = 2;

	for (uint32_t i = 0; i < GROUPS; i++) {
		uint32_t index;
		const struct sonde_series *series =
			series_of(self, subject, NOT_RUNNING + i, &index);

		if (series && 1 - sonde_mean(&series->total) < least)
			least = 1 - sonde_mean(&series->total);
	}
	if (least <= 1) {
		const struct sonde_metric metric = {
			.name = "cache.running_share",
			.about = subject->base == HOST ? "" : subject->about,
			.value = least,
			.unit = SONDE_BASE_RATIO,
			.direction = SONDE_UP_IS_BETTER,
			.origin =
				"perf_event time_running, of time_enabled, smallest of the groups",
		};

		sonde_metric(self, &metric);
	}
}

void cache_metrics(struct sonde_instance *self, const struct subject *subject)
{
	for (uint32_t i = 0; i < NOT_RUNNING; i++) {
		const struct measure *measure = &measures[i];
		uint32_t index;
		const struct sonde_series *series = series_of(self, subject, i, &index);
		const struct sonde_metric metric = {
			.name = measure->form.name,
			.about = subject->base == HOST ? "" : subject->about,
			.value = series ? sonde_mean(&series->total) * measure->scale : 0,
			.unit = measure->form.unit,
			.direction = measure->direction,
			.counted = measure->form.counted,
			.origin = measure->form.origin,
		};

		if (series && metric.name)
			sonde_metric(self, &metric);
	}
	tell_running(self, subject);
}
