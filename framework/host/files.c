/* The file service: the only door to /proc and /sys (proc(5), openat2(2), Documentation/filesystems/seq_file.rst). */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/files.h"

enum {
	TEXT_FIRST = 8192,
	PATH_INLINE = 40,
	CHUNK_FILES = 32,
	/* A seq_file of many records gives a page at a time, less the record that no longer fitted: a short read is its end
	 * only where it is shorter than a page less the longest record. */
	SURELY_LAST = 2048,
	RESERVED_FDS = 128,
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
	uint8_t mode;
	uint8_t reading; /* enum reading */
	bool task;       /* of a process: its descriptor counts */
	char inside[PATH_INLINE];
};

struct file_chunk {
	struct file_chunk *next;
	uint32_t count;
	struct sonde_file files[];
};

/* Descriptors of processes' files, of all instances. */
static atomic_long kept_tasks;
static atomic_long keep_tasks = 1024;

void files_budget(uint64_t keep)
{
	struct rlimit limit;
	uint64_t most;

	atomic_store(&keep_tasks, (long)(keep > 1 << 20 ? 1 << 20 : keep));
	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	if (limit.rlim_cur < keep + RESERVED_FDS) {
		limit.rlim_cur =
			keep + RESERVED_FDS < limit.rlim_max ? keep + RESERVED_FDS : limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
		getrlimit(RLIMIT_NOFILE, &limit);
	}
	most = limit.rlim_cur > RESERVED_FDS ? limit.rlim_cur - RESERVED_FDS : 0;
	if (most < keep)
		atomic_store(&keep_tasks, (long)most);
}

uint32_t files_kept(void)
{
	return (uint32_t)atomic_load(&keep_tasks);
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
		for (uint32_t i = 0; i < chunk->count; i++)
			if (chunk->files[i].path)
				file_close(&chunk->files[i]);
		free(chunk);
	}
	if (files->root_fd >= 0)
		close(files->root_fd);
	free(files->text);
	free(files->names);
	free(files->entries);
	free(files->sorted);
	*files = (struct files) { .root = "", .root_fd = -1 };
}

/* ---- Paths */

/* What the kernel answers for the process that asks is, under a root, what PID 1 of that tree would be answered. */
static const struct {
	const char *asked, *of_init;
} of_asker[] = {
	{ "/proc/net/", "/proc/1/net/" },
	{ "/proc/self/", "/proc/1/" },
	{ "/proc/mounts", "/proc/1/mounts" },
};

static int open_in_root(const struct files *files, const char *path, uint64_t resolve, int flags)
{
	struct open_how how = { .flags = (uint64_t)flags, .resolve = RESOLVE_IN_ROOT | resolve };
	long fd = syscall(SYS_openat2, files->root_fd, path, &how, sizeof how);

	/* Older than 5.6, or refused by a container's filter. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = openat(files->root_fd, path + strspn(path, "/"), flags);
	return (int)fd;
}

static int open_path(const struct files *files, const char *path, int flags)
{
	char of_init[4096];
	int fd;

	flags |= O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	if (files->root_fd < 0)
		return open(path, flags);
	for (size_t i = 0; i < sizeof of_asker / sizeof of_asker[0]; i++) {
		size_t length = strlen(of_asker[i].asked);

		if (strncmp(path, of_asker[i].asked, length) != 0)
			continue;
		snprintf(of_init, sizeof of_init, "%s%s", of_asker[i].of_init, path + length);
		fd = open_in_root(files, of_init, 0, flags);
		/* A captured tree may have the file itself; in a live one it is a link to the asker's. */
		return fd >= 0 ? fd : open_in_root(files, path, RESOLVE_NO_SYMLINKS, flags);
	}
	return open_in_root(files, path, 0, flags);
}

