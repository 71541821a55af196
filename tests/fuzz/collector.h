/* Any bytes as the files that a collector reads: its start() and three of its samples run on them. The input is split at
 * NUL bytes, which no file of /proc or /sys holds; the n-th file that is opened gets the n-th text, at each sample the one
 * behind it, so that keys vanish, come back and change their order. A fuzz target includes the collector, then this. */
#ifndef FUZZ_COLLECTOR_H
#define FUZZ_COLLECTOR_H

#include <stdlib.h>

#include "core/frame.h"
#include "core/schema.h"

enum { PIECES = 64, TABLES = 8, BLOCKS = 16, SAMPLES = 3 };

struct sonde_file {
	size_t piece;
	bool ended; /* of read_lines */
};

static struct {
	const char *piece[PIECES];
	size_t length[PIECES];
	size_t npieces, opened, turn;
	char *text; /* of the last read, in memory of just its length */
	struct sonde_file files[PIECES];
	struct sonde_frame frame;
	struct sonde_schema *schemas[TABLES];
	void **blocks[BLOCKS];
	uint64_t sizes[BLOCKS], wanted[BLOCKS];
	size_t nblocks;
	bool started;
} host;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_log(struct sonde_instance *self, uint32_t level, const char *message)
{
	(void)self, (void)level, (void)message;
}

static void on_note(struct sonde_instance *self, const char *message)
{
	(void)self, (void)message;
}

static int on_unavailable(struct sonde_instance *self, const char *reason)
{
	(void)self, (void)reason;
	return -ENODEV;
}

/* A file without a piece is not there. */
static struct sonde_file *on_open(struct sonde_instance *self, uint32_t mode, const char *path)
{
	struct sonde_file *file;

	(void)self, (void)mode, (void)path;
	if (host.opened >= host.npieces) {
		errno = ENOENT;
		return NULL;
	}
	file = &host.files[host.opened];
	file->piece = host.opened++;
	return file;
}

static int64_t on_read(struct sonde_file *file, const char **text)
{
	size_t piece = (file->piece + host.turn) % host.npieces;

	free(host.text);
	host.text = malloc(host.length[piece] + 1);
	if (!host.text)
		abort();
	memcpy(host.text, host.piece[piece], host.length[piece]);
	host.text[host.length[piece]] = 0;
	*text = host.text;
	return (int64_t)host.length[piece];
}

/* All of it at once. */
static int64_t on_read_lines(struct sonde_file *file, uint64_t limit, const char **text)
{
	(void)limit;
	file->ended = !file->ended;
	return file->ended ? on_read(file, text) : 0;
}

static void on_close(struct sonde_file *file)
{
	(void)file;
}

/* Folders of every kind that a collector looks into, nodes with a hole among them. */
static int64_t on_list(struct sonde_instance *self, const char *path, const char **names)
{
	(void)self, (void)path;
	*names = "cpu0\0cpu3\0hugepages-64kB\0hugepages-2048kB\0node0\0node3\0online\0stats\0";
	return 8;
}

static bool on_row(struct sonde_frame *frame, uint32_t table, struct sonde_row *row)
{
	return frame_row(frame, table, row);
}

static void on_taken(struct sonde_frame *frame, uint64_t begin, uint64_t end)
{
	(void)frame, (void)begin, (void)end;
}

static void on_partial(struct sonde_frame *frame)
{
	frame->partial = true;
}

static int on_add_table(struct sonde_instance *self, const struct sonde_table *table)
{
	uint32_t n = host.frame.ntables;
	char why[256];

	(void)self;
	if (n == TABLES || schema_make(table, &host.schemas[n], why, sizeof why))
		return -EINVAL;
	if (frame_add_table(&host.frame, host.schemas[n], table->rows, 4096))
		abort();
	return (int)n;
}

static void grow_now(size_t i)
{
	char *bytes;

	if (host.wanted[i] <= host.sizes[i])
		return;
	bytes = calloc(1, host.wanted[i]);
	if (!bytes)
		abort();
	if (host.sizes[i])
		memcpy(bytes, *host.blocks[i], host.sizes[i]);
	free(*host.blocks[i]);
	*host.blocks[i] = bytes;
	host.sizes[i] = host.wanted[i];
}

static int on_grow(struct sonde_instance *self, void **block, uint64_t size)
{
	size_t i = 0;

	(void)self;
	if (size > 64 << 20)
		abort(); /* memory on the word of a text of some KiB */
	while (i < host.nblocks && host.blocks[i] != block)
		i++;
	if (i == BLOCKS)
		abort();
	host.nblocks += i == host.nblocks;
	host.blocks[i] = block;
	if (size > host.wanted[i])
		host.wanted[i] = size;
	if (!host.started)
		grow_now(i);
	return 0;
}

static const struct sonde_host services = {
	.size = sizeof services,
	.log = on_log,
	.note = on_note,
	.unavailable = on_unavailable,
	.add_table = on_add_table,
	.grow = on_grow,
	.open = on_open,
	.read = on_read,
	.close = on_close,
	.list = on_list,
	.row = on_row,
	.taken = on_taken,
	.partial = on_partial,
	.read_lines = on_read_lines,
};

static void split(const char *data, size_t size)
{
	memset(&host, 0, sizeof host);
	for (const char *end = data + size; data < end && host.npieces < PIECES;) {
		const char *nul = memchr(data, 0, (size_t)(end - data));
		const char *stop = nul ? nul : end;

		host.piece[host.npieces] = data;
		host.length[host.npieces++] = (size_t)(stop - data);
		data = stop + 1;
	}
}

static void run(struct sonde_instance *self)
{
	const struct sonde_collector_ops *ops = sonde_plugin.ops;

	for (uint32_t i = 0; i < sonde_plugin.tables.count; i++)
		if (on_add_table(self, (const struct sonde_table *)sonde_plugin.tables.items + i) <
		    0)
			abort();
	if (sonde_plugin.start && sonde_plugin.start(self))
		return;
	host.started = true;
	for (host.turn = 0; host.turn < SAMPLES; host.turn++) {
		for (size_t i = 0; i < host.nblocks; i++)
			grow_now(i);
		frame_begin(&host.frame);
		ops->sample(self, &host.frame);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct sonde_stream_header header = { .user_hz = 100, .page_size = 4096 };
	struct sonde_instance self = { .host = &services,
				       .root = "",
				       .header = &header,
				       .name = sonde_plugin.name,
				       .label = "" };

	split((const char *)data, size);
	self.conf = calloc(1, sonde_plugin.conf_size + 1);
	self.state = calloc(1, sonde_plugin.state_size + 1);
	if (!self.conf || !self.state)
		abort();
	run(&self);
	if (sonde_plugin.stop)
		sonde_plugin.stop(&self);
	for (size_t i = 0; i < host.nblocks; i++)
		free(*host.blocks[i]);
	free(host.text);
	frame_free(&host.frame);
	for (size_t i = 0; i < TABLES; i++)
		schema_free(host.schemas[i]);
	free(self.conf);
	free(self.state);
	return 0;
}

#endif
