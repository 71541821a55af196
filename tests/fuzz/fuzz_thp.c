/* Any bytes as what the collector thp reads. */
#include "plugins/thp/thp.c"

#include "tests/fuzz/collector.h"
