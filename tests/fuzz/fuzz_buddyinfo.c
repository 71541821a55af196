/* Any bytes as what the collector buddyinfo reads. */
#include "plugins/buddyinfo/buddyinfo.c"

#include "tests/fuzz/collector.h"
