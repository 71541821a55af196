/* Any bytes as what the collector cpu reads. */
#include "plugins/cpu/cpu.c"

#include "tests/fuzz/collector.h"
