/* Signals of a pipeline whose output fails: an errno instead of a death (signal(7), write(2)). */
#ifndef HOST_SIGNALS_H
#define HOST_SIGNALS_H

#include <signal.h>

struct signals {
	struct sigaction pipe, size;
};

/* SIGPIPE (nobody reads) and SIGXFSZ (RLIMIT_FSIZE is reached) are ignored until signals_restore(); write(2) says
 * EPIPE and EFBIG. `before` is what they were. */
void signals_ignore(struct signals *before);
void signals_restore(const struct signals *before);

#endif
