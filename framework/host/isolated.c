/* The host's side of isolation = process. A worker's answers are read as those of a stranger: by the reader of recordings,
 * within its budgets. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "host/capture.h"
#include "host/folders.h"
#include "host/isolated.h"
#include "host/log.h"
#include "host/must.h"
#include "host/section_pack.h"
#include "host/worker.h"
#include "wire/reader.h"

/* To load, check and start a plugin; to see a killed worker go; between a crash and the next start. */
static const uint64_t start_ns = 10ull * NS_PER_S, reap_ns = NS_PER_S / 2, stop_ns = NS_PER_S / 4;
static const uint64_t pause_first = NS_PER_S / 2, pause_most = 60ull * NS_PER_S;
/* How often a wait looks whether the pipeline stops. */
enum { LOOK_MS = 50 };

struct worker_process {
	struct worker_process *next;
	char *group; /* NULL: of one instance */
	pid_t pid;   /* 0: none */
	int fd;
	bool stuck; /* SIGKILL did not end it: in uninterruptible sleep. It is not replaced. */
	uint64_t pause, retry; /* before the next start; when it may be, CLOCK_MONOTONIC ns */
	uint64_t born;         /* CLOCK_MONOTONIC ns */
	struct isolated **tenants;
	size_t ntenants;
};

struct workers {
	struct worker_process *first;
	struct foreign *foreign;
	atomic_ullong give_up; /* CLOCK_MONOTONIC ns: no call lasts longer; 0: not yet known */
};

struct isolated {
	struct workers *workers;
	struct worker_process *process;
	struct instance *instance;
	char *packed; /* its section, for each worker anew */
	size_t npacked;
	uint32_t index;
	bool running; /* it was started in this worker */
	struct reader *reader;
	char *answer;
	uint64_t lost;           /* rows in this worker, as told */
	size_t length, at, size; /* of the answer, how much of it was read, room */
	char text[200];          /* what went wrong */
};

/* ---- The socket */

