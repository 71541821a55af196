/* [self]: what sonde itself costs and loses. A collector of the host's own, since only the host knows. */
#ifndef HOST_SELF_H
#define HOST_SELF_H

#include "host/loader.h"

/* The built-in plugin; never freed. */
const struct plugin *self_plugin(void);

#endif
