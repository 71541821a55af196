/* Signals of a pipeline whose output fails (signal(7)). */
#include "host/signals.h"

void signals_ignore(struct signals *before)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigaction(SIGPIPE, &ignore, &before->pipe);
	sigaction(SIGXFSZ, &ignore, &before->size);
}

void signals_restore(const struct signals *before)
{
	sigaction(SIGPIPE, &before->pipe, NULL);
	sigaction(SIGXFSZ, &before->size, NULL);
}
