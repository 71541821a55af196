/* Text of /proc/PID/{stat,status,schedstat,io,cgroup} into values: no host, no state (proc_pid_stat(5) and its neighbours,
 * Documentation/filesystems/proc.rst, Documentation/scheduler/sched-stats.rst, cgroups(7)). */
#include "process.h"

/* stat: fields by position behind the name. */
int process_parse_stat(const char *text, size_t length, struct process_stat *stat)
{
	const char *open = (const char *)memchr(text, '(', length);
	const char *close = (const char *)memrchr(text, ')', length);
	struct cursor c;

	if (!open || !close || close < open)
		return -EBADMSG;
	stat->comm = open + 1;
	stat->comm_length = (uint32_t)(close - stat->comm);
	close++;
	c = whole(close, whole_words(close, length - (size_t)(close - text)));
	skip_blanks(&c);
	if (c.at == c.end || (unsigned char)(*c.at - '0') < 10 || *c.at == '\n')
		return -EBADMSG;
	stat->state = *c.at++;
	for (stat->last = STAT_PPID - 1; stat->last < STAT_LAST; stat->last++) {
		uint64_t *value = &stat->field[stat->last + 1];
		bool minus;

		/* Most fields are one digit. */
		if (c.end - c.at > 2 && c.at[0] == ' ' && c.at[2] == ' ' &&
		    (unsigned char)(c.at[1] - '0') < 10) {
			*value = (unsigned char)(c.at[1] - '0');
			c.at += 2;
			continue;
		}
		skip_blanks(&c);
		minus = c.at < c.end && *c.at == '-';
		c.at += minus;
		if (!take_digits(&c.at, c.end, c.stop, value))
			break;
		if (minus)
			*value = 0 - *value;
	}
	return stat->last < STAT_START_TIME ? -EBADMSG : 0;
}

enum { ALWAYS, NOT_NEGATIVE, WITH_MEMORY, WITH_DELAYS };

static const struct {
	uint8_t slot, field, form, thread_slot; /* 0, a pid's: none */
} stat_values[] = {
	{ START_TIME, STAT_START_TIME, ALWAYS, THREAD_START_TIME },
	{ PPID, STAT_PPID, NOT_NEGATIVE, 0 },
	{ PGRP, STAT_PGRP, NOT_NEGATIVE, 0 }, /* -1 while it is being reaped */
	{ SESSION, STAT_SESSION, NOT_NEGATIVE, 0 },
	{ MINFLT, STAT_MINFLT, ALWAYS, THREAD_MINFLT },
	{ CMINFLT, STAT_CMINFLT, ALWAYS, 0 },
	{ MAJFLT, STAT_MAJFLT, ALWAYS, THREAD_MAJFLT },
	{ CMAJFLT, STAT_CMAJFLT, ALWAYS, 0 },
	{ UTIME, STAT_UTIME, ALWAYS, THREAD_UTIME },
	{ STIME, STAT_STIME, ALWAYS, THREAD_STIME },
	{ CUTIME, STAT_CUTIME, NOT_NEGATIVE, 0 }, /* some kernels: -2^63 for kernel threads */
	{ CSTIME, STAT_CSTIME, NOT_NEGATIVE, 0 },
	{ PRIORITY, STAT_PRIORITY, ALWAYS, THREAD_PRIORITY },
	{ NICE, STAT_NICE, ALWAYS, THREAD_NICE },
	{ NUM_THREADS, STAT_NUM_THREADS, ALWAYS, 0 },
	{ VSIZE, STAT_VSIZE, WITH_MEMORY, 0 },
	{ RSS, STAT_RSS, WITH_MEMORY, 0 },
	{ PROCESSOR, STAT_PROCESSOR, NOT_NEGATIVE, THREAD_PROCESSOR },
	{ RT_PRIORITY, STAT_RT_PRIORITY, ALWAYS, THREAD_RT_PRIORITY },
	{ POLICY, STAT_POLICY, ALWAYS, THREAD_POLICY },
	{ BLKIO_DELAY, STAT_BLKIO, WITH_DELAYS, THREAD_BLKIO_DELAY },
	{ GUEST_TIME, STAT_GUEST_TIME, ALWAYS, 0 },
	{ CGUEST_TIME, STAT_CGUEST_TIME, ALWAYS, 0 },
};

static void set_value(const struct process_stat *stat, bool delays, size_t i, uint32_t slot,
		      struct sonde_row *row)
{
	bool has_memory = stat->last >= STAT_VSIZE && stat->field[STAT_VSIZE];
	uint32_t form = stat_values[i].form;
	uint64_t value;

	if (stat_values[i].field > stat->last)
		return;
	value = stat->field[stat_values[i].field];
	if ((form != NOT_NEGATIVE || (int64_t)value >= 0) && (form != WITH_MEMORY || has_memory) &&
	    (form != WITH_DELAYS || delays))
		sonde_set_u64(row, slot, value);
}

