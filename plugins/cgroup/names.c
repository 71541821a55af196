/* Names of what runs in a cgroup: from its path, and from files that the node's own programs keep (systemd, the kubelet,
 * Docker, Podman). */
#include "cgroup.h"

bool cgroup_same(struct bytes a, struct bytes b)
{
	return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

enum { ID_LENGTH = 64, UID_LENGTH = 36, UID_SHORT = 32 };

static bool ends_with(struct bytes name, const char *end)
{
	size_t n = strlen(end);

	return name.length > n && memcmp(name.at + name.length - n, end, n) == 0;
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* The 64 hex digits that a name holds: "docker-ID.scope", "cri-containerd-ID.scope", "slice:cri-containerd:ID", "ID". */
static struct bytes container_id(struct bytes name)
{
	size_t run = 0;

	for (size_t i = 0; i < name.length; i++) {
		run = is_hex(name.at[i]) ? run + 1 : 0;
		if (run == ID_LENGTH && (i + 1 == name.length || !is_hex(name.at[i + 1])))
			return (struct bytes) { name.at + i + 1 - ID_LENGTH, ID_LENGTH };
	}
	return (struct bytes) { NULL, 0 };
}

/* "kubepods-burstable-podUID.slice", in which systemd's escape makes "-" of the UID "_"; "podUID". */
static struct bytes pod_uid(struct bytes name)
{
	for (size_t i = 0; i + 3 < name.length; i++) {
		size_t n = 0;

		if ((i && name.at[i - 1] != '-') || memcmp(name.at + i, "pod", 3) != 0)
			continue;
		while (i + 3 + n < name.length &&
		       (is_hex(name.at[i + 3 + n]) || name.at[i + 3 + n] == '_' ||
			name.at[i + 3 + n] == '-'))
			n++;
		if (n == UID_LENGTH || n == UID_SHORT)
			return (struct bytes) { name.at + i + 3, n };
	}
	return (struct bytes) { NULL, 0 };
}

static int unit_rank(struct bytes name)
{
	static const char *const kinds[] = { ".slice",  ".mount", ".swap",
					     ".socket", ".scope", ".service" };

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (ends_with(name, kinds[i]))
			return i == 0 ? 1 : 2;
	return 0;
}

/* The deepest unit that is no slice, else the deepest slice: cgroups below a unit are its own affair. */
struct cgroup_names cgroup_path_names(const char *path, size_t length)
{
	struct cgroup_names names = { 0 };
	const char *end = path + length;
	int best = 0;

	while (path < end) {
		const char *slash = memchr(path, '/', (size_t)(end - path));
		struct bytes name = { path, (size_t)((slash ? slash : end) - path) };
		struct bytes id = container_id(name), uid = pod_uid(name);

		if (unit_rank(name) >= best && unit_rank(name)) {
			best = unit_rank(name);
			names.unit = name;
		}
		if (id.length)
			names.container_id = id;
		if (uid.length)
			names.pod_uid = uid;
		path += name.length + 1;
	}
	return names;
}

/* Up to the next `separator`, behind which *at goes. */
static struct bytes up_to(const char **at, const char *end, char separator)
{
	const char *stop = memchr(*at, separator, (size_t)(end - *at));
	struct bytes part = { *at, (size_t)((stop ? stop : end) - *at) };

	*at = stop ? stop + 1 : end;
	return part;
}

/* None of the names that Kubernetes lets through has a "_". */
bool cgroup_container_log(const char *name, struct cgroup_log *log)
{
	size_t length = strlen(name);
	const char *end = name + length, *id;

	if (length < ID_LENGTH + 5 || strcmp(end - 4, ".log") != 0)
		return false;
	id = end - 4 - ID_LENGTH;
	log->id = container_id((struct bytes) { id, ID_LENGTH });
	if (!log->id.length || id[-1] != '-')
		return false;
	log->pod = up_to(&name, id - 1, '_');
	log->namespace = up_to(&name, id - 1, '_');
	log->container = (struct bytes) { name, (size_t)(id - 1 - name) };
	return log->container.length != 0;
}

bool cgroup_pod_log(const char *name, struct cgroup_log *log)
{
	const char *end = name + strlen(name);

	log->namespace = up_to(&name, end, '_');
	log->pod = up_to(&name, end, '_');
	log->id = (struct bytes) { name, (size_t)(end - name) };
	return log->id.length != 0;
}

/* ---- JSON, of which two names are wanted: every string is met with its depth and the key before it (RFC 8259). */

struct json {
	const char *at, *end;
	struct bytes key;
	uint32_t depth;
};

/* A string, the cursor at its opening quote; escapes stay as they are. False where it does not end. */
static bool json_string(struct json *json, struct bytes *string)
{
	const char *begin = ++json->at;

	for (; json->at < json->end && *json->at != '"'; json->at++)
		if (*json->at == '\\' && json->at + 1 < json->end)
			json->at++;
	if (json->at == json->end)
		return false;
	*string = (struct bytes) { begin, (size_t)(json->at++ - begin) };
	return true;
}

static void json_blanks(struct json *json)
{
	while (json->at < json->end &&
	       (*json->at == ' ' || *json->at == '\t' || *json->at == '\r' || *json->at == '\n'))
		json->at++;
}

/* The next string that is a value. Keys on the way are remembered. */
static bool json_next(struct json *json, struct bytes *value)
{
	while (json->at < json->end) {
		if (*json->at == '{' || *json->at == '[')
			json->depth++;
		else if (*json->at == '}' || *json->at == ']')
			json->depth--;
		if (*json->at != '"') {
			json->at++;
			continue;
		}
		if (!json_string(json, value))
			return false;
		json_blanks(json);
		if (json->at == json->end || *json->at != ':')
			return true;
		json->key = *value;
	}
	return false;
}

static bool is(struct bytes bytes, const char *text)
{
	return bytes.length == strlen(text) && memcmp(bytes.at, text, bytes.length) == 0;
}

/* {"ID": ..., "Name": "/web", ...} */
struct bytes cgroup_docker_name(const char *text, size_t length)
{
	struct json json = { .at = text, .end = text + length };
	struct bytes value;

	while (json_next(&json, &value))
		if (json.depth == 1 && is(json.key, "Name") && value.length > 1 && *value.at == '/')
			return (struct bytes) { value.at + 1, value.length - 1 };
	return (struct bytes) { NULL, 0 };
}

/* [{"id": "...", "names": ["web"], ...}, ...] */
struct bytes cgroup_podman_name(const char *text, size_t length, struct bytes id)
{
	struct json json = { .at = text, .end = text + length };
	struct bytes value;
	bool found = false;

	while (json_next(&json, &value)) {
		if (json.depth == 2 && is(json.key, "id"))
			found = cgroup_same(value, id);
		else if (json.depth == 3 && is(json.key, "names") && found)
			return value;
	}
	return (struct bytes) { NULL, 0 };
}
