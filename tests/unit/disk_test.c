/* disk: expected values are those of the text; which field is which, Documentation/admin-guide/iostats.rst. */
#include "plugins/disk/disk.c"

#include "fakehost.h"

const char suite[] = "disk";

static struct conf conf = { .partitions = 1 };

static void sample_text(const char *text)
{
	fake.self.conf = &conf;
	put("/proc/diskstats", text);
	CU_ASSERT_EQUAL_FATAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
}

/* 11 fields before 4.18, 15 before 5.5, 17; what is missing is absent. */
static void three_generations(void)
{
	sample_text("   8       0 sda 1 2 3 4 5 6 7 8 9 10 11\n"
		    "   8      16 sdb 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n"
		    " 259       0 nvme0n1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n");
	CU_ASSERT_EQUAL(fake_rows("disk"), 3);
	IS("disk", "8 0 sda 0", "reads", "1");
	IS("disk", "8 0 sda 0", "read_sectors", "3");
	IS("disk", "8 0 sda 0", "write_time", "8");
	IS("disk", "8 0 sda 0", "in_flight", "9");
	IS("disk", "8 0 sda 0", "weighted_time", "11");
	IS("disk", "8 0 sda 0", "discards", "-");
	IS("disk", "8 16 sdb 0", "discard_time", "15");
	IS("disk", "8 16 sdb 0", "flushes", "-");
	IS("disk", "259 0 nvme0n1 0", "flushes", "16");
	IS("disk", "259 0 nvme0n1 0", "flush_time", "17");
	fake_end();
}

/* Case 28: times are unsigned int in the kernel and wrap each by itself; the other counters do not. */
static void wraps_are_told(void)
{
	static const char *const times[] = { "read_time",     "write_time",   "io_time",
					     "weighted_time", "discard_time", "flush_time" };
	size_t found = 0;

	for (size_t i = READS; i < sizeof columns / sizeof columns[0]; i++) {
		bool is_time = false;

		for (size_t t = 0; t < sizeof times / sizeof times[0]; t++)
			is_time |= strcmp(columns[i].name, times[t]) == 0;
		CU_ASSERT_EQUAL(columns[i].wrap, is_time ? 32 : 0);
		found += is_time;
	}
	CU_ASSERT_EQUAL(found, 6);
	CU_ASSERT_EQUAL(sizeof columns / sizeof columns[0], READS + VALUES);
}

