/* Any bytes as what the collector net reads. */
#include "plugins/net/net.c"
#include "plugins/net/softnet.c"
#include "plugins/net/stack.c"

#include "tests/fuzz/collector.h"
