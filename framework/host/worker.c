/* isolation = process: a collector in a worker process. */
#include <string.h>

#include "host/worker.h"

bool worker_is(int argc, char **argv)
{
	return argc == 3 && strcmp(argv[1], "--sonde-worker") == 0;
}

int worker_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return 1;
}
