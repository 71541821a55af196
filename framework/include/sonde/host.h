/* What the host does for a plugin. Part of the plugin ABI: a table of functions that only ever grows at its end.
 * Plugins call the inline functions below, never the table, and never before start() has been called (check() may use
 * the file service, log and unavailable). All of it is for the thread that the host called the plugin on. */
#ifndef SONDE_HOST_H
#define SONDE_HOST_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include <sonde/row.h>

struct sonde_analysis; /* what an analyzer may ask: <sonde/analysis.h> */
struct sonde_file;
struct sonde_frame;
struct sonde_host;

/* One configured section of a plugin. Two instances of one plugin share nothing. */
struct sonde_instance {
	const struct sonde_host *host;
	void *conf;        /* conf_size bytes, filled from the options */
	void *state;       /* state_size bytes, zeroed before start(); the plugin's own */
	const char *name;  /* "psi", "perf_event cache" */
	const char *label; /* "cache", or "" */
	const char *root; /* prefix of every path under which this instance looks: "", or "/host" */
	const struct sonde_stream_header *header;
	uint64_t interval; /* ns */
	uint32_t
		descriptors; /* KEEP files of processes and cgroups whose descriptors it may hold; 0: as many as it likes */
	uint32_t reserved;
};

enum sonde_level { SONDE_ERROR = 0, SONDE_WARNING = 1, SONDE_NOTICE = 2, SONDE_DEBUG = 3 };

enum sonde_open_mode {
	SONDE_KEEP =
		0, /* descriptor kept, read by pread(2) from 0: system files, /proc/PID/{stat,status,schedstat,io} */
	SONDE_FRESH =
		1, /* opened for each read: maps, smaps, numa_maps, environ (a kept one reads 0 bytes after exec) */
};

/* How a source hands on what it received. */
enum sonde_carriage { SONDE_CARRY_DATAGRAM = 0, SONDE_CARRY_STREAM = 1 };

struct sonde_host {
	uint32_t size; /* of this table, as the host was built */
	uint32_t minor;

	void (*log)(struct sonde_instance *self, uint32_t level, const char *message);
	void (*note)(struct sonde_instance *self, const char *message);
	int (*unavailable)(struct sonde_instance *self, const char *reason);
	int (*add_table)(struct sonde_instance *self, const struct sonde_table *table);
	int (*grow)(struct sonde_instance *self, void **block, uint64_t size);

	struct sonde_file *(*open)(struct sonde_instance *self, uint32_t mode, const char *path);
	int64_t (*read)(struct sonde_file *file, const char **text);
	void (*close)(struct sonde_file *file);
	int64_t (*list)(struct sonde_instance *self, const char *path, const char **names);

	bool (*row)(struct sonde_frame *frame, uint32_t table, struct sonde_row *row);
	void (*taken)(struct sonde_frame *frame, uint64_t begin, uint64_t end);
	void (*partial)(struct sonde_frame *frame);

	int (*restart)(struct sonde_instance *self);
	void (*acknowledge)(struct sonde_instance *self, uint64_t instants);
	int (*receive)(struct sonde_instance *self, uint32_t carriage, uint64_t peer,
		       const void *bytes, uint64_t length);

	const struct sonde_analysis *analysis;

	/* ABI 1.1 */
	int64_t (*obtain)(struct sonde_instance *self, const char *name,
			  int64_t (*call)(void *context, void *buffer, uint64_t size),
			  void *context, void *buffer, uint64_t size);
	int64_t (*read_lines)(struct sonde_file *file, uint64_t limit, const char **text);

	/* ABI 1.2 */
	void (*gap)(struct sonde_instance *self, const char *message);
};

#define SONDE_PRINTF(f, a) __attribute__((format(printf, f, a)))

#define SONDE_FORMAT(buffer, format)                                                               \
	do {                                                                                       \
		va_list args_;                                                                     \
		va_start(args_, format);                                                           \
		vsnprintf(buffer, sizeof buffer, format, args_);                                   \
		va_end(args_);                                                                     \
	} while (0)

/* A line of the host's log, rate-limited by call of the same text. Messages are one line, without a full stop. */
SONDE_PRINTF(3, 4)
static inline void sonde_log(struct sonde_instance *self, enum sonde_level level,
			     const char *format, ...)
{
	char message[512];

	SONDE_FORMAT(message, format);
	self->host->log(self, level, message);
}

/* A row of the table `note` in the stream: what a reader of the recording has to know. Once for each text. */
SONDE_PRINTF(2, 3)
static inline void sonde_note(struct sonde_instance *self, const char *format, ...)
{
	char message[512];

	SONDE_FORMAT(message, format);
	self->host->note(self, message);
}

/* For check() and start(): this machine does not have what the plugin reads; says why and what would provide it.
 * Returns -ENODEV, to be returned. Where the section is `optional`, that is one note; else the agent refuses. */
SONDE_PRINTF(2, 3)
static inline int sonde_unavailable(struct sonde_instance *self, const char *format, ...)
{
	char message[512];

	SONDE_FORMAT(message, format);
	return self->host->unavailable(self, message);
}

/* Only in start(): a table whose columns are known at run time. The host copies it. Returns its index for
 * sonde_row(), after those of the descriptor; -EINVAL with a logged reason where it is malformed. */
static inline int sonde_add_table(struct sonde_instance *self, const struct sonde_table *table)
{
	return self->host->add_table(self, table);
}

/* *block, a pointer in the plugin's state (NULL at first), shall point to at least `size` bytes: contents kept, new
 * bytes zero. In start() at once; in sample() before the next sample, since sampling does not allocate. The host frees
 * it after stop(). 0, or -ENOMEM (in start()). */
