/* The collector `cgroup` on files in memory, on its fixtures and on captured machines: who gets a row, limits, what is removed
 * and made again. Expected numbers are those of the texts. */
#include "plugins/cgroup/cgroup.c"
#include "plugins/cgroup/names.c"
#include "plugins/cgroup/names_node.c"
#include "plugins/cgroup/parse.c"
#include "plugins/cgroup/read.c"
#include "plugins/cgroup/settle.c"
#include "plugins/cgroup/tables.c"
#include "plugins/cgroup/walk.c"

#include "fakehost.h"

const char suite[] = "cgroup_sample";

#define MOUNT_V2 "29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
#define TOP      "/sys/fs/cgroup"
#define HEX64    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct conf conf;

static void begin(void)
{
	conf = (struct conf) { .depth = 5, .max = 256, .rescan = 1 };
	fake.self.conf = &conf;
	put("/proc/self/mountinfo", MOUNT_V2);
	put(TOP "/cpu.stat", "usage_usec 1000\n");
}

static void start_and_sample(void)
{
	CU_ASSERT_EQUAL_FATAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
}

static void version_2(void)
{
	begin();
	put(TOP "/web/cgroup.controllers", "cpuset cpu io memory pids\n");
	put(TOP "/web/cpu.stat",
	    "usage_usec 7\nuser_usec 5\nsystem_usec 2\nnr_periods 30\nnr_throttled 20\nthrottled_usec 8800000\n");
	put(TOP "/web/cpu.max", "20000 100000\n");
	put(TOP "/web/cpu.weight", "100\n");
	put(TOP "/web/memory.current", "4096\n");
	put(TOP "/web/memory.max", "max\n");
	put(TOP "/web/memory.high", "1048576\n");
	put(TOP "/web/memory.stat", "anon 61440\nfile 0\npgfault 34\nsomething_new 1\n");
	put(TOP "/web/memory.events", "low 0\nhigh 257\nmax 3\noom 2\noom_kill 1\n");
	put(TOP "/web/io.stat", "8:0 rbytes=1 wbytes=2 rios=3 wios=4\n");
	put(TOP "/web/pids.current", "5\n");
	put(TOP "/web/pids.max", "max\n");
	put(TOP "/web/cpuset.cpus.effective", "0-3\n");
	put(TOP "/web/cpu.pressure",
	    "some avg10=0.00 avg60=0.00 avg300=0.00 total=9\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=8\n");
	start_and_sample();
	CU_ASSERT_EQUAL(fake_rows("cgroup"), 2);
	IS("cgroup", "/ 0", "usage", "1000000");
	IS("cgroup", "/ 0", "nr_periods", "-");
	IS("cgroup", "/web 0", "usage", "7000");
	IS("cgroup", "/web 0", "throttled", "8800000000");
	IS("cgroup", "/web 0", "nr_throttled", "20");
	IS("cgroup", "/web 0", "cpu_quota", "20000");
	IS("cgroup", "/web 0", "effective_cpus", "0.2");
	IS("cgroup", "/web 0", "effective_cpus_from", "/web");
	IS("cgroup", "/web 0", "memory_max", "-");
	IS("cgroup", "/web 0", "memory_high", "1048576");
	IS("cgroup", "/web 0", "effective_memory_max", "-");
	IS("cgroup", "/web 0", "events_high", "257");
	IS("cgroup", "/web 0", "events_oom_group_kill", "-");
	IS("cgroup", "/web 0", "pids_max", "-");
	IS("cgroup", "/web 0", "cpuset_cpus", "0-3");
	IS("cgroup_memory", "/web 0", "anon", "61440");
	IS("cgroup_memory", "/web 0", "pgfault", "34");
	IS("cgroup_memory", "/web 0", "slab", "-");
	IS("cgroup_pressure", "/web 0 cpu", "full_total", "8");
	CU_ASSERT_EQUAL(fake_rows("cgroup_pressure"), 1);
	IS("cgroup_io", "/web 0 8 0", "wios", "4");
	IS("cgroup_io", "/web 0 8 0", "dbytes", "-");
	IS("cgroups", "", "found", "2");
	fake_end();
}

