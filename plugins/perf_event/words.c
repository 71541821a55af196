/* Each errno of perf_event_open(2) means something else than its name says. */
#include "words.h"

static const struct {
	int error;
	const char *words;
} sentences[] = {
	{ ENOENT, "this CPU or its PMU has no such event" },
	{ EOPNOTSUPP, "this PMU cannot count so: it has no such counter, or no interrupt" },
	{ EINVAL, "the PMU refuses this encoding" },
	{ ENXIO, "the PMU has no such counter on this CPU" },
	{ ENODEV, "this CPU or its PMU is not there, or the CPU is offline" },
	{ ENOSPC, "the PMU has no counter left" },
	{ EBUSY, "somebody else has the PMU for himself" },
	{ ENOSYS, "the kernel is built without CONFIG_PERF_EVENTS" },
	{ E2BIG, "the kernel is older than what the event needs" },
	{ ESRCH, "the process is gone" },
	{ EBADF, "the folder is no cgroup of the hierarchy that perf_event uses" },
	{ ENOMEM, "the kernel has no memory for it" },
};

/* What each scope needs of kernel.perf_event_paranoid (Documentation/admin-guide/perf-security.rst). */
static void not_permitted(const struct trouble *trouble, char words[WORDS_SIZE])
{
	bool process = trouble->scope == SCOPE_PROCESS;
	int level = !process ? 0 : trouble->member && trouble->member->user_only ? 2 : 1;

	if (trouble->paranoid <= level && process)
		snprintf(
			words, WORDS_SIZE,
			"not permitted: another user's process needs CAP_PERFMON and CAP_SYS_PTRACE; "
			"one's own only where no seccomp filter or security module forbids it");
	else if (trouble->paranoid <= level)
		snprintf(words, WORDS_SIZE,
			 "not permitted although kernel.perf_event_paranoid is %d: a container's "
			 "seccomp filter or a security module forbids perf_event_open",
			 trouble->paranoid);
	else
		snprintf(words, WORDS_SIZE,
			 "not permitted: kernel.perf_event_paranoid is %d; counting %s needs "
			 "CAP_PERFMON (root, or setcap cap_perfmon+ep), or sysctl "
			 "kernel.perf_event_paranoid=%d",
			 trouble->paranoid,
			 process ? "a process and its kernel time" : "whole CPUs", level);
}

void words_of(const struct trouble *trouble, char words[WORDS_SIZE])
{
	if (trouble->error == EACCES || trouble->error == EPERM) {
		not_permitted(trouble, words);
		return;
	}
	if (trouble->error == EMFILE) {
		snprintf(words, WORDS_SIZE,
			 "too few descriptors: all events need %llu; ulimit -n %llu, or "
			 "LimitNOFILE=%llu of the unit",
			 (unsigned long long)trouble->needed, (unsigned long long)trouble->needed,
			 (unsigned long long)trouble->needed);
		return;
	}
	if (trouble->error == ENFILE) {
		snprintf(words, WORDS_SIZE,
			 "the whole machine has no descriptor left: sysctl fs.file-max");
		return;
	}
	for (size_t i = 0; i < sizeof sentences / sizeof sentences[0]; i++) {
		if (sentences[i].error == trouble->error) {
			snprintf(words, WORDS_SIZE, "%s", sentences[i].words);
			return;
		}
	}
	snprintf(words, WORDS_SIZE, "%s", strerror(trouble->error));
}
