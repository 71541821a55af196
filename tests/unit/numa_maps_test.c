/* numa_maps: lines of the kernel added up, the round of processes within its budget, sampling. Expected values are counted in
 * the texts by hand. */
#include "plugins/numa_maps/numa_maps.c"
#include "plugins/numa_maps/pages.c"
#include "plugins/numa_maps/sampled.c"
#include "plugins/numa_maps/stretches.c"

#include <sys/mman.h>

#include "fakehost.h"

const char suite[] = "numa_maps";

static struct conf conf;

static void set_conf(void)
{
	conf = (struct conf) {
		.targets = { .max = 4 }, .budget = 60000000000, .ceiling = 1 << 30, .samples = 1024
	};
	fake.self.conf = &conf;
}

static struct pages parse(const char *text)
{
	struct pages pages = { .total = 0 };

	pages_parse(text, strlen(text), 65536, &pages);
	return pages;
}

/* Bytes of one backing on one node. */
static uint64_t on(const struct pages *pages, uint32_t node, enum backing backing)
{
	for (uint32_t n = 0; n < pages->nnodes; n++)
		if (pages->node[n] == node)
			return pages->bytes[n][backing];
	return 0;
}

/* Case 79: what looks like a key inside a file's name is escaped, and is no key. */
static void a_name_that_looks_like_keys(void)
{
	struct pages pages = parse("7f0000000000 default file=/srv/a\\040N1\\075999\\040(deleted) "
				   "mapped=3 N0=3 kernelpagesize_kB=4\n");

	CU_ASSERT_EQUAL(pages.nnodes, 1);
	CU_ASSERT_EQUAL(on(&pages, 0, FILE_OR_SHM), 3 * 4096);
	CU_ASSERT_EQUAL(pages.total, 3 * 4096);
}

/* A page of a line is as large as the line says: 2 MiB from a pool, 16 KiB on another machine. */
static void pages_of_any_size(void)
{
	struct pages pages = parse(
		"7f0000000000 bind:1 file=/anon_hugepage\\040(deleted) huge anon=2 dirty=2 N1=2 "
		"kernelpagesize_kB=2048\n"
		"7f1000000000 default heap anon=5 dirty=4 swapcache=1 active=0 N0=2 N1=3 "
		"kernelpagesize_kB=16\n"
		"7ffc00000000 default stack anon=1 dirty=1 N8=1\n");

	CU_ASSERT_EQUAL(on(&pages, 1, HUGETLB), 2 << 21);
	CU_ASSERT_EQUAL(on(&pages, 0, HEAP), 2 << 14);
	CU_ASSERT_EQUAL(on(&pages, 1, HEAP), 3 << 14);
	CU_ASSERT_EQUAL(on(&pages, 8, STACK), 65536); /* not said: the machine's */
	CU_ASSERT_EQUAL(pages.counted[COUNT_ANON], (2 << 21) + (5 << 14) + 65536);
	CU_ASSERT_EQUAL(pages.counted[COUNT_SWAPCACHE], 1 << 14);
}

/* A policy may be several words, and what is left of it never looks like a key. */
static void policies(void)
{
	static const char *const cases[] = { "default",         "bind:1",
					     "bind=static:0-1", "prefer (many):0-1",
					     "interleave:0-1",  "weighted interleave:0-1",
					     "local",           "bind=balancing|static:0,4-5" };
	char text[200];

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct pages pages;

		snprintf(text, sizeof text, "7f00 %s anon=4 N0=4 kernelpagesize_kB=4\n7f10 %s\n",
			 cases[i], cases[i]);
		pages = parse(text);
		CU_ASSERT_EQUAL(pages.npolicies, 1);
		CU_ASSERT_EQUAL(pages.policy[0].length, strlen(cases[i]));
		CU_ASSERT_NSTRING_EQUAL(pages.policy[0].text, cases[i], strlen(cases[i]));
		CU_ASSERT_EQUAL(pages.policy[0].bytes, 16384);
		CU_ASSERT_EQUAL(pages.policy[0].mappings, 2);
	}
}