/* Version 1: one hierarchy a controller, other names, throttled time in ns and CPU time in ticks: the same columns and units. */
static void version_1(void)
{
	begin();
	put("/proc/self/mountinfo", "32 31 0:29 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
				    "35 31 0:32 / /cg/memory rw - cgroup cgroup rw,memory\n"
				    "38 31 0:35 / /cg/blkio rw - cgroup cgroup rw,blkio\n");
	put(TOP "/cpu.stat", NULL);
	put("/cg/cpu/web/cpuacct.usage", "123456789\n");
	put("/cg/cpu/web/cpuacct.stat", "user 7\nsystem 3\n");
	put("/cg/cpu/web/cpu.stat", "nr_periods 10\nnr_throttled 4\nthrottled_time 8800000001\n");
	put("/cg/cpu/web/cpu.cfs_quota_us", "-1\n");
	put("/cg/cpu/web/cpu.cfs_period_us", "100000\n");
	put("/cg/memory/web/memory.usage_in_bytes", "8192\n");
	put("/cg/memory/web/memory.limit_in_bytes", "9223372036854771712\n");
	put("/cg/memory/web/memory.failcnt", "6\n");
	put("/cg/memory/web/memory.stat",
	    "cache 1\nrss 2\nhierarchical_memory_limit 1073741824\ntotal_cache 11\ntotal_rss 22\ntotal_pgmajfault 3\n");
	put("/cg/memory/memory.stat", "cache 5\nhierarchical_memory_limit 1073741824\n");
	put("/cg/blkio/web/blkio.throttle.io_service_bytes",
	    "8:0 Read 4096\n8:0 Write 512\n8:0 Total 4608\nTotal 4608\n");
	put("/cg/blkio/web/blkio.throttle.io_serviced", "8:0 Read 1\n8:0 Write 2\n");
	start_and_sample();
	IS("cgroup", "/web 0", "usage", "123456789");
	IS("cgroup", "/web 0", "user", "70000000");
	IS("cgroup", "/web 0", "throttled", "8800000001");
	IS("cgroup", "/web 0", "cpu_quota", "-");
	IS("cgroup", "/web 0", "effective_cpus", "-");
	IS("cgroup", "/web 0", "memory_current", "8192");
	IS("cgroup", "/web 0", "events_max", "6");
	/* Case 58: without a limit of its own, an ancestor's that can't be seen. */
	IS("cgroup", "/web 0", "memory_max", "-");
	IS("cgroup", "/web 0", "effective_memory_max", "1073741824");
	IS("cgroup", "/web 0", "effective_memory_max_from", "-");
	IS("cgroup_memory_v1", "/web 0", "total_rss", "22");
	IS("cgroup_io", "/web 0 8 0", "rbytes", "4096");
	IS("cgroup_io", "/web 0 8 0", "wios", "2");
	fake_end();
}