/* Case 29: a device under the same name is a row of its own when its number differs. */
static void the_number_is_part_of_the_key(void)
{
	sample_text(" 253 3 dm-3 900 0 0 0 900 0 0 0 0 0 0\n");
	put("/proc/diskstats", " 253 4 dm-3 2 0 0 0 2 0 0 0 0 0 0\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("disk", "253 3 dm-3 0", "writes", "no row");
	IS("disk", "253 4 dm-3 0", "writes", "2");
	fake_end();
}

/* Case 32: io_time of 5,100 ms within 5,000 ms, for two reads of 512 bytes: kept as the kernel has it, and told as what it is,
 * so that nobody takes it for how busy a disk is. */
static void io_time_is_no_utilisation(void)
{
	sample_text(" 8 0 sda 10 0 20 3 0 0 0 0 0 1000 1000\n");
	IS("disk", "8 0 sda 0", "io_time", "1000");
	put("/proc/diskstats", " 8 0 sda 12 0 22 4 0 0 0 0 0 6100 6100\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("disk", "8 0 sda 0", "reads", "12");
	IS("disk", "8 0 sda 0", "io_time", "6100");
	CU_ASSERT_PTR_NOT_NULL(
		strstr(columns[READS + 9].help, "too large for few, short requests"));
	fake_end();
}

static void odd_lines(void)
{
	sample_text("   3    1 hda1 35486 0 35496 38030\n" /* a partition before 2.6.25 */
		    "nonsense\n\n"
		    "   8   0 cciss!c0d0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19\n"
		    "   8   1 sda1 1 2 3 4 5 6 7 8 9 10 1");
	CU_ASSERT_EQUAL(fake_rows("disk"), 1);
	IS("disk", "8 0 cciss!c0d0 0", "flush_time", "17");
	fake_end();
}

/* /sys tells parts from wholes, and by diskseq one disk from the next under its name and number: case 29 where the counters of
 * the new one are larger. It is asked again when the kernel had an event about a device. */
static void sys_tells(void)
{
	put("/sys/kernel/uevent_seqnum", "100\n");
	put("/sys/class/block/sda/dev", "8:0\n");
	put("/sys/class/block/sda/diskseq", "7\n");
	put("/sys/class/block/sda1/dev", "8:1\n");
	put("/sys/class/block/sda1/partition", "1\n");
	put("/sys/class/block/sda1/../diskseq", "7\n");
	put("/sys/class/block/cciss!c0d0/dev", "104:0\n");
	sample_text(" 8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n"
		    " 8 1 sda1 1 2 3 4 5 6 7 8 9 10 11\n"
		    " 104 0 cciss/c0d0 1 2 3 4 5 6 7 8 9 10 11\n");
	IS("disk", "8 0 sda 7", "partition", "0");
	IS("disk", "8 1 sda1 7", "partition", "1");
	IS("disk", "104 0 cciss/c0d0 0", "partition", "0");
	put("/proc/diskstats", " 8 0 sda 90 2 3 4 5 6 7 8 9 10 11\n");
	put("/sys/class/block/sda/diskseq", "8\n");
	put("/sys/kernel/uevent_seqnum", "103\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("disk"), 1);
	IS("disk", "8 0 sda 8", "reads", "90");
	/* A line that comes without an event is asked for as well. */
	put("/proc/diskstats",
	    " 8 0 sda 90 2 3 4 5 6 7 8 9 10 11\n 8 1 sda1 1 2 3 4 5 6 7 8 9 10 11\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("disk", "8 1 sda1 7", "partition", "1");
	fake_end();
}

static void without_partitions(void)
{
	static struct conf whole_disks = { .partitions = 0 };

	put("/sys/class/block/sda/diskseq", "7\n");
	put("/sys/class/block/sda1/partition", "1\n");
	put("/proc/diskstats",
	    " 8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n 8 1 sda1 1 2 3 4 5 6 7 8 9 10 11\n");
	fake.self.conf = &whole_disks;
	CU_ASSERT_EQUAL_FATAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("disk"), 1);
	IS("disk", "8 0 sda 7", "reads", "1");
	fake_end();
}

static void many(void)
{
	static char text[1 << 16];
	char *at = text;

	for (int i = 0; i < 500; i++)
		at += sprintf(at, " 8 %d sd%d 1 2 3 4 5 6 7 8 9 10 %d\n", i, i, i);
	put("/sys/class/block/sd499/diskseq", "9\n");
	sample_text(" 8 0 sd0 1 2 3 4 5 6 7 8 9 10 11\n");
	put("/proc/diskstats", text);
	for (int i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("disk"), 500);
	IS("disk", "8 499 sd499 9", "weighted_time", "499");
	fake_end();
}

static void fixtures(void)
{
	fake.self.conf = &conf;
	fixture("6.18");
}

/* Oracle: the lines, by wc. */
static void captured(void)
{
	char root[512];

	if (shared_tree("corpus/procfs-fixtures.tar.xz", "fixtures", root, sizeof root)) {
		fake.self.conf = &conf;
		CU_ASSERT_EQUAL(fake_start(root), 0);
		CU_ASSERT_EQUAL(fake_sample(), 0);
		CU_ASSERT_EQUAL(fake_rows("disk"), 52);
		IS("disk", "8 0 sda 0", "reads", "25354637");
		IS("disk", "252 0 dm-0 0", "write_time", "1158557800");
		fake_end();
	}
	shared_end();
}

CU_TestInfo tests[] = {
	{ "three generations", three_generations },
	{ "case 28: wraps are told", wraps_are_told },
	{ "case 29: the number is part of the key", the_number_is_part_of_the_key },
	{ "case 32: io_time is no utilisation", io_time_is_no_utilisation },
	{ "case 29: /sys tells", sys_tells },
	{ "without partitions", without_partitions },
	{ "many", many },
	{ "odd lines", odd_lines },
	{ "fixtures", fixtures },
	{ "captured machines", captured },
	CU_TEST_INFO_NULL,
};
