/* A gate for CI: whether what the analysis said lets a change through. */
#ifndef CLI_GATE_H
#define CLI_GATE_H

#include "core/instant.h"

/* One finding of the catalogue. */
struct gate_verdict {
	char id[64];
	bool judged;
};

/* Fill the first three, hand `outlet` to the pipeline, ask gate_status(). */
struct gate {
	const char *fail_on; /* info, warning or critical; NULL: there is no gate */
	const char *
		require; /* findings that have to be judged, separated by commas, each of the catalogue; NULL: all of them */
	bool allow_gaps; /* data that is missing does not close it */

	struct outlet outlet;
	struct gate_verdict *verdicts; /* of the newest judgement */
	uint32_t nverdicts;
	uint64_t judgement; /* sequence of its instant, plus 1 */
	uint64_t found, gaps;
};

/* False, and said, where `fail_on` is no severity. */
bool gate_open(struct gate *gate);

/* EXIT_DONE, EXIT_GATE where something that severe was found, EXIT_FAILED where it can't be known; said in a line. `subject`
 * is the recording. Frees what the gate holds. */
int gate_status(struct gate *gate, const char *subject);

#endif
