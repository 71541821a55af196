/* The services of <sonde/host.h>: what a plugin's calls come to. */
#include <errno.h>
#include <stdlib.h>

#include <sonde/plugin.h>

#include "core/clock.h"
#include "core/schema.h"
#include "host/delivery.h"
#include "host/instance.h"
#include "host/log.h"
#include "host/receiver.h"
#include "window/analysis.h"

static void service_log(struct sonde_instance *self, uint32_t level, const char *message)
{
	instance_log(instance_of(self), level, "%s", message);
}

/* FNV-1a, 64 bits; never 0. */
static uint64_t hash_text(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	return hash ? hash : 1;
}

/* Once for each text; a plugin that makes up new ones without end is heard for so many. */
static void service_note(struct sonde_instance *self, const char *message)
{
	struct instance *instance = instance_of(self);
	uint64_t hash = hash_text(message);

	for (int i = 0; i < INSTANCE_NOTES; i++) {
		if (instance->noted[i] == hash)
			return;
		if (!instance->noted[i]) {
			instance->noted[i] = hash;
			log_line(SONDE_DEBUG, self->name, "%s", message);
			instance_note(instance, message);
			return;
		}
	}
}

static int service_unavailable(struct sonde_instance *self, const char *reason)
{
	struct instance *instance = instance_of(self);

	snprintf(instance->reason, sizeof instance->reason, "%s", reason);
	return -ENODEV;
}

static int service_add_table(struct sonde_instance *self, const struct sonde_table *table)
{
	struct instance *instance = instance_of(self);
	struct sonde_schema **added;
	char why[256];
	int err;

	if (!instance->starting || !instance->started) {
		sonde_log(self, SONDE_ERROR, "tables are added in start() only");
		return -EINVAL;
	}
	added = realloc(instance->added, (instance->nadded + 1) * sizeof(void *));
	if (!added)
		return -ENOMEM;
	instance->added = added;
	err = schema_make(table, &added[instance->nadded], why, sizeof why);
	if (err) {
		sonde_log(self, SONDE_ERROR, "%s", why);
		return err;
	}
	err = frame_add_table(&instance->frame, added[instance->nadded++], table->rows,
			      table->max_rows);
	return err ? err : (int)instance->frame.ntables - 1;
}

static int service_grow(struct sonde_instance *self, void **block, uint64_t size)
{
	return instance_grow(instance_of(self), block, size);
}

static struct sonde_file *service_open(struct sonde_instance *self, uint32_t mode, const char *path)
{
	struct sonde_file *file = file_open(&instance_of(self)->files, mode, path);
	int err = errno;

	if (!file)
		log_line(SONDE_DEBUG, self->name, "%s: %s", path, strerror(err));
	errno = err;
	return file;
}

static int64_t service_list(struct sonde_instance *self, const char *path, const char **names)
{
	return file_list(&instance_of(self)->files, path, names);
}

static void service_taken(struct sonde_frame *frame, uint64_t begin, uint64_t end)
{
	frame->own_time = true;
	frame->begin = begin;
	frame->end = end < begin ? begin : end;
}

static void service_partial(struct sonde_frame *frame)
{
	frame->partial = true;
}

static int service_restart(struct sonde_instance *self)
{
	return delivery_restart(instance_of(self));
}

static void service_acknowledge(struct sonde_instance *self, uint64_t instants)
{
	delivery_acknowledge(instance_of(self), instants);
}

static int service_receive(struct sonde_instance *self, uint32_t carriage, uint64_t peer,
			   const void *bytes, uint64_t length)
{
	return receiver_take(instance_of(self), carriage, peer, bytes, length);
}

static int64_t service_obtain(struct sonde_instance *self, const char *name,
			      int64_t (*call)(void *context, void *buffer, uint64_t size),
			      void *context, void *buffer, uint64_t size)
{
	(void)self, (void)name;
	return call(context, buffer, size);
}

static void service_gap(struct sonde_instance *self, const char *message)
{
	const struct instance *instance = instance_of(self);

	stream_gap(instance->stream, &(struct gap) { .instance = self->name,
						     .reason = "lost",
						     .text = message,
						     .begin = instance->sampled,
						     .end = clock_now(CLOCK_BOOTTIME) });
}

const struct sonde_host host_services = {
	.size = sizeof(struct sonde_host),
	.minor = SONDE_ABI_MINOR,
	.log = service_log,
	.note = service_note,
	.unavailable = service_unavailable,
	.add_table = service_add_table,
	.grow = service_grow,
	.open = service_open,
	.read = file_read,
	.close = file_close,
	.list = service_list,
	.row = frame_row,
	.taken = service_taken,
	.partial = service_partial,
	.restart = service_restart,
	.acknowledge = service_acknowledge,
	.receive = service_receive,
	.analysis = &analysis_services,
	.obtain = service_obtain,
	.read_lines = file_read_lines,
	.gap = service_gap,
};