void process_set_stat(const struct process_stat *stat, bool delays, struct sonde_row *row)
{
	sonde_set_bytes(row, COMM, stat->comm, stat->comm_length);
	sonde_set_bytes(row, STATE, &stat->state, 1);
	sonde_set_u64(row, KTHREAD, process_is_kthread(stat));
	for (size_t i = 0; i < sizeof stat_values / sizeof stat_values[0]; i++)
		set_value(stat, delays, i, stat_values[i].slot, row);
}

void process_set_thread(const struct process_stat *stat, bool delays, struct sonde_row *row)
{
	sonde_set_bytes(row, THREAD_COMM, stat->comm, stat->comm_length);
	sonde_set_bytes(row, THREAD_STATE, &stat->state, 1);
	for (size_t i = 0; i < sizeof stat_values / sizeof stat_values[0]; i++)
		if (stat_values[i].thread_slot)
			set_value(stat, delays, i, stat_values[i].thread_slot, row);
}

/* status and io: lines of "key:", each known by its place after the one before it; what is out of place is searched. */
enum { SKIP, NUMBER, TEXT };

struct line {
	char key[29]; /* with its colon; in place, since its first eight bytes are compared as one word */
	uint8_t length, slot, form;
};

#define LINE(key, slot, form)                                                                      \
	{                                                                                          \
		key ":", sizeof key, slot, form                                                    \
	}

/* In the order of fs/proc/array.c. Those passed over stand here too, so that the next one is found at the first look. */
static const struct line status_lines[] = {
	LINE("Name", 0, SKIP),
	LINE("Umask", 0, SKIP),
	LINE("State", 0, SKIP),
	LINE("Tgid", 0, SKIP),
	LINE("Ngid", 0, SKIP),
	LINE("Pid", 0, SKIP),
	LINE("PPid", 0, SKIP),
	LINE("TracerPid", 0, SKIP),
	LINE("Uid", UID, NUMBER),
	LINE("Gid", 0, SKIP),
	LINE("FDSize", 0, SKIP),
	LINE("Groups", 0, SKIP),
	LINE("NStgid", 0, SKIP),
	LINE("NSpid", 0, SKIP),
	LINE("NSpgid", 0, SKIP),
	LINE("NSsid", 0, SKIP),
	LINE("Kthread", 0, SKIP),
	LINE("VmPeak", VM_PEAK, NUMBER),
	LINE("VmSize", 0, SKIP),
	LINE("VmLck", VM_LCK, NUMBER),
	LINE("VmPin", VM_PIN, NUMBER),
	LINE("VmHWM", VM_HWM, NUMBER),
	LINE("VmRSS", VM_RSS, NUMBER),
	LINE("RssAnon", RSS_ANON, NUMBER),
	LINE("RssFile", RSS_FILE, NUMBER),
	LINE("RssShmem", RSS_SHMEM, NUMBER),
	LINE("VmData", VM_DATA, NUMBER),
	LINE("VmStk", VM_STK, NUMBER),
	LINE("VmExe", 0, SKIP),
	LINE("VmLib", 0, SKIP),
	LINE("VmPTE", VM_PTE, NUMBER),
	LINE("VmPMD", 0, SKIP),
	LINE("VmSwap", VM_SWAP, NUMBER),
	LINE("HugetlbPages", HUGETLB_PAGES, NUMBER),
	LINE("CoreDumping", 0, SKIP),
	LINE("THP_enabled", 0, SKIP),
	LINE("untag_mask", 0, SKIP),
	LINE("Threads", 0, SKIP),
	LINE("SigQ", 0, SKIP),
	LINE("SigPnd", 0, SKIP),
	LINE("ShdPnd", 0, SKIP),
	LINE("SigBlk", 0, SKIP),
	LINE("SigIgn", 0, SKIP),
	LINE("SigCgt", 0, SKIP),
	LINE("CapInh", 0, SKIP),
	LINE("CapPrm", 0, SKIP),
	LINE("CapEff", 0, SKIP),
	LINE("CapBnd", 0, SKIP),
	LINE("CapAmb", 0, SKIP),
	LINE("NoNewPrivs", 0, SKIP),
	LINE("Seccomp", 0, SKIP),
	LINE("Seccomp_filters", 0, SKIP),
	LINE("Speculation_Store_Bypass", 0, SKIP),
	LINE("SpeculationIndirectBranch", 0, SKIP),
	LINE("Cpus_allowed", 0, SKIP),
	LINE("Cpus_allowed_list", CPUS_ALLOWED, TEXT),
	LINE("Mems_allowed", 0, SKIP),
	LINE("Mems_allowed_list", MEMS_ALLOWED, TEXT),
	LINE("voluntary_ctxt_switches", VOLUNTARY_SWITCHES, NUMBER),
	LINE("nonvoluntary_ctxt_switches", INVOLUNTARY_SWITCHES, NUMBER),
};

