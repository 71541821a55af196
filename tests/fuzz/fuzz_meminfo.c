/* Any bytes as what the collector meminfo reads. */
#include "plugins/meminfo/meminfo.c"

#include "tests/fuzz/collector.h"
