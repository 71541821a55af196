/* The parsers of the collector `process`. Expected values were read off the texts by hand, field by field as proc(5)
 * numbers them; numbers in comments are those of the cases that broke other tools. */
#include <stdio.h>
#include <stdlib.h>

#include "plugins/process/cmdline.c"
#include "plugins/process/parse.c"
#include "plugins/process/table.c"
#include "test.h"

#define TEXT(s) (s), sizeof(s) - 1

/* A row that stands alone. */
struct alone {
	uint64_t slots[PROCESS_COLUMNS], have[2];
	char bytes[4096];
	struct sonde_strings strings;
	struct sonde_row row;
};

static struct sonde_row *fresh(struct alone *a)
{
	memset(a, 0, sizeof *a);
	memset(a->slots, 0xee, sizeof a->slots);
	a->strings = (struct sonde_strings) { .bytes = a->bytes, .size = sizeof a->bytes };
	a->row = (struct sonde_row) { a->slots, a->have, &a->strings };
	return &a->row;
}

static bool is(const struct alone *a, uint32_t slot, uint64_t value)
{
	return sonde_has(&a->row, slot) && a->slots[slot] == value;
}

static bool is_text(const struct alone *a, uint32_t slot, const char *text, size_t length)
{
	return sonde_has(&a->row, slot) && (uint32_t)a->slots[slot] == length &&
	       memcmp(a->bytes + (a->slots[slot] >> 32), text, length) == 0;
}

static bool lacks(const struct alone *a, uint32_t slot)
{
	return !sonde_has(&a->row, slot);
}

static bool comm_is(const struct process_stat *stat, const char *comm, size_t length)
{
	return stat->comm_length == length && memcmp(stat->comm, comm, length) == 0;
}

/* An ordinary process of Linux 6.18. */
static void stat_ordinary(void)
{
	static const char text[] =
		"7311 (cat) R 7308 7309 3128 0 -1 4194304 99 1 2 3 41 42 43 44 20 0 1 0 114451 3133440 "
		"397 18446744073709551615 94821220077568 94821220097449 140720874811792 0 0 0 0 0 0 0 0 0 "
		"17 6 50 1 77 88 99 94821220113456 94821220115072 94821281820672 140720874818135 "
		"140720874818208 140720874818208 140720874819563 0\n";
	struct process_stat stat;
	struct alone a;

	CU_ASSERT_EQUAL(process_parse_stat(TEXT(text), &stat), 0);
	CU_ASSERT(comm_is(&stat, TEXT("cat")));
	process_set_stat(&stat, true, fresh(&a));
	CU_ASSERT(is_text(&a, COMM, TEXT("cat")));
	CU_ASSERT(is_text(&a, STATE, TEXT("R")));
	CU_ASSERT(is(&a, PPID, 7308) && is(&a, PGRP, 7309) && is(&a, SESSION, 3128));
	CU_ASSERT(is(&a, MINFLT, 99) && is(&a, CMINFLT, 1) && is(&a, MAJFLT, 2) &&
		  is(&a, CMAJFLT, 3));
	CU_ASSERT(is(&a, UTIME, 41) && is(&a, STIME, 42) && is(&a, CUTIME, 43) &&
		  is(&a, CSTIME, 44));
	CU_ASSERT(is(&a, PRIORITY, 20) && is(&a, NICE, 0) && is(&a, NUM_THREADS, 1));
	CU_ASSERT(is(&a, START_TIME, 114451) && is(&a, VSIZE, 3133440) && is(&a, RSS, 397));
	CU_ASSERT(is(&a, PROCESSOR, 6) && is(&a, RT_PRIORITY, 50) && is(&a, POLICY, 1));
	CU_ASSERT(is(&a, BLKIO_DELAY, 77) && is(&a, GUEST_TIME, 88) && is(&a, CGUEST_TIME, 99));
	CU_ASSERT(is(&a, KTHREAD, 0));
	CU_ASSERT(lacks(&a, PID)); /* the caller's */
	process_set_stat(&stat, false, fresh(&a));
	CU_ASSERT(lacks(&a, BLKIO_DELAY));
}

