/* Names of events as vendors' manuals have them, through libpfm4. */
#ifndef LIBPFM_H
#define LIBPFM_H

#include "perf_event.h"

struct libpfm;

/* The encoding of "ls_dispatch:ld_dispatch" and the like into type and configs. *libpfm is the loaded library, NULL before
 * the first call. 0, or a negative errno with why. */
int libpfm_encode(struct sonde_instance *self, struct libpfm **libpfm, const char *name,
		  struct encoding *code, char why[WORDS_SIZE]);

/* Its tables are unloaded: they take more than all the rest of a collector. */
void libpfm_end(struct libpfm *libpfm);

#endif
