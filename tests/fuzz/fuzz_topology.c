/* Any bytes as what the collector topology reads. */
#include "plugins/topology/cpus.c"
#include "plugins/topology/settings.c"
#include "plugins/topology/table.c"
#include "plugins/topology/topology.c"

#include "tests/fuzz/collector.h"
