/* A live recording: its sections, its command, its file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <sonde/escape.h>

#include "cli/live/recorder.h"
#include "core/clock.h"

/* What a recording holds where no profile says otherwise. A kernel without one of them yields a note. */
static const char *const collectors[] = { "cpu",  "schedstat", "psi",  "meminfo",   "vmstat", "thp",
					  "numa", "loadavg",   "disk", "buddyinfo", "self" };

/* "sonde-HOST-20261130-093015.sonde" in this folder: a name of its own each second. */
static void dated_path(char *path, size_t size)
{
	char host[64] = "host";
	char date[32];
	time_t now = time(NULL);
	struct tm tm;

	gethostname(host, sizeof host - 1);
	host[strcspn(host, "/ ")] = 0;
	localtime_r(&now, &tm);
	strftime(date, sizeof date, "%Y%m%d-%H%M%S", &tm);
	snprintf(path, size, "sonde-%s-%s.sonde", host, date);
}

/* "" is stdout. */
int recorder_open(struct recorder *r)
{
	if (r->output && strcmp(r->output, "-") == 0)
		return cli_output(r->output);
	if (r->output)
		snprintf(r->path, sizeof r->path, "%s", r->output);
	else
		dated_path(r->path, sizeof r->path);
	return cli_output(r->path);
}

static void add_optional(struct config *config, const char *collector)
{
	config_add(config, collector);
	config_set(config, "optional", "yes");
}

static uint64_t interval_of(const struct recorder *r)
{
	return r->interval ? r->interval : r->command.words ? NS_PER_S / 10 : NS_PER_S;
}

static void add_collectors(struct config *config, const struct recorder *r)
{
	if (r->profile_path[0])
		return; /* its own sections */
	for (size_t i = 0; i < sizeof collectors / sizeof collectors[0]; i++) {
		add_optional(config, collectors[i]);
		/* Two dozen files for each size of huge pages that was ever used, each summed up over all CPUs by the
		 * kernel: at the interval of a command they would be most of what is read. */
		if (strcmp(collectors[i], "thp") == 0 && interval_of(r) < NS_PER_S)
			config_set(config, "interval", "1s");
	}
	add_optional(config, "topology");
	config_set(config, "interval", "10s");
	config_set(config, "refresh", "10s"); /* limits of frequency, throttling */
}

static void set_pid(struct config *config, const char *key, uint64_t pid)
{
	char number[24];

	snprintf(number, sizeof number, "%llu", (unsigned long long)pid);
	config_set(config, key, number);
}

static bool of_some(const struct recorder *r)
{
	return r->command.pid || r->pid || r->cgroup;
}

/* Of the newest section: the command and what descends from it, the process, or the group; nothing for a machine. */
static void set_processes(struct config *config, const struct recorder *r)
{
	uint64_t pid = r->command.pid ? (uint64_t)getpid() : r->pid;

	if (pid)
		set_pid(config, r->command.pid || r->children ? "subtree" : "pids", pid);
	if (r->cgroup)
		config_set(config, "cgroup", r->cgroup);
}

/* What works for the command without descending from it. */
static void set_also(struct config *config, const struct recorder *r)
{
	for (size_t i = 0; i < ALSO_MOST && r->also[i]; i++) {
		const char *item = r->also[i];
		bool number = !item[strspn(item, "0123456789")];

		config_set(config, *item == '/' ? "cgroup" : number ? "subtree" : "name", item);
	}
	if (r->scope)
		config_set(config, "unit", r->scope);
}

/* All of /proc is read at the beginning, at the end, and seldom between: that is cheap, and not on the main lane. */
static void add_outsiders(struct config *config)
{
	add_optional(config, "outsiders");
	set_pid(config, "tree", (uint64_t)getpid());
	config_set(config, "interval", "10s");
	config_set(config, "lane", "outsiders");
}

static void add_process(struct config *config, const struct recorder *r)
{
	if (r->profile_path[0] && !of_some(r))
		return;
	add_optional(config, "process");
	set_processes(config, r);
	if (r->command.pid)
		config_set(config, "cmdline", "full");
	set_also(config, r);
}

/* Where the profile has them: of a command too, whose life may be shorter than a profile's interval. */
static void add_memory(struct config *config, const struct recorder *r)
{
	static const char *const costly[] = { "numa_maps", "smaps" };

	for (size_t i = 0; i < sizeof costly / sizeof costly[0]; i++) {
		if (!config_section(config, costly[i]) || !of_some(r))
			continue;
		add_optional(config, costly[i]);
		config_set(config, "interval", "1s");
		set_processes(config, r);
	}
}

