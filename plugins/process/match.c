/* Who is chosen by what it is: control group, systemd unit, name. */
#include <fnmatch.h>

#include "collect.h"

enum { NAME_MOST = 15 }; /* TASK_COMM_LEN without its NUL */

static size_t without_slash(const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	return length;
}

/* The group itself or one below it. */
static bool is_in_cgroup(const struct text *cgroup, const char *path)
{
	size_t length = without_slash(path);

	return length == 1 ||
	       (cgroup->length >= length && memcmp(cgroup->bytes, path, length) == 0 &&
		(cgroup->length == length || cgroup->bytes[length] == '/'));
}

/* "nginx" is nginx.service: one part of the path, whichever slices it stands in. */
static bool is_in_unit(const struct text *cgroup, const char *unit)
{
	static const char suffix[] = ".service";
	size_t length = strlen(unit), more = strchr(unit, '.') ? 0 : sizeof suffix - 1;
	const char *at = cgroup->bytes, *end = at + cgroup->length;

	while (at < end) {
		const char *slash = (const char *)memchr(at, '/', (size_t)(end - at));
		size_t part = (size_t)((slash ? slash : end) - at);

		if (part == length + more && memcmp(at, unit, length) == 0 &&
		    memcmp(at + length, suffix, more) == 0)
			return true;
		at += part + 1;
	}
	return false;
}

/* The kernel cuts names; so is a pattern without wildcards that is longer. */
static bool is_named(const struct task *task, const char *pattern)
{
	char comm[sizeof task->comm + 1] = "";

	memcpy(comm, task->comm, task->comm_length);
	if (strlen(pattern) > NAME_MOST && !strpbrk(pattern, "*?["))
		return strncmp(comm, pattern, NAME_MOST) == 0;
	return fnmatch(pattern, comm, 0) == 0;
}

bool match_is_chosen(const struct sonde_instance *self, const struct task *task)
{
	const struct conf *conf = self->conf;
	const struct texts *texts = &((const struct state *)self->state)->tasks.texts;
	const struct text *cgroup = &texts->text[task->cgroup];

	for (uint32_t i = 0; i < conf->name.count; i++)
		if (is_named(task, conf->name.items[i]))
			return true;
	for (uint32_t i = 0; task->cgroup && i < conf->cgroup.count; i++)
		if (is_in_cgroup(cgroup, conf->cgroup.items[i]))
			return true;
	for (uint32_t i = 0; task->cgroup && i < conf->unit.count; i++)
		if (is_in_unit(cgroup, conf->unit.items[i]))
			return true;
	return false;
}

/* Whether any process is in a control group that fits. */
static bool is_any_in(const struct tasks *tasks,
		      bool (*fits)(const struct text *cgroup, const char *what), const char *what)
{
	for (uint32_t i = 0; i < tasks->count; i++) {
		uint32_t cgroup = tasks->task[tasks->order[i]].cgroup;

		if (cgroup && fits(&tasks->texts.text[cgroup], what))
			return true;
	}
	return false;
}

static bool is_any_named(const struct tasks *tasks, const char *pattern)
{
	for (uint32_t i = 0; i < tasks->count; i++) {
		const struct task *task = &tasks->task[tasks->order[i]];

		if (task->comm_length != COMM_UNSEEN && is_named(task, pattern))
			return true;
	}
	return false;
}

/* In the recording, and to whoever watches, at once. */
static void tell_missing(struct sonde_instance *self, const char *key, const char *what)
{
	static const char format[] =
		"no process is %s %s when this begins: if one comes, it is recorded from then on";

	sonde_note(self, format, key, what);
	sonde_log(self, SONDE_WARNING, format, key, what);
}

void match_tell(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	const struct state *state = self->state;
	const struct tasks *tasks = &state->tasks;

	for (uint32_t i = 0; i < conf->cgroup.count; i++)
		if (!is_any_in(tasks, is_in_cgroup, conf->cgroup.items[i]))
			tell_missing(self, "in cgroup =", conf->cgroup.items[i]);
	/* Beside a tree it is the scope of that, in which nobody may be yet. */
	for (uint32_t i = 0; i < conf->unit.count && state->mode == SELECT_MATCH; i++)
		if (!is_any_in(tasks, is_in_unit, conf->unit.items[i]))
			tell_missing(self, "in unit =", conf->unit.items[i]);
	for (uint32_t i = 0; i < conf->name.count; i++)
		if (!is_any_named(tasks, conf->name.items[i]))
			tell_missing(self, "named", conf->name.items[i]);
}

int match_check(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;

	for (uint32_t i = 0; i < conf->cgroup.count; i++) {
		if (conf->cgroup.items[i][0] == '/')
			continue;
		sonde_log(self, SONDE_ERROR,
			  "cgroup = %s: a path below the mount of the control groups, "
			  "as /proc/PID/cgroup has it, begins with /",
			  conf->cgroup.items[i]);
		return -EINVAL;
	}
	return 0;
}