/* Case 12: controllers of version 1, pressure of version 2, of one cgroup: one row. */
static void hybrid(void)
{
	begin();
	put("/proc/self/mountinfo",
	    "32 31 0:29 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n"
	    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
	put("/sys/fs/cgroup/cpuacct/a.slice/cpuacct.usage", "5\n");
	put("/sys/fs/cgroup/unified/a.slice/cpu.stat", "usage_usec 4\n");
	put("/sys/fs/cgroup/unified/a.slice/io.pressure",
	    "some avg10=0.00 avg60=0.00 avg300=0.00 total=77\n");
	put("/sys/fs/cgroup/unified/b.slice/cpu.stat", "usage_usec 6\n");
	start_and_sample();
	IS("cgroup", "/a.slice 0", "usage", "5");
	IS("cgroup", "/b.slice 0", "usage", "6000");
	IS("cgroup_pressure", "/a.slice 0 io", "some_total", "77");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("cgroup", "/a.slice 0", "usage", "5");
	fake_end();
}

static void put_limits(const char *path, const char *cpu_max, const char *memory_max)
{
	static char paths[48][256];
	static uint32_t n;
	const char *const names[] = { "cgroup.controllers", "cpu.stat", "cpu.max", "memory.max" };
	const char *const texts[] = { "cpu memory\n", "usage_usec 1\n", cpu_max, memory_max };

	for (int i = 0; i < 4; i++) {
		char *at = paths[n++ % 48];

		snprintf(at, 256, TOP "%s/%s", path, names[i]);
		put(at, texts[i]);
	}
}

/* Case 55: of a cgroup and all above it the least, and whose it is; those above count even where the options leave them out. */
static void effective_limits(void)
{
	begin();
	put_limits("/a", "300000 100000\n", "1073741824\n");
	put_limits("/a/b", "max 100000\n", "max\n");
	put_limits("/a/b/c", "400000 100000\n", "536870912\n");
	put_limits("/a/b/c/d", "50000 100000\n", "1073741824\n");
	conf.cgroup = (struct sonde_list) { (const char *const[]) { "/a/b*" }, 1, 0 };
	start_and_sample();
	CU_ASSERT_EQUAL(fake_rows("cgroup"), 3);
	IS("cgroup", "/a/b 0", "effective_cpus", "3");
	IS("cgroup", "/a/b 0", "effective_cpus_from", "/a");
	IS("cgroup", "/a/b 0", "effective_memory_max", "1073741824");
	IS("cgroup", "/a/b/c 0", "effective_cpus_from", "/a");
	IS("cgroup", "/a/b/c 0", "effective_memory_max", "536870912");
	IS("cgroup", "/a/b/c 0", "effective_memory_max_from", "/a/b/c");
	IS("cgroup", "/a/b/c/d 0", "effective_cpus", "0.5");
	IS("cgroup", "/a/b/c/d 0", "effective_cpus_from", "/a/b/c/d");
	IS("cgroup", "/a/b/c/d 0", "effective_memory_max_from", "/a/b/c");
	fake_end();
}

/* Made again under its path, it is another: no difference is taken between the two. Case 64: ENODEV says that it is gone. */
static void made_again(void)
{
	begin();
	put(TOP "/job/cpu.stat", "usage_usec 900\n");
	put(TOP "/job/io.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n");
	start_and_sample();
	IS("cgroup", "/job 0", "usage", "900000");
	put_error(TOP "/job/cpu.stat", ENODEV);
	put_error(TOP "/job/io.pressure", ENODEV);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("cgroup", "/job 0", "usage", "no row");
	CU_ASSERT_EQUAL(fake_rows("cgroup_pressure"), 0);
	CU_ASSERT_EQUAL(fake.frame.partial, false);
	put(TOP "/job/cpu.stat", "usage_usec 950\n");
	put(TOP "/job/io.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=6\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("cgroup", "/job 1", "usage", "950000");
	IS("cgroup_pressure", "/job 1 io", "some_total", "6");
	/* Seen only by its counter, where its files are opened for each read. */
	put(TOP "/job/cpu.stat", "usage_usec 10\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("cgroup", "/job 2", "usage", "10000");
	/* Gone, with its folder. */
	put(TOP "/job/cpu.stat", NULL);
	put(TOP "/job/io.pressure", NULL);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("cgroup"), 1);
	IS("cgroups", "", "found", "1");
	fake_end();
}

/* A controller taken away and given back is no other cgroup. */
static void controller_comes_and_goes(void)
{
	begin();
	put(TOP "/a/cpu.stat", "usage_usec 1\n");
	put(TOP "/a/cgroup.controllers", "memory\n");
	put(TOP "/a/memory.current", "4096\n");
	start_and_sample();
	IS("cgroup", "/a 0", "memory_current", "4096");
	put(TOP "/a/cgroup.controllers", "\n");
	put_error(TOP "/a/memory.current", ENODEV);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("cgroup", "/a 0", "memory_current", "-");
	put(TOP "/a/cgroup.controllers", "memory\n");
	put(TOP "/a/memory.current", "8192\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("cgroup", "/a 0", "memory_current", "8192");
	fake_end();
}

/* Case 65: controllers that no cgroup has: one note, and no file of theirs is asked for. */
static void controllers_that_are_not_there(void)
{
	begin();
	put(TOP "/a/cpu.stat", "usage_usec 1\n");
	put(TOP "/a/cgroup.controllers", "io pids\n");
	put(TOP "/a/memory.current", "1\n");
	start_and_sample();
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("cgroup", "/a 0", "memory_current", "-");
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.notes, "\"+cpu +memory\" into cgroup.subtree_control"));
	fake_end();
}

/* PSI that is built and switched off: one note, and it is not asked for again. */
static void pressure_that_is_off(void)
{
	begin();
	put_error(TOP "/cpu.pressure", EOPNOTSUPP);
	put_error(TOP "/io.pressure", EOPNOTSUPP);
	start_and_sample();
	IS("cgroup", "/ 0", "usage", "1000000");
	CU_ASSERT_EQUAL(fake_rows("cgroup_pressure"), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.notes, "psi=1"));
	CU_ASSERT_EQUAL(fake_sample(), 0);
	fake_end();
}

