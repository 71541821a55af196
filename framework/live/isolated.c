/* The host's side of isolation = process. A worker's answers are read as those of a stranger: by the reader of recordings,
 * within its budgets. */
#include <errno.h>
#include <stdlib.h>

#include "core/clock.h"
#include "host/capture.h"
#include "host/folders.h"
#include "host/isolated.h"
#include "live/isolated_rows.h"
#include "host/must.h"
#include "host/section_pack.h"
#include "host/worker.h"
#include "live/worker_process.h"
#include "wire/reader.h"

/* To load, check and start a plugin; to stop one; between crashes at most. */
static const uint64_t start_ns = 10ull * NS_PER_S, stop_ns = NS_PER_S / 4;
static const uint64_t pause_first = NS_PER_S / 2, pause_most = 60ull * NS_PER_S;

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
};

/* ---- Calls */

static int receive_answer(struct isolated *isolated, struct worker_message *message,
			  uint64_t deadline)
{
	uint32_t kind = message->kind;
	int err = worker_process_receive(isolated->process, message, sizeof *message, deadline);

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
	err = worker_process_receive(isolated->process, isolated->answer, message->length,
				     deadline);
	isolated->length = err ? 0 : message->length;
	isolated->answer[isolated->length] = 0;
	isolated->at = 0;
	return err;
}

/* What comes next is another stream. */
static void close_reader(struct isolated *isolated)
{
	if (isolated->reader)
		reader_free(isolated->reader);
	isolated->reader = NULL;
	isolated->running = false;
}

/* A call of the worker. -ECHILD: it ended, or was too late and had to; its process has why. */
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
	err = worker_process_send(process, &message, sizeof message, deadline);
	if (!err)
		err = worker_process_send(process, isolated->packed, message.length, deadline);
	if (!err)
		err = receive_answer(isolated, &message, deadline);
	if (!err) {
		if (answer)
			*answer = message;
		return message.status;
	}
	if (err == -ETIMEDOUT)
		snprintf(process->text, sizeof process->text,
			 "its worker was too late by the deadline and was ended");
	else if (err == -EPROTO)
		snprintf(process->text, sizeof process->text,
			 "its worker answered out of order and was ended");
	for (size_t i = 0; i < process->ntenants; i++)
		close_reader(process->tenants[i]);
	worker_process_end(process, err != -EPIPE);
	return -ECHILD;
}

/* ---- Life */

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
		plugin_not_found(around->plugin_path, SONDE_KIND_COLLECTOR, section->plugin, why,
				 sizeof why);
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

/* One more tenant: its section is told to the worker. */
static int move_in(struct isolated *isolated)
{
	struct worker_process *process = isolated->process;
	int err = 0;

	for (size_t i = 0; i < process->ntenants; i++)
		if (process->tenants[i]->index >= isolated->index)
			isolated->index = process->tenants[i]->index + 1;
	process->tenants = must_grow(process->tenants, process->ntenants, sizeof(void *));
	process->tenants[process->ntenants++] = isolated;
	if (!process->pid)
		err = worker_process_stuck(process) ? -ECHILD : worker_process_spawn(process);
	return err ? err : call(isolated, WORKER_NEW, start_ns, NULL);
}

int isolated_new(const struct surroundings *around, struct instance *instance)
{
	struct isolated *isolated = must(calloc(1, sizeof *isolated));
	const char *group = strchr(instance->keys.isolation, ':');
	struct worker_process *process =
		worker_process_get(around->workers, group ? group + 1 : NULL);
	FILE *out = must(open_memstream(&isolated->packed, &isolated->npacked));
	int err;

	section_pack(out, instance->section, around->agent, around->plugin_path);
	if (fclose(out))
		return -ENOMEM;
	isolated->workers = around->workers;
	isolated->process = process;
	isolated->instance = instance;
	instance->role = isolated;
	pthread_mutex_lock(&process->busy);
	err = move_in(isolated);
	if (err == -EINVAL)
		add_mistakes(around->config, isolated->answer);
	else if (err)
		config_error(around->config, instance->section->file, instance->section->line,
			     "[%s]: %s", instance->self.name,
			     err == -ECHILD ? process->text : strerror(-err));
	pthread_mutex_unlock(&process->busy);
	return err;
}

void isolated_free(struct isolated *isolated)
{
	struct worker_process *process;

	if (!isolated)
		return;
	process = isolated->process;
	pthread_mutex_lock(&process->busy);
	for (size_t i = 0; i < process->ntenants; i++)
		if (process->tenants[i] == isolated)
			process->tenants[i--] = process->tenants[--process->ntenants];
	close_reader(isolated);
	if (!process->ntenants && process->pid)
		worker_process_end(process, false);
	pthread_mutex_unlock(&process->busy);
	free(isolated->packed);
	free(isolated->answer);
	free(isolated);
}

