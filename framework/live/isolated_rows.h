/* What a worker answered to a sample, into the frames of its instance. */
#ifndef HOST_ISOLATED_ROWS_H
#define HOST_ISOLATED_ROWS_H

#include "host/foreign.h"
#include "host/instance.h"
#include "wire/reader.h"

/* Every instant that the reader has: rows into the instance's frame, raw text into its other one, notes on to the host.
 * `own_time`: the instant's times are the device's. 0 or a negative errno: what came is no stream. */
int isolated_rows(struct reader *reader, struct foreign *foreign, struct instance *instance,
		  bool own_time);

#endif