#define sonde_grow(self, block, size) ((self)->host->grow((self), (void **)(block), (size)))

/* A file under root; the path is formatted. NULL with errno where it can't be opened, logged at debug level: a caller
 * knows better whether it matters. A KEEP file past the descriptor budget is reopened at each read, unseen. */
SONDE_PRINTF(3, 4)
static inline struct sonde_file *sonde_open(struct sonde_instance *self, enum sonde_open_mode mode,
					    const char *format, ...)
{
	char path[4096];

	SONDE_FORMAT(path, format);
	return self->host->open(self, mode, path);
}

/* The whole file as it is now, from its start to EOF. *text is terminated with a NUL behind `length` bytes and valid
 * until the next read of any file of this instance. Returns the length, or a negative errno (-ESRCH: the process is
 * gone). */
static inline int64_t sonde_read(const struct sonde_instance *self, struct sonde_file *file,
				 const char **text)
{
	return self->host->read(file, text);
}

static inline void sonde_close(const struct sonde_instance *self, struct sonde_file *file)
{
	if (file)
		self->host->close(file);
}

/* Names of the entries of a directory under root, sorted (numbers by value, before names), each NUL-terminated, without
 * . and ..; valid until the next list of this instance. Of a path that ends in a slash only its folders. Returns how many,
 * or a negative errno. */
static inline int64_t sonde_list(struct sonde_instance *self, const char *path, const char **names)
{
	return self->host->list(self, path, names);
}

/* Only in sample(): a new row, all values absent, of the table with this index. False when the arena is full: the row
 * is counted as lost, and the arena grows before the next sample, up to the table's max_rows. */
static inline bool sonde_row(const struct sonde_instance *self, struct sonde_frame *frame,
			     uint32_t table, struct sonde_row *row)
{
	return self->host->row(frame, table, row);
}

/* The device's own time of what this sample holds, CLOCK_BOOTTIME ns, in place of the tick's. */
static inline void sonde_taken(const struct sonde_instance *self, struct sonde_frame *frame,
			       uint64_t begin, uint64_t end)
{
	self->host->taken(frame, begin, end);
}

/* This sample lacks rows that still exist: what it does not show has not ended. */
static inline void sonde_partial(const struct sonde_instance *self, struct sonde_frame *frame)
{
	self->host->partial(frame);
}

/* Of a STREAM sink: the next bytes begin a segment with a full header (a new file, a new connection). */
static inline int sonde_restart(struct sonde_instance *self)
{
	return self->host->restart(self);
}

/* Of a sink whose peer acknowledges later than write() returns: the oldest `instants` in flight were delivered. */
static inline void sonde_acknowledge(struct sonde_instance *self, uint64_t instants)
{
	self->host->acknowledge(self, instants);
}

/* Of a source: what one peer sent, to be decoded within the host's budgets. `peer` tells peers apart (a hash of its
 * address, a connection's number). 0, or a negative errno: -EBADMSG and counted, where it is not sonde's. */
static inline int sonde_receive(struct sonde_instance *self, enum sonde_carriage carriage,
				uint64_t peer, const void *bytes, uint64_t length)
{
	return self->host->receive(self, carriage, peer, bytes, length);
}

#if SONDE_USE_MINOR >= 1
/* Bytes that no file holds: a read(2) of a perf event, a netlink message, the result of a system call. `call` gets at most
 * `size` of them into `buffer` and returns how many, or a negative errno. `name` stands for a file's path ("perf core cpu 3").
 * Returns what `call` returned. With capture = raw the bytes are recorded; in a reparse `call` is not made, and those of then
 * are given in its place: so whatever a row is made of comes through here or through a file, and nowhere else. */
static inline int64_t sonde_obtain(struct sonde_instance *self, const char *name,
				   int64_t (*call)(void *context, void *buffer, uint64_t size),
				   void *context, void *buffer, uint64_t size)
{
	return self->host->obtain(self, name, call, context, buffer, size);
}

#ifdef CLOCK_BOOTTIME /* of <time.h> with _GNU_SOURCE */
static inline int64_t sonde_read_clock(void *context, void *buffer, uint64_t size)
{
	struct timespec now;
	uint64_t ns;

	(void)context, (void)size;
	clock_gettime(CLOCK_BOOTTIME, &now);
	ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	memcpy(buffer, &ns, sizeof ns);
	return sizeof ns;
}

/* CLOCK_BOOTTIME, ns, for a collector that decides by it what it reads; obtained as all that rows depend on. */
static inline uint64_t sonde_now(struct sonde_instance *self)
{
	uint64_t ns = 0;

	sonde_obtain(self, "clock", sonde_read_clock, NULL, &ns, sizeof ns);
	return ns;
}
#endif

/* Of a FRESH file: the next whole lines, about `limit` bytes of them, from where the call before ended; 0 at the end, and the
 * next call begins anew. For files that take long or are large: between two parts the caller may look at the clock, or go on
 * in its next sample. The descriptor stays open meanwhile; after an exec of the process the file ends. */
static inline int64_t sonde_read_lines(const struct sonde_instance *self, struct sonde_file *file,
				       uint64_t limit, const char **text)
{
	return self->host->read_lines(file, limit, text);
}
#endif

#if SONDE_USE_MINOR >= 2
/* Only in sample(): a row of the table `gap`, reason "lost", from the sample before to this one: the kernel or a device had more
 * than was taken in time. Says what is missing and how much of it. */
SONDE_PRINTF(2, 3)
static inline void sonde_gap(struct sonde_instance *self, const char *format, ...)
{
	char message[512];

	SONDE_FORMAT(message, format);
	self->host->gap(self, message);
}
#endif

#endif
