/* Who speaks: the header of this host's stream (uname(2), machine-id(5), random(4), /sys/devices/system). */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/instant.h"
#include "core/sha256.h"
#include "host/header.h"
#include "host/values.h"

enum { TEXT = 256 };

#ifndef SONDE_VERSION
#define SONDE_VERSION "0.1"
#endif

/* The first line of a file, "" where there is none. */
static void first_line(struct files *files, const char *path, char *line, size_t size)
{
	struct sonde_file *file = file_open(files, SONDE_FRESH, path);
	const char *text = "";

	line[0] = '\0';
	if (!file)
		return;
	if (file_read(file, &text) > 0)
		snprintf(line, size, "%.*s", (int)strcspn(text, "\n"), text);
	file_close(file);
}

/* "Must be considered confidential, and must not be exposed in untrusted environments": hashed, with a key of our own. */
static void hash_machine_id(const char *id, char *hashed, size_t size)
{
	static const char key[] = "sonde stream header 1\n";
	char text[sizeof key + TEXT];
	uint8_t digest[32];
	int n = snprintf(text, sizeof text, "%s%s", key, id);

	hashed[0] = '\0';
	if (!id[0])
		return;
	sha256(text, (size_t)n, digest);
	for (size_t i = 0; i < 16 && 2 * i + 2 < size; i++)
		snprintf(hashed + 2 * i, 3, "%02x", digest[i]);
}

/* What the machine itself says, where the tree is this machine's (uname(2), sysconf(3), localtime(3)). */
static void ask_kernel(struct sonde_stream_header *header, struct utsname *names)
{
	time_t now = time(NULL);
	struct tm local;

	uname(names);
	if (localtime_r(&now, &local))
		header->utc_offset = (int32_t)local.tm_gmtoff;
	header->kernel = names->release;
	header->arch = names->machine;
	header->user_hz = (uint32_t)sysconf(_SC_CLK_TCK);
	header->page_size = (uint32_t)sysconf(_SC_PAGESIZE);
}

static uint32_t count_cpus(const char *list)
{
	uint32_t *ids = NULL;
	uint32_t count = 0;

	if (!list[0] || cpulist_parse(list, &ids, &count))
		return 0;
	free(ids);
	return count;
}

/* Whether the tree is that of the running kernel: /host of a container is, a captured one is not. */
static bool is_live(const struct files *files, const char *boot_id)
{
	struct files own;
	char id[TEXT];

	if (files->root_fd < 0)
		return true;
	if (files_open(&own, ""))
		return false;
	first_line(&own, "/proc/sys/kernel/random/boot_id", id, sizeof id);
	files_close(&own);
	return strcmp(id, boot_id) == 0;
}

struct sonde_stream_header *header_make(struct files *files, const char *host, const char *tags,
					const char *label)
{
	char name[TEXT], machine[TEXT], hashed[33], boot[TEXT], kernel[TEXT], online[4096],
		nodes[4096];
	struct sonde_stream_header header = { .label = label ? label : "" };
	struct utsname names;

	first_line(files, "/proc/sys/kernel/random/boot_id", boot, sizeof boot);
	first_line(files, "/etc/machine-id", machine, sizeof machine);
	first_line(files, "/proc/sys/kernel/hostname", name, sizeof name);
	first_line(files, "/proc/sys/kernel/osrelease", kernel, sizeof kernel);
	first_line(files, "/sys/devices/system/cpu/online", online, sizeof online);
	first_line(files, "/sys/devices/system/node/online", nodes, sizeof nodes);
	hash_machine_id(machine, hashed, sizeof hashed);
	header.host = host[0] ? host : name;
	header.machine_id = hashed;
	header.boot_id = boot;
	header.kernel = kernel;
	header.arch = "";
	header.online = online;
	header.nodes = nodes;
	header.ncpus = count_cpus(online);
	header.version = SONDE_VERSION;
	if (is_live(files, boot))
		ask_kernel(&header, &names);
	while (!header.start_id)
		if (getrandom(&header.start_id, sizeof header.start_id, 0) < 0)
			return NULL;
	clock_anchor(&header.anchor);
	return header_with_tags(&header, tags);
}
