/* mem.pressure: work that stood still for want of memory, and the control group whose it is: one that was at its limit; else the one
 * whose processes waited for most pages. */
#include "memory.h"

/* The key of the series that counted most a second while something held. A cgroup counts with those below it: of these, the one that has more
 * than half of it. NULL: none counted anything. */
static const char *most_of(struct sonde_instance *self, uint32_t stream,
			   const struct sonde_held *held, double *most)
{
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, stream, &count);
	const char *worst = NULL;
	double seconds = (double)(held->end - held->begin) / 1e9;

	for (uint32_t i = 0; i < count && seconds > 0; i++) {
		double rate =
			sonde_between(self, stream, i, held->begin, held->end).numerator / seconds;
		size_t length = worst ? strlen(worst) : 0;
		bool below = length > 1 && strncmp(series[i].key, worst, length) == 0 &&
			     series[i].key[length] == '/';

		if (strcmp(series[i].key, "other") == 0 || rate <= 0 ||
		    (worst && rate <= (below ? *most / 2 : *most)))
			continue;
		worst = series[i].key;
		*most = rate;
	}
	return worst;
}

/* Names it in the evidence and in what to do. */
static void suspect(struct sonde_instance *self, const struct sonde_held *held,
		    struct sonde_proof *proof, struct sonde_words *name, struct sonde_words *action)
{
	static const char limits[] = "memory.high and memory.max; version 1: memory.limit_in_bytes";
	double rate = 0;
	uint32_t recorded;
	const char *group = most_of(self, GROUP_AT_LIMIT, held, &rate);

	if (group) {
		sonde_say(name, "cgroup %s at its limit", group);
		sonde_prove(proof, name->text, rate, SONDE_BASE_COUNT, "events/s",
			    "memory.events high max; version 1: memory.failcnt");
		sonde_say(
			action,
			"Make the working set of cgroup %s fit, which was at its memory limit: run less at once in it, "
			"raise that limit (%s) if the machine has room, or add memory.",
			group, limits);
		return;
	}
	group = most_of(self, GROUP_MAJOR, held, &rate);
	if (group) {
		sonde_say(name, "cgroup %s, major faults", group);
		sonde_prove(proof, name->text, rate, SONDE_BASE_COUNT, "faults/s",
			    "/proc/PID/stat field 12, of its processes");
	}
	sonde_series(self, GROUP_LIMITED, &recorded);
	if (recorded)
		sonde_say(
			action,
			"Make the working set fit: run less at once, or add memory. No cgroup that was recorded was at "
			"its limit.");
	else
		sonde_say(
			action,
			"Make the working set fit: run less at once, raise the limit of the cgroup that suffers "
			"(%s), or add memory. Which one was at its limit: sonde record --profile memory.",
			limits);
}

void memory_pressure(struct sonde_instance *self, const struct sonde_held *held,
		     enum sonde_severity severity, const char *title,
		     const struct sonde_mean_metric *own,
		     const struct sonde_mean_metric *const *extras)
{
	struct sonde_proof proof = { 0 };
	struct sonde_words name, action;
	const struct sonde_advice advice = {
		.id = "mem.pressure",
		.why = "For that share of time no task that had work could do any, because all of them waited for memory to be "
		       "reclaimed, read back or swapped in.",
		.action = action.text,
		.need = "root, for another's limit",
		.risk = "a higher limit takes memory from others",
		.undo = "systemctl revert UNIT",
	};

	if (!held->time)
		return;
	sonde_prove(&proof, own->name, sonde_held_mean(held), own->unit, own->counted, own->origin);
	for (; *extras; extras++)
		sonde_prove_mean(self, &proof, held, *extras);
	suspect(self, held, &proof, &name, &action);
	sonde_found(self, &advice, severity, "host", title, held, sonde_weight(held), &proof);
}
