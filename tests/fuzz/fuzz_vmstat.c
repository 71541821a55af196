/* Any bytes as what the collector vmstat reads. */
#include "plugins/vmstat/vmstat.c"

#include "tests/fuzz/collector.h"
