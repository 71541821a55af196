/* cpu.imbalance and cpu.irq_imbalance: one CPU has more to do than it can, while others have time. */
#include "cpu.h"

static const struct sonde_advice imbalance = {
	.id = "cpu.imbalance",
	.why = "Tasks waited for one CPU while another one idled: an affinity, a cpuset or an interrupt keeps them there.",
	.action =
		"Look for pinned tasks (taskset -cp PID, cpuset.cpus) and for interrupts on that CPU "
		"(cat /proc/interrupts); widen the affinity: taskset -cp 0-$(($(nproc)-1)) PID.",
	.need = "taskset of others' processes needs root",
	.risk = "caches are refilled on the new CPU; what was pinned on purpose loses its own",
	.undo = "taskset -cp with the list that taskset -cp PID showed before",
};
static const struct sonde_advice interrupts = {
	.id = "cpu.irq_imbalance",
	.why = "Packets and completions queue up behind one CPU, and tasks on it hardly run, while others have time.",
	.action =
		"Spread them: more queues (ethtool -L DEV combined N), irqbalance or /proc/irq/N/smp_affinity_list; where there is one "
		"queue, RPS: echo MASK > /sys/class/net/DEV/queues/rx-0/rps_cpus.",
	.need = "root; a device with several queues",
	.risk = "packets of one flow may be seen by several CPUs",
	.undo = "write what stood in the files before",
};

/* The series of a stream by CPU with the highest mean between two instants, and the lowest. */
static void extremes(struct sonde_instance *self, uint32_t stream, const struct sonde_held *held,
		     const struct sonde_series **busiest, double *most,
		     const struct sonde_series **idlest, double *least)
{
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, stream, &count);

	*busiest = *idlest = NULL;
	for (uint32_t i = 0; i < count; i++) {
		const struct sonde_slice sum =
			sonde_between(self, stream, i, held->begin, held->end);
		double mean = sonde_mean(&sum);

		if (strcmp(series[i].key, "other") == 0 || sum.denominator <= 0)
			continue;
		if (!*busiest || mean > *most) {
			*busiest = &series[i];
			*most = mean;
		}
		if (!*idlest || mean < *least) {
			*idlest = &series[i];
			*least = mean;
		}
	}
}

/* The line of /proc/interrupts that came most often on this CPU; keys are "CPU LINE". */
static void add_line(struct sonde_instance *self, const char *cpu, const struct sonde_held *held,
		     struct sonde_proof *proof, struct sonde_words *name)
{
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, IRQ_LINES, &count);
	double seconds = (double)(held->end - held->begin) / 1e9;
	size_t length = strlen(cpu);

	for (uint32_t i = 0; i < count; i++) {
		struct sonde_slice sum;

		if (strncmp(series[i].key, cpu, length) != 0 || series[i].key[length] != ' ')
			continue;
		sum = sonde_between(self, IRQ_LINES, i, held->begin, held->end);
		sonde_say(name, "interrupt %s", series[i].key + length + 1);
		sonde_prove(proof, name->text, sum.numerator / seconds, SONDE_BASE_COUNT,
			    "interrupts/s", "/proc/interrupts, on that CPU");
		return;
	}
}

/* How much of the CPU's time went into interrupts, where that is what keeps it busy, and which they were. */
static void add_interrupts(struct sonde_instance *self, const char *cpu,
			   const struct sonde_held *held, struct sonde_proof *proof,
			   struct sonde_words *line)
{
	const struct conf *conf = self->conf;
	struct sonde_slice sum;
	uint32_t index;

	if (!sonde_series_of(self, IRQ_BUSY, cpu, &index))
		return;
	sum = sonde_between(self, IRQ_BUSY, index, held->begin, held->end);
	if (sonde_mean(&sum) <= conf->irq_busy)
		return;
	sonde_prove(proof, "cpu.irq_busiest", sonde_mean(&sum), SONDE_BASE_RATIO, NULL,
		    "/proc/stat cpuN words 6 7");
	add_line(self, cpu, held, proof, line);
}

/* The CPU that was found, NULL: none. */
static const char *judge_imbalance(struct sonde_instance *self)
{
	static const struct sonde_mean_metric queued = {
		QUEUED,           "cpu.busiest_queue",
		SONDE_BASE_COUNT, SONDE_NEITHER,
		"tasks",          "/proc/schedstat cpu number 8, longest"
	};
	static const struct sonde_mean_metric pressure = {
		PRESSURE,      "cpu.pressure", SONDE_BASE_RATIO,
		SONDE_NEITHER, NULL,           "/proc/pressure/cpu some total="
	};
	const bool by_queue = sonde_single(self, QUEUED) != NULL;
	const struct sonde_series *spread = sonde_single(self, by_queue ? QUEUED_SPREAD : SPREAD);
	const struct sonde_series *busiest, *idlest;
	struct sonde_proof proof = { 0 };
	struct sonde_words title, about, line;
	double most = 0, least = 0;

	if (!spread || !spread->held.time)
		return NULL;
	extremes(self, BUSY, &spread->held, &busiest, &most, &idlest, &least);
	if (!busiest)
		return NULL;
	sonde_prove(&proof, "cpu.busiest", most, SONDE_BASE_RATIO, NULL, "/proc/stat cpuN");
	sonde_prove(&proof, "cpu.idlest", least, SONDE_BASE_RATIO, NULL, "/proc/stat cpuN");
	sonde_prove_mean(self, &proof, &spread->held, by_queue ? &queued : &pressure);
	add_interrupts(self, busiest->key, &spread->held, &proof, &line);
	sonde_say(&title,
		  "CPU %s was %.0f %% busy with tasks waiting, while CPU %s was %.0f %% busy",
		  busiest->key, most * 100, idlest->key, least * 100);
	sonde_say(&about, "cpu %s", busiest->key);
	sonde_found(self, &imbalance, SONDE_SEVERITY_WARNING, about.text, title.text, &spread->held,
		    sonde_weight(&spread->held), &proof);
	return busiest->key;
}

/* Silent of a CPU of which cpu.imbalance told already. */
static void judge_interrupts(struct sonde_instance *self, const char *told)
{
	const struct sonde_series *spread = sonde_single(self, IRQ_SPREAD);
	const struct sonde_series *busiest, *idlest;
	struct sonde_proof proof = { 0 };
	struct sonde_words title, about, line;
	double most = 0, least = 0;

	if (!spread || !spread->held.time)
		return;
	extremes(self, IRQ_BUSY, &spread->held, &busiest, &most, &idlest, &least);
	if (!busiest || (told && strcmp(told, busiest->key) == 0))
		return;
	sonde_prove(&proof, "cpu.irq_busiest", most, SONDE_BASE_RATIO, NULL,
		    "/proc/stat cpuN words 6 7");
	sonde_prove(&proof, "cpu.irq_least", least, SONDE_BASE_RATIO, NULL,
		    "/proc/stat cpuN words 6 7");
	add_line(self, busiest->key, &spread->held, &proof, &line);
	sonde_say(&title, "CPU %s spent %.0f %% of its time on interrupts, CPU %s %.0f %%",
		  busiest->key, most * 100, idlest->key, least * 100);
	sonde_say(&about, "cpu %s", busiest->key);
	sonde_found(self, &interrupts, SONDE_SEVERITY_WARNING, about.text, title.text,
		    &spread->held, sonde_weight(&spread->held), &proof);
}

void cpu_imbalance(struct sonde_instance *self)
{
	judge_interrupts(self, judge_imbalance(self));
}
