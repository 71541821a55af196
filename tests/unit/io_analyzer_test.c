/* analyzers/io: metrics of disks and interfaces, and io.pressure, from rows made by hand; expected values are worked out beside
 * them. */
#include "analyzers/io/io.c"
#include "analyzers/io/pressure.c"

#include "made.h"
#include "test.h"

const char suite[] = "analyzer io";

#define SECTORS(name_)      MADE(name_, SONDE_U64, SONDE_COUNTER, SONDE_BASE_BYTES, 512, NULL)
#define MILLISECONDS(name_) MADE(name_, SONDE_U64, SONDE_COUNTER, SONDE_BASE_NS, 1000000, NULL)
#define MOVED(name_)        MADE(name_, SONDE_U64, SONDE_COUNTER, SONDE_BASE_BYTES, 1, NULL)

enum { ON_DISK, ON_NET, ON_PSI, ON_CPU, ON_PROCESS, TABLES };
static const struct sonde_column disk_columns[] = {
	KEY_TEXT("name"),           EVENTS("reads"),         SECTORS("read_sectors"),
	MILLISECONDS("read_time"),  EVENTS("writes"),        SECTORS("write_sectors"),
	MILLISECONDS("write_time"), MILLISECONDS("io_time"), MILLISECONDS("weighted_time"),
};
static const struct sonde_column net_columns[] = {
	KEY_TEXT("name"),  MOVED("rx_bytes"), EVENTS("rx_errs"),
	EVENTS("rx_drop"), EVENTS("rx_fifo"), MOVED("tx_bytes"),
	EVENTS("tx_errs"), EVENTS("tx_drop"), EVENTS("tx_fifo"),
};
static const struct sonde_column psi_columns[] = {
	KEY_TEXT("resource"),
	MILLISECONDS("some_total"),
	MILLISECONDS("full_total"),
};
static const struct sonde_column cpu_columns[] = {
	KEY("cpu"),           MILLISECONDS("user"),   MILLISECONDS("nice"), MILLISECONDS("system"),
	MILLISECONDS("idle"), MILLISECONDS("iowait"),
};
static const struct sonde_column process_columns[] = {
	KEY("pid"),
	TEXT("comm"),
	MOVED("read_bytes"),
	MOVED("write_bytes"),
};
static const struct sonde_table tables[TABLES] = {
	[ON_DISK] = { .name = "disk", .columns = SONDE_COLUMNS(disk_columns) },
	[ON_NET] = { .name = "net", .columns = SONDE_COLUMNS(net_columns) },
	[ON_PSI] = { .name = "psi", .columns = SONDE_COLUMNS(psi_columns) },
	[ON_CPU] = { .name = "cpu", .columns = SONDE_COLUMNS(cpu_columns) },
	[ON_PROCESS] = { .name = "process", .columns = SONDE_COLUMNS(process_columns) },
};

#include "judging.h"

/* A device that did so much of each in every second but the last two of four. */
static void device(uint32_t table, const char *name, const uint64_t a_second[8], uint64_t t)
{
	struct cell cells[9] = { { .text = name } };

	for (uint32_t i = 0; i < 8; i++)
		cells[1 + i].number = a_second[i] * (t < 2 ? t : 2);
	made_row(&stage, table, cells, 9);
}

static void run(const char *const disks[], const uint64_t disk[8], const uint64_t net[8])
{
	open_stage();
	for (uint64_t t = 0; t <= 4; t++) {
		for (uint32_t i = 0; disks[i]; i++)
			device(ON_DISK, disks[i], disk, t);
		device(ON_NET, "eth0", net, t);
		stage_tick(&stage, AT(t));
	}
}

/* The only one with this name and subject; -1: there is none. */
static double value(const struct sonde_frame *records, const char *name, const char *about)
{
	struct sonde_view views[RECORD_TABLES] = { 0 };
	const struct sonde_view *view = &views[RECORD_METRIC];
	char text[2][64];

	frame_views(records, views);
	for (uint32_t i = 0; i < view->nrows; i++) {
		judged_text(text[0], sizeof text[0], view, i, METRIC_NAME);
		judged_text(text[1], sizeof text[1], view, i, METRIC_ABOUT);
		if (strcmp(text[0], name) == 0 && strcmp(text[1], about) == 0)
			return sonde_slot_f64(sonde_view_slots(view, i)[METRIC_VALUE]);
	}
	return -1;
}

#define IS(name, about, expected)                                                                  \
	CU_ASSERT_DOUBLE_EQUAL(value(&records, name, about), expected, 1e-9)

/* In each of two seconds of four 10 reads of 8 sectors and 30 ms, 30 writes of 16 sectors and 90 ms, 500 ms busy, 2,000 ms
 * weighted; 4,000 bytes in and 1,000 out, 3 dropped, none damaged. Rates are over all four. */