/* Beyond the room there is, nothing is lost from the sums of what there is room for. */
static void more_than_there_is_room_for(void)
{
	static char text[8192];
	struct pages pages;
	size_t n = 0;

	for (int i = 0; i < 70; i++)
		n += (size_t)snprintf(text + n, sizeof text - n,
				      "7f%02x000 bind:%d anon=1 N%d=1 kernelpagesize_kB=4\n", i, i,
				      i);
	pages = parse(text);
	CU_ASSERT_EQUAL(pages.nnodes, NODES_MOST);
	CU_ASSERT_EQUAL(pages.total, NODES_MOST * 4096);
	CU_ASSERT_EQUAL(pages.npolicies, POLICIES_MOST);
	CU_ASSERT_EQUAL(pages.policy[POLICIES_MOST - 1].mappings, 70 - (POLICIES_MOST - 1));
	CU_ASSERT_NSTRING_EQUAL(pages.policy[POLICIES_MOST - 1].text, "other", 5);
}

/* Bytes of a mapping on a node; 0: it is not among the largest. */
static uint64_t stretch_of(const struct pages *pages, const char *name, uint64_t node)
{
	for (uint32_t i = 0; i < pages->stretches.count; i++) {
		const struct stretch *one = &pages->stretches.item[i];

		if (one->node == node && one->name.length == strlen(name) &&
		    memcmp(one->name.text, name, one->name.length) == 0)
			return one->bytes;
	}
	return 0;
}

/* All mappings of a file are one, by node; anonymous ones are apart. */
static void mappings_by_node(void)
{
	struct pages pages = parse(
		"7f0000000000 default file=/dev/shm/a mapped=3 N0=1 N1=2 kernelpagesize_kB=4\n"
		"7f1000000000 default anon=5 N1=5 kernelpagesize_kB=4\n"
		"7f2000000000 default anon=6 N0=6 kernelpagesize_kB=4\n"
		"7f3000000000 default file=/dev/shm/a mapped=4 N1=4 kernelpagesize_kB=4\n"
		"55d000000000 default heap anon=7 N0=7 kernelpagesize_kB=4\n");

	stretches_end(&pages.stretches);
	CU_ASSERT_EQUAL(pages.stretches.count, 5);
	CU_ASSERT_EQUAL(stretch_of(&pages, "/dev/shm/a", 0), 4096);
	CU_ASSERT_EQUAL(stretch_of(&pages, "/dev/shm/a", 1), 6 * 4096);
	CU_ASSERT_EQUAL(stretch_of(&pages, "7f1000000000", 1), 5 * 4096);
	CU_ASSERT_EQUAL(stretch_of(&pages, "7f2000000000", 0), 6 * 4096);
	CU_ASSERT_EQUAL(stretch_of(&pages, "heap", 0), 7 * 4096);
}

/* Of a hundred the eight largest stay, in whatever order they come; of a long path the end. */
static void the_largest_mappings(void)
{
	static char text[16384];
	char path[200];
	struct pages pages;
	size_t n = 0;

	for (int i = 0; i < 100; i++) /* 37 x i modulo 101 is each number but one, once */
		n += (size_t)snprintf(text + n, sizeof text - n,
				      "7f%02x000 default anon=%d N0=%d kernelpagesize_kB=4\n", i,
				      37 * i % 101 + 1, 37 * i % 101 + 1);
	memset(path, 'p', sizeof path - 1);
	path[sizeof path - 1] = '\0';
	snprintf(text + n, sizeof text - n, "8000 default file=/%s N0=500 kernelpagesize_kB=4\n",
		 path);
	pages = parse(text);
	stretches_end(&pages.stretches);
	CU_ASSERT_EQUAL(pages.stretches.count, STRETCHES_MOST);
	CU_ASSERT_EQUAL(stretch_of(&pages, path + 199 - MAPPING_LENGTH, 0), 500 * 4096);
	for (int i = 0; i < 100; i++) {
		char address[16];
		uint64_t size = 37 * i % 101 + 1;

		snprintf(address, sizeof address, "7f%02x000", i);
		if (size > 101 - (STRETCHES_MOST - 1) + 1)
			CU_ASSERT_EQUAL(stretch_of(&pages, address, 0), size * 4096);
		if (size < 101 - 15 - 1)
			CU_ASSERT_EQUAL(stretch_of(&pages, address, 0), 0);
	}
}

