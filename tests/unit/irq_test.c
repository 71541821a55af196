/* irq: expected values are those of the text; its forms are those of kernel/irq/proc.c and fs/proc/softirqs.c. */
#include "plugins/irq/irq.c"

#include "fakehost.h"

const char suite[] = "irq";

static void sample_texts(const char *interrupts, const char *softirqs)
{
	put("/proc/interrupts", interrupts);
	put("/proc/softirqs", softirqs);
	CU_ASSERT_EQUAL_FATAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
}

/* CPU 1 is offline: it has no column, and in softirqs, where it has one, no row. ERR has a number of no CPU. */
static void lines(void)
{
	sample_texts(
		"           CPU0       CPU2       CPU3       \n"
		"  8:          0          0          0   IO-APIC   8-edge      rtc0\n"
		" 24:          0          5         12  PCI-MSIX-0000:00:01.0   3-edge      virtio1-req.0  \n"
		"LOC:        100          0 4294967295   Local timer interrupts\n"
		"ERR:          7\n"
		"MIS:          0\n"
		"IPI0:       1          2          3       Rescheduling interrupts\n",
		"                    CPU0       CPU1       CPU2       CPU3       \n"
		"          HI:          1          2          3          4\n"
		"      NET_RX:         10         20         30         40\n"
		"     NEWKIND:         10         20         30         40\n"
		"         RCU:         50         60         70\n");
	CU_ASSERT_EQUAL(fake_rows("irq"), 4);
	IS("irq", "8", "total", "no row");
	IS("irq", "24", "total", "17");
	IS("irq", "24", "description", "PCI-MSIX-0000:00:01.0   3-edge      virtio1-req.0");
	IS("irq", "LOC", "total",
	   "99"); /* 2^32 + 99, of which the kernel's own sum keeps 32 bits */
	IS("irq", "ERR", "total", "7");
	IS("irq", "ERR", "description", "-");
	CU_ASSERT_EQUAL(fake_rows("irq_cpu"), 7);
	IS("irq_cpu", "24 0", "count", "no row");
	IS("irq_cpu", "24 2", "count", "5");
	IS("irq_cpu", "24 3", "count", "12");
	IS("irq_cpu", "LOC 3", "count", "4294967295");
	IS("irq_cpu", "IPI0 2", "count", "2");
	CU_ASSERT_EQUAL(fake_rows("softirq"), 3);
	IS("softirq", "1", "hi", "no row");
	IS("softirq", "2", "hi", "3");
	IS("softirq", "3", "net_rx", "40");
	IS("softirq", "2", "rcu", "70");
	IS("softirq", "3", "rcu", "-");
	IS("softirq", "0", "timer", "-");
	fake_end();
}

/* A CPU that comes: at first without room for it, at the next sample with. */
static void hotplug(void)
{
	static char interrupts[8192], softirqs[8192];

	for (int cpus = 2; cpus <= 40; cpus += 38) {
		char *i = interrupts, *s = softirqs;

		for (int c = 0; c < cpus; c++) {
			i += sprintf(i, " CPU%d", c);
			s += sprintf(s, " CPU%d", c);
		}
		i += sprintf(i, "\n 9:");
		s += sprintf(s, "\n TIMER:");
		for (int c = 0; c < cpus; c++) {
			i += sprintf(i, " %10d", c);
			s += sprintf(s, " %10d", c);
		}
		strcpy(i, " chip\n");
		strcpy(s, "\n");
		if (cpus == 2) {
			sample_texts(interrupts, softirqs);
			continue;
		}
		put("/proc/interrupts", interrupts);
		put("/proc/softirqs", softirqs);
		CU_ASSERT_EQUAL(fake_sample(), 0);
	}
	CU_ASSERT_EQUAL(fake.frame.partial, true);
	IS("irq_cpu", "9 1", "count", "1");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake.frame.partial, false);
	IS("irq_cpu", "9 39", "count", "39");
	IS("softirq", "39", "timer", "39");
	IS("irq", "9", "total", "780");
	IS("irq", "9", "description", "chip");
	fake_end();
}

/* 1,152 columns: zeros that are passed over in one step leave the others at their CPU. */
static void wide(void)
{
	static char text[1 << 16];
	char *at = text;

	for (int c = 0; c < 1152; c++)
		at += sprintf(at, "       CPU%-4d", c);
	at += sprintf(at, "\n 31:");
	for (int c = 0; c < 1152; c++)
		at += sprintf(at, "%10d ", c == 700 ? 123456 : c == 1151 ? 7 : 0);
	at += sprintf(at, "chip\n 32:");
	for (int c = 0; c < 1152; c++)
		at += sprintf(at, " %10d", c == 3 ? 9 : 0);
	strcpy(at, "  chip\n");
	sample_texts(text, NULL);
	CU_ASSERT_EQUAL(fake_rows("irq_cpu"), 3);
	IS("irq_cpu", "31 700", "count", "123456");
	IS("irq_cpu", "31 1151", "count", "7");
	IS("irq_cpu", "32 3", "count", "9");
	IS("irq", "31", "total", "123463");
	CU_ASSERT_EQUAL(fake_rows("softirq"), 0);
	fake_end();
}

static void odd_texts(void)
{
	sample_texts("", "");
	CU_ASSERT_EQUAL(fake_rows("irq"), 0);
	fake_end();
	sample_texts(
		"           CPU0       CPU1\n:  1 2\n 5\n 6: x\n 7:          1          2  cut in its na",
		"CPU0\n");
	IS("irq", "7", "total", "3");
	CU_ASSERT_EQUAL(fake_rows("softirq"), 1);
	fake_end();
	put("/proc/interrupts", NULL);
	put("/proc/softirqs", NULL);
	CU_ASSERT_EQUAL(fake_start(""), -ENODEV);
	fake_end();
}

static void fixtures(void)
{
	fixture("7.2");
}

CU_TestInfo tests[] = {
	{ "lines", lines },         { "hotplug", hotplug },   { "1,152 columns", wide },
	{ "odd texts", odd_texts }, { "fixtures", fixtures }, CU_TEST_INFO_NULL,
};
