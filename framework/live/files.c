/* The file service: the only door to /proc and /sys (proc(5), Documentation/filesystems/seq_file.rst). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/files.h"
#include "live/paths.h"

enum {
	TEXT_FIRST = 8192,
	TEXT_MOST = 64 << 20,
	PATH_INLINE = 40,
	CHUNK_FILES = 32,
	/* A seq_file of many records gives a page at a time, less the record that no longer fitted: a short read is its end
	 * only where it is shorter than a page less the longest record. */
	SURELY_LAST = 2048,
	RESERVED_FDS = 128,
	WAITING_FDS = 64, /* of those reserved: open, but not to be kept */
	SPARE_FDS = 16,   /* a collector's while it reads alone: sinks open files after them */
	LINES_LEAST = 4096,
	LINE_MOST =
		64 << 10, /* a path of PATH_MAX bytes, each escaped, and what stands around it */
};

enum reading {
	READ_PLAIN,   /* a short read is the end: sysfs, regular files */
	READ_UNKNOWN, /* procfs, not yet read */
	READ_SHORT,   /* procfs: no surprise after a short read so far */
	READ_CAREFUL, /* procfs: something came after a short read, or every read is a new file */
};

struct sonde_file {
	struct files *files;
	struct sonde_file *next; /* in the list of free ones */
	char *path;              /* NULL: free */
	int fd;                  /* -1: opened for each read */
	bool waiting;            /* fd is for the first read alone */
	bool going_on;           /* fd is for the next file_read_lines() */
	uint64_t at;             /* where that reads on */
	uint8_t mode;
	uint8_t reading; /* enum reading */
	bool many;       /* of a process or a cgroup: its descriptor counts */
	uint16_t outside_size;
	char *outside; /* for a longer path; stays with the place when it becomes free, and is used again */
	char inside[PATH_INLINE];
};

struct file_chunk {
	struct file_chunk *next;
	uint32_t count;
	struct sonde_file files[];
};

/* Descriptors of files of processes and cgroups, of all instances: those that are kept, and how many may be; how many instances have
 * any. And those of files that wait for their first read. */
static atomic_long kept_of_many;
static atomic_long keep_of_many = 1024;
static atomic_long sharers;
static atomic_long waiting;

/* The kernel gives the lowest descriptor that is free: from this one on there are only the spare ones. */
static atomic_int first_spare = INT_MAX;

/* The kernel's table of descriptors, once as large as it may become: where threads share it, each doubling waits for an RCU
 * grace period (expand_fdtable() in fs/file.c), some 10 ms in the middle of a sample. */
static void widen_table(int most)
{
	int fd = open("/", O_PATH | O_CLOEXEC);
	int last = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, most) : -1;

	if (last >= 0)
		close(last);
	if (fd >= 0)
		close(fd);
}

void files_budget(uint64_t keep)
{
	struct rlimit limit;
	uint64_t most;

	atomic_store(&keep_of_many, (long)(keep > 1 << 20 ? 1 << 20 : keep));
	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	if (limit.rlim_cur < keep + RESERVED_FDS) {
		limit.rlim_cur =
			keep + RESERVED_FDS < limit.rlim_max ? keep + RESERVED_FDS : limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
		getrlimit(RLIMIT_NOFILE, &limit);
	}
	if (limit.rlim_cur < INT_MAX)
		atomic_store(&first_spare,
			     (int)(limit.rlim_cur > 2 * SPARE_FDS ? limit.rlim_cur - SPARE_FDS
								  : limit.rlim_cur / 2));
	most = limit.rlim_cur > RESERVED_FDS ? limit.rlim_cur - RESERVED_FDS : 0;
	if (most < keep)
		atomic_store(&keep_of_many, (long)most);
	widen_table((int)(atomic_load(&keep_of_many) + RESERVED_FDS) - 1);
}

uint32_t files_kept(void)
{
	long among = atomic_load(&sharers);

	return (uint32_t)(atomic_load(&keep_of_many) / (among ? among : 1));
}

int files_open(struct files *files, const char *root)
{
	*files = (struct files) { .root = root, .root_fd = -1 };
	if (*root) {
		files->root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (files->root_fd < 0)
			return -errno;
	}
	files->text = malloc(TEXT_FIRST);
	if (!files->text) {
		files_close(files);
		return -ENOMEM;
	}
	files->size = TEXT_FIRST;
	return 0;
}

void files_close(struct files *files)
{
	struct file_chunk *chunk, *next;

	for (chunk = files->chunks; chunk; chunk = next) {
		next = chunk->next;
		for (uint32_t i = 0; i < chunk->count; i++) {
			if (chunk->files[i].path)
				file_close(&chunk->files[i]);
			free(chunk->files[i].outside);
		}
		free(chunk);
	}
	if (files->shares)
		atomic_fetch_sub(&sharers, 1);
	if (files->root_fd >= 0)
		close(files->root_fd);
	free(files->text);
	free(files->names);
	free(files->entries);
	free(files->sorted);
	*files = (struct files) { .root = "", .root_fd = -1 };
}