static void lines_that_are_none(void)
{
	struct pages pages =
		parse("\n\nno address\n7f00\n7f00 \n7f10 default N=5 Nx=1 N1 N2= N3=x\n"
		      "7f20 default N0=1 kernelpagesize_kB=4");

	CU_ASSERT_EQUAL(pages.mappings, 1);
	CU_ASSERT_EQUAL(pages.total, 0); /* the last line has no end: cut */
}

#define STAT(pid, comm, start, rss)                                                                \
	pid " (" comm ") S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 " start " 1000000 " rss " 0\n"

static void two_processes(void)
{
	put("/proc/10/stat", STAT("10", "small", "70", "1"));
	put("/proc/10/numa_maps", "7f00 default anon=1 N0=1 kernelpagesize_kB=4\n");
	put("/proc/20/stat", STAT("20", "a) b", "80", "3"));
	put("/proc/20/numa_maps", "7f00 bind:1 anon=3 N1=3 kernelpagesize_kB=4\n");
	put("/proc/30/stat", STAT("30", "kthread", "1", "0"));
	set_conf();
}

static void largest_first(void)
{
	two_processes();
	conf.targets.max = 1;
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("numa_maps", "20 80 1", "bytes", "12288");
	IS("numa_maps", "20 80 1", "comm", "a) b");
	CU_ASSERT_EQUAL(fake_rows("numa_maps"), 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.notes, "1 of 2 processes are left out"));
	fake_end();
}

