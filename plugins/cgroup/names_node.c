/* Names that the node's own files have for the containers and pods whose ids stand in the paths. No program is asked. */
#include "collect.h"

/* A pod's UID, which in systemd's names has "_" for "-". */
static bool same_uid(struct bytes a, struct bytes b)
{
	for (size_t i = 0; i < a.length && i < b.length; i++)
		if (a.at[i] != b.at[i] && !(a.at[i] == '_' && b.at[i] == '-'))
			return false;
	return a.length == b.length;
}

static struct bytes kept(const struct sonde_row *row, uint32_t slot)
{
	if (!sonde_has(row, slot))
		return (struct bytes) { NULL, 0 };
	return (struct bytes) { row->strings->bytes + (row->slots[slot] >> 32),
				(uint32_t)row->slots[slot] };
}

static void set(struct sonde_row *row, uint32_t slot, struct bytes bytes)
{
	if (bytes.length && !sonde_has(row, slot))
		sonde_set_bytes(row, slot, bytes.at, bytes.length);
}

/* A row that has an id and lacks the name that goes with it. */
static bool lacks(const struct sonde_row *row, uint32_t id, uint32_t name)
{
	return sonde_has(row, id) && !sonde_has(row, name);
}

static bool is_wanted(const struct group *group, bool full)
{
	return group->flags & GROUP_ROW && (full || group->flags & GROUP_NEW);
}

static bool any_lacks(struct catalog *catalog, bool full, uint32_t id, uint32_t name)
{
	for (uint32_t i = 0; i < catalog->count; i++) {
		struct sonde_row row = group_row(catalog, i);

		if (is_wanted(&catalog->groups[i], full) && lacks(&row, id, name))
			return true;
	}
	return false;
}

/* /var/log/containers names pod, namespace and container of each container that the kubelet runs. */
static void container_logs(struct sonde_instance *self, struct catalog *catalog)
{
	const char *name;
	int64_t left = sonde_list(self, "/var/log/containers", &name);
	struct cgroup_log log;

	for (; left > 0; left--, name += strlen(name) + 1) {
		for (uint32_t i = 0; cgroup_container_log(name, &log) && i < catalog->count; i++) {
			struct sonde_row row = group_row(catalog, i);

			if (!cgroup_same(kept(&row, CONTAINER_ID), log.id))
				continue;
			set(&row, POD, log.pod);
			set(&row, NAMESPACE, log.namespace);
			set(&row, CONTAINER, log.container);
		}
	}
}

/* /var/log/pods names namespace and pod of each pod. */
static void pod_logs(struct sonde_instance *self, struct catalog *catalog)
{
	const char *name;
	int64_t left = sonde_list(self, "/var/log/pods", &name);
	struct cgroup_log log;

	for (; left > 0; left--, name += strlen(name) + 1) {
		for (uint32_t i = 0; cgroup_pod_log(name, &log) && i < catalog->count; i++) {
			struct sonde_row row = group_row(catalog, i);

			if (!same_uid(kept(&row, POD_UID), log.id))
				continue;
			set(&row, POD, log.pod);
			set(&row, NAMESPACE, log.namespace);
		}
	}
}

static void docker_name(struct sonde_instance *self, struct sonde_row *row)
{
	struct bytes id = kept(row, CONTAINER_ID);
	struct sonde_file *file =
		sonde_open(self, SONDE_FRESH, "/var/lib/docker/containers/%.*s/config.v2.json",
			   (int)id.length, id.at);
	const char *text;
	int64_t length = file ? sonde_read(self, file, &text) : -ENOENT;

	if (length > 0)
		set(row, CONTAINER, cgroup_docker_name(text, (size_t)length));
	sonde_close(self, file);
}

static void podman_names(struct sonde_instance *self, struct catalog *catalog)
{
	struct sonde_file *file =
		sonde_open(self, SONDE_FRESH,
			   "/var/lib/containers/storage/overlay-containers/containers.json");
	const char *text;
	int64_t length = file ? sonde_read(self, file, &text) : -ENOENT;

	for (uint32_t i = 0; length > 0 && i < catalog->count; i++) {
		struct sonde_row row = group_row(catalog, i);

		if (lacks(&row, CONTAINER_ID, CONTAINER))
			set(&row, CONTAINER,
			    cgroup_podman_name(text, (size_t)length, kept(&row, CONTAINER_ID)));
	}
	sonde_close(self, file);
}

void names_find(struct sonde_instance *self, struct catalog *catalog, bool full)
{
	for (uint32_t i = 0; i < catalog->count; i++) {
		struct sonde_row row = group_row(catalog, i);
		struct bytes path = group_path(catalog, i);
		struct cgroup_names names;

		if (!is_wanted(&catalog->groups[i], full) || sonde_has(&row, UNIT))
			continue;
		names = cgroup_path_names(path.at, path.length);
		set(&row, UNIT, names.unit);
		set(&row, POD_UID, names.pod_uid);
		set(&row, CONTAINER_ID, names.container_id);
	}
	if (any_lacks(catalog, full, CONTAINER_ID, CONTAINER))
		container_logs(self, catalog);
	if (any_lacks(catalog, full, POD_UID, POD))
		pod_logs(self, catalog);
	for (uint32_t i = 0; i < catalog->count; i++) {
		struct sonde_row row = group_row(catalog, i);

		if (is_wanted(&catalog->groups[i], full) && lacks(&row, CONTAINER_ID, CONTAINER))
			docker_name(self, &row);
	}
	if (any_lacks(catalog, full, CONTAINER_ID, CONTAINER))
		podman_names(self, catalog);
}
