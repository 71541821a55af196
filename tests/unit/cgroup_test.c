/* cgroup: parsers and names, as the kernel's documents (cgroup-v2.rst, cgroup-v1, proc_pid_mountinfo(5)) and the programs that
 * make cgroups have them; cases are those that broke other tools. */
#include "plugins/cgroup/names.c"
#include "plugins/cgroup/parse.c"
#include "plugins/cgroup/tables.c"

#include "test.h"

const char suite[] = "cgroup";

enum { SLOTS = 128 };

static uint64_t slots[SLOTS], have[SLOTS / 64];
static struct sonde_row row = { slots, have, NULL };

static struct sonde_row *empty(void)
{
	memset(have, 0, sizeof have);
	memset(slots, 0, sizeof slots);
	return &row;
}

#define TEXT(text)   text, strlen(text)
#define ABSENT(slot) CU_ASSERT_FALSE(sonde_has(&row, slot))
#define HAS(slot, value)                                                                           \
	do {                                                                                       \
		CU_ASSERT_TRUE(sonde_has(&row, slot));                                             \
		CU_ASSERT_EQUAL(slots[slot], value);                                               \
	} while (0)
#define SAME(got, text)                                                                            \
	do {                                                                                       \
		struct bytes same_ = (got);                                                        \
		CU_ASSERT_EQUAL(same_.length, strlen(text));                                       \
		CU_ASSERT_TRUE(same_.length == strlen(text) &&                                     \
			       (!same_.length || memcmp(same_.at, text, same_.length) == 0));      \
	} while (0)

/* ---- Files */

static const struct cgroup_keys some = {
	(const struct cgroup_key[]) { { "low", 5, 1 }, { "oom", 6, 1 }, { "oom_kill", 7, 1000 } }, 3
};

static void keys(void)
{
	cgroup_parse_keys(TEXT("oom_kill 3\nnew_in_7 9\n\nlow 18446744073709551615\noom x\noo 4\n"),
			  &some, empty());
	HAS(5, UINT64_MAX);
	ABSENT(6);
	HAS(7, 3000);
	/* A NUL is no end of a key. */
	cgroup_parse_keys("low\0abcdefghijkl 1\n", 19, &some, empty());
	ABSENT(5);
	/* Cut in its last number. */
	cgroup_parse_keys(TEXT("low 1\noom 123"), &some, empty());
	HAS(5, 1);
	ABSENT(6);
}

/* Case 57: what version 1 writes for no limit, with pages of 4, 64 and 256 KiB, by a 32-bit kernel, and before 3.19; -1 of a quota. */
static void no_limit_is_none(void)
{
	static const char *const none[] = { "max\n",
					    "-1\n",
					    "",
					    "9223372036854771712\n",
					    "9223372036854710272\n",
					    "9223372036854513664\n",
					    "9223372036854775807\n",
					    "18446744073709551615\n",
					    "8796093018112\n" };
	uint64_t value = 0;

	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		CU_ASSERT_FALSE(cgroup_parse_limit(TEXT(none[i]), &value));
	CU_ASSERT_TRUE(cgroup_parse_limit(TEXT("536870912\n"), &value));
	CU_ASSERT_EQUAL(value, 536870912);
	/* 8 EiB less a MiB is a limit, if a strange one. */
	CU_ASSERT_TRUE(cgroup_parse_limit(TEXT("9223372036853727232\n"), &value));
}

static void cpu_max(void)
{
	cgroup_parse_cpu_max(TEXT("20000 100000\n"), empty());
	HAS(CPU_QUOTA, 20000);
	HAS(CPU_PERIOD, 100000);
	cgroup_parse_cpu_max(TEXT("max 50000\n"), empty());
	ABSENT(CPU_QUOTA);
	HAS(CPU_PERIOD, 50000);
	cgroup_parse_cpu_max(TEXT("max"), empty());
	ABSENT(CPU_PERIOD);
}

/* Case 11: the full line of cpu means something for a cgroup. Case 8: before 5.13 it is not there. irq has no some. */
static void pressure(void)
{
	cgroup_parse_pressure(TEXT("some avg10=0.00 avg60=0.00 avg300=0.00 total=306212315\n"
				   "full avg10=0.00 avg60=0.00 avg300=0.00 total=246733962\n"),
			      empty());
	HAS(SOME_TOTAL, 306212315);
	HAS(FULL_TOTAL, 246733962);
	cgroup_parse_pressure(TEXT("some avg10=0.10 avg60=0.21 avg300=0.25 total=73759571709\n"),
			      empty());
	HAS(SOME_TOTAL, 73759571709);
	ABSENT(FULL_TOTAL);
	cgroup_parse_pressure(TEXT("full avg10=0.00 avg60=0.00 avg300=0.00 total=12\n"), empty());
	ABSENT(SOME_TOTAL);
	HAS(FULL_TOTAL, 12);
	cgroup_parse_pressure(TEXT("some avg10=0.00 total=12"), empty());
	ABSENT(SOME_TOTAL);
}

