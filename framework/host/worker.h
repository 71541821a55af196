/* isolation = process: a collector in a worker process, behind the same vtable. The worker is this same program. */
#ifndef HOST_WORKER_H
#define HOST_WORKER_H

#include <sonde/plugin.h>

/* Whether the program was started as a worker, and what it does then: an exit status. For main(). */
bool worker_is(int argc, char **argv);
int worker_main(int argc, char **argv);

#endif
