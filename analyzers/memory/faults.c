/* mem.major_faults and mem.minor_fault_storm: processes whose time goes into page faults (/proc/PID/stat fields 10 and 12,
 * proc_pid_stat(5)). */
#include "memory.h"

static const struct sonde_advice major = {
	.id = "mem.major_faults",
	.why = "The process waited for its pages to come from disk or swap: each such fault takes as long as the device "
	       "does, hundreds of instructions or not.",
	.action =
		"See whether its files or its memory were evicted (mem.pressure, mem.swapping); keep them in memory: "
		"vmtouch -t FILE before the start, mlock(2) or MemoryLow= for the service, or more memory.",
	.need = "CAP_IPC_LOCK or RLIMIT_MEMLOCK for mlock",
	.risk = "what is locked is not there for others",
	.undo = "munlock(2), systemctl revert UNIT",
};
static const struct sonde_advice minor = {
	.id = "mem.minor_fault_storm",
	.why = "The process makes the kernel map pages all the time: memory is allocated, returned and allocated again, "
	       "or touched for the first time.",
	.action =
		"Keep freed memory in the process: MALLOC_TRIM_THRESHOLD_=1000000000 MALLOC_MMAP_THRESHOLD_=1000000000 "
		"in its environment (glibc); reuse buffers; MAP_POPULATE or huge pages for what is touched once.",
	.need = "a restart of the process",
	.risk = "its memory stays at the peak",
	.undo = "remove the variables",
};

/* Of what is counted, by which clock. */
struct kind {
	const struct sonde_advice *advice;
	uint32_t stream,
		told_by; /* told_by: another stream, whose processes are told of already; the same: none */
	const char *per, *origin;
	double scale; /* from the stream's rate to one of a second */
};

static bool is_told(struct sonde_instance *self, const struct kind *kind, const char *key)
{
	const struct sonde_series *other = NULL;

	if (kind->told_by != kind->stream)
		other = sonde_series_of(self, kind->told_by, key, NULL);
	return other && other->held.time;
}

static void judge_faults(struct sonde_instance *self, const struct kind *kind, uint32_t *told)
{
	const struct conf *conf = self->conf;
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, kind->stream, &count);

	for (uint32_t i = 0; i < count && *told < conf->limit; i++) {
		int pid = (int)strcspn(series[i].key, " ");
		const struct sonde_held *held = &series[i].held;
		double rate = sonde_held_mean(held) * kind->scale;
		struct sonde_proof proof = { 0 };
		struct sonde_words about, title;

		if (!held->time || strcmp(series[i].key, "other") == 0 ||
		    is_told(self, kind, series[i].key))
			continue;
		sonde_say(&about, "process %.*s (%s)", pid, series[i].key, series[i].label);
		sonde_say(&title, "Process %.*s (%s) took %.0f %s", pid, series[i].key,
			  series[i].label, rate, kind->per);
		sonde_prove(&proof, kind->advice->id, rate, SONDE_BASE_COUNT, "faults/s",
			    kind->origin);
		sonde_prove(&proof, "mem.faults_in_all", held->numerator, SONDE_BASE_COUNT,
			    "faults", kind->origin);
		sonde_found(self, kind->advice, SONDE_SEVERITY_WARNING, about.text, title.text,
			    held, held->numerator, &proof);
		++*told;
	}
}

void memory_faults(struct sonde_instance *self)
{
	static const struct kind majors = {
		&major, MAJOR, MAJOR, "major faults a second", "/proc/PID/stat field 12", 1
	};
	static const struct kind minors = {
		&minor, MINOR, MINOR, "minor faults a second", "/proc/PID/stat field 10", 1
	};
	static const struct kind of_cpu = { &minor,
					    MINOR_OF_CPU,
					    MINOR,
					    "minor faults a second of its CPU time",
					    "/proc/PID/stat fields 10, 14 and 15",
					    1e9 };
	uint32_t major_told = 0, minor_told = 0;

	judge_faults(self, &majors, &major_told);
	judge_faults(self, &minors, &minor_told);
	judge_faults(self, &of_cpu, &minor_told);
}