static void is_device(const struct cgroup_device *device, uint64_t major, uint64_t minor,
		      uint32_t bits)
{
	CU_ASSERT_EQUAL(device->major, major);
	CU_ASSERT_EQUAL(device->minor, minor);
	CU_ASSERT_EQUAL(device->have, bits);
}

/* Case 63: by key, in any order, any of them; case 62: a device that is gone has no number, and no two rows are of one device. */
static void io_stat(void)
{
	struct cgroup_io io = { .count = 0 };

	cgroup_parse_io_stat(
		TEXT("8:0 rbytes=1 wbytes=2 rios=3 wios=4\n"
		     "(unknown) rbytes=5 wbytes=6\n(unknown) rbytes=7\n"
		     "259:3 cost.usage=9 dios=6 dbytes=5 cost.wait=1 wbytes=x rbytes=18446744073709551615\n"
		     "8:0 rbytes=8\n"
		     "7:0\n"),
		&io);
	CU_ASSERT_EQUAL(io.count, 3);
	is_device(&io.devices[0], 8, 0, 0xf);
	CU_ASSERT_EQUAL(io.devices[0].value[RBYTES - RBYTES], 8);
	CU_ASSERT_EQUAL(io.devices[0].value[WIOS - RBYTES], 4);
	is_device(&io.devices[1], 259, 3, 1 | 1 << (DBYTES - RBYTES) | 1 << (DIOS - RBYTES));
	CU_ASSERT_EQUAL(io.devices[1].value[0], UINT64_MAX);
	CU_ASSERT_EQUAL(io.devices[1].value[DIOS - RBYTES], 6);
	is_device(&io.devices[2], 7, 0, 0);
}

static void blkio(void)
{
	struct cgroup_io io = { .count = 0 };

	cgroup_parse_blkio(
		TEXT("8:0 Read 4096\n8:0 Write 512\n8:0 Sync 9\n8:0 Async 9\n8:0 Total 4608\nTotal 4608\n"),
		true, &io);
	cgroup_parse_blkio(TEXT("8:0 Read 1\n8:0 Write 2\n8:0 Discard 3\n8:16 Read 4\n"), false,
			   &io);
	CU_ASSERT_EQUAL(io.count, 2);
	is_device(&io.devices[0], 8, 0, 0x2f);
	CU_ASSERT_EQUAL(io.devices[0].value[RBYTES - RBYTES], 4096);
	CU_ASSERT_EQUAL(io.devices[0].value[WIOS - RBYTES], 2);
	CU_ASSERT_EQUAL(io.devices[0].value[DIOS - RBYTES], 3);
	is_device(&io.devices[1], 8, 16, 1 << (RIOS - RBYTES));
}

static void many_devices(void)
{
	static char text[4096];
	struct cgroup_io io = { .count = 0 };
	size_t n = 0;

	for (int i = 0; i < 100; i++)
		n += (size_t)sprintf(text + n, "8:%d rbytes=%d\n", i, i);
	cgroup_parse_io_stat(text, n, &io);
	CU_ASSERT_EQUAL(io.count, IO_DEVICES);
}

static void controllers(void)
{
	CU_ASSERT_EQUAL(cgroup_controllers(TEXT("cpuset cpu io memory pids rdma"), ' '),
			CPUSET | CPU | IO | MEMORY | PIDS);
	CU_ASSERT_EQUAL(cgroup_controllers(TEXT("rw,nosuid,cpu,cpuacct"), ','), CPU | CPUACCT);
	CU_ASSERT_EQUAL(cgroup_controllers(TEXT("blkio"), ','), IO);
	CU_ASSERT_EQUAL(cgroup_controllers(TEXT(""), ','), 0);
	CU_ASSERT_EQUAL(cgroup_controllers(TEXT("name=systemd,mem"), ','), 0);
}

/* ---- Mounts */

static struct cgroup_mount mount_of(const char *text, bool short_form)
{
	struct cgroup_mount mount = { .point = "none" };
	struct cursor line = cursor(text, strlen(text));