/* What could not be read once is asked for again: its values are absent meanwhile, and one note says so for all. */
static void files_that_fail_for_a_while(void)
{
	begin();
	put(TOP "/job/cpu.stat", "usage_usec 900\n");
	put(TOP "/job/io.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n");
	start_and_sample();
	put_error(TOP "/job/cpu.stat", EIO);
	put_error(TOP "/job/io.pressure", EBUSY);
	for (int i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(fake_sample(), 0);
		IS("cgroup", "/job 0", "usage", "no row");
		CU_ASSERT_EQUAL(fake_rows("cgroup_pressure"), 0);
	}
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.notes, "cpu.stat first: Input/output error"));
	CU_ASSERT_PTR_NULL(strstr(fake.notes, "io.pressure"));
	put(TOP "/job/cpu.stat", "usage_usec 950\n");
	put(TOP "/job/io.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=6\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("cgroup", "/job 0", "usage", "950000");
	IS("cgroup_pressure", "/job 0 io", "some_total", "6");
	fake_end();
}

/* Names are bytes. */
static void names_of_any_bytes(void)
{
	begin();
	put(TOP "/a b\nc:\xff\"/cpu.stat", "usage_usec 1\n");
	start_and_sample();
	IS("cgroup", "/a b\nc:\xff\" 0", "usage", "1000");
	fake_end();
}

/* More than `max`: the busiest since the walk before, which those above them are as well; the others are counted. */
static void the_busiest_have_rows(void)
{
	static char paths[10][64], texts[10][64];

	begin();
	conf.max = 3;
	for (int i = 0; i < 10; i++) {
		sprintf(paths[i], TOP "/g%d/cpu.stat", i);
		sprintf(texts[i], "usage_usec %d\n", i == 7 ? 900000 : 10 + i);
		put(paths[i], texts[i]);
	}
	put(TOP "/cpu.stat", "usage_usec 1000000\n");
	start_and_sample();
	CU_ASSERT_EQUAL(fake_rows("cgroup"), 3);
	IS("cgroup", "/ 0", "usage", "1000000000");
	IS("cgroup", "/g7 0", "usage", "900000000");
	IS("cgroups", "", "omitted", "8");
	CU_ASSERT_EQUAL(fake.frame.partial, true);
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.notes, "8 of 11 cgroups are left out"));
	put(TOP "/cpu.stat", "usage_usec 2000000\n");
	put(paths[2], "usage_usec 500000\n");
	put(paths[4], "usage_usec 600000\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("cgroup", "/g2 0", "usage", "500000000");
	IS("cgroup", "/g4 0", "usage", "600000000");
	IS("cgroup", "/g7 0", "usage", "no row");
	fake_end();
}