/* /proc/PID/... */
static bool is_of_task(const char *path)
{
	return strncmp(path, "/proc/", 6) == 0 && path[6] >= '0' && path[6] <= '9';
}

/* Of those of which there may be thousands: processes and cgroups. These lie wherever they are mounted, which is neither in
 * /proc nor in the rest of /sys. */
static bool is_of_many(const char *path)
{
	if (strncmp(path, "/proc/", 6) == 0)
		return is_of_task(path);
	return strncmp(path, "/sys/", 5) != 0 || strncmp(path, "/sys/fs/cgroup/", 15) == 0;
}

/* ---- Files */

/* A quarter more than there are, so that a process more than ever before seldom needs memory. */
static bool more_files(struct files *files)
{
	uint32_t count = files->nfiles / 4 < CHUNK_FILES ? CHUNK_FILES : files->nfiles / 4;
	struct file_chunk *chunk = calloc(1, sizeof *chunk + count * sizeof chunk->files[0]);

	if (!chunk)
		return false;
	chunk->count = count;
	chunk->next = files->chunks;
	files->chunks = chunk;
	files->nfiles += count;
	files->nfree += count;
	for (uint32_t i = 0; i < count; i++) {
		chunk->files[i].next = files->free;
		files->free = &chunk->files[i];
	}
	return true;
}

static bool may_keep(const struct sonde_file *file, int fd)
{
	if (fd >= atomic_load(&first_spare))
		return false;
	if (file->mode != SONDE_KEEP || !file->many)
		return file->mode == SONDE_KEEP;
	return file->files->kept < files_kept() &&
	       atomic_load(&kept_of_many) < atomic_load(&keep_of_many);
}

static void keep(struct sonde_file *file, int fd)
{
	file->fd = fd;
	if (!file->many)
		return;
	file->files->kept++;
	atomic_fetch_add(&kept_of_many, 1);
}

/* What was opened to see whether it can be is not opened again where it is read at once. */
static void keep_for_first_read(struct sonde_file *file, int fd)
{
	if (fd < atomic_load(&first_spare)) {
		if (atomic_fetch_add(&waiting, 1) < WAITING_FDS) {
			file->fd = fd;
			file->waiting = true;
			return;
		}
		atomic_fetch_sub(&waiting, 1);
	}
	close(fd);
}

static void wait_no_longer(struct sonde_file *file)
{
	file->fd = -1;
	file->waiting = false;
	atomic_fetch_sub(&waiting, 1);
}

static bool set_path(struct sonde_file *file, const char *path)
{
	size_t length = strlen(path) + 1, size = (length + 127) & ~(size_t)127;

	if (length > PATH_INLINE && length > file->outside_size) {
		free(file->outside);
		file->outside_size = 0;
		file->outside = size <= UINT16_MAX ? malloc(size) : NULL;
		if (!file->outside)
			return false;
		file->outside_size = (uint16_t)size;
	}
	file->path = length > PATH_INLINE ? file->outside : file->inside;
	memcpy(file->path, path, length);
	return true;
}

/* The kernel's own files are what they are; in a tree that somebody made, a FIFO, a device or a file without end may stand in
 * their place. */
static int open_file(const struct files *files, const char *path)
{
	int fd = path_open(files->root_fd, path, O_RDONLY);
	struct stat st;
	int err;

	if (fd < 0 || files->root_fd < 0)
		return fd;
	err = fstat(fd, &st)                  ? errno
	      : S_ISDIR(st.st_mode)           ? EISDIR
	      : !S_ISREG(st.st_mode)          ? ENXIO
	      : st.st_size > (off_t)TEXT_MOST ? EFBIG
					      : 0;
	if (!err)
		return fd;
	close(fd);
	errno = err;
	return -1;
}

struct sonde_file *file_open(struct files *files, uint32_t mode, const char *path)
{
	struct sonde_file *file;
	bool proc = strncmp(path, "/proc/", 6) == 0;
	int fd;

	if (path[0] != '/' || mode > SONDE_FRESH) {
		errno = EINVAL;
		return NULL;
	}
	fd = open_file(files, path);
	if (fd < 0)
		return NULL;
	if ((!files->free && !more_files(files)) || !set_path(files->free, path)) {
		close(fd);
		errno = ENOMEM;
		return NULL;
	}
	file = files->free;
	files->free = file->next;
	files->nfree--;
	file->files = files;
	file->mode = (uint8_t)mode;
	file->many = is_of_many(path);
	file->fd = -1;
	file->going_on = false;
	file->at = 0;
	file->reading = (uint8_t)(!proc                 ? READ_PLAIN
				  : mode == SONDE_FRESH ? READ_CAREFUL
				  : file->many          ? READ_SHORT
							: READ_UNKNOWN);
	if (file->many && mode == SONDE_KEEP && !files->shares) {
		files->shares = true;
		atomic_fetch_add(&sharers, 1);
	}
	if (may_keep(file, fd))
		keep(file, fd);
	else
		keep_for_first_read(file, fd);
	return file;
}

