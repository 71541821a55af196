/* capture = raw: whatever an instance read, as rows of the table `raw` in the instant that was made of it; and the way
 * back, on which the same plugins read those rows. */
#ifndef HOST_CAPTURE_H
#define HOST_CAPTURE_H

#include "host/instance.h"

enum { RAW_INSTANCE, RAW_CALL, RAW_PATH, RAW_ERROR, RAW_PART, RAW_BYTES, RAW_SLOTS };

extern const struct sonde_table raw_table;

/* The instance's calls of the file service go through the capture from now on; its section becomes a row of `config`. 0 or
 * -ENOMEM. */
int capture_begin(struct instance *instance);

/* Its section as a row of `config`, from which the collector is made again when the recording is read back. */
void capture_tell_section(const struct instance *instance);

/* The view of what it read since capture_taken(), if anything: 0 or 1. */
uint32_t capture_views(const struct instance *instance, struct sonde_view *view);
void capture_taken(struct instance *instance);

#endif