/* Case 1: ") " inside the name. */
static void comm_with_parentheses(void)
{
	static const char text[] =
		"4711 (sleep (2) .sh) S 4700 4711 4700 34824 4711 4194304 173 0 0 0 0 0 0 0 20 0 1 0 18366278 "
		"23187456 821 18446744073709551615 1 1 0 0 0 0 0 65536 4 65538 1 0 0 17 6 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
	struct process_stat stat;

	CU_ASSERT_EQUAL(process_parse_stat(TEXT(text), &stat), 0);
	CU_ASSERT(comm_is(&stat, TEXT("sleep (2) .sh")));
	CU_ASSERT_EQUAL(stat.state, 'S');
	CU_ASSERT_EQUAL(stat.field[STAT_PPID], 4700);
	CU_ASSERT_EQUAL(stat.field[STAT_START_TIME], 18366278);
}

/* Case 2: blanks inside the name; negative fields. */
static void comm_with_blanks(void)
{
	static const char text[] =
		"1591 (Plex New Transc) S 1264 1252 1252 0 -1 1077960704 17317 0 18 0 9260 137 0 0 15 -5 8 0 1430749 "
		"186589184 16704 18446744073709551615 0 0 0 0 0 0 0 4096 0 0 0 0 17 3 0 0 0 0 0\n";
	struct process_stat stat;
	struct alone a;

	CU_ASSERT_EQUAL(process_parse_stat(TEXT(text), &stat), 0);
	process_set_stat(&stat, true, fresh(&a));
	CU_ASSERT(is_text(&a, COMM, TEXT("Plex New Transc")));
	CU_ASSERT(is(&a, UTIME, 9260) && is(&a, STIME, 137));
	CU_ASSERT(is(&a, PRIORITY, 15) && is(&a, NICE, (uint64_t)-5));
	CU_ASSERT(is(&a, NUM_THREADS, 8) && is(&a, START_TIME, 1430749));
	/* Linux 2.6.32 and later end here or further on: what is not there is absent. */
	CU_ASSERT(is(&a, CGUEST_TIME, 0));
}

/* Case 3: a line feed inside the name. */
static void comm_with_line_feed(void)
{
	static const char text[] =
		"2001 (my file with\nsp) S 1888 2001 1888 34816 2001 4194304 147 0 0 0 0 0 0 0 20 0 1 0 75513 "
		"115900416 297 18446744073709551615 4194304 5100612 140737020052256 0 0\n";
	struct process_stat stat;

	CU_ASSERT_EQUAL(process_parse_stat(TEXT(text), &stat), 0);
	CU_ASSERT(comm_is(&stat, TEXT("my file with\nsp")));
	CU_ASSERT_EQUAL(stat.field[STAT_PPID], 1888);
	CU_ASSERT_EQUAL(stat.field[STAT_RSS], 297);
}

/* Case 5: a name made to look like the record; and one that begins with ")". */
static void comm_crafted(void)
{
	static const char text[] =
		"2001 (bad) S 1 2 3 4) S 1888 2001 1888 34816 2001 4194304 147 0 0 0 5 6 0 0 20 0 1 0 75513 0 0\n";
	static const char shut[] =
		"9 ()) R 1 9) Z 7 8 9 0 0 4194304 0 0 0 0 5 6 0 0 20 0 1 0 75 4096 1\n";
	struct process_stat stat;

	CU_ASSERT_EQUAL(process_parse_stat(TEXT(text), &stat), 0);
	CU_ASSERT(comm_is(&stat, TEXT("bad) S 1 2 3 4")));
	CU_ASSERT_EQUAL(stat.field[STAT_PPID], 1888);
	CU_ASSERT_EQUAL(stat.field[STAT_UTIME], 5);
	CU_ASSERT_EQUAL(process_parse_stat(TEXT(shut), &stat), 0);
	CU_ASSERT(comm_is(&stat, TEXT(")) R 1 9")));
	CU_ASSERT_EQUAL(stat.state, 'Z');
	CU_ASSERT_EQUAL(stat.field[STAT_PPID], 7);
}