/* /proc/PID/... */
static bool is_task_path(const char *path)
{
	return strncmp(path, "/proc/", 6) == 0 && path[6] >= '0' && path[6] <= '9';
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

static bool may_keep(const struct sonde_file *file)
{
	return file->mode == SONDE_KEEP &&
	       (!file->task || atomic_load(&kept_tasks) < atomic_load(&keep_tasks));
}

static void keep(struct sonde_file *file, int fd)
{
	file->fd = fd;
	if (file->task)
		atomic_fetch_add(&kept_tasks, 1);
}

static bool set_path(struct sonde_file *file, const char *path)
{
	size_t length = strlen(path) + 1;

	file->path = length <= PATH_INLINE ? file->inside : malloc(length);
	if (file->path)
		memcpy(file->path, path, length);
	return file->path != NULL;
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
	fd = open_path(files, path, 0);
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
	file->task = is_task_path(path);
	file->fd = -1;
	file->reading = (uint8_t)(!proc                 ? READ_PLAIN
				  : mode == SONDE_FRESH ? READ_CAREFUL
				  : file->task          ? READ_SHORT
							: READ_UNKNOWN);
	if (may_keep(file))
		keep(file, fd);
	else
		close(fd);
	return file;
}

void file_close(struct sonde_file *file)
{
	struct files *files = file->files;

	if (file->fd >= 0) {
		close(file->fd);
		if (file->task)
			atomic_fetch_sub(&kept_tasks, 1);
	}
	if (file->path != file->inside)
		free(file->path);
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
	char *text = realloc(files->text, files->size * 2);

	if (!text)
		return -ENOMEM;
	files->text = text;
	files->size *= 2;
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
			if (more_text(files))
				return -ENOMEM;
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

int64_t file_read(struct sonde_file *file, const char **text)
{
	struct files *files = file->files;
	int fd = file->fd;
	int64_t length;

	if (fd < 0) {
		fd = open_path(files, file->path, 0);
		if (fd < 0)
			return file->task && errno == ENOENT ? -ESRCH : -errno;
		if (may_keep(file))
			keep(file, fd);
	}
	length = read_text(files, fd, &file->reading);
	if (file->fd < 0)
		close(fd);
	*text = files->text;
	return length;
}

/* ---- Lists */

struct file_name {
	const char *name;
	uint64_t number;
	bool is_number;
};

/* getdents64(2): entries as they are, until the end. Bytes, or a negative errno. */
static int64_t read_entries(struct files *files, int fd)
{
	size_t length = 0;

	for (;;) {
		long n;

		/* One entry is at most 280 bytes. */
		if (files->entries_size - length < 1024) {
			size_t size = files->entries_size ? files->entries_size * 2 : 4096;
			char *entries = realloc(files->entries, size);

			if (!entries)
				return -ENOMEM;
			files->entries = entries;
			files->entries_size = size;
		}
		n = syscall(SYS_getdents64, fd, files->entries + length,
			    files->entries_size - length);
		if (n < 0)
			return -errno;
		if (n == 0)
			return (int64_t)length;
		length += (size_t)n;
	}
}

struct entry {
	uint64_t inode;
	int64_t offset;
	uint16_t length;
	uint8_t type;
	char name[];
};

static bool parse_number(const char *name, uint64_t *number)
{
	uint64_t n = 0;
	size_t i = 0;

	for (; name[i] >= '0' && name[i] <= '9' && i < 19; i++)
		n = n * 10 + (uint64_t)(name[i] - '0');
	*number = n;
	return i > 0 && !name[i];
}

/* "cpu9" before "cpu10": runs of digits by value, the rest by bytes. */
static int compare_natural(const char *a, const char *b)
{
	while (*a && *b) {
		if (*a >= '0' && *a <= '9' && *b >= '0' && *b <= '9') {
			size_t x, y;
			int order;

			a += strspn(a, "0");
			b += strspn(b, "0");
			x = strspn(a, "0123456789");
			y = strspn(b, "0123456789");
			order = x != y ? (x < y ? -1 : 1) : memcmp(a, b, x);
			if (order)
				return order;
			a += x;
			b += y;
		} else if (*a != *b) {
			return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
		} else {
			a++;
			b++;
		}
	}
	return (*a != 0) - (*b != 0);
}

static int compare_names(const struct file_name *a, const struct file_name *b)
{
	int order;

	if (a->is_number != b->is_number)
		return a->is_number ? -1 : 1;
	if (a->is_number)
		return (a->number > b->number) - (a->number < b->number);
	order = compare_natural(a->name, b->name);
	return order ? order : strcmp(a->name, b->name);
}

/* Heapsort: in place, since sampling does not allocate, which qsort(3) does. */
static void sift(struct file_name *names, size_t root, size_t count)
{
	struct file_name moved = names[root];

	for (size_t child; (child = 2 * root + 1) < count; root = child) {
		if (child + 1 < count && compare_names(&names[child], &names[child + 1]) < 0)
			child++;
		if (compare_names(&moved, &names[child]) >= 0)
			break;
		names[root] = names[child];
	}
	names[root] = moved;
}

static void sort_names(struct file_name *names, size_t count)
{
	size_t i = 1;

	/* The kernel lists processes in order. */
	while (i < count && compare_names(&names[i - 1], &names[i]) <= 0)
		i++;
	if (i >= count)
		return;
	for (i = count / 2; i-- > 0;)
		sift(names, i, count);
	for (i = count - 1; i > 0; i--) {
		struct file_name last = names[i];

		names[i] = names[0];
		names[0] = last;
		sift(names, 0, i);
	}
}

static size_t count_entries(const struct files *files, size_t length)
{
	size_t count = 0;

	for (size_t at = 0; at < length; count++)
		at += ((const struct entry *)(files->entries + at))->length;
	return count;
}

/* Numbers first as they came, then the others: in /proc they are sorted then. */
static size_t gather(struct files *files, size_t length)
{
	size_t count = 0;

	for (int numbers = 1; numbers >= 0; numbers--) {
		for (size_t at = 0; at < length;) {
			const struct entry *entry = (const void *)(files->entries + at);
			struct file_name name = { .name = entry->name };

			at += entry->length;
			name.is_number = parse_number(entry->name, &name.number);
			if (name.is_number == numbers && strcmp(entry->name, ".") != 0 &&
			    strcmp(entry->name, "..") != 0)
				files->sorted[count++] = name;
		}
	}
	return count;
}

static int grow_list(struct files *files, size_t length)
{
	size_t count = count_entries(files, length);

	if (files->sorted_size < count) {
		free(files->sorted);
		files->sorted_size = 0;
		files->sorted = malloc(count * 2 * sizeof *files->sorted);
		if (!files->sorted)
			return -ENOMEM;
		files->sorted_size = count * 2;
	}
	if (files->names_size < files->entries_size) {
		free(files->names);
		files->names_size = 0;
		files->names = malloc(files->entries_size);
		if (!files->names)
			return -ENOMEM;
		files->names_size = files->entries_size;
	}
	return 0;
}

int64_t file_list(struct files *files, const char *path, const char **names)
{
	int fd = path[0] == '/' ? open_path(files, path, O_DIRECTORY) : (errno = EINVAL, -1);
	int64_t length;
	size_t count;
	char *at;
	int err;

	if (fd < 0)
		return -errno;
	length = read_entries(files, fd);
	close(fd);
	err = length < 0 ? (int)length : grow_list(files, (size_t)length);
	if (err)
		return err;
	count = gather(files, (size_t)length);
	sort_names(files->sorted, count);
	at = files->names;
	for (size_t i = 0; i < count; i++)
		at = stpcpy(at, files->sorted[i].name) + 1;
	*names = files->names;
	return (int64_t)count;
}
