/* cache: what CPUs do with their cycles: findings of docs/findings.md that begin with "cache.". */
#include "cache.h"

/* clang-format off */
static const struct sonde_option options[] = {
	{ "limit", SONDE_OPT_U64, offsetof(struct conf, limit), "8", NULL, 1, 100,
	  "processes that are told of, those of most cycles first: more would hide the rest of a report" },
	SONDE_TIME("hold", hold, "2s",
		   "time without a break before a finding holds: a single burst is not a problem"),
	SONDE_THRESHOLD("cycles_per_instruction", cpi, "1", 100,
			"cycles for each instruction, above which misses of the last-level cache are told: below, their latency is hidden"),
	SONDE_THRESHOLD("llc_misses", llc, "0.005", 1,
			"misses of the last-level cache for each instruction, 5 for 1,000: at 80 ns each, more than what the instructions themselves take"),
	SONDE_THRESHOLD("backend_stalls", stalls, "0.40", 1,
			"share of cycles in which the CPU waited for data: two fifths are lost"),
	SONDE_THRESHOLD("dtlb_misses", tlb, "0.01", 1,
			"page walks for each load: at some 30 cycles each, one in a hundred is felt"),
	SONDE_THRESHOLD("branch_misses", branches, "0.02", 1,
			"share of branches that were guessed wrong: at some 15 cycles each, a tenth of the time and more"),
	SONDE_THRESHOLD("efficient", efficient, "2", 100,
			"instructions in each cycle, above which the CPU is well used: then less work helps, not other hardware"),
	SONDE_THRESHOLD("frontend_bound", frontend, "0.30", 1,
			"share of the pipeline's slots that were empty for want of instructions: code that fits its caches has a tenth, most programs less than a quarter"),
	SONDE_THRESHOLD("backend_bound", backend, "0.50", 1,
			"share of the pipeline's slots that were empty for want of data or units: below half something else is as large"),
	SONDE_THRESHOLD("not_running", not_running, "0.05", 1,
			"share of time for which a group of counters was not on the PMU: what it counted is an estimate by that much"),
	SONDE_THRESHOLD("clock", clock, "0.2", 100,
			"cycles for each ns that was counted, on average over the CPUs: with less they idle, and what little runs is not what one waits for"),
	SONDE_THRESHOLD("least", least, "10000000", 1e12,
			"instructions, cycles, loads or branches a second that there have to be: ratios of fewer are noise"),
};

/* Slots are of one group, whether CPUs worked of another. */
#define SLOTS(suffix, bound) \
	"perf_event_core" suffix ".cycles perf_event_topdown" suffix ".slots perf_event_topdown" suffix "." bound
#define EITHER(columns, columns_process) columns " | " columns_process
static const struct sonde_catalogue catalogue[] = {
	{ "cache.memory_bound", "CPUs wait for memory",
	  EITHER("perf_event_core.cycles perf_event_llc.instructions | perf_event_core.stalled_cycles_backend",
		 "perf_event_core_process.cycles perf_event_llc_process.instructions | perf_event_core_process.stalled_cycles_backend"),
	  "cycles_per_instruction llc_misses backend_stalls clock least hold limit" },
	{ "cache.tlb_pressure", "address translation misses its caches",
	  EITHER("perf_event_tlb.dtlb_loads perf_event_tlb.dtlb_load_misses", "perf_event_tlb_process.dtlb_loads perf_event_tlb_process.dtlb_load_misses"),
	  "dtlb_misses clock least hold limit" },
	{ "cache.bad_speculation", "many branches are guessed wrong",
	  EITHER("perf_event_branch.branches perf_event_branch.branch_misses", "perf_event_branch_process.branches perf_event_branch_process.branch_misses"),
	  "branch_misses clock least hold limit" },
	{ "cache.efficient", "the CPU is well used",
	  EITHER("perf_event_core.cycles perf_event_core.instructions", "perf_event_core_process.cycles perf_event_core_process.instructions"),
	  "efficient clock least hold limit" },
	{ "cache.frontend_bound", "the pipeline lacks instructions",
	  EITHER(SLOTS("", "slots_frontend_bound"), SLOTS("_process", "slots_frontend_bound")), "frontend_bound clock least hold limit" },
	{ "cache.backend_bound", "the pipeline lacks data or units",
	  EITHER(SLOTS("", "slots_backend_bound"), SLOTS("_process", "slots_backend_bound")), "backend_bound clock least hold limit" },
	{ "cache.multiplexed", "counters took turns", EITHER("perf_event_core.time_enabled", "perf_event_core_process.time_enabled"),
	  "not_running hold" },
	{ "cache.no_counters", "no hardware counters, and why", NULL, "" },
};
/* clang-format on */

