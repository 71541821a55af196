/* Any bytes as what the collector numa reads. */
#include "plugins/numa/numa.c"

#include "tests/fuzz/collector.h"
