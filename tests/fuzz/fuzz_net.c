/* Any bytes as what the collector net reads. */
#include "plugins/net/net.c"

#include "tests/fuzz/collector.h"