static int wait_for(struct isolated *isolated, short events, uint64_t deadline)
{
	struct pollfd pollfd = { .fd = isolated->process->fd, .events = events };

	for (;;) {
		uint64_t give_up = atomic_load(&isolated->workers->give_up);
		uint64_t now = clock_now(CLOCK_MONOTONIC);
		int n;

		if (now >= deadline || (give_up && now >= give_up))
			return -ETIMEDOUT;
		n = poll(&pollfd, 1, LOOK_MS);
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
}

static int send_whole(struct isolated *isolated, const void *bytes, size_t length,
		      uint64_t deadline)
{
	const char *at = bytes;

	while (length) {
		ssize_t n = send(isolated->process->fd, at, length, MSG_NOSIGNAL | MSG_DONTWAIT);
		int err = 0;

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			err = wait_for(isolated, POLLOUT, deadline);
		else if (n < 0)
			err = -EPIPE;
		if (err)
			return err;
		at += n > 0 ? n : 0;
		length -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int receive_whole(struct isolated *isolated, void *bytes, size_t length, uint64_t deadline)
{
	char *at = bytes;

	while (length) {
		ssize_t n = recv(isolated->process->fd, at, length, MSG_DONTWAIT);
		int err = 0;

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			err = wait_for(isolated, POLLIN, deadline);
		else if (n <= 0)
			err = -EPIPE;
		if (err)
			return err;
		at += n > 0 ? n : 0;
		length -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int receive_answer(struct isolated *isolated, struct worker_message *message,
			  uint64_t deadline)
{
	uint32_t kind = message->kind;
	int err = receive_whole(isolated, message, sizeof *message, deadline);

	if (err)
		return err;
	if (message->kind != kind || message->index != isolated->index ||
	    message->length > WORKER_PAYLOAD)
		return -EPROTO;
	if (isolated->size <= message->length) {
		isolated->size = (size_t)message->length * 2 + 1;
		free(isolated->answer);
		isolated->answer = must(malloc(isolated->size));
	}
	err = receive_whole(isolated, isolated->answer, message->length, deadline);
	isolated->length = err ? 0 : message->length;
	isolated->answer[isolated->length] = 0;
	isolated->at = 0;
	return err;
}

/* ---- The process */

static void close_readers(struct worker_process *process)
{
	for (size_t i = 0; i < process->ntenants; i++) {
		if (process->tenants[i]->reader)
			reader_free(process->tenants[i]->reader);
		process->tenants[i]->reader = NULL;
		process->tenants[i]->running = false;
	}
}

/* The worker is gone or is made to go. What became of it, in words. */
static void end_process(struct worker_process *process, bool kill_it, char *text, size_t size)
{
	uint64_t until = clock_now(CLOCK_MONOTONIC) + reap_ns;
	int status = 0;
	pid_t reaped = 0;

	close(process->fd);
	process->fd = -1;
	close_readers(process);
	if (kill_it)
		kill(process->pid, SIGKILL);
	while ((reaped = waitpid(process->pid, &status, WNOHANG)) == 0 &&
	       clock_now(CLOCK_MONOTONIC) < until) {
		struct timespec pause = clock_timespec(1000000);

		nanosleep(&pause, NULL);
	}
	process->stuck = reaped == 0;
	if (process->stuck && !kill_it) {
		kill(process->pid, SIGKILL);
		process->stuck = waitpid(process->pid, &status, 0) < 0;
	}
	if (process->stuck)
		snprintf(text, size, "its worker %d does not die: it hangs in the kernel",
			 (int)process->pid);
	else if (!kill_it && WIFSIGNALED(status))
		snprintf(text, size, "its worker was ended by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else if (!kill_it)
		snprintf(text, size, "its worker ended with status %d", WEXITSTATUS(status));
	process->pid = 0;
}

static int spawn(struct worker_process *process)
{
	char *arguments[] = { (char *)"sonde", (char *)WORKER_ARGUMENT, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int ends[2];
	int err;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], WORKER_FD);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &none);
	err = posix_spawn(&process->pid, "/proc/self/exe", &actions, &attributes, arguments,
			  environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (err) {
		process->pid = 0;
		close(ends[0]);
		return -err;
	}
	process->fd = ends[0];
	process->born = clock_now(CLOCK_MONOTONIC);
	return 0;
}

/* A call of the worker. -ECHILD: it ended, or was too late and had to; isolated->text says so. */
static int call(struct isolated *isolated, enum worker_kind kind, uint64_t within,
		struct worker_message *answer)
{
	struct worker_process *process = isolated->process;
	uint64_t deadline = clock_now(CLOCK_MONOTONIC) + within;
	struct worker_message message = { .kind = kind, .index = isolated->index };
	int err;

	if (!process->pid)
		return -ECHILD;
	if (kind == WORKER_NEW)
		message.length = (uint32_t)isolated->npacked;
	err = send_whole(isolated, &message, sizeof message, deadline);
	if (!err)
		err = send_whole(isolated, isolated->packed, message.length, deadline);
	if (!err)
		err = receive_answer(isolated, &message, deadline);
	if (!err) {
		if (answer)
			*answer = message;
		return message.status;
	}
	if (err == -ETIMEDOUT)
		snprintf(isolated->text, sizeof isolated->text,
			 "its worker was too late by the deadline and was ended");
	else if (err == -EPROTO)
		snprintf(isolated->text, sizeof isolated->text,
			 "its worker answered out of order and was ended");
	end_process(process, err != -EPIPE, isolated->text, sizeof isolated->text);
	return -ECHILD;
}

/* ---- Life */

struct workers *workers_new(struct foreign *foreign)
{
	struct workers *workers = must(calloc(1, sizeof *workers));

	workers->foreign = foreign;
	return workers;
}

bool workers_any(const struct workers *workers)
{
	return workers && workers->first;
}

void workers_give_up(struct workers *workers, uint64_t deadline)
{
	atomic_store(&workers->give_up, deadline);
}

void workers_free(struct workers *workers)
{
	if (!workers)
		return;
	while (workers->first) {
		struct worker_process *process = workers->first;

		workers->first = process->next;
		free(process->group);
		free(process->tenants);
		free(process);
	}
	free(workers);
}

bool isolated_wanted(const struct config_section *section)
{
	const struct config_key *key = config_key(section, "isolation");

	return key && strncmp(key->value, "process", 7) == 0;
}

struct plugin *isolated_plugin(const struct surroundings *around,
			       const struct config_section *section)
{
	char *path = folders_find(around->plugin_path, SONDE_KIND_COLLECTOR, section->plugin);
	struct plugin *plugin = must(calloc(1, sizeof *plugin));
	struct sonde_elf_note note;
	char why[512];

	if (!path)
		snprintf(why, sizeof why, "there is no collector-%.64s.so in %s", section->plugin,
			 around->plugin_path);
	if (!path || plugin_peek(path, &note, why, sizeof why)) {
		config_error(around->config, section->file, section->line, "[%s]: %s",
			     section->name, why);
		free(path);
		free(plugin);
		return NULL;
	}
	plugin->path = path;
	plugin->descriptor = (struct sonde_plugin) { .kind = SONDE_KIND_COLLECTOR,
						     .flags = note.flags,
						     .name = must_copy(section->plugin) };
	return plugin;
}

static struct worker_process *find_process(struct workers *workers, const char *isolation)
{
	const char *group = strchr(isolation, ':');
	struct worker_process *process;

	for (process = workers->first; group && process; process = process->next)
		if (process->group && strcmp(process->group, group + 1) == 0)
			return process;
	process = must(calloc(1, sizeof *process));
	*process = (struct worker_process) { .next = workers->first,
					     .group = group ? must_copy(group + 1) : NULL,
					     .fd = -1,
					     .pause = pause_first };
	workers->first = process;
	return process;
}

/* The mistakes that the plugin's keys have, as the worker told them. */
static void add_mistakes(struct config *config, char *lines)
{
	for (char *line; (line = strsep(&lines, "\n"));) {
		unsigned number = 0;
		char *rest;
		char *colon = strchr(line, ':');

		if (!*line)
			continue;
		/* "file:line: sentence" */
		if (colon)
			number = (unsigned)strtoul(colon + 1, &rest, 10);
		if (!colon || *rest != ':') {
			config_error(config, "", 0, "%s", line);
			continue;
		}
		*colon = 0;
		config_error(config, line, number, "%s", rest + 2);
	}
}

int isolated_new(const struct surroundings *around, struct instance *instance)
{
	struct isolated *isolated = must(calloc(1, sizeof *isolated));
	struct worker_process *process = find_process(around->workers, instance->keys.isolation);
	FILE *out = must(open_memstream(&isolated->packed, &isolated->npacked));
	int err = 0;

	section_pack(out, instance->section, around->agent, around->plugin_path);
	if (fclose(out))
		return -ENOMEM;
	isolated->workers = around->workers;
	isolated->process = process;
	isolated->instance = instance;
	isolated->index = (uint32_t)process->ntenants;
	process->tenants = must_grow(process->tenants, process->ntenants, sizeof(void *));
	process->tenants[process->ntenants++] = isolated;
	instance->role = isolated;
	if (!process->pid)
		err = spawn(process);
	if (!err)
		err = call(isolated, WORKER_NEW, start_ns, NULL);
	if (err == -EINVAL)
		add_mistakes(around->config, isolated->answer);
	else if (err)
		config_error(around->config, instance->section->file, instance->section->line,
			     "[%s]: %s", instance->self.name,
			     isolated->text[0] ? isolated->text : strerror(-err));
	return err;
}

void isolated_free(struct isolated *isolated)
{
	struct worker_process *process;
	char text[200];

	if (!isolated)
		return;
	process = isolated->process;
	for (size_t i = 0; i < process->ntenants; i++)
		if (process->tenants[i] == isolated)
			process->tenants[i--] = process->tenants[--process->ntenants];
	if (isolated->reader)
		reader_free(isolated->reader);
	if (!process->ntenants && process->pid)
		end_process(process, false, text, sizeof text);
	free(isolated->packed);
	free(isolated->answer);
	free(isolated);
}

/* What went wrong, as the plugin or the host says it. */
static int refused(struct isolated *isolated, int err)
{
	struct instance *instance = isolated->instance;
	const char *reason = err == -ECHILD ? isolated->text : isolated->answer;

	if (err)
		snprintf(instance->reason, sizeof instance->reason, "%.500s", reason);
	return err;
}

int isolated_check(struct instance *instance)
{
	struct isolated *isolated = instance->role;

	return refused(isolated, call(isolated, WORKER_CHECK, start_ns, NULL));
}

/* ---- Rows */

static int64_t answer_read(void *context, void *buffer, size_t size)
{
	struct isolated *isolated = context;
	size_t n = isolated->length - isolated->at;

	n = n < size ? n : size;
	memcpy(buffer, isolated->answer + isolated->at, n);
	isolated->at += n;
	return (int64_t)n;
}

/* The table in the instance's arena that has this schema; a new one where there is none yet. */
static struct frame_table *find_table(struct isolated *isolated, struct sonde_frame *frame,
				      const struct sonde_schema *schema, uint32_t *index)
{
	const struct sonde_schema *kept = foreign_schema(isolated->workers->foreign, schema);

	if (!kept)
		return NULL;
	for (*index = 0; *index < frame->ntables; ++*index)
		if (frame->tables[*index].schema == kept)
			return &frame->tables[*index];
	if (frame_add_table(frame, kept, 1, 0))
		return NULL;
	return &frame->tables[*index];
}

static void copy_row(const struct sonde_view *view, uint32_t from, struct sonde_row *to)
{
	const struct sonde_schema *schema = view->schema;
	const uint64_t *words = sonde_view_have(view, from);

	memcpy(to->have, words, view->stride * sizeof *words);
	for (uint32_t c = 0; schema->nstrings && c < schema->ncolumns; c++) {
		uint32_t slot = schema->slot[c], length;
		const char *bytes;

		if (schema->columns[c].type != SONDE_STR || !sonde_has(to, slot))
			continue;
		bytes = sonde_view_bytes(view, to->slots[slot], &length);
		to->have[slot >> 6] &= ~((uint64_t)1 << (slot & 63));
		sonde_set_bytes(to, slot, bytes, length);
	}
}

/* Room for all of it: there is no sampling to hold up here. */
static bool make_room(struct sonde_frame *frame, struct frame_table *table,
		      const struct sonde_view *view, size_t strings)
{
	size_t size = frame->strings.used + strings;

	if (view->nrows > table->capacity) {
		size_t rows = (size_t)view->nrows * 2;
		uint64_t *words = realloc(table->words, rows * table->stride * sizeof *words);

		if (!words)
			return false;
		table->words = words;
		table->capacity = (uint32_t)rows;
	}
	if (size > frame->strings.size) {
		char *bytes =
			size < WORKER_PAYLOAD ? realloc(frame->strings.bytes, size * 2) : NULL;

		if (!bytes)
			return false;
		frame->strings.bytes = bytes;
		frame->strings.size = (uint32_t)size * 2;
	}
	return true;
}

static void copy_rows(struct isolated *isolated, struct sonde_frame *frame,
		      const struct sonde_view *view)
{
	const struct instant one = { .views = view, .nviews = 1, .header = view->header };
	uint32_t index;
	struct frame_table *table = find_table(isolated, frame, view->schema, &index);
	struct sonde_row row;

	if (!table || !make_room(frame, table, view, instant_size(&one, false)))
		return;
	for (uint32_t i = 0; i < view->nrows; i++)
		if (frame_row(frame, index, &row))
			copy_row(view, i, &row);
	if (view->flags & SONDE_PARTIAL)
		frame->partial = true;
}

static bool is_note(const struct sonde_schema *schema)
{
	return strcmp(schema->name, record_tables[RECORD_NOTE].name) == 0 &&
	       schema->ncolumns > NOTE_TEXT && schema->columns[NOTE_TEXT].type == SONDE_STR;
}

/* What the plugin noted in its worker. */
static void pass_notes(struct instance *instance, const struct sonde_view *view)
{
	for (uint32_t i = 0; i < view->nrows; i++) {
		char text[512];
		uint32_t length;
		const char *bytes;

		if (!sonde_view_has(view, i, NOTE_TEXT))
			continue;
		bytes = sonde_view_bytes(view, sonde_view_slots(view, i)[NOTE_TEXT], &length);
		snprintf(text, sizeof text, "%.*s", (int)(length < 511 ? length : 511), bytes);
		instance->self.host->note(&instance->self, text);
	}
}

static int take_instants(struct isolated *isolated, struct sonde_frame *frame, uint32_t flags)
{
	struct instance *instance = isolated->instance;
	const struct instant *instant;
	int err;

	if (!isolated->reader)
		isolated->reader = reader_new(
			&(struct reader_options) { .read = answer_read, .context = isolated });
	if (!isolated->reader)
		return -ENOMEM;
	while ((err = reader_next(isolated->reader, &instant)) > 0) {
		for (uint32_t i = 0; i < instant->nviews; i++) {
			const struct sonde_view *view = &instant->views[i];

			if (strcmp(view->instance, instance->self.name) == 0)
				copy_rows(isolated, frame, view);
			else if (strcmp(view->schema->name, raw_table.name) == 0)
				copy_rows(isolated, &instance->raw, view);
			else if (is_note(view->schema))
				pass_notes(instance, view);
		}
		if (flags & WORKER_OWN_TIME) {
			frame->own_time = true;
			frame->begin = instant->begin;
			frame->end = instant->end;
		}
	}
	return err;
}

/* ---- Running */

static int start_in_worker(struct isolated *isolated)
{
	int err = refused(isolated, call(isolated, WORKER_START, start_ns, NULL));

	if (!err)
		err = take_instants(isolated, &isolated->instance->frame, 0);
	isolated->running = !err;
	return err;
}

int isolated_start(struct instance *instance)
{
	if (instance->keys.capture)
		capture_tell_section(instance);
	return start_in_worker(instance->role);
}

/* A new worker, for all that lived in the old one. */
static int restart(struct worker_process *process)
{
	uint64_t now = clock_now(CLOCK_MONOTONIC);
	int err;

	if (process->stuck || now < process->retry)
		return -ECHILD;
	process->retry = now + process->pause;
	process->pause = process->pause * 2 < pause_most ? process->pause * 2 : pause_most;
	err = spawn(process);
	for (size_t i = 0; !err && i < process->ntenants; i++) {
		process->tenants[i]->index = (uint32_t)i;
		err = call(process->tenants[i], WORKER_NEW, start_ns, NULL);
		if (!err)
			err = start_in_worker(process->tenants[i]);
		/* The frames of those that are not sampled now hold nothing. */
	}
	return err ? -ECHILD : 0;
}

int isolated_sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct instance *instance = instance_of(self);
	struct isolated *isolated = instance->role;
	struct worker_process *process = isolated->process;
	struct worker_message answer = { 0 };
	int err = process->pid ? 0 : restart(process);

	if (!err && !isolated->running)
		err = -ECHILD;
	if (!err)
		err = call(isolated, WORKER_SAMPLE, instance->keys.deadline, &answer);
	if (!err) {
		err = take_instants(isolated, frame, answer.flags);
		/* A new worker counts from 0. */
		frame->lost_rows +=
			answer.lost - (answer.lost < isolated->lost ? 0 : isolated->lost);
		isolated->lost = answer.lost;
		if (clock_now(CLOCK_MONOTONIC) - process->born > pause_most)
			process->pause = pause_first;
	}
	instance->failure = NULL;
	if (err == -ECHILD) {
		snprintf(instance->reason, sizeof instance->reason, "%s", isolated->text);
		instance->failure = process->stuck ? "stuck" : "crashed";
	}
	return err;
}

void isolated_stop(struct instance *instance)
{
	struct isolated *isolated = instance->role;

	if (isolated->running)
		call(isolated, WORKER_STOP, stop_ns, NULL);
	isolated->running = false;
}