static const struct line io_lines[] = {
	LINE("rchar", RCHAR, NUMBER),
	LINE("wchar", WCHAR, NUMBER),
	LINE("syscr", SYSCR, NUMBER),
	LINE("syscw", SYSCW, NUMBER),
	LINE("read_bytes", READ_BYTES, NUMBER),
	LINE("write_bytes", WRITE_BYTES, NUMBER),
	LINE("cancelled_write_bytes", CANCELLED_WRITE_BYTES, NUMBER),
};

static inline bool begins(const struct cursor *c, const struct line *line)
{
	size_t n = line->length;
	uint64_t text, head;

	if ((size_t)(c->end - c->at) < n || c->stop - c->at < 8)
		return (size_t)(c->end - c->at) >= n && memcmp(c->at, line->key, n) == 0;
	memcpy(&text, c->at, sizeof text);
	memcpy(&head, line->key, sizeof head);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	if (n < 8)
		return (text ^ head) << (64 - 8 * n) == 0;
#else
	if (n < 8)
		return (text ^ head) >> (64 - 8 * n) == 0;
#endif
	return text == head && (n == 8 || memcmp(c->at + 8, line->key + 8, n - 8) == 0);
}

/* From `from` to the end, then from the start: an older kernel lacks lines, a newer one has more. */
static uint32_t find_line(const struct cursor *c, const struct line *lines, uint32_t count,
			  uint32_t from)
{
	for (uint32_t i = from; i < count; i++)
		if (begins(c, &lines[i]))
			return i;
	for (uint32_t i = 0; i < from; i++)
		if (begins(c, &lines[i]))
			return i;
	return count;
}

static void set_line(const struct line *line, struct cursor *c, struct sonde_row *row)
{
	const char *word;
	uint64_t value;
	size_t length;

	c->at += line->length;
	if (line->form == NUMBER && next_u64(c, &value)) {
		sonde_set_u64(row, line->slot, value);
	} else if (line->form == TEXT) {
		length = next_word(c, &word);
		if (length)
			sonde_set_bytes(row, line->slot, word, length);
	}
}

static void parse_lines(const char *text, size_t length, const struct line *lines, uint32_t count,
			struct sonde_row *row)
{
	struct cursor c = cursor(text, whole_words(text, length));
	uint32_t next = 0;

	while (next_line(&c)) {
		uint32_t i = find_line(&c, lines, count, next);

		if (i == count)
			continue;
		next = i + 1;
		if (lines[i].form != SKIP)
			set_line(&lines[i], &c, row);
	}
}

void process_parse_status(const char *text, size_t length, struct sonde_row *row)
{
	parse_lines(text, length, status_lines, sizeof status_lines / sizeof status_lines[0], row);
}

void process_parse_io(const char *text, size_t length, struct sonde_row *row)
{
	parse_lines(text, length, io_lines, sizeof io_lines / sizeof io_lines[0], row);
}

bool process_parse_schedstat(const char *text, size_t length, struct process_sched *sched)
{
	struct cursor c = whole(text, whole_words(text, length));

	return next_u64(&c, &sched->run) && next_u64(&c, &sched->wait) &&
	       next_u64(&c, &sched->slices) && (sched->run || sched->wait || sched->slices);
}

/* Whether `name` is one of the names in `list`, which commas separate. */
static bool is_listed(const char *list, size_t length, const char *name)
{
	size_t n = strlen(name);

	while (length) {
		const char *comma = (const char *)memchr(list, ',', length);
		size_t item = comma ? (size_t)(comma - list) : length;

		if (item == n && memcmp(list, name, n) == 0)
			return true;
		list += item + (comma != NULL);
		length -= item + (comma != NULL);
	}
	return false;
}

/* How much a line "ID:CONTROLLERS:PATH" tells of where the process is managed; 0: nothing. */
static int cgroup_rank(const char *controllers, size_t length, size_t path)
{
	static const char *const told_by[] = { "memory", "cpu", "name=systemd" };

	if (!length)
		return path > 1 ? 5 : 1; /* "0::/" stands in v1 too, where it says nothing */
	for (int i = 2; i >= 0; i--)
		if (is_listed(controllers, length, told_by[i]))
			return path > 1 ? 2 + i : 0;
	return 0;
}

size_t process_parse_cgroup(const char *text, size_t length, const char **path)
{
	struct cursor c = cursor(text, length);
	size_t n = 0;
	int best = 0;

	/* A path may hold colons, the list of controllers none. */
	while (next_line(&c)) {
		const char *first = (const char *)memchr(c.at, ':', (size_t)(c.end - c.at));
		const char *second =
			first ? (const char *)memchr(first + 1, ':', (size_t)(c.end - first - 1))
			      : NULL;
		int rank;

		if (!second || second + 1 == c.end || second[1] != '/')
			continue;
		rank = cgroup_rank(first + 1, (size_t)(second - first - 1),
				   (size_t)(c.end - second - 1));
		if (rank <= best)
			continue;
		best = rank;
		*path = second + 1;
		n = (size_t)(c.end - second - 1);
	}
	return n;
}