/* Case 6: a name cut inside a UTF-8 sequence stays the bytes that it is; so do an empty one and a NUL. */
static void comm_is_bytes(void)
{
	static const char text[] =
		"33 (inner-job-\xe5\x90\x8c\xe6\xad) S 1 33 33 0 -1 4194304 0 0 0 0 5 6 0 0 20 0 1 0 75 4096 1\n";
	static const char none[] =
		"34 () S 1 34 34 0 -1 4194304 0 0 0 0 5 6 0 0 20 0 1 0 75 4096 1\n";
	static const char nul[] =
		"35 (a\0b) S 1 35 35 0 -1 4194304 0 0 0 0 5 6 0 0 20 0 1 0 75 4096 1\n";
	struct process_stat stat;
	struct alone a;

	CU_ASSERT_EQUAL(process_parse_stat(TEXT(text), &stat), 0);
	process_set_stat(&stat, true, fresh(&a));
	CU_ASSERT(is_text(&a, COMM, "inner-job-\xe5\x90\x8c\xe6\xad", 15));
	CU_ASSERT_EQUAL(process_parse_stat(TEXT(none), &stat), 0);
	process_set_stat(&stat, true, fresh(&a));
	CU_ASSERT(is_text(&a, COMM, "", 0));
	CU_ASSERT_EQUAL(process_parse_stat(TEXT(nul), &stat), 0);
	CU_ASSERT(comm_is(&stat, TEXT("a\0b")));
}

/* Case 47: the leader thread ended, others run: memory is not there, which is not 0. A kernel thread has none at all. */
static void stat_without_memory(void)
{
	static const char zombie[] =
		"800 (server) Z 1 800 800 0 -1 4227084 320 0 0 0 12 3 0 0 20 0 4 0 5000 0 0 18446744073709551615 0 0 0 0 "
		"0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
	static const char kthread[] =
		"2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 14 0 0 18446744073709551615 0 0 0 0 0 0 0 "
		"2147483647 0 1 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
	struct process_stat stat;
	struct alone a;

	CU_ASSERT_EQUAL(process_parse_stat(TEXT(zombie), &stat), 0);
	process_set_stat(&stat, true, fresh(&a));
	CU_ASSERT(lacks(&a, VSIZE) && lacks(&a, RSS));
	CU_ASSERT(is_text(&a, STATE, TEXT("Z")) && is(&a, NUM_THREADS, 4) && is(&a, UTIME, 12));
	CU_ASSERT_EQUAL(process_parse_stat(TEXT(kthread), &stat), 0);
	process_set_stat(&stat, true, fresh(&a));
	CU_ASSERT(lacks(&a, VSIZE) && lacks(&a, RSS));
	CU_ASSERT(is(&a, KTHREAD, 1) && is(&a, PPID, 0) && is(&a, START_TIME, 14));
}

/* Case 140: more than 32 bits. Case 137: pages stay pages, whatever their size. */
static void stat_large(void)
{
	static const char text[] =
		"5 (big) S 1 -1 -1 0 -1 4194304 18446744073709551615 0 0 0 5 6 0 0 20 0 1 0 75 2264576000 1981\n";
	/* As a kernel thread of Linux 3.x reported it. */
	static const char kernel[] =
		"33 (ata_sff) S 2 0 0 0 -1 69238880 0 0 0 0 0 0 -9223372036854775808 9223372036854775807 0 -20 1 0 5 0 0\n";
	static const char past[] =
		"5 (big) S 1 5 5 0 -1 4194304 18446744073709551616 0 0 0 5 6 0 0 20 0 1 0 75 4096 1\n";
	const struct sonde_column *rss = &columns[RSS];
	struct process_stat stat;
	struct alone a;

	CU_ASSERT_EQUAL(process_parse_stat(TEXT(text), &stat), 0);
	process_set_stat(&stat, true, fresh(&a));
	CU_ASSERT(is(&a, VSIZE, 2264576000u) && is(&a, MINFLT, UINT64_MAX));
	CU_ASSERT(is(&a, RSS, 1981));
	CU_ASSERT_EQUAL(rss->unit, SONDE_BASE_COUNT);
	CU_ASSERT_STRING_EQUAL(rss->counted, "pages");
	CU_ASSERT(lacks(&a, PGRP) && lacks(&a, SESSION)); /* -1: it is being reaped */
	CU_ASSERT_EQUAL(process_parse_stat(TEXT(kernel), &stat), 0);
	process_set_stat(&stat, true, fresh(&a));
	CU_ASSERT(lacks(&a, CUTIME) && is(&a, NICE, (uint64_t)-20) && is(&a, START_TIME, 5));
	/* A number past 64 bits ends what is understood; without a start time there is no identity. */
	CU_ASSERT_EQUAL(process_parse_stat(TEXT(past), &stat), -EBADMSG);
}

