/* From instants to calls of a sink: in the form that it takes, as often as it asks for, with the writer that it needs. */
#ifndef HOST_INTAKE_H
#define HOST_INTAKE_H

#include "core/ring.h"
#include "host/instance.h"

struct intake {
	struct instance *instance;
	const struct sonde_sink_ops *ops;
	uint32_t takes;    /* enum sonde_intake */
	struct ring *ring; /* that a pause is to be ended by; NULL: replayed */
	struct writer *writer;
	struct datagram_writer *datagrams;

	bool restart;     /* asked for by the sink */
	bool broken;      /* the sink did not take the last bytes that it was offered */
	bool skipping;    /* the rest of a segment of which bytes were lost */
	int error;        /* of an emit, for the call that caused it */
	atomic_bool done; /* the sink wants no more */

	atomic_bool stopping;
	atomic_ullong give_up; /* CLOCK_MONOTONIC ns; with `stopping` */
	atomic_ullong bytes, retries;
};

/* For a sink that was started, into a zeroed struct. 0 or a negative errno; a sentence in `why` where the plugin is at
 * fault. */
int intake_open(struct intake *intake, struct instance *instance, char *why, size_t size);

/* Each 0, or the first negative errno of the sink: what was not taken is lost. -ECANCELED: it is time to end. */
int intake_instant(struct intake *intake, const struct instant *instant);
int intake_flush(struct intake *intake);

/* The end of the stream, which the sink still gets; frees. */
void intake_close(struct intake *intake);

#endif
