/* Why an event could not be opened, in plain words and with what would help (perf_event_open(2), "ERRORS"). */
#ifndef WORDS_H
#define WORDS_H

#include "perf_event.h"

struct trouble {
	int error; /* errno */
	uint32_t scope;
	int paranoid;    /* kernel.perf_event_paranoid */
	uint64_t needed; /* descriptors */
	const struct member *member;
};

void words_of(const struct trouble *trouble, char words[WORDS_SIZE]);

#endif