/* Cut at every byte: never a wrong number, and below field 22 no process. */
static void stat_cut(void)
{
	static const char text[] =
		"77 (cut me) S 11 77 77 0 -1 4194304 99 1 2 3 41 42 43 44 20 0 1 0 114451 3133440 397 18446744073709551615 "
		"1 1 0 0 0 0 0 0 0 0 0 0 17 6 50 1 77 88 99\n";
	size_t known = (size_t)(strstr(text, "114451 ") + sizeof "114451" - text);
	struct process_stat whole_stat, stat;

	CU_ASSERT_EQUAL(process_parse_stat(TEXT(text), &whole_stat), 0);
	for (size_t n = 0; n < sizeof text - 1; n++) {
		char *copy = malloc(n ? n : 1); /* so that a sanitizer sees a byte too far */
		int err;

		memcpy(copy, text, n);
		err = process_parse_stat(copy, n, &stat);
		CU_ASSERT_EQUAL(err, n < known ? -EBADMSG : 0);
		for (uint32_t f = STAT_PPID; !err && f <= stat.last; f++)
			CU_ASSERT_EQUAL(stat.field[f], whole_stat.field[f]);
		free(copy);
	}
	CU_ASSERT_EQUAL(process_parse_stat(TEXT(""), &stat), -EBADMSG);
	CU_ASSERT_EQUAL(process_parse_stat(TEXT(")("), &stat), -EBADMSG);
	CU_ASSERT_EQUAL(process_parse_stat(TEXT("1 (a)"), &stat), -EBADMSG);
	CU_ASSERT_EQUAL(process_parse_stat(TEXT("1 (a) \n"), &stat), -EBADMSG);
}

static const char status_ordinary[] =
	"Name:\tcat\nUmask:\t0022\nState:\tR (running)\nTgid:\t7311\nNgid:\t0\nPid:\t7311\nPPid:\t7308\n"
	"TracerPid:\t0\nUid:\t1000\t1001\t1002\t1003\nGid:\t0\t0\t0\t0\nFDSize:\t256\nGroups:\t \n"
	"NStgid:\t7311\nNSpid:\t7311\nNSpgid:\t7308\nNSsid:\t3128\nKthread:\t0\nVmPeak:\t    3061 kB\n"
	"VmSize:\t    3060 kB\nVmLck:\t       1 kB\nVmPin:\t       2 kB\nVmHWM:\t    1705 kB\nVmRSS:\t    1704 kB\n"
	"RssAnon:\t     116 kB\nRssFile:\t    1588 kB\nRssShmem:\t       3 kB\nVmData:\t     360 kB\n"
	"VmStk:\t     132 kB\nVmExe:\t      20 kB\nVmLib:\t    1528 kB\nVmPTE:\t      44 kB\nVmSwap:\t       5 kB\n"
	"HugetlbPages:\t    2048 kB\nCoreDumping:\t0\nTHP_enabled:\t1\nuntag_mask:\t0xffffffffffffffff\nThreads:\t1\n"
	"SigQ:\t0/96364\nSigPnd:\t0000000000000000\nShdPnd:\t0000000000000000\nSigBlk:\t0000000000000000\n"
	"SigIgn:\t0000000000000000\nSigCgt:\t0000000000000000\nCapInh:\t0000000000000000\nCapPrm:\t000001fffeffffff\n"
	"CapEff:\t000001fffeffffff\nCapBnd:\t000001fffeffffff\nCapAmb:\t0000000000000000\nNoNewPrivs:\t0\nSeccomp:\t0\n"
	"Seccomp_filters:\t0\nSpeculation_Store_Bypass:\tthread vulnerable\n"
	"SpeculationIndirectBranch:\tconditional enabled\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1,4\n"
	"Mems_allowed:\t00000000,00000001\nMems_allowed_list:\t0\nvoluntary_ctxt_switches:\t17\n"
	"nonvoluntary_ctxt_switches:\t1\n";