static void options_choose(void)
{
	begin();
	put(TOP "/a/cpu.stat", "usage_usec 1\n");
	put(TOP "/a/x-1.scope/cpu.stat", "usage_usec 1\n");
	put(TOP "/b/x-2.scope/cpu.stat", "usage_usec 1\n");
	put(TOP "/b/y/cpu.stat", "usage_usec 1\n");
	put("/proc/17/cgroup", "1:net_cls:/zzz\n0::/b/y\n");
	conf.cgroup =
		(struct sonde_list) { (const char *const[]) { "/a/x-1.scope", "*/x-[23].scope" }, 2,
				      0 };
	start_and_sample();
	CU_ASSERT_EQUAL(fake_rows("cgroup"), 2);
	fake_end();
	begin();
	put(TOP "/a/cpu.stat", "usage_usec 1\n");
	put(TOP "/b/cpu.stat", "usage_usec 1\n");
	put(TOP "/b/y/cpu.stat", "usage_usec 1\n");
	put(TOP "/bb/cpu.stat", "usage_usec 1\n");
	put("/proc/17/cgroup", "1:net_cls:/a\n0::/b/y\n");
	conf.pids = (struct sonde_list) { (const char *const[]) { "17" }, 1, 0 };
	start_and_sample();
	CU_ASSERT_EQUAL(fake_rows("cgroup"), 3);
	IS("cgroup", "/b/y 0", "usage", "1000");
	IS("cgroup", "/b 0", "usage", "1000");
	CU_ASSERT_STRING_EQUAL(
		fake.notes,
		"no cgroup has these controllers, whose values are absent: \"+cpu +memory +io +pids\" into cgroup.subtree_control of those above gives them\n");
	fake_end();
}

/* Case 56: /proc tells a path that is not below what is mounted: the mount's own cgroup is taken, and that is said. */
static void a_view_without_the_path(void)
{
	begin();
	put("/proc/self/mountinfo", "35 31 0:32 / /cg/memory ro - cgroup cgroup rw,memory\n");
	put("/cg/memory/memory.usage_in_bytes", "4096\n");
	put("/proc/1/cgroup", "11:memory:/docker/0a1b\n");
	conf.pids = (struct sonde_list) { (const char *const[]) { "1" }, 1, 0 };
	start_and_sample();
	IS("cgroup", "/ 0", "memory_current", "4096");
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.notes, "process 1 is in /docker/0a1b"));
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.notes, "taken is /"));
	fake_end();
	/* And where the mount tells which part it is, they meet. */
	begin();
	put("/proc/self/mountinfo",
	    "35 31 0:32 /docker/0a1b /cg/memory ro - cgroup cgroup rw,memory\n");
	put("/cg/memory/memory.usage_in_bytes", "4096\n");
	put("/cg/memory/sub/memory.usage_in_bytes", "1\n");
	put("/proc/1/cgroup", "11:memory:/docker/0a1b\n");
	conf.pids = (struct sonde_list) { (const char *const[]) { "1" }, 1, 0 };
	start_and_sample();
	IS("cgroup", "/docker/0a1b 0", "memory_current", "4096");
	CU_ASSERT_EQUAL(fake_rows("cgroup"), 1);
	CU_ASSERT_PTR_NULL(strstr(fake.notes, "taken is"));
	fake_end();
}

