/* A command under observation: forked before the host has threads, released once all counters are attached. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/live/command.h"
#include "core/clock.h"

int command_fork(struct command *command)
{
	char go;

	command->wait_status = -1;
	/* A daemon of the command's becomes a child of ours, and so stays in the tree that is recorded. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) || pipe2(command->release, O_CLOEXEC) ||
	    pipe2(command->failed, O_CLOEXEC))
		return -errno;
	command->pid = fork();
	if (command->pid < 0)
		return -errno;
	if (command->pid == 0) {
		close(command->release[1]);
		if (read(command->release[0], &go, 1) == 1) {
			execvp(command->words[0], command->words);
			if (write(command->failed[1], &errno, sizeof errno) < 0)
				_exit(127);
		}
		_exit(127);
	}
	close(command->release[0]);
	close(command->failed[1]);
	return 0;
}

void command_release(struct command *command)
{
	command->released = true;
	command->begun = clock_now(CLOCK_MONOTONIC);
	if (write(command->release[1], "", 1) < 0)
		cli_error(EXIT_FAILED, "%s: %s", command->words[0], strerror(errno));
}

void command_ended(struct command *command)
{
	command->ended = clock_now(CLOCK_MONOTONIC);
}

int command_reap(struct command *command, bool wait)
{
	int exec_error = 0;
	pid_t ended;

	close(command->release[1]);
	if (read(command->failed[0], &exec_error, sizeof exec_error) < 0)
		exec_error = errno;
	close(command->failed[0]);
	do
		ended = wait4(command->pid, &command->wait_status, wait ? 0 : WNOHANG,
			      &command->used);
	while (ended < 0 && errno == EINTR);
	if (ended != command->pid)
		command->wait_status = -1;
	if (exec_error)
		return cli_error(exec_error == ENOENT ? 127 : 126, "%s: %s", command->words[0],
				 strerror(exec_error));
	return EXIT_DONE;
}

int command_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}