static void rates(void)
{
	static const char *const disks[] = { "sda",  "sda1",  "nvme0n1", "nvme0n1p2",
					     "dm-1", "dm-10", NULL };
	static const uint64_t disk[8] = { 10, 80, 300, 30, 480, 900, 500, 2000 };
	static const uint64_t net[8] = { 4000, 0, 2, 0, 1000, 0, 1, 0 };
	struct sonde_frame records;

	run(disks, disk, net);
	CU_ASSERT_EQUAL_FATAL(records_make(&records), 0);
	CU_ASSERT_EQUAL(analysis_judge(stage.analysis, &records), 0);
	IS("io.busy", "disk sda", 0.25);
	IS("io.queue", "disk sda", 1);
	IS("io.wait", "disk sda", 30e6);
	IS("io.read", "disk sda", 20480);
	IS("io.written", "disk sda", 122880);
	IS("net.traffic", "interface eth0", 2500);
	IS("net.drops", "interface eth0", 1.5);
	IS("net.errors", "interface eth0", 0);
	/* Partitions are part of their disks; dm-10 is none of dm-1. */
	IS("io.busy", "disk sda1", -1);
	IS("io.busy", "disk nvme0n1", 0.25);
	IS("io.busy", "disk nvme0n1p2", -1);
	IS("io.busy", "disk dm-10", 0.25);
	frame_free(&records);
	stage_close(&stage);
}

/* [32] io_time that grows by more than time passes, in two seconds of four, is all of these two; a disk and an interface that do nothing have no line. */
static void odd_counters(void)
{
	static const char *const disks[] = { "sda", NULL };
	static const uint64_t disk[8] = { 0, 0, 0, 0, 0, 0, 5100, 0 };
	static const uint64_t net[8] = { 0 };
	struct sonde_frame records;

	run(disks, disk, net);
	CU_ASSERT_EQUAL_FATAL(records_make(&records), 0);
	CU_ASSERT_EQUAL(analysis_judge(stage.analysis, &records), 0);
	IS("io.busy", "disk sda", 0.5);
	IS("io.wait", "disk sda", -1);
	IS("net.traffic", "interface eth0", -1);
	frame_free(&records);
	stage_close(&stage);
}

/* ms of each second, of one CPU and of the two pressures. */
struct second {
	uint64_t user, idle, iowait, io, memory;
};

/* Two disks, of which sdb is a partition's too; two processes of 10 MB and 1 MB a second. */
static void seconds(const struct second *second, uint64_t count)
{
	open_stage();
	for (uint64_t t = 0; t <= count; t++) {
		uint32_t row = 0;

		stage.omit[ON_DISK] = true;
		for (const char *const *disk = (const char *const[]) { "sda", "sdb1", "sdb", NULL };
		     *disk; disk++, row++)
			ROW(ON_DISK, WORD(*disk), NUMBER(100 * t), NUMBER(0),
			    NUMBER((row ? 800 : 100) * t), NUMBER(0), NUMBER(0), NUMBER(0),
			    NUMBER(500 * t), NUMBER((row ? 800 : 100) * t));
		ROW(ON_PSI, WORD("io"), NUMBER(second->io * t), NUMBER(second->io / 2 * t));
		ROW(ON_PSI, WORD("memory"), NUMBER(second->memory * t), NUMBER(0));
		ROW(ON_CPU, NUMBER(0), NUMBER(second->user * t), NUMBER(0), NUMBER(0),
		    NUMBER(second->idle * t), NUMBER(second->iowait * t));
		ROW(ON_PROCESS, NUMBER(21), WORD("log"), NUMBER(0), NUMBER(1000000 * t));
		ROW(ON_PROCESS, NUMBER(22), WORD("copy"), NUMBER(4000000 * t), NUMBER(6000000 * t));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
}

/* sdb has 800 ms weighted a second, 0.8 requests of 8 ms each; sda an eighth of it. */
static void pressure_beside_work(void)
{
	seconds(&(struct second) { .user = 950, .idle = 30, .iowait = 20, .io = 600 }, 10);
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "io.pressure");
	CU_ASSERT_STRING_EQUAL(judged.found[0].about, "host");
	CU_ASSERT_STRING_EQUAL(judged.found[0].severity, "info");
	CU_ASSERT_EQUAL(judged.found[0].held, 10 * SECOND);
	NEAR(judged_number(&judged, "io.pressure", "io.pressure_some"), 0.6);
	NEAR(judged_number(&judged, "io.pressure", "io.pressure_full"), 0.3);
	NEAR(judged_number(&judged, "io.pressure", "cpu.utilisation"), 0.95);
	NEAR(judged_number(&judged, "io.pressure", "disk sdb, queue"), 0.8);
	NEAR(judged_number(&judged, "io.pressure", "disk sdb, wait"), 8e6);
	NEAR(judged_number(&judged, "io.pressure", "process 22 (copy)"), 1e7);
	NEAR(judged_number(&judged, "io.pressure", "process 21 (log)"), 1e6);
}

/* Little pressure; CPUs that are idle meanwhile, which is cpu.iowait; memory that is short; four seconds. */
static void no_pressure(void)
{
	static const struct second each[] = {
		{ .user = 950, .idle = 50, .io = 240 },
		{ .user = 300, .idle = 580, .iowait = 120, .io = 600 },
		{ .user = 950, .idle = 50, .io = 600, .memory = 310 },
	};

	for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
		seconds(&each[i], 10);
		CU_ASSERT_EQUAL(judged.nfound, 0);
		CU_ASSERT(judged_in(judged.clear, "io.pressure"));
	}
	seconds(&(struct second) { .user = 950, .idle = 50, .io = 600 }, 4);
	CU_ASSERT_EQUAL(judged.nfound, 0);
}

CU_TestInfo tests[] = {
	{ "rates", rates },
	{ "odd counters", odd_counters },
	{ "pressure beside work", pressure_beside_work },
	{ "no pressure", no_pressure },
	CU_TEST_INFO_NULL,
};