/* No time at all: one part a sample all the same, and each process has its turn; what is known stays. */
static void within_the_budget(void)
{
	two_processes();
	conf.budget = 0;
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("numa_maps_process", "10 70", "method", "none");
	for (int i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("numa_maps_process", "10 70", "method", "read");
	IS("numa_maps", "10 70 0", "anon", "4096");
	IS("numa_maps", "20 80 1", "anon", "12288");
	fake_end();
}

/* Another process with the same number begins anew; one that ended has no rows. */
static void a_number_is_no_identity(void)
{
	two_processes();
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	put("/proc/10/stat", STAT("10", "other", "99", "1"));
	put("/proc/10/numa_maps", "7f00 default anon=2 N0=2 kernelpagesize_kB=4\n");
	put("/proc/20/stat", NULL);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("numa_maps", "10 99 0", "bytes", "8192");
	IS("numa_maps", "10 70 0", "bytes", "no row");
	CU_ASSERT_EQUAL(fake_rows("numa_maps_process"), 1);
	fake_end();
}

static void chosen_by_name_and_tree(void)
{
	static const char *const name[] = { "sm*" }, *const root[] = { "20" };

	two_processes();
	conf.targets.name = (struct sonde_list) { name, 1, 0 };
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("numa_maps_process"), 1);
	IS("numa_maps_process", "10 70", "method", "read");
	fake_end();

	two_processes();
	conf.targets.subtree = (struct sonde_list) { root, 1, 0 };
	put("/proc/40/stat", "40 (child) S 20 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 90 1 5 0\n");
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("numa_maps_process", "10 70", "method", "no row");
	IS("numa_maps_process", "20 80", "method", "read");
	IS("numa_maps_process", "40 90", "resident", "20480");
	/* Its parent ends: it is of the tree still. */
	put("/proc/20/stat", NULL);
	put("/proc/40/stat", "40 (child) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 90 1 5 0\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("numa_maps_process", "40 90", "resident", "20480");
	fake_end();
}

/* cgroup and unit, as process has them: itself or below, nginx for nginx.service, whichever slices it stands in. */
static void chosen_by_group(void)
{
	static const struct {
		const char *cgroup, *unit;
		bool small, other;
	} cases[] = {
		{ "/system.slice", NULL, true, true },
		{ "/system.slice/nginx.service", NULL, true, false },
		{ "/system.slice/ngin", NULL, false, false },
		{ "/*/app-*", NULL, false, true },
		{ NULL, "nginx", true, false },
		{ NULL, "app-a.scope", false, true },
		{ NULL, "ngin", false, false },
		{ NULL, "system.slice", true, true },
		{ "/elsewhere", "nginx", true, false },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		two_processes();
		put("/proc/10/cgroup", "4:cpu,cpuacct:/\n0::/system.slice/nginx.service/worker\n");
		put("/proc/20/cgroup", "0::/system.slice/app-a.scope\n");
		conf.targets.cgroup =
			(struct sonde_list) { &cases[i].cgroup, cases[i].cgroup != NULL, 0 };
		conf.targets.unit =
			(struct sonde_list) { &cases[i].unit, cases[i].unit != NULL, 0 };
		CU_ASSERT_EQUAL(fake_start(""), 0);
		CU_ASSERT_EQUAL(fake_sample(), 0);
		IS("numa_maps_process", "10 70", "method", cases[i].small ? "read" : "no row");
		IS("numa_maps_process", "20 80", "method", cases[i].other ? "read" : "no row");
		fake_end();
	}
}

static void mappings(void)
{
	static const struct {
		const char *line;
		bool ok;
		enum backing backing;
		const char *name;
	} cases[] = {
		{ "7f0000000000-7f0000200000 rw-p 00000000 00:00 0 ", true, ANON, "7f0000000000" },
		{ "55d000000000-55d000021000 rw-p 00000000 00:00 0          [heap]", true, HEAP,
		  "heap" },
		{ "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0 [stack]", true, STACK, "stack" },
		{ "7f0000000000-7f0000200000 rw-s 00000000 00:0f 7 /anon_hugepage (deleted)", true,
		  HUGETLB, "/anon_hugepage (deleted)" },
		{ "7f0000000000-7f0000200000 r-xp 00001000 08:01 77 /usr/lib/a b.so", true,
		  FILE_OR_SHM, "/usr/lib/a b.so" },
		{ "7f0000000000-7f0000200000 rw-p 00000000 00:00 0 [anon:jemalloc]", true, ANON,
		  "[anon:jemalloc]" },
		{ "7f0000000000-7f0000200000 ---p 00000000 00:00 0 ", false, ANON, "" },
		{ "7fff00000000-7fff00002000 r-xp 00000000 00:00 0 [vdso]", false, ANON, "" },
		{ "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]", false, ANON,
		  "" },
		{ "7f0000200000-7f0000000000 rw-p 00000000 00:00 0 ", false, ANON, "" },
		{ "", false, ANON, "" },
	};
	struct mapping_name name;
	uint64_t start, end;
	enum backing backing;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct cursor line = whole(cases[i].line, strlen(cases[i].line));
		bool ok = sampled_mapping(&line, &start, &end, &backing, &name);

		CU_ASSERT_EQUAL(ok, cases[i].ok);
		if (ok && cases[i].ok)
			CU_ASSERT_EQUAL(backing, cases[i].backing);
		if (ok && cases[i].ok)
			CU_ASSERT(name.length == strlen(cases[i].name) &&
				  memcmp(name.text, cases[i].name, name.length) == 0);
	}
	CU_ASSERT_EQUAL(sampled_interval(1 << 30, 1024, 4096), 257 * 4096);
	CU_ASSERT_EQUAL(sampled_interval(5, 1024, 4096), 4096);
}