	if (!cgroup_next_mount(&line, short_form, &mount))
		strcpy(mount.point, "none");
	return mount;
}

/* Case 53: the device's word is anything; case 12: hybrid; the type is behind the separator, which tags stand before. */
static void mounts(void)
{
	struct cgroup_mount m = mount_of(
		"31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
		"42 31 0:38 / /sys/fs/cgroup/unified rw,nosuid shared:9 master:1 - cgroup2 none rw\n",
		false);

	CU_ASSERT_STRING_EQUAL(m.point, "/sys/fs/cgroup/unified");
	CU_ASSERT_STRING_EQUAL(m.root, "");
	CU_ASSERT_TRUE(m.unified);
	m = mount_of("none /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n", true);
	CU_ASSERT_STRING_EQUAL(m.point, "/sys/fs/cgroup");
	CU_ASSERT_TRUE(m.unified);
	m = mount_of(
		"cgroup2 /mnt/cgroup tmpfs rw 0 0\ncgroup /c\\040g\\134 cgroup rw,cpu,cpuacct 0 0\n",
		true);
	CU_ASSERT_STRING_EQUAL(m.point, "/c g\\");
	CU_ASSERT_EQUAL(m.controllers, CPU | CPUACCT);
	CU_ASSERT_FALSE(m.unified);
	/* Docker's private view without a cgroup namespace. */
	m = mount_of("35 31 0:32 /docker/0a1b /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
		     false);
	CU_ASSERT_STRING_EQUAL(m.root, "/docker/0a1b");
	/* With one, from outside of which it was mounted. */
	m = mount_of("35 31 0:32 /../.. /sys/fs/cgroup ro - cgroup2 cgroup rw\n", false);
	CU_ASSERT_STRING_EQUAL(m.root, "");
	/* systemd's own hierarchy and those that are not read. */
	m = mount_of("40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n"
		     "41 31 0:33 / /sys/fs/cgroup/devices rw - cgroup cgroup rw,devices\n"
		     "short\n36 31 - cgroup2\n",
		     false);
	CU_ASSERT_STRING_EQUAL(m.point, "none");
}

static struct cgroup_member member_of(const char *text)
{
	struct cursor line = cursor(text, strlen(text));
	struct cgroup_member member = { .path = "none", .length = 4 };

	cgroup_next_member(&line, &member);
	return member;
}

#define MEMBER(m, text) SAME(((struct bytes) { (m).path, (m).length }), text)

/* Case 49: colons in the path; case 52: an empty list of controllers; case 50: a hierarchy that says nothing of CPU and memory. */
static void members(void)
{
	struct cgroup_member m = member_of(
		"0::/system.slice/kubepods-burstable-podAAAA.slice:cri-containerd:0123abcd\n");

	MEMBER(m, "/system.slice/kubepods-burstable-podAAAA.slice:cri-containerd:0123abcd");
	CU_ASSERT_TRUE(m.unified);
	m = member_of("0::/user.slice/user-1000.slice/session-1.scope\n");
	MEMBER(m, "/user.slice/user-1000.slice/session-1.scope");
	m = member_of("1:net_cls:/\n0::/a\n");
	CU_ASSERT_FALSE(m.unified);
	CU_ASSERT_EQUAL(m.controllers, 0);
	m = member_of("4:cpu,cpuacct:/docker/0a1b\n");
	CU_ASSERT_EQUAL(m.controllers, CPU | CPUACCT);
	/* Asked from within another cgroup namespace. */
	m = member_of("0::/../../system.slice/ssh.service\n");
	MEMBER(m, "/system.slice/ssh.service");
	m = member_of("0::\nx\n3:cpu\n7:memory:relative\n");
	MEMBER(m, "none");
}

/* ---- Names */

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct cgroup_names names_of(const char *path)
{
	return cgroup_path_names(path, strlen(path));
}

