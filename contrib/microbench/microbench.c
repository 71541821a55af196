/* microbench: small programs that each do one thing wrong, say what it costs, and so show what sonde finds of it:
 * sonde profile -- microbench churn. */
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "microbench.h"

static const char help[] =
	"usage: microbench [OPTION]... NAME\n\n"
	"Does one thing that costs, for a while, and says what it cost. With sonde around it, the report says what it did:\n"
	"sonde profile -- microbench churn\n\n"
	"  -s, --seconds N     for how long each case; default 5\n"
	"  -m, --size SIZE     memory: 64MiB, 1GiB; default: NAME's own\n"
	"  -c, --cpus LIST     0,2-3; default: those that it may use\n"
	"  -n, --node N        memory of this NUMA node; default: as the kernel likes\n"
	"  -j, --tasks N       how many at once; default: NAME's own\n"
	"  -k, --case NAME     only cases whose name begins so\n"
	"  -f, --folder PATH   for files; default /var/tmp\n"
	"      --csv           benchmark,case,value,unit, with a line of these words before\n"
	"  -l, --list          names, a line each\n"
	"  -h, --help          print this; with a NAME what to expect of it\n\n";

static const struct benchmark *const benchmarks[] = {
	&bench_latency, &bench_touch,  &bench_wakeup,  &bench_sharing,  &bench_crowd,
	&bench_churn,   &bench_convoy, &bench_reclaim, &bench_fragment,
};

enum { COUNT = sizeof benchmarks / sizeof *benchmarks, OPT_CSV = 256, MISUSE = 2 };

static const struct option options[] = {
	{ "seconds", required_argument, NULL, 's' },
	{ "size", required_argument, NULL, 'm' },
	{ "cpus", required_argument, NULL, 'c' },
	{ "node", required_argument, NULL, 'n' },
	{ "tasks", required_argument, NULL, 'j' },
	{ "case", required_argument, NULL, 'k' },
	{ "folder", required_argument, NULL, 'f' },
	{ "csv", no_argument, NULL, OPT_CSV },
	{ "list", no_argument, NULL, 'l' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static bool number(const char *text, double least, double most, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return end != text && !*end && *value >= least && *value <= most;
}

static bool bytes(const char *text, uint64_t *size)
{
	static const struct {
		const char *unit;
		int shift;
	} units[] = { { "", 0 }, { "KiB", 10 }, { "MiB", 20 }, { "GiB", 30 } };
	char *end;
	unsigned long long value = strtoull(text, &end, 10);

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (end != text && strcmp(end, units[i].unit) == 0 && value > 0 &&
		    value < 1ull << 44 >> units[i].shift) {
			*size = value << units[i].shift;
			return true;
		}
	return false;
}

static bool cpu_list(const char *text, struct settings *settings)
{
	settings->ncpus = 0;
	while (*text) {
		char *end;
		long first = strtol(text, &end, 10), last = first;

		if (end == text)
			return false;
		if (*end == '-') {
			text = end + 1;
			last = strtol(text, &end, 10);
			if (end == text)
				return false;
		}
		if (first < 0 || last < first || last >= CPUS_MOST)
			return false;
		for (; first <= last && settings->ncpus < CPUS_MOST; first++)
			settings->cpus[settings->ncpus++] = (int)first;
		if (*end && *end != ',')
			return false;
		text = *end ? end + 1 : end;
	}
	return settings->ncpus > 0;
}

/* Those that this process may use. */
static void own_cpus(struct settings *settings)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof set, &set))
		CPU_SET(0, &set);
	for (int cpu = 0; cpu < CPUS_MOST && cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, &set))
			settings->cpus[settings->ncpus++] = cpu;
}

static bool take(struct settings *settings, int option, const char *text)
{
	double value;

	switch (option) {
	case 's':
		return number(text, 0.01, 86400, &settings->seconds);
	case 'm':
		return bytes(text, &settings->size);
	case 'c':
		return cpu_list(text, settings);
	case 'n':
		if (!number(text, 0, 1023, &value))
			return false;
		settings->node = (int)value;
		return true;
	case 'j':
		if (!number(text, 1, TASKS_MOST, &value))
			return false;
		settings->tasks = (uint32_t)value;
		return true;
	case 'k':
		settings->only = text;
		return true;
	case 'f':
		settings->folder = text;
		return true;
	default:
		settings->csv = true;
		return true;
	}
}

static const struct benchmark *find(const char *name)
{
	for (size_t i = 0; i < COUNT; i++)
		if (strcmp(benchmarks[i]->name, name) == 0)
			return benchmarks[i];
	return NULL;
}

static int print_list(void)
{
	for (size_t i = 0; i < COUNT; i++)
		printf("  %-10s %s\n", benchmarks[i]->name, benchmarks[i]->summary);
	return 0;
}

static int print_help(const char *name)
{
	const struct benchmark *one = name ? find(name) : NULL;

	if (one) {
		printf("%s: %s\n\n%s\n", one->name, one->summary, one->expect);
		return 0;
	}
	fputs(help, stdout);
	return print_list();
}

int main(int argc, char **argv)
{
	struct settings settings = { .seconds = 5, .node = -1, .folder = "/var/tmp" };
	const struct benchmark *benchmark;
	bool helps = false;
	int c;

	own_cpus(&settings);
	while ((c = getopt_long(argc, argv, "s:m:c:n:j:k:f:lh", options, NULL)) != -1) {
		if (c == '?')
			return MISUSE;
		if (c == 'l')
			return print_list();
		helps |= c == 'h';
		if (c != 'h' && !take(&settings, c, optarg)) {
			fail("-%c %s: not a value of it; microbench --help", c, optarg);
			return MISUSE;
		}
	}
	if (helps)
		return print_help(argv[optind]);
	benchmark = optind == argc - 1 ? find(argv[optind]) : NULL;
	if (!benchmark) {
		if (optind == argc - 1)
			fail("there is no \"%s\"; microbench --list names them", argv[optind]);
		else
			fail("one NAME of microbench --list");
		return MISUSE;
	}
	if (settings.csv)
		puts("benchmark,case,value,unit");
	if (benchmark->run(&settings))
		return 1;
	if (none_wanted()) {
		fail("--case %s: no case of %s begins so; without it all of them run",
		     settings.only, benchmark->name);
		return MISUSE;
	}
	return 0;
}
