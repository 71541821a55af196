/* io.pressure: tasks that wait for I/O while CPUs have other work, so that no iowait is counted, with the device and the processes
 * that used disks most meanwhile (Documentation/accounting/psi.rst). */
#include <math.h>

#include "io.h"

enum { PROCESSES_TOLD = 3 };

static const struct sonde_advice advice = {
	.id = "io.pressure",
	.why = "Tasks stood still until a device answered, and others used the CPUs meanwhile: iowait, which is idle time, shows nothing of "
	       "it.",
	.action =
		"See who uses the device (the processes above; iotop -o) and who waits for it (delay.block_io); let what is not urgent "
		"give way: systemctl set-property UNIT IOWeight=10, or ionice -c 3 -p PID; else fewer or larger requests, or a faster device.",
	.need = "root, for others' units and processes; IOWeight= needs an I/O scheduler or controller that weighs (bfq, io.cost)",
	.risk = "what gives way takes longer",
	.undo = "systemctl revert UNIT, or ionice -c 2 -n 4 -p PID",
};

/* The whole disk with the longest queue meanwhile: its queue, and how long its requests took. */
static void prove_disk(struct sonde_instance *self, const struct sonde_held *held,
		       struct sonde_proof *proof, struct sonde_words names[2])
{
	uint32_t count, worst = 0, index;
	const struct sonde_series *series = sonde_series(self, QUEUE, &count);
	double most = 0;

	for (uint32_t i = 0; i < count; i++) {
		double sum = sonde_between(self, QUEUE, i, held->begin, held->end).numerator;

		if (strcmp(series[i].key, "other") == 0 || sum <= most ||
		    io_is_part_of_another(series, count, i))
			continue;
		most = sum;
		worst = i;
	}
	if (most <= 0)
		return;
	sonde_prove(proof, sonde_say(&names[0], "disk %s, queue", series[worst].label),
		    most / (double)(held->end - held->begin), SONDE_BASE_COUNT, "requests",
		    "/proc/diskstats field 11");
	if (sonde_series_of(self, WAIT, series[worst].key, &index)) {
		struct sonde_slice sum = sonde_between(self, WAIT, index, held->begin, held->end);

		if (sum.denominator > 0)
			sonde_prove(proof,
				    sonde_say(&names[1], "disk %s, wait", series[worst].label),
				    sonde_mean(&sum), SONDE_BASE_NS, NULL,
				    "/proc/diskstats fields 4 8, of 1 5");
	}
}

/* Those that moved most bytes, the first of them first. */
static void prove_processes(struct sonde_instance *self, const struct sonde_held *held,
			    struct sonde_proof *proof, struct sonde_words names[PROCESSES_TOLD])
{
	double seconds = (double)(held->end - held->begin) / 1e9, above = HUGE_VAL;
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, PROCESS, &count);

	for (int told = 0; told < PROCESSES_TOLD; told++) {
		const struct sonde_series *most = NULL;
		double bytes = 0;

		for (uint32_t i = 0; i < count; i++) {
			double sum =
				sonde_between(self, PROCESS, i, held->begin, held->end).numerator;

			if (strcmp(series[i].key, "other") == 0 || sum <= bytes || sum >= above)
				continue;
			bytes = sum;
			most = &series[i];
		}
		if (!most)
			return;
		above = bytes;
		sonde_say(&names[told], "process %.*s (%s)", (int)strcspn(most->key, " "),
			  most->key, most->label);
		sonde_prove(proof, names[told].text, bytes / seconds, SONDE_BASE_BYTES, "/s",
			    "/proc/PID/io read_bytes: write_bytes:");
	}
}

/* Waiting for pages that were evicted is waiting for I/O too: where that is most of it, mem.pressure tells. */
static bool is_for_memory(struct sonde_instance *self, const struct sonde_held *held)
{
	struct sonde_slice sum;

	if (!sonde_single(self, MEMORY))
		return false;
	sum = sonde_between(self, MEMORY, 0, held->begin, held->end);
	return sonde_mean(&sum) > sonde_held_mean(held) / 2;
}

void io_pressure(struct sonde_instance *self)
{
	static const struct sonde_mean_metric full = { PRESSURE_FULL,
						       "io.pressure_full",
						       SONDE_BASE_RATIO,
						       SONDE_NEITHER,
						       NULL,
						       "/proc/pressure/io full total=" };
	static const struct sonde_mean_metric utilisation = {
		UTILISATION,
		"cpu.utilisation",
		SONDE_BASE_RATIO,
		SONDE_NEITHER,
		NULL,
		"/proc/stat cpuN words 1 2 3 6 7 of the first eight"
	};
	const struct sonde_series *series = sonde_single(self, PRESSURE);
	struct sonde_words title, disk[2], processes[PROCESSES_TOLD];
	struct sonde_proof proof = { 0 };
	const struct sonde_held *held;

	if (!series || !series->held.time || is_for_memory(self, &series->held))
		return;
	held = &series->held;
	sonde_say(&title,
		  "Tasks waited for I/O %.1f %% of the time, beside CPUs that had other work",
		  sonde_held_mean(held) * 100);
	sonde_prove(&proof, "io.pressure_some", sonde_held_mean(held), SONDE_BASE_RATIO, NULL,
		    "/proc/pressure/io some total=");
	sonde_prove_mean(self, &proof, held, &full);
	sonde_prove_mean(self, &proof, held, &utilisation);
	prove_disk(self, held, &proof, disk);
	prove_processes(self, held, &proof, processes);
	sonde_found(self, &advice, SONDE_SEVERITY_INFO, "host", title.text, held,
		    sonde_weight(held), &proof);
}
