/* What the analyzer `cache` looks at: the tables of collector perf_event. Ratios are of columns of one table, which were counted at
 * the same time; of processes and of PMUs of hybrid CPUs they are sums over sums. */
#include "cache.h"

#define OF(field) offsetof(struct conf, field)

/* clang-format off */
#define NOT_RUNNING_OF(base_, i, group, suffix, ...) \
	[base_ + NOT_RUNNING + i] = { "cache.not_running", "perf_event_" group suffix, .plus = "time_enabled", .minus = "time_running", \
				      .over = "time_enabled", .threshold = OF(not_running), .hold = OF(hold), __VA_ARGS__ }

/* `suffix` of the tables; how rows become series. */
#define STREAMS_OF(base_, suffix, ...) \
	[base_ + CPI] = { "cache.cpi", "perf_event_core" suffix, .plus = "cycles", .over = "instructions", __VA_ARGS__ }, \
	[base_ + IPC] = { "cache.ipc", "perf_event_core" suffix, .plus = "instructions", .over = "cycles", \
			  .threshold = OF(efficient), .hold = OF(hold), .floor = OF(least), __VA_ARGS__ }, \
	/* GHz, and so by another name than the metric, which is told in Hz: a metric has the course of the stream of its name. */ \
	[base_ + CLOCK] = { "cache.cycles_per_ns", "perf_event_core" suffix, .plus = "cycles", .over = "time_enabled", __VA_ARGS__ }, \
	/* Arm has reads alone. */ \
	[base_ + LLC] = { "cache.llc_misses", "perf_event_llc" suffix, .plus = "llc_misses? llc_read_misses?", .over = "instructions", \
			  .threshold = OF(llc), .hold = OF(hold), .floor = OF(least), __VA_ARGS__ }, \
	[base_ + LLC_SHARE] = { "cache.llc_miss_share", "perf_event_llc" suffix, .plus = "llc_misses? llc_read_misses?", \
				.over = "llc_references? llc_reads?", __VA_ARGS__ }, \
	/* Nothing issued for want of data (AMD, Arm), or nothing executed while a load waited for memory (Intel). */ \
	[base_ + BACKEND] = { "cache.backend_stalls", "perf_event_core" suffix, .plus = "stalled_cycles_backend? stalled_cycles_llc_miss?", \
			      .over = "cycles", .threshold = OF(stalls), .hold = OF(hold), .floor = OF(least), __VA_ARGS__ }, \
	[base_ + FRONTEND] = { "cache.frontend_stalls", "perf_event_core" suffix, .plus = "stalled_cycles_frontend", .over = "cycles", __VA_ARGS__ }, \
	[base_ + TLB] = { "cache.dtlb_misses", "perf_event_tlb" suffix, .plus = "dtlb_load_misses", .over = "dtlb_loads", \
			  .threshold = OF(tlb), .hold = OF(hold), .floor = OF(least), __VA_ARGS__ }, \
	[base_ + BRANCHES] = { "cache.branch_misses", "perf_event_branch" suffix, .plus = "branch_misses", .over = "branches", \
			       .threshold = OF(branches), .hold = OF(hold), .floor = OF(least), __VA_ARGS__ }, \
	[base_ + L2] = { "cache.l2_misses", "perf_event_cache" suffix, .plus = "l2_misses", .over = "instructions", __VA_ARGS__ }, \
	[base_ + L1D] = { "cache.l1d_refills", "perf_event_cache" suffix, .plus = "l1d_refills", .over = "l1d_accesses", __VA_ARGS__ }, \
	/* AMD counts what was dispatched and what of it retired, Intel the slots of both. */ \
	[base_ + RETIRING] = { "cache.retiring", "perf_event_topdown" suffix, .plus = "slots_retiring? ops_retired?", .over = "slots", __VA_ARGS__ }, \
	[base_ + SPECULATING] = { "cache.bad_speculation", "perf_event_topdown" suffix, .plus = "slots_bad_speculation? ops_dispatched?", \
				  .minus = "ops_retired?", .over = "slots", __VA_ARGS__ }, \
	[base_ + WAITING_FRONTEND] = { "cache.frontend_bound", "perf_event_topdown" suffix, .plus = "slots_frontend_bound", .over = "slots", \
				       .threshold = OF(frontend), .hold = OF(hold), .floor = OF(least), __VA_ARGS__ }, \
	[base_ + WAITING_BACKEND] = { "cache.backend_bound", "perf_event_topdown" suffix, .plus = "slots_backend_bound", .over = "slots", \
				      .threshold = OF(backend), .hold = OF(hold), .floor = OF(least), __VA_ARGS__ }, \
	NOT_RUNNING_OF(base_, 0, "core", suffix, __VA_ARGS__), \
	NOT_RUNNING_OF(base_, 1, "llc", suffix, __VA_ARGS__), \
	NOT_RUNNING_OF(base_, 2, "cache", suffix, __VA_ARGS__), \
	NOT_RUNNING_OF(base_, 3, "tlb", suffix, __VA_ARGS__), \
	NOT_RUNNING_OF(base_, 4, "branch", suffix, __VA_ARGS__), \
	NOT_RUNNING_OF(base_, 5, "topdown", suffix, __VA_ARGS__)

const char *const cache_groups[GROUPS] = { "core", "llc", "cache", "tlb", "branch", "topdown" };

const struct sonde_stream cache_streams[STREAMS] = {
	STREAMS_OF(HOST, "", .reduce = SONDE_SUM),
	STREAMS_OF(PROCESS, "_process", .key = "pid start_time", .keys = 64),
	/* Why events are not counted, each reason once. */
	[REASON] = { "cache.reason", "perf_event", .plus = "failed", .key = "reason", .reduce = SONDE_SETTING },
};
/* clang-format on */