/* Counters of the command from its first instruction, of the process or the group, or of all CPUs; a captured tree has none. */
static void add_counters(struct config *config, const struct recorder *r)
{
	uint64_t pid = r->command.pid ? (uint64_t)r->command.pid : r->pid;

	if (r->root || (r->profile_path[0] && !config_section(config, "perf_event")))
		return;
	add_optional(config, "perf_event");
	if (pid)
		set_pid(config, "pids", pid);
	if (r->cgroup)
		config_set(config, "cgroup", r->cgroup);
	if (r->command.pid)
		config_set(config, "enable_on_exec", "yes");
	for (size_t i = 0; i < EVENTS_MOST && r->events[i]; i++)
		config_set(config, "event", r->events[i]);
}

/* What ended between two samples, too, and what those waited for that live: only a right of root's tells of either. */
static void add_exits(struct config *config, const struct recorder *r)
{
	add_optional(config, "taskstats");
	set_pid(config, "pids",
		r->command.pid ? (uint64_t)r->command.pid
		: r->pid       ? r->pid
			       : (uint64_t)getpid());
	config_set(config, "stand_in", r->command.pid ? "command" : "all");
}

/* The profile's sections; those that the command line gives take the place of the profile's. */
static void compose(struct config *config, const struct recorder *r)
{
	char interval[24];

	if (r->profile_path[0])
		config_read(config, r->profile_path);
	snprintf(interval, sizeof interval, "%lluns", (unsigned long long)interval_of(r));
	config_add(config, "agent");
	config_set(config, "interval", interval);
	if (r->root)
		config_set(config, "root", r->root);
	if (r->capture)
		config_set(config, "capture", "raw");
	add_collectors(config, r);
	add_process(config, r);
	add_memory(config, r);
	add_counters(config, r);
	if (r->exits && !r->root)
		add_exits(config, r);
	if (r->outsiders)
		add_outsiders(config);
	if (r->network)
		add_optional(config, "net");
	cli_recording(config, r->path[0] ? r->path : "-");
	/* What is dropped is never read again, and a first sample of thousands of processes is large. */
	if (r->capture)
		config_set(config, "ring", "64MiB");
}

static void progress(void *context, uint64_t elapsed, uint64_t instants, uint64_t bytes)
{
	const struct recorder *r = context;

	fprintf(stderr, "\r%.0f s", (double)elapsed / 1e9);
	if (r->run.duration)
		fprintf(stderr, " of %.10g", (double)r->run.duration / 1e9);
	fprintf(stderr, ", %llu samples, %llu KiB; Ctrl-C ends it\033[K",
		(unsigned long long)instants, (unsigned long long)bytes / 1024);
}

/* A recording of a command that never ran is in the way of the next try. */
static void forget_file(const struct recorder *r)
{
	struct stat st;

	if (r->path[0] && lstat(r->path, &st) == 0 && S_ISREG(st.st_mode))
		unlink(r->path);
}

/* A name of ours has the date in it: nobody knows it before. */
static void last_line(const struct recorder *r)
{
	char safe[2 * sizeof r->path];
	struct stat st;

	if (r->quiet || r->run.escorts)
		return;
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
	if (!r->path[0] || stat(r->path, &st))
		return;
	sonde_escape(r->path, strlen(r->path), safe, sizeof safe);
	fprintf(stderr, "%s: %lld KiB; sonde report %s\n", safe, (long long)st.st_size / 1024,
		safe);
}

static void started(void *context)
{
	struct recorder *r = context;

	if (r->command.pid)
		command_release(&r->command);
}

static void ended(void *context)
{
	struct recorder *r = context;

	command_ended(&r->command);
}

int recorder_run(struct recorder *r)
{
	struct config config = { 0 };
	int status;
	int err = r->command.words ? command_fork(&r->command) : 0;

	if (err)
		return cli_error(EXIT_FAILED, "%s: %s", r->command.words[0], strerror(-err));
	compose(&config, r);
	r->run.watch_pid = r->command.pid ? r->command.pid : (int64_t)r->pid;
	r->run.adopts = r->command.pid != 0;
	r->run.whole = true;
	r->run.started = started;
	r->run.ended = ended;
	r->run.context = r;
	if (!r->quiet && !r->run.escorts && isatty(STDERR_FILENO))
		r->run.progress = progress;
	status = cli_run(&config, &r->run, r->path[0] ? r->path : "stdout");
	if (r->command.words) {
		/* Ctrl-C and a time limit end the recording, not the command: it is waited for only where it has ended. */
		int of_command = command_reap(&r->command, r->run.escorts);

		if (of_command)
			forget_file(r);
		status = of_command ? of_command : status;
	}
	if (status == EXIT_DONE)
		last_line(r);
	return status;
}