static void status_of_618(void)
{
	struct alone a;

	process_parse_status(TEXT(status_ordinary), fresh(&a));
	CU_ASSERT(is(&a, UID, 1000));
	CU_ASSERT(is(&a, VM_PEAK, 3061) && is(&a, VM_LCK, 1) && is(&a, VM_PIN, 2));
	CU_ASSERT(is(&a, VM_HWM, 1705) && is(&a, VM_RSS, 1704));
	CU_ASSERT(is(&a, RSS_ANON, 116) && is(&a, RSS_FILE, 1588) && is(&a, RSS_SHMEM, 3));
	CU_ASSERT(is(&a, VM_DATA, 360) && is(&a, VM_STK, 132) && is(&a, VM_PTE, 44));
	CU_ASSERT(is(&a, VM_SWAP, 5) && is(&a, HUGETLB_PAGES, 2048));
	CU_ASSERT(is_text(&a, CPUS_ALLOWED, TEXT("0-1,4")));
	CU_ASSERT(is_text(&a, MEMS_ALLOWED, TEXT("0")));
	CU_ASSERT(is(&a, VOLUNTARY_SWITCHES, 17) && is(&a, INVOLUNTARY_SWITCHES, 1));
	CU_ASSERT_EQUAL(a.have[0], a.have[0] & ((UINT64_C(1) << PROCESS_COLUMNS) - 1));
	CU_ASSERT_EQUAL(__builtin_popcountll(a.have[0]), 18);
}

/* A kernel thread's, with lines out of order, unknown, empty and doubled blanks: what is not there is absent. */
static void status_of_others(void)
{
	struct alone a;

	process_parse_status(
		TEXT("Name:\tkthreadd\nUid:\t0\t0\t0\t0\nThreads:\t1\nNewThing:\t5\n\nCpus_allowed_list:\t0-63\n"
		     "voluntary_ctxt_switches:\t65\nnonvoluntary_ctxt_switches:\t0\n"),
		fresh(&a));
	CU_ASSERT(is(&a, UID, 0) && is(&a, VOLUNTARY_SWITCHES, 65) &&
		  is(&a, INVOLUNTARY_SWITCHES, 0));
	CU_ASSERT(lacks(&a, VM_RSS) && lacks(&a, VM_SWAP) && lacks(&a, MEMS_ALLOWED));
	process_parse_status(
		TEXT("VmSwap:\t 7 kB\nVmRSS:\t8 kB\nUid:\tnobody\nVmHWM:\nVmRSSx: 9\n"), fresh(&a));
	CU_ASSERT(is(&a, VM_SWAP, 7) && is(&a, VM_RSS, 8) && lacks(&a, UID) && lacks(&a, VM_HWM));
	/* The kernel escapes a line feed in the name, so no name can be a line. */
	process_parse_status(TEXT("Name:\tx\\nVmRSS:\\t1\n"), fresh(&a));
	CU_ASSERT(lacks(&a, VM_RSS));
}

static void status_cut(void)
{
	struct alone entire, a;

	process_parse_status(TEXT(status_ordinary), fresh(&entire));
	for (size_t n = 0; n < sizeof status_ordinary - 1; n++) {
		char *copy = malloc(n ? n : 1);

		memcpy(copy, status_ordinary, n);
		process_parse_status(copy, n, fresh(&a));
		for (uint32_t i = 0; i < PROCESS_COLUMNS; i++)
			CU_ASSERT(lacks(&a, i) || columns[i].type == SONDE_STR ||
				  is(&entire, i, a.slots[i]));
		free(copy);
	}
}

static void io(void)
{
	struct alone a;

	process_parse_io(
		TEXT("rchar: 8704\nwchar: 1728\nsyscr: 16\nsyscw: 3\nread_bytes: 4096\nwrite_bytes: 8192\n"
		     "cancelled_write_bytes: 12288\n"),
		fresh(&a));
	CU_ASSERT(is(&a, RCHAR, 8704) && is(&a, WCHAR, 1728) && is(&a, SYSCR, 16) &&
		  is(&a, SYSCW, 3));
	CU_ASSERT(is(&a, READ_BYTES, 4096) && is(&a, WRITE_BYTES, 8192));
	CU_ASSERT(is(&a, CANCELLED_WRITE_BYTES, 12288));
	process_parse_io(TEXT(""), fresh(&a));
	CU_ASSERT(lacks(&a, RCHAR) && lacks(&a, CANCELLED_WRITE_BYTES));
}