/* What the collector said of itself, else of the most of its events; NULL: nothing. */
static const char *reason_of(struct sonde_instance *self)
{
	const char *note = sonde_note_of(self, "perf_event");
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, REASON, &count);

	for (uint32_t i = 0; !note && i < count; i++)
		note = series[i].total.last > 0 && *series[i].key ? series[i].key : NULL;
	return note;
}

/* Without the collector nothing is known. */
static void judge_counters(struct sonde_instance *self)
{
	static const struct sonde_advice advice = {
		.id = "cache.no_counters",
		.why = "Without them nothing can be told of caches, translation and branches.",
		.action =
			"See what the sentence above asks for; in a virtual machine, whether its host passes a PMU on.",
		.need = "root, or whoever runs the hypervisor",
		.risk = "",
		.undo = "",
	};
	const struct sonde_held held = sonde_all_along(self);
	const struct sonde_proof none = { 0 };
	static const char already[] = "no hardware counters: ";
	const char *reason = reason_of(self);
	struct sonde_words title;
	uint32_t host, processes;

	sonde_series(self, HOST + CPI, &host);
	sonde_series(self, PROCESS + CPI, &processes);
	if (host || processes)
		return;
	if (!reason) {
		sonde_not_judged(self, advice.id,
				 "no perf_event in the recording: record --profile cache");
		return;
	}
	if (strncmp(reason, already, strlen(already)) == 0)
		reason += strlen(already);
	sonde_say(&title, "No hardware counters: %s", reason);
	sonde_found(self, &advice, SONDE_SEVERITY_INFO, "host", title.text, &held, 0, &none);
}

static uint32_t judge_processes(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	uint32_t count, findings = 0;
	const struct sonde_series *series = sonde_series(self, PROCESS + CPI, &count);

	for (uint32_t i = 0, told = 0; i < count && told < conf->limit; i++) {
		struct sonde_words about;
		struct subject subject = { .base = PROCESS, .key = series[i].key };

		if (strcmp(series[i].key, "other") == 0)
			continue;
		subject.about =
			sonde_say(&about, "process %.*s (%s)", (int)strcspn(series[i].key, " "),
				  series[i].key, series[i].label);
		findings += cache_findings(self, &subject);
		cache_metrics(self, &subject);
		told++;
	}
	return findings;
}

/* What was found of a process is not said of the whole again. */
static int judge(struct sonde_instance *self)
{
	const struct subject host = { .base = HOST, .key = "", .about = "host" };

	if (!judge_processes(self))
		cache_findings(self, &host);
	cache_metrics(self, &host);
	cache_multiplexed(self);
	judge_counters(self);
	return 0;
}

static const struct sonde_analyzer_ops ops = {
	.streams = SONDE_STREAMS(cache_streams),
	.catalogue = SONDE_CATALOGUE(catalogue),
	.judge = judge,
};

SONDE_ANALYZER(cache, "what CPUs do with their cycles", ops, .options = SONDE_OPTIONS(options),
	       .conf_size = sizeof(struct conf));
