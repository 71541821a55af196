/* The worst stretch of a recording. */
#ifndef CLI_WORST_H
#define CLI_WORST_H

#include "cli/recording.h"

/* Judges the recording in stretches of `length` ns, one behind the other, with the thresholds of a configuration (NULL: their defaults),
 * and leaves in reading->since and until the one with the most severe findings, the first of equals; as they were where nothing was
 * found in any. An exit status; said where it is not EXIT_DONE. */
int worst_stretch(const char *path, const char *config, uint64_t length, struct reading *reading);

#endif
