/* Any bytes as what the collector psi reads. */
#include "plugins/psi/psi.c"

#include "tests/fuzz/collector.h"