/* Names from the node's own files. */
static void containers_have_names(void)
{
	static const char *const ids[] = {
		"1111111111111111111111111111111111111111111111111111111111111111",
		"2222222222222222222222222222222222222222222222222222222222222222",
		"3333333333333333333333333333333333333333333333333333333333333333",
	};
	char path[4][256];

	begin();
	snprintf(path[0], 256, TOP "/kubepods/pod2c48913c_b29f_11e7_9350_020968147796/%s/cpu.stat",
		 ids[0]);
	snprintf(path[1], 256, TOP "/docker-%s.scope/cpu.stat", ids[1]);
	snprintf(path[2], 256, TOP "/libpod-%s.scope/cpu.stat", ids[2]);
	for (int i = 0; i < 3; i++)
		put(path[i], "usage_usec 1\n");
	put(TOP "/kubepods/pod2c48913c_b29f_11e7_9350_020968147796/cpu.stat", "usage_usec 1\n");
	snprintf(path[3], 256, "/var/log/containers/web-0_shop_nginx-%s.log", ids[0]);
	put(path[3], "");
	put("/var/log/pods/shop_web-0_2c48913c-b29f-11e7-9350-020968147796/nginx/0.log", "");
	snprintf(path[3], 256, "/var/lib/docker/containers/%s/config.v2.json", ids[1]);
	put(path[3], "{\"Config\":{\"Name\":\"/no\"},\"Name\":\"/redis\"}");
	put("/var/lib/containers/storage/overlay-containers/containers.json",
	    "[{\"id\":\"3333333333333333333333333333333333333333333333333333333333333333\",\"names\":[\"db\"]}]");
	start_and_sample();
	for (int again = 0; again < 2; again++) {
		char key[256];

		snprintf(key, sizeof key, "/kubepods/pod2c48913c_b29f_11e7_9350_020968147796/%s 0",
			 ids[0]);
		IS("cgroup", key, "pod", "web-0");
		IS("cgroup", key, "namespace", "shop");
		IS("cgroup", key, "container", "nginx");
		IS("cgroup", key, "container_id", ids[0]);
		IS("cgroup", "/kubepods/pod2c48913c_b29f_11e7_9350_020968147796 0", "pod", "web-0");
		IS("cgroup", "/kubepods/pod2c48913c_b29f_11e7_9350_020968147796 0", "container",
		   "-");
		snprintf(key, sizeof key, "/docker-%s.scope 0", ids[1]);
		IS("cgroup", key, "container", "redis");
		snprintf(key, sizeof key, "/libpod-%s.scope 0", ids[2]);
		IS("cgroup", key, "container", "db");
		CU_ASSERT_EQUAL(fake_sample(), 0);
	}
	fake_end();
}

/* More cgroups than there was room for at first, at start and while it runs. */
static void many(void)
{
	static char paths[400][64];

	begin();
	conf.max = 4096;
	for (int i = 0; i < 300; i++) {
		sprintf(paths[i], TOP "/many/g%d/cpu.stat", i);
		put(paths[i], "usage_usec 1\n");
		if (i == 9)
			start_and_sample();
	}
	CU_ASSERT_EQUAL(fake_rows("cgroup"), 11);
	for (int i = 0; i < 8; i++)
		CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("cgroup"), 301);
	IS("cgroup", "/many/g9 0", "usage", "1000");
	IS("cgroups", "", "vanished", "0");
	fake_end();
}

/* Where the kernel counts them they are listed when the count changes, and only then; limits are read anew all the same. */
static void listed_when_the_count_changes(void)
{
	int listed;

	begin();
	put(TOP "/cgroup.stat", "nr_descendants 1\nnr_dying_descendants 0\n");
	put_limits("/a", "300000 100000\n", "4096\n");
	start_and_sample();
	IS("cgroup", "/a 0", "memory_max", "4096");
	listed = fake.nlisted;
	put(TOP "/a/memory.max", "8192\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake.nlisted, listed);
	IS("cgroup", "/a 0", "memory_max", "8192");
	IS("cgroup", "/a 0", "effective_memory_max", "8192");
	put(TOP "/b/cpu.stat", "usage_usec 1\n");
	put(TOP "/cgroup.stat", "nr_descendants 2\nnr_dying_descendants 0\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT(fake.nlisted > listed);
	IS("cgroup", "/b 1", "usage", "1000");
	fake_end();
}

static void nothing_mounted(void)
{
	begin();
	put("/proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n");
	CU_ASSERT_EQUAL(fake_start(""), -ENODEV);
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.unavailable, "mount -t cgroup2"));
	fake_end();
}