/* Case 73: ns, ns, count. Case 74: "0 0 0" is not counted, not "no waiting". */
static void schedstat(void)
{
	struct process_sched sched;

	CU_ASSERT(process_parse_schedstat(TEXT("10493764364074 508452504298 149067570\n"), &sched));
	CU_ASSERT_EQUAL(sched.run, 10493764364074);
	CU_ASSERT_EQUAL(sched.wait, 508452504298);
	CU_ASSERT_EQUAL(sched.slices, 149067570);
	CU_ASSERT_EQUAL(columns[SCHED_RUN].unit, SONDE_BASE_NS);
	CU_ASSERT_EQUAL(columns[SCHED_RUN].scale_mul, 1);
	CU_ASSERT_EQUAL(columns[SCHED_SLICES].unit, SONDE_BASE_COUNT);
	CU_ASSERT(!process_parse_schedstat(TEXT("0 0 0\n"), &sched));
	CU_ASSERT(process_parse_schedstat(TEXT("5 0 1\n"), &sched));
	CU_ASSERT_EQUAL(sched.wait, 0);
	CU_ASSERT(!process_parse_schedstat(TEXT("5 6\n"), &sched));
	CU_ASSERT(!process_parse_schedstat(TEXT(""), &sched));
	CU_ASSERT(!process_parse_schedstat(TEXT("1 2 3"), &sched)); /* cut: it may have been 30 */
}

static bool line_is(enum process_cmdline form, const char *text, size_t length,
		    const char *expected)
{
	char line[64];
	size_t n = process_cmdline(form, text, length, line, sizeof line);

	return n == strlen(expected) && memcmp(line, expected, n) == 0;
}

static void cmdline(void)
{
	static const char text[] = "mysql\0--password=s3cret\0-ps3cret\0-u\0root\0--verbose\0db";
	char line[8];

	CU_ASSERT(line_is(CMDLINE_FULL, text, sizeof text,
			  "mysql --password=s3cret -ps3cret -u root --verbose db"));
	CU_ASSERT(line_is(CMDLINE_NAME, text, sizeof text, ""));
	CU_ASSERT(line_is(CMDLINE_FULL, TEXT("echo\0\0x\0"), "echo  x"));
	CU_ASSERT(line_is(CMDLINE_FULL, TEXT(""), ""));
	CU_ASSERT(line_is(CMDLINE_FULL, TEXT("\0\0"), ""));
	CU_ASSERT_EQUAL(process_cmdline(CMDLINE_FULL,
					TEXT("0123\0"
					     "56789\0"),
					line, sizeof line),
			8);
	CU_ASSERT_EQUAL(memcmp(line, "0123 567", 8), 0);
}

