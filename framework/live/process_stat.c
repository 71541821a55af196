/* /proc/PID/stat of a process that the host looks after. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sonde/text.h>

#include "live/process_stat.h"

/* The numbers of proc_pid_stat(5). */
enum { STATE = 3, UTIME = 14, STIME = 15, START = 22 };

bool process_stat_parse(const char *text, size_t length, struct process_stat *stat)
{
	/* A name may hold anything, its own parentheses too. */
	const char *end = memrchr(text, ')', length), *word;
	struct cursor line;
	int field = STATE;

	if (!end)
		return false;
	line = whole(end + 1, (size_t)(text + length - end - 1));
	if (!next_word(&line, &word))
		return false;
	stat->state = *word;
	while (++field < UTIME)
		next_word(&line, &word);
	if (!next_u64(&line, &stat->utime) || !next_u64(&line, &stat->stime))
		return false;
	for (field = STIME + 1; field < START; field++)
		next_word(&line, &word);
	return next_u64(&line, &stat->start);
}

int process_stat(pid_t pid, struct process_stat *stat)
{
	char path[32], text[1024];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof text);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return (int)n;
	return process_stat_parse(text, (size_t)n, stat) ? 0 : -EBADMSG;
}
