/* What is wrong, as numbers. */
#ifndef DEMO_SCENARIOS_H
#define DEMO_SCENARIOS_H

#include "demo/demo.h"
#include "demo/model.h"

struct change {
	enum quantity quantity;
	double value;
};

struct scenario {
	const char *name, *title;
	const struct change *changes; /* of what is healthy */
	size_t nchanges;
	const struct process
		*processes; /* besides those of any machine, ended by a name of NULL; NULL: none */
};

/* The machine as it is in this scenario, at its first sample. */
struct model scenario_model(const struct scenario *scenario);

#endif
