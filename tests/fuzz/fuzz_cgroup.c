/* Any bytes as what the collector cgroup reads. The first byte says which parser; the others are the text, in memory of just
 * their length. */
#include <stdlib.h>

#include "plugins/cgroup/names.c"
#include "plugins/cgroup/parse.c"
#include "plugins/cgroup/tables.c"

enum { SLOTS = 128 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

/* A name lies within what it was found in. */
static void check_within(struct bytes part, const char *text, size_t length)
{
	check(!part.length || (part.at >= text && part.at + part.length <= text + length));
}

static void check_mounts(const char *text, size_t length, bool short_form)
{
	struct cursor line = cursor(text, length);
	struct cgroup_mount mount;

	while (cgroup_next_mount(&line, short_form, &mount)) {
		check(strlen(mount.point) < sizeof mount.point &&
		      strlen(mount.root) < sizeof mount.root);
		check(mount.unified || mount.controllers);
	}
}

static void check_names(const char *text, size_t length)
{
	struct cgroup_names names = cgroup_path_names(text, length);
	struct bytes id = { text, length < 64 ? length : 64 };

	check_within(names.unit, text, length);
	check_within(names.pod_uid, text, length);
	check_within(names.container_id, text, length);
	check_within(cgroup_docker_name(text, length), text, length);
	check_within(cgroup_podman_name(text, length, id), text, length);
}

static void check_logs(const char *name)
{
	struct cgroup_log log = { 0 };
	size_t length = strlen(name);

	if (cgroup_container_log(name, &log)) {
		check_within(log.container, name, length);
		check(log.id.length == 64);
	}
	cgroup_pod_log(name, &log);
	check_within(log.pod, name, length);
	check_within(log.namespace, name, length);
	check_within(log.id, name, length);
}

static void check_files(uint8_t which, const char *text, size_t length)
{
	uint64_t slots[SLOTS], have[SLOTS / 64] = { 0 }, value;
	struct sonde_row row = { slots, have, NULL };
	struct cgroup_io io = { .count = 0 };

	cgroup_parse_keys(text, length, which & 1 ? &memory_keys : &memory_v1_keys, &row);
	cgroup_parse_cpu_max(text, length, &row);
	cgroup_parse_pressure(text, length, &row);
	if (cgroup_parse_limit(text, length, &value))
		check(!cgroup_is_no_limit(value));
	cgroup_parse_io_stat(text, length, &io);
	cgroup_parse_blkio(text, length, which & 1, &io);
	check(io.count <= IO_DEVICES);
}

static void check_members(const char *text, size_t length)
{
	struct cursor line = cursor(text, length);
	struct cgroup_member member;

	while (cgroup_next_member(&line, &member)) {
		check_within((struct bytes) { member.path, member.length }, text, length);
		check(member.length && *member.path == '/');
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (!size)
		return 0;
	text = malloc(size);
	if (!text)
		return 0;
	/* One byte less than the input has, and a NUL for those that take a name. */
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	switch (data[0] % 5) {
	case 0:
		check_mounts(text, size - 1, data[0] & 1);
		break;
	case 1:
		check_names(text, size - 1);
		break;
	case 2:
		check_logs(text);
		break;
	case 3:
		check_members(text, size - 1);
		break;
	default:
		check_files(data[0], text, size - 1);
	}
	free(text);
	return 0;
}
