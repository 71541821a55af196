/* Any bytes as what the collector disk reads. */
#include "plugins/disk/disk.c"

#include "tests/fuzz/collector.h"