/* What looks like a secret, as people really put them on command lines; what they are asked for stays readable. */
static void redacted(void)
{
	static const struct {
		const char *text;
		size_t length;
		const char *line;
	} cases[] = {
		{ TEXT("mysql\0--password=s3cret\0-ps3cret\0-u\0root\0--verbose\0db"),
		  "mysql --password=* -p* -u * --verbose db" },
		{ TEXT("java\0-Xmx2g\0-jar\0/srv/app.jar\0--server.port=8080"),
		  "java -Xmx2g -jar /srv/app.jar --server.port=8080" },
		{ TEXT("tool\0--password\0two words\0next"), "tool --password * next" },
		{ TEXT("tool\0--password=two words\0next"), "tool --password=* next" },
		{ TEXT("tool\0--password\0--verbose\0x"), "tool --password --verbose x" },
		{ TEXT("env\0DB_PASSWORD=x\0AWS_SECRET_ACCESS_KEY=y\0HOME=/root\0-\0--"),
		  "env DB_PASSWORD=* AWS_SECRET_ACCESS_KEY=* HOME=/root - --" },
		{ TEXT("psql\0postgres://alice:pa@ss@db.example:5432/shop?sslmode=off&password=x"),
		  "psql postgres://*@db.example:5432/shop?sslmode=off&password=*" },
		{ TEXT("git\0clone\0https://host/a@b"), "git clone https://host/a@b" },
		{ TEXT("curl\0-u\0bob:hunter2\0-H\0Authorization: Bearer abc def\0https://h/?api_key=1&b=2"),
		  "curl -u * -H Authorization:* https://h/?api_key=*&b=2" },
		{ TEXT("sh\0-c\0TOKEN=a curl -H \"Authorization: Bearer b\" --token c x"),
		  "sh -c TOKEN=* curl -H \"Authorization: * * --token * x" },
		{ TEXT("app\0Pwd=a;Server=b\0{\"password\":\"x\",\"user\":\"y\"}"),
		  "app Pwd=*;Server=b {\"password\":*,\"user\":\"y\"}" },
		{ TEXT("runner\0ghp_0123456789abcdef\0aGVsbG8gd29ybGQhIDEyMw\0sk-0123456789abcdef\0--id=eyJhbGciOiJIUzI1NiJ9.e30"),
		  "runner * * * --id=*" },
		{ TEXT("shim\0-id\0"
		       "4f1d0d2b6c0f4f1d0d2b6c0f4f1d0d2b"),
		  "shim -id 4f1d0d2b6c0f4f1d0d2b6c0f4f1d0d2b" },
		/* A title written over the arguments. */
		{ TEXT("sshd: alice@pts/0\0\0\0"), "sshd: alice@pts/0" },
		{ TEXT("postgres: alice shop 10.0.0.1(4711) idle\0"),
		  "postgres: alice shop 10.0.0.1(4711) idle" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char line[256];
		size_t n = process_cmdline(CMDLINE_REDACTED, cases[i].text, cases[i].length, line,
					   sizeof line - 1);

		line[n] = '\0';
		CU_ASSERT_STRING_EQUAL(line, cases[i].line);
		if (strcmp(line, cases[i].line) != 0)
			fprintf(stderr, "%s\n", line);
	}
}

static bool cgroup_is(const char *text, const char *expected)
{
	const char *path = "";
	size_t n = process_parse_cgroup(text, strlen(text), &path);

	return n == strlen(expected) && memcmp(path, expected, n) == 0;
}

/* Case 49: a colon in the path. Case 50: a stray controller of v1. Case 52: no controllers named. */
static void cgroup(void)
{
	CU_ASSERT(cgroup_is(
		"0::/system.slice/kubepods-burstable-podAAAA.slice:cri-containerd:0123abcd\n",
		"/system.slice/kubepods-burstable-podAAAA.slice:cri-containerd:0123abcd"));
	CU_ASSERT(cgroup_is("1:net_cls:/\n0::/\n", "/"));
	CU_ASSERT(cgroup_is("1:net_cls:/x\n0::/a\n", "/a"));
	CU_ASSERT(cgroup_is("0::/user.slice/user-1000.slice/session-1.scope\n",
			    "/user.slice/user-1000.slice/session-1.scope"));
	/* v1: systemd's own hierarchy, else cpu's, else memory's. */
	CU_ASSERT(cgroup_is("4:memory:/docker/ID\n3:cpuset:/x\n2:cpu,cpuacct:/docker/ID2\n0::/\n",
			    "/docker/ID2"));
	CU_ASSERT(cgroup_is("4:memory:/docker/ID\n1:name=systemd:/a.service\n", "/a.service"));
	CU_ASSERT(
		cgroup_is("9:name=systemd:/\n4:memory:/process/1\n1:cpu:/\n0::/\n", "/process/1"));
	CU_ASSERT(cgroup_is("0::/gone (deleted)\n", "/gone (deleted)"));
	/* Outside of the reader's namespace of groups. */
	CU_ASSERT(cgroup_is("0::/../other\n", "/../other"));
	CU_ASSERT(cgroup_is("", "") && cgroup_is("0:", "") && cgroup_is("x:y\n0::\n", ""));
}

const char suite[] = "process";
CU_TestInfo tests[] = {
	{ "stat of an ordinary process", stat_ordinary },
	{ "case 1: comm with parentheses", comm_with_parentheses },
	{ "case 2: comm with blanks", comm_with_blanks },
	{ "case 3: comm with a line feed", comm_with_line_feed },
	{ "case 5: crafted comm", comm_crafted },
	{ "case 6: comm is bytes", comm_is_bytes },
	{ "case 47: zombie leader and kernel thread have no memory", stat_without_memory },
	{ "cases 137, 140: large values", stat_large },
	{ "stat cut at every byte", stat_cut },
	{ "status of Linux 6.18", status_of_618 },
	{ "status of other kernels and tasks", status_of_others },
	{ "status cut at every byte", status_cut },
	{ "io", io },
	{ "cases 73, 74: schedstat", schedstat },
	{ "cmdline", cmdline },
	{ "redacted command lines", redacted },
	{ "cases 49, 50, 52: cgroup", cgroup },
	CU_TEST_INFO_NULL,
};
