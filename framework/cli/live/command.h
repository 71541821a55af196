/* A command that is run under observation: it waits for its release, and its end is told as the shell tells it. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct command {
	char **words; /* execvp(3)'s */
	pid_t pid;
	bool released;
	int wait_status;       /* wait4(2)'s; -1: it has not ended */
	struct rusage used;    /* by it and those that it waited for */
	uint64_t begun, ended; /* CLOCK_MONOTONIC ns: it may exec, and was seen to have ended */
	int release[2];        /* a byte lets the child exec, an end lets it go */
	int failed[2];         /* close-on-exec: the child's errno comes here where exec failed */
};

/* Forks the child, which waits. To be called before there are threads. 0 or a negative errno. */
int command_fork(struct command *command);

/* Lets the child exec. */
void command_release(struct command *command);

/* It has ended, now. */
void command_ended(struct command *command);

/* After the observation: the command's wait_status, for which is waited where `wait`; a child that was never released ends.
 * EXIT_DONE, or where the command never ran 126 or 127, said. */
int command_reap(struct command *command, bool wait);

/* The exit status of a shell for a wait_status: 128 + n where signal n ended it. */
int command_status(int wait_status);

#endif