/* A call, whose refusal is told as the plugin or the host says it. */
static int ask(struct isolated *isolated, enum worker_kind kind)
{
	struct instance *instance = isolated->instance;
	int err = call(isolated, kind, start_ns, NULL);
	const char *reason = err == -ECHILD ? isolated->process->text : isolated->answer;

	if (err)
		snprintf(instance->reason, sizeof instance->reason, "%.500s", reason);
	return err;
}

int isolated_check(struct instance *instance)
{
	struct isolated *isolated = instance->role;
	int err;

	pthread_mutex_lock(&isolated->process->busy);
	err = ask(isolated, WORKER_CHECK);
	pthread_mutex_unlock(&isolated->process->busy);
	return err;
}

/* ---- Running */

static int64_t answer_read(void *context, void *buffer, size_t size)
{
	struct isolated *isolated = context;
	size_t n = isolated->length - isolated->at;

	n = n < size ? n : size;
	memcpy(buffer, isolated->answer + isolated->at, n);
	isolated->at += n;
	return (int64_t)n;
}

static int take_answer(struct isolated *isolated, bool own_time)
{
	if (!isolated->reader)
		isolated->reader = reader_new(
			&(struct reader_options) { .read = answer_read, .context = isolated });
	if (!isolated->reader)
		return -ENOMEM;
	return isolated_rows(isolated->reader, isolated->workers->foreign, isolated->instance,
			     own_time);
}

static int start_in_worker(struct isolated *isolated)
{
	int err = ask(isolated, WORKER_START);

	if (!err)
		err = take_answer(isolated, false);
	isolated->running = !err;
	return err;
}

int isolated_start(struct instance *instance)
{
	struct isolated *isolated = instance->role;
	int err;

	if (instance->keys.capture)
		capture_tell_section(instance);
	pthread_mutex_lock(&isolated->process->busy);
	err = start_in_worker(isolated);
	pthread_mutex_unlock(&isolated->process->busy);
	return err;
}

/* A new worker, for all that lived in the old one. */
static int restart(struct worker_process *process)
{
	uint64_t now = clock_now(CLOCK_MONOTONIC);
	int err;

	if (now < process->retry || worker_process_stuck(process))
		return -ECHILD;
	process->pause = !process->pause                   ? pause_first
			 : process->pause * 2 < pause_most ? process->pause * 2
							   : pause_most;
	process->retry = now + process->pause;
	err = worker_process_spawn(process);
	for (size_t i = 0; !err && process->pid && i < process->ntenants; i++) {
		process->tenants[i]->index = (uint32_t)i;
		if (call(process->tenants[i], WORKER_NEW, start_ns, NULL) == 0)
			start_in_worker(process->tenants[i]);
		/* The frames of those that are not sampled now hold nothing. */
	}
	return !err && process->pid ? 0 : -ECHILD;
}

/* What could not start in a new worker may later: a device that comes back. */
static int start_again(struct isolated *isolated)
{
	uint64_t now = clock_now(CLOCK_MONOTONIC);
	int err = -EAGAIN;

	if (now >= isolated->process->retry) {
		isolated->process->retry = now + pause_first;
		close_reader(isolated);
		err = call(isolated, WORKER_NEW, start_ns, NULL);
		if (!err)
			err = start_in_worker(isolated);
	}
	return err;
}

static int sample(struct isolated *isolated, struct sonde_frame *frame)
{
	struct instance *instance = isolated->instance;
	struct worker_process *process = isolated->process;
	struct worker_message answer = { 0 };
	int err = process->pid ? 0 : restart(process);

	if (!err && !isolated->running)
		err = start_again(isolated);
	if (!err)
		err = call(isolated, WORKER_SAMPLE, instance->keys.deadline, &answer);
	if (!err) {
		err = take_answer(isolated, answer.flags & WORKER_OWN_TIME);
		/* A new worker counts from 0. */
		frame->lost_rows +=
			answer.lost - (answer.lost < isolated->lost ? 0 : isolated->lost);
		isolated->lost = answer.lost;
		if (clock_now(CLOCK_MONOTONIC) - process->born > pause_most)
			process->pause = 0;
	}
	instance->failure = NULL;
	if (err == -ECHILD) {
		snprintf(instance->reason, sizeof instance->reason, "%s", process->text);
		instance->failure = process->stuck ? "stuck" : "crashed";
	} else if (err && !isolated->running) {
		instance->failure = "error"; /* start() gave the reason */
	}
	return err;
}

int isolated_sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct isolated *isolated = instance_of(self)->role;
	int err;

	pthread_mutex_lock(&isolated->process->busy);
	err = sample(isolated, frame);
	pthread_mutex_unlock(&isolated->process->busy);
	return err;
}

void isolated_stop(struct instance *instance)
{
	struct isolated *isolated = instance->role;

	pthread_mutex_lock(&isolated->process->busy);
	if (isolated->running)
		call(isolated, WORKER_STOP, stop_ns, NULL);
	isolated->running = false;
	pthread_mutex_unlock(&isolated->process->busy);
}