static void path_names(void)
{
	struct cgroup_names n = names_of("/system.slice/ssh.service");

	SAME(n.unit, "ssh.service");
	SAME(n.container_id, "");
	n = names_of("/system.slice/docker-" HEX64 ".scope");
	SAME(n.unit, "docker-" HEX64 ".scope");
	SAME(n.container_id, HEX64);
	n = names_of("/system.slice/docker.service/inner/deeper");
	SAME(n.unit, "docker.service");
	n = names_of("/user.slice/user-1000.slice/user@1000.service/app.slice/app-x\\x2dy.scope");
	SAME(n.unit, "app-x\\x2dy.scope");
	n = names_of("/user.slice/user-1000.slice");
	SAME(n.unit, "user-1000.slice");
	n = names_of(
		"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod2c48913c_b29f_11e7_9350_020968147796.slice/cri-containerd-" HEX64
		".scope");
	SAME(n.pod_uid, "2c48913c_b29f_11e7_9350_020968147796");
	SAME(n.container_id, HEX64);
	n = names_of("/kubepods/besteffort/pod2c48913c-b29f-11e7-9350-020968147796/" HEX64);
	SAME(n.pod_uid, "2c48913c-b29f-11e7-9350-020968147796");
	SAME(n.container_id, HEX64);
	SAME(n.unit, "");
	/* A static pod's UID is a hash. */
	n = names_of("/kubepods/podaabbccddeeff00112233445566778899");
	SAME(n.pod_uid, "aabbccddeeff00112233445566778899");
	n = names_of("/machine.slice/libpod-" HEX64 ".scope/container");
	SAME(n.container_id, HEX64);
	/* 65 digits are another thing. */
	n = names_of("/x-" HEX64 "0.scope/podling");
	SAME(n.pod_uid, "");
	n = names_of("/");
	SAME(n.unit, "");
}

static void log_names(void)
{
	struct cgroup_log log;

	CU_ASSERT_TRUE(cgroup_container_log("web-5d9c_shop_nginx-" HEX64 ".log", &log));
	SAME(log.pod, "web-5d9c");
	SAME(log.namespace, "shop");
	SAME(log.container, "nginx");
	SAME(log.id, HEX64);
	CU_ASSERT_FALSE(cgroup_container_log("web_shop_nginx-" HEX64, &log));
	CU_ASSERT_FALSE(cgroup_container_log("web_shop_nginx-0123.log", &log));
	CU_ASSERT_FALSE(cgroup_container_log("web_shop-" HEX64 ".log", &log));
	CU_ASSERT_FALSE(cgroup_container_log("", &log));
	CU_ASSERT_TRUE(cgroup_pod_log("shop_web-5d9c_2c48913c-b29f-11e7-9350-020968147796", &log));
	SAME(log.pod, "web-5d9c");
	SAME(log.namespace, "shop");
	SAME(log.id, "2c48913c-b29f-11e7-9350-020968147796");
	CU_ASSERT_FALSE(cgroup_pod_log("shop_web", &log));
}

/* The name is the top object's own, whatever a container's labels and arguments hold. */
static void json_names(void)
{
	const char *docker =
		"{\"StreamConfig\":{},\"Args\":[\"\\\"Name\\\":\\\"/bad\\\"\"],\"Config\":{\"Name\":\"/worse\","
		"\"Labels\":{\"a\\\"}\":\"[{\"}},\"ID\":\"x\", \"Name\" : \"/web\",\"Path\":\"/y\"}";
	const char *podman =
		"[{\"id\":\"" HEX64 "1\",\"names\":[\"other\"]},"
		"{\"id\":\"" HEX64
		"\",\"metadata\":\"{\\\"id\\\":1}\",\"names\":[\"db\",\"k8s_x\"],\"layer\":\"9\"}]";
	struct bytes id = { HEX64, 64 };

	SAME(cgroup_docker_name(TEXT(docker)), "web");
	SAME(cgroup_docker_name(TEXT("{\"Name\":{\"Name\":\"/x\"}}")), "");
	SAME(cgroup_docker_name(TEXT("{\"Name\":\"/x")), "");
	SAME(cgroup_docker_name(TEXT("{\"Name\":\"\\")), "");
	SAME(cgroup_docker_name(TEXT("]]]]{\"Name\":\"/x\"}")), "");
	SAME(cgroup_podman_name(TEXT(podman), id), "db");
	id.length = 63;
	SAME(cgroup_podman_name(TEXT(podman), id), "");
}

CU_TestInfo tests[] = {
	{ "lines of key and value", keys },
	{ "case 57: no limit is none", no_limit_is_none },
	{ "cpu.max", cpu_max },
	{ "cases 8, 11: pressure", pressure },
	{ "cases 62, 63: io.stat", io_stat },
	{ "blkio of version 1", blkio },
	{ "more devices than there is room for", many_devices },
	{ "lists of controllers", controllers },
	{ "cases 12, 53: mounts", mounts },
	{ "cases 49, 50, 52: /proc/PID/cgroup", members },
	{ "names in paths", path_names },
	{ "names of logs", log_names },
	{ "names in JSON", json_names },
	CU_TEST_INFO_NULL,
};