static void options_are_checked(void)
{
	begin();
	conf.cgroup = (struct sonde_list) { (const char *const[]) { "system.slice" }, 1, 0 };
	CU_ASSERT_EQUAL(fake_start(""), -EINVAL);
	fake_end();
	begin();
	conf.pids = (struct sonde_list) { (const char *const[]) { "1 2" }, 1, 0 };
	CU_ASSERT_EQUAL(fake_start(""), -EINVAL);
	fake_end();
}

static void fixtures(void)
{
	begin();
	fake.nput = 0;
	fixture("7.2");
	begin();
	fake.nput = 0;
	fixture("v1");
}

/* A throttled cgroup and one with memory pressure, in kernels booted for it. Numbers by cat. */
static void booted(void)
{
	char root[512];

	begin();
	fake.nput = 0;
	if (shared_tree("vm/fixtures/numa2-7.2-pressure.tar.xz", "numa2-7.2-pressure/t2", root,
			sizeof root)) {
		CU_ASSERT_EQUAL(fake_start(root), 0);
		CU_ASSERT_EQUAL(fake_sample(), 0);
		CU_ASSERT_EQUAL(fake_rows("cgroup"), 4);
		IS("cgroup", "/web 0", "nr_throttled", "113");
		IS("cgroup", "/web 0", "throttled", "28031653000");
		IS("cgroup", "/web 0", "cpu_quota", "20000");
		IS("cgroup_pressure", "/web 0 cpu", "full_total", "10110195");
		IS("cgroup_memory", "/web 0", "active_anon", "69632");
		CU_ASSERT_EQUAL(fake_rows("cgroup_memory_v1"), 0);
	}
	fake_end();
	shared_end();
}

/* A machine with version 1 only, mounted at /cgroup, as /proc/mounts has it. */
static void captured(void)
{
	char root[512];

	begin();
	fake.nput = 0;
	if (shared_tree("corpus/pcp-cgroups-root-001.tar.xz", "", root, sizeof root)) {
		CU_ASSERT_EQUAL(fake_start(root), 0);
		CU_ASSERT_EQUAL(fake_sample(), 0);
		IS("cgroup", "/libvirt/lxc 0", "usage", "0");
		IS("cgroup", "/libvirt/lxc 0", "nr_periods", "0");
		IS("cgroup", "/libvirt/lxc 0", "cpu_shares", "1024");
		IS("cgroup", "/libvirt/lxc 0", "memory_max", "-");
		CU_ASSERT_EQUAL(fake_rows("cgroup"), 3);
	}
	fake_end();
	shared_end();
}

CU_TestInfo tests[] = {
	{ "version 2", version_2 },
	{ "version 1, case 58", version_1 },
	{ "case 12: hybrid", hybrid },
	{ "case 55: effective limits", effective_limits },
	{ "case 64: made again", made_again },
	{ "a controller comes and goes", controller_comes_and_goes },
	{ "files that fail for a while", files_that_fail_for_a_while },
	{ "case 65: controllers that are not there", controllers_that_are_not_there },
	{ "pressure that is off", pressure_that_is_off },
	{ "names of any bytes", names_of_any_bytes },
	{ "the busiest have rows", the_busiest_have_rows },
	{ "options choose", options_choose },
	{ "case 56: a view without the path", a_view_without_the_path },
	{ "containers have names", containers_have_names },
	{ "many", many },
	{ "listed when the count changes", listed_when_the_count_changes },
	{ "nothing mounted", nothing_mounted },
	{ "options are checked", options_are_checked },
	{ "fixtures", fixtures },
	{ "booted kernels", booted },
	{ "captured machines", captured },
	CU_TEST_INFO_NULL,
};