/* Bytes, on all nodes, of the anonymous mapping that has this address: it may begin before it. */
static double sampled_at(uintptr_t address)
{
	const struct stretches *stretches =
		&((struct state *)fake.self.state)->result[0].pages.stretches;
	uint64_t begin = 0;
	double bytes = 0;

	for (uint32_t i = 0; i < stretches->count; i++) {
		const struct stretch *one = &stretches->item[i];
		struct cursor c = whole(one->name.text, one->name.length);
		uint64_t start;

		if (!take_hex(&c, &start) || start > address || start < begin)
			continue;
		bytes = start == begin ? bytes + (double)one->bytes : (double)one->bytes;
		begin = start;
	}
	return bytes;
}

/* This process, larger than a ceiling of 1 MiB: the estimate is near what the kernel's own count says. */
static void sampling_is_near(void)
{
	enum { SIZE = 64 << 20 };
	static char pid[16];
	static const char *const list[] = { pid };
	char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char key[64], path[64];
	FILE *file;
	double anon;

	CU_ASSERT_FATAL(memory != MAP_FAILED);
	memset(memory, 1, SIZE);
	snprintf(pid, sizeof pid, "%d", (int)getpid());
	snprintf(path, sizeof path, "/proc/%d/stat", (int)getpid());
	set_conf();
	conf.targets.pids = (struct sonde_list) { list, 1, 0 };
	conf.ceiling = 1 << 20;
	conf.samples = 4096;
	/* A fake host reads files of a tree: the real root is one, but then nothing is sampled. */
	CU_ASSERT_EQUAL(fake_start("/."), 0);
	fake.self.root = "";
	for (int i = 0; i < 3; i++) /* the first knows the address space by its size alone */
		CU_ASSERT_EQUAL(fake_sample(), 0);
	file = fopen("/proc/self/numa_maps", "r");
	if (!file) {
		printf("skipped: no numa_maps here\n");
		fake_end();
		return;
	}
	fclose(file);
	snprintf(key, sizeof key, "%d %llu", (int)getpid(),
		 (unsigned long long)((struct state *)fake.self.state)->targets.seat[0].start);
	if (((struct state *)fake.self.state)->targets.seat[0].space >> 40) {
		printf("skipped: a sanitizer's address space, of which the memory is too small a part\n");
		fake_end();
		return;
	}
	IS("numa_maps_process", key, "method", "sampled");
	CU_ASSERT_STRING_EQUAL(got("numa_maps_process", key, "anon"), "-");
	CU_ASSERT(atof(got("numa_maps_process", key, "sampled")) > 500);
	anon = atof(got("numa_maps_process", key, "bytes"));
	CU_ASSERT(anon > 0.9 * SIZE && anon < 1.5 * SIZE);
	anon = sampled_at((uintptr_t)memory);
	CU_ASSERT(anon > 0.9 * SIZE && anon < 1.5 * SIZE);
	munmap(memory, SIZE);
	fake_end();
}

CU_TestInfo tests[] = {
	{ "case 79: a name that looks like keys", a_name_that_looks_like_keys },
	{ "pages of any size", pages_of_any_size },
	{ "policies", policies },
	{ "more than there is room for", more_than_there_is_room_for },
	{ "mappings by node", mappings_by_node },
	{ "the largest mappings", the_largest_mappings },
	{ "lines that are none", lines_that_are_none },
	{ "largest first", largest_first },
	{ "within the budget", within_the_budget },
	{ "a number is no identity", a_number_is_no_identity },
	{ "chosen by name and by tree", chosen_by_name_and_tree },
	{ "chosen by group and unit", chosen_by_group },
	{ "mappings", mappings },
	{ "sampling is near", sampling_is_near },
	CU_TEST_INFO_NULL,
};
