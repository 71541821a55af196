/* Any bytes as what the collector schedstat reads. */
#include "plugins/schedstat/schedstat.c"

#include "tests/fuzz/collector.h"
