/* The worker's side of isolation = process. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/clock.h"
#include "host/capture.h"
#include "host/header.h"
#include "host/instance.h"
#include "host/log.h"
#include "host/must.h"
#include "host/section_pack.h"
#include "host/worker.h"
#include "wire/writer.h"

/* One of the instances that live here. */
struct tenant {
	struct instance *instance;
	struct config config;
	struct packed_agent agent;
	char *block;
	struct stream stream; /* for its notes alone: nothing is attached to it */
	struct writer *writer;
	uint64_t sequence;
};

struct worker {
	struct tenant **tenants;
	size_t ntenants;
	char *answer; /* payload */
	size_t length, size;
};

bool worker_is(int argc, char **argv)
{
	return argc == 2 && strcmp(argv[1], WORKER_ARGUMENT) == 0;
}

/* ---- The socket */

static int read_whole(void *bytes, size_t length)
{
	char *at = bytes;

	while (length) {
		ssize_t n = read(WORKER_FD, at, length);

		if (n <= 0 && !(n < 0 && errno == EINTR))
			return -EPIPE;
		at += n > 0 ? n : 0;
		length -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* The host has gone, perhaps while the plugin hangs. */
static void *watch_host(void *context)
{
	struct pollfd host = { .fd = WORKER_FD, .events = POLLRDHUP };

	(void)context;
	while (poll(&host, 1, -1) < 1)
		;
	_exit(0);
}

/* ---- Answers */

static void answer(struct worker *worker, const void *bytes, size_t length)
{
	if (!length)
		return;
	if (worker->length + length > worker->size) {
		worker->size = (worker->length + length) * 2;
		worker->answer = must(realloc(worker->answer, worker->size));
	}
	memcpy(worker->answer + worker->length, bytes, length);
	worker->length += length;
}

static int emit(void *context, const void *bytes, size_t length, uint32_t flags)
{
	(void)flags;
	answer(context, bytes, length);
	return 0;
}

/* The tables, and what the plugin noted, as one more instant of the tenant's stream. */
static int answer_instant(struct tenant *tenant, struct sonde_view *views, uint32_t nviews)
{
	const struct sonde_frame *frame = &tenant->instance->frame;
	uint64_t now = clock_now(CLOCK_BOOTTIME);
	struct instant instant = {
		.header = tenant->stream.header,
		.views = views,
		.nviews = nviews + record_views(&tenant->stream.records, views + nviews),
		.sequence = ++tenant->sequence,
		.begin = frame->own_time ? frame->begin : now,
		.end = frame->own_time ? frame->end : now,
	};
	int err;

	instant_stamp(&instant, views);
	err = writer_instant(tenant->writer, &instant);
	if (!err)
		err = writer_flush(tenant->writer);
	frame_begin(&tenant->stream.records);
	return err;
}

/* ---- What is asked for */

static int make_stream(struct worker *worker, struct tenant *tenant)
{
	struct writer_options options = { .emit = emit, .context = worker };
	struct sonde_stream_header *header;
	struct files files;
	int err = files_open(&files, tenant->agent.keys.root);

	if (err)
		return err;
	header = header_make(&files, "", "", "");
	files_close(&files);
	err = header ? stream_init(&tenant->stream, header) : -ENOMEM;
	if (err)
		return err;
	if (getrandom(options.id, sizeof options.id, 0) < 0)
		return -errno;
	tenant->writer = writer_new(&options);
	return tenant->writer ? 0 : -ENOMEM;
}

static void tenant_free(struct tenant *tenant)
{
	instance_free(tenant->instance);
	if (tenant->writer)
		writer_close(tenant->writer);
	stream_free(&tenant->stream);
	config_free(&tenant->config);
	free(tenant->agent.plugin_path);
	free(tenant->block);
	free(tenant);
}

/* The next one, or one in place of another, which could not start. */
static void put_tenant(struct worker *worker, uint32_t index, struct tenant *tenant)
{
	if (index < worker->ntenants) {
		tenant_free(worker->tenants[index]);
		worker->tenants[index] = tenant;
		worker->length = 0; /* the end of the old one's stream */
		return;
	}
	worker->tenants = must_grow(worker->tenants, worker->ntenants, sizeof(void *));
	worker->tenants[worker->ntenants++] = tenant;
}

static int take_new(struct worker *worker, uint32_t index, char *block, size_t length)
{
	struct tenant *tenant = must(calloc(1, sizeof *tenant));
	struct surroundings around = { .config = &tenant->config,
				       .agent = &tenant->agent.keys,
				       .stream = &tenant->stream };
	bool left_out;
	int err;

	put_tenant(worker, index, tenant);
	tenant->block = block;
	err = section_unpack(block, length, &tenant->config, &tenant->agent);
	if (err)
		return err;
	log_level(tenant->agent.keys.log);
	files_budget(tenant->agent.keys.keep);
	around.plugin_path = tenant->agent.plugin_path;
	err = make_stream(worker, tenant);
	if (err)
		return err;
	tenant->instance =
		instance_new(&around, tenant->config.sections, SONDE_KIND_COLLECTOR, &left_out);
	for (size_t i = 0; i < tenant->config.nerrors; i++) {
		answer(worker, tenant->config.errors[i], strlen(tenant->config.errors[i]));
		answer(worker, "\n", 1);
	}
	return tenant->instance ? 0 : -EINVAL;
}

static int take_start(struct tenant *tenant)
{
	struct instance *instance = tenant->instance;
	struct sonde_view *views;
	int err = 0;

	if (instance->keys.capture)
		err = capture_begin(instance);
	if (!err)
		err = instance_start(instance, instance->stream->header);
	if (err)
		return err;
	/* So that the host knows the tables before there are rows. */
	views = must(calloc(instance->frame.ntables + RECORD_TABLES, sizeof *views));
	frame_views(&instance->frame, views);
	for (uint32_t i = 0; i < instance->frame.ntables; i++)
		views[i].instance = instance->self.name;
	err = answer_instant(tenant, views, instance->frame.ntables);
	free(views);
	return err;
}

static int take_sample(struct tenant *tenant, uint32_t *flags)
{
	struct instance *instance = tenant->instance;
	struct sonde_view *views;
	uint32_t nviews = 0;
	int err, sent;

	views = must(calloc(instance->frame.ntables + 1 + RECORD_TABLES, sizeof *views));
	err = instance_sample(instance);
	if (!err)
		nviews = instance_views(instance, views);
	if (instance->keys.capture)
		nviews += capture_views(instance, views + nviews);
	if (instance->frame.own_time)
		*flags |= WORKER_OWN_TIME;
	sent = answer_instant(tenant, views, nviews);
	if (instance->keys.capture)
		capture_taken(instance);
	free(views);
	return err ? err : sent;
}

static int serve(struct worker *worker, struct worker_message *message, char *payload)
{
	struct tenant *tenant;
	int err;

	if (message->kind == WORKER_NEW)
		return take_new(worker, message->index, payload, message->length);
	free(payload);
	if (message->index >= worker->ntenants || !worker->tenants[message->index]->instance)
		return -EINVAL;
	tenant = worker->tenants[message->index];
	switch (message->kind) {
	case WORKER_CHECK:
		err = instance_check(tenant->instance);
		break;
	case WORKER_START:
		err = take_start(tenant);
		break;
	case WORKER_STOP:
		instance_stop(tenant->instance);
		return 0;
	case WORKER_SAMPLE:
		err = take_sample(tenant, &message->flags);
		message->lost = tenant->instance->frame.lost_rows;
		return err;
	default:
		return -EINVAL;
	}
	if (err) {
		worker->length = 0;
		answer(worker, tenant->instance->reason, strlen(tenant->instance->reason));
	}
	return err;
}

/* Ctrl-C and a stop of the service are the host's to act on; the worker ends with its socket. */
static void settle_in(void)
{
	pthread_t thread;

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_NAME, "sonde-worker");
	if (pthread_create(&thread, NULL, watch_host, NULL) == 0)
		pthread_detach(thread);
}

int worker_main(int argc, char **argv)
{
	/* Plugins' threads may use it until the process ends. */
	static struct worker worker;
	struct worker_message message;
	int host = WORKER_FD;

	(void)argc;
	(void)argv;
	plugin_in_worker();
	settle_in();
	while (read_whole(&message, sizeof message) == 0) {
		char *payload;

		if (message.length > WORKER_PAYLOAD)
			return 1;
		payload = must(calloc(1, (size_t)message.length + 1));
		if (read_whole(payload, message.length))
			return 0;
		worker.length = 0;
		message.flags = 0;
		message.status = serve(&worker, &message, payload);
		message.length = (uint32_t)worker.length;
		if (writer_to_fd(&host, &message, sizeof message, 0) ||
		    writer_to_fd(&host, worker.answer, worker.length, 0))
			return 0;
	}
	return 0;
}
