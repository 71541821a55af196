/* Events as a section writes them, as the kernel takes them. */
#ifndef EVENT_H
#define EVENT_H

#include "pmu.h"

enum { GROUP_TEXT_SIZE = 256 << 10 };

/* What start() knows of the machine while it makes sense of events; nothing of it is needed afterwards. */
struct resolver {
	struct sonde_instance *self;
	struct pmu pmus[PMUS_MOST]; /* those that were asked for */
	uint32_t npmus;
	struct pmu
		*cores[PMUS_MOST]; /* of them, what counts on CPUs; hybrid machines have several */
	uint32_t ncores;
	uint32_t
		ntexts; /* of the group files for each core PMU; without one, of those that are for any */
	char *text[PMUS_MOST];
	size_t length[PMUS_MOST];
	char bad[WORDS_SIZE]; /* the first group file that is left out, and why */
	char cpu[NAME_SIZE];  /* "GenuineIntel-6-8F" */
	char why[WORDS_SIZE];
	struct libpfm *libpfm;
};

/* An event on a PMU. */
struct resolved {
	const struct pmu *pmu;
	struct encoding code;
	struct meaning meaning;
	char column[NAME_SIZE];
};

/* Finds the core PMUs and their group files; to be ended. 0, or a negative errno. */
int resolver_begin(struct resolver *resolver, struct sonde_instance *self, const char *group_path);
void resolver_end(struct resolver *resolver);

/* Every PMU that counts the event; `core`: of core PMUs only this one, NULL: any. Returns how many, 0 with resolver->why. */
uint32_t event_resolve(struct resolver *resolver, const char *spec, const struct pmu *core,
		       struct resolved found[PMUS_MOST]);

#endif
