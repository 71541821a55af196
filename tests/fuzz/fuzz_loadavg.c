/* Any bytes as what the collector loadavg reads. */
#include "plugins/loadavg/loadavg.c"

#include "tests/fuzz/collector.h"
