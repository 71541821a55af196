/* Whether `ignore` in an analyzer's section says what can be meant. */
#ifndef HOST_IGNORED_H
#define HOST_IGNORED_H

#include "host/instance.h"

/* Each line that is not of its form, or names no finding of this analyzer, is a mistake in the configuration. */
void ignored_check(struct config *config, const struct instance *instance);

#endif