void file_close(struct sonde_file *file)
{
	struct files *files = file->files;

	if (file->fd >= 0)
		close(file->fd);
	if (file->waiting) {
		wait_no_longer(file);
	} else if (file->fd >= 0 && file->many && !file->going_on) {
		files->kept--;
		atomic_fetch_sub(&kept_of_many, 1);
	}
	file->path = NULL;
	file->next = files->free;
	files->free = file;
	files->nfree++;
}

const char *file_path(const struct sonde_file *file)
{
	return file->path;
}

struct files *file_owner(const struct sonde_file *file)
{
	return file->files;
}

/* Room for twice what was there, so that a file that grows seldom needs memory. */
static int more_text(struct files *files)
{
	char *text;

	if (files->size >= TEXT_MOST)
		return -EFBIG;
	text = realloc(files->text, files->size * 2);
	if (!text)
		return -ENOMEM;
	files->text = text;
	files->size *= 2;
	return 0;
}

/* Room for as much, whatever was there before. */
static int need_text(struct files *files, size_t size)
{
	char *text;

	if (files->size >= size)
		return 0;
	text = malloc(size);
	if (!text)
		return -ENOMEM;
	free(files->text);
	files->text = text;
	files->size = size;
	return 0;
}

/* To the end of the file; one pread(2) where that is sure to be all. */
static int64_t read_text(struct files *files, int fd, uint8_t *reading)
{
	size_t length = 0;
	bool ended_early = false; /* a read looked like the last one */

	for (;;) {
		size_t room = files->size - 1 - length;
		ssize_t n = pread(fd, files->text + length, room, (off_t)length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n > 0 && ended_early)
			*reading = READ_CAREFUL;
		length += (size_t)n;
		if (n == 0)
			break;
		if ((size_t)n == room) {
			int err = more_text(files);

			if (err)
				return err;
			continue;
		}
		if (*reading == READ_PLAIN || (*reading == READ_SHORT && n <= SURELY_LAST))
			break;
		ended_early = n <= SURELY_LAST;
	}
	if (*reading == READ_UNKNOWN)
		*reading = READ_SHORT;
	files->text[length] = '\0';
	return (int64_t)length;
}

/* A descriptor to read from; file->fd, or one for this read. */
static int descriptor(struct sonde_file *file)
{
	int fd = file->fd;

	if (fd >= 0 && !file->waiting)
		return fd;
	if (file->waiting)
		wait_no_longer(file);
	else
		fd = open_file(file->files, file->path);
	if (fd < 0)
		return errno == ENOENT && is_of_task(file->path) ? -ESRCH : -errno;
	if (may_keep(file, fd))
		keep(file, fd);
	return fd;
}

int64_t file_read(struct sonde_file *file, const char **text)
{
	struct files *files = file->files;
	bool waited = file->waiting;
	int fd = descriptor(file);
	int64_t length;

	if (fd < 0)
		return fd;
	length = read_text(files, fd, &file->reading);
	if (file->fd < 0)
		close(fd);
	/* Of a process that has executed another program since it was opened, nothing can be read. */
	if (waited && !length && file->many && file->reading != READ_PLAIN)
		return file_read(file, text);
	*text = files->text;
	return length;
}

/* Reads on until about `limit` bytes are there or the file ends. procfs gives whole records to a buffer that has room for the
 * longest; a read from anywhere but where the last one ended would make it begin anew. */
static int64_t read_on(struct sonde_file *file, int fd, size_t limit)
{
	struct files *files = file->files;
	size_t length = 0;

	while (length < limit) {
		size_t room = files->size - 1 - length;
		ssize_t n = pread(fd, files->text + length, room, (off_t)(file->at + length));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return (int64_t)length;
		length += (size_t)n;
	}
	while (length && files->text[length - 1] != '\n')
		length--;
	return length ? (int64_t)length : -EFBIG;
}

int64_t file_read_lines(struct sonde_file *file, uint64_t limit, const char **text)
{
	struct files *files = file->files;
	int64_t length = 0;
	int err, fd;

	if (file->mode != SONDE_FRESH)
		return -EINVAL;
	limit = limit < LINES_LEAST ? LINES_LEAST : limit > TEXT_MOST / 4 ? TEXT_MOST / 4 : limit;
	err = need_text(files, limit + LINE_MOST);
	fd = err ? err : file->going_on ? file->fd : descriptor(file);
	if (fd < 0)
		return fd;
	length = read_on(file, fd, limit);
	file->going_on = length > 0;
	file->fd = length > 0 ? fd : -1;
	file->at = length > 0 ? file->at + (uint64_t)length : 0;
	if (length <= 0)
		close(fd);
	else
		files->text[length] = '\0';
	*text = files->text;
	return length;
}
