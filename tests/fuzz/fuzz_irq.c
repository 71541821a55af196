/* Any bytes as what the collector irq reads. */
#include "plugins/irq/irq.c"

#include "tests/fuzz/collector.h"
