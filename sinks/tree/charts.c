/* What the charts above the lanes show, from span to span. */
#include "tree.h"

static double length(const struct span *span)
{
	return (double)(span->end - span->begin);
}

static double cpu(const struct span *span)
{
	return span->cpu / length(span);
}

static double machine_cpu(const struct span *span)
{
	return span->amounts.busy / length(span);
}

static double waiting(const struct span *span)
{
	return span->amounts.wait / length(span);
}

static double blocked(const struct span *span)
{
	return span->amounts.blocked / length(span);
}

static double resident(const struct span *span)
{
	return span->amounts.rss;
}

static double per_second(const struct span *span, double amount)
{
	return amount / (length(span) / 1e9);
}

static double faults(const struct span *span)
{
	return per_second(span, span->amounts.faults);
}

static double major_faults(const struct span *span)
{
	return per_second(span, span->amounts.major_faults);
}

static double read_rate(const struct span *span)
{
	return per_second(span, span->amounts.read);
}

static double write_rate(const struct span *span)
{
	return per_second(span, span->amounts.written);
}

/* clang-format off */
const struct series tree_series[SERIES] = {
	{ "CPU", "cpu", "these processes", "none", "CPUs", "/proc/PID/stat fields 14 15; of a subtree with 16 17 of those who waited", cpu },
	{ "CPU", "machine_cpu", "the whole machine", "none", "CPUs", "/proc/stat cpu words 1 2 3 6 7", machine_cpu },
	{ "run queue", "waiting", "waiting for a CPU", "none", "threads", "/proc/PID/schedstat field 2", waiting },
	{ "run queue", "blocked", "blocked on disk", "none", "threads", "/proc/PID/stat field 42; where that is not counted, field 3 = D", blocked },
	{ "memory", "rss", "resident, shared pages in each", "bytes", "", "/proc/PID/status VmRSS:", resident },
	{ "faults", "faults", "without I/O", "none", "faults/s", "/proc/PID/stat field 10", faults },
	{ "faults", "major_faults", "that waited for I/O", "none", "faults/s", "/proc/PID/stat field 12", major_faults },
	{ "I/O", "read", "read, the whole machine", "bytes", "/s", "/proc/vmstat pgpgin", read_rate },
	{ "I/O", "written", "written, the whole machine", "bytes", "/s", "/proc/vmstat pgpgout", write_rate },
};

double tree_cpus(const struct tree *tree, double cpus)
{
	return tree->cpus && cpus > (double)tree->cpus ? (double)tree->cpus : cpus;
}

double tree_charted(const struct tree *tree, const struct series *series, const struct span *span)
{
	double value = series->value(span);

	return strcmp(series->counted, "CPUs") == 0 ? tree_cpus(tree, value) : value;
}
