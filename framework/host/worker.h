/* isolation = process: a collector in a worker process, which is this same program with a hidden argument. The plugin is
 * loaded there and nowhere else: whatever it does, the host lives. */
#ifndef HOST_WORKER_H
#define HOST_WORKER_H

#include <sonde/plugin.h>

/* Whether the program was started as a worker, and what it does then: an exit status. For main(). */
bool worker_is(int argc, char **argv);
int worker_main(int argc, char **argv);

/* ---- What host and worker tell each other, over a socket: a message, and its payload. */

#define WORKER_ARGUMENT "--sonde-worker"

enum { WORKER_FD = 3, WORKER_PAYLOAD = 256 << 20 };

/* Each is answered by a message of the same kind and index. */
enum worker_kind {
	WORKER_NEW, /* payload: a section (section_pack()), in place of one of that index; answer: mistakes, one a line */
	WORKER_CHECK,  /* answer: why it is not available */
	WORKER_START,  /* likewise, or a stream of one instant: all its tables, empty */
	WORKER_SAMPLE, /* answer: a stream (docs/format.md) with one more instant */
	WORKER_STOP,
};

enum worker_flags {
	WORKER_OWN_TIME = 1 << 0, /* the instant's times are the device's */
};

struct worker_message {
	uint32_t kind;
	uint32_t index; /* of the instance in its worker */
	int32_t status; /* of an answer: 0 or a negative errno */
	uint32_t flags;
	uint32_t length; /* of the payload */
	uint32_t reserved;
	uint64_t lost; /* of the answer to a sample: rows that found no room, ever */
};

#endif
