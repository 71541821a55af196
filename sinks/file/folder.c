/* The folder of a sink's recordings (open(2) O_EXCL, flock(2), rename(2) RENAME_NOREPLACE, getdents64(2)). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <sonde/recording.h>

#include "folder.h"

static enum standing what_begins_so(int folder, const char *file)
{
	int fd = openat(folder, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool is;

	if (fd < 0)
		return errno == EACCES || errno == EPERM ? STANDS_SECRET : STANDS_OTHER;
	is = sonde_is_recording(fd);
	close(fd);
	return is ? STANDS_RECORDING : STANDS_OTHER;
}

enum standing folder_standing(int folder, const char *file)
{
	struct stat st;

	if (fstatat(folder, file, &st, 0)) /* ENOENT of a link: it leads nowhere */
		return errno == ENOENT && fstatat(folder, file, &st, AT_SYMLINK_NOFOLLOW)
			       ? STANDS_NOTHING
			       : STANDS_OTHER;
	if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode))
		return STANDS_PIPE;
	/* Of a link only the target of a pipe is written to: what else it names is not for us to
	 * move. */
	if (fstatat(folder, file, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return STANDS_OTHER;
	if (st.st_size == 0)
		return STANDS_EMPTY;
	return what_begins_so(folder, file);
}

/* Renames, never over another. Where the file system has no RENAME_NOREPLACE, by a second name and
 * the loss of the first. */
static int rename_new(int folder, const char *from, const char *to)
{
	if (renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (linkat(folder, from, folder, to, 0))
		return -errno;
	return unlinkat(folder, from, 0) ? -errno : 0;
}

static int move_aside(int folder, const struct name *name, const char *file)
{
	char aside[NAME_MAX + 1];
	struct stat st;
	int err = fstatat(folder, file, &st, AT_SYMLINK_NOFOLLOW) ? -errno : -EEXIST;

	for (unsigned suffix = 0; err == -EEXIST && suffix <= NAME_MOST_SUFFIX; suffix++) {
		if (!name_aside(name, st.st_mtime, suffix, aside))
			return -ENAMETOOLONG;
		err = rename_new(folder, file, aside);
	}
	return err;
}

/* From here on the file is this sink's alone: two that fill the same empty file would write over
 * each other. Where the file system has no locks (flock(2)), there are none. */
static int claim(int fd)
{
	struct stat st;

	if ((flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) && fstat(fd, &st) == 0 &&
	    st.st_size == 0)
		return fd;
	close(fd);
	return -EEXIST;
}

static int create(int folder, const char *file)
{
	int fd = openat(folder, file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : claim(fd);
}

/* An empty file that somebody made for us to fill (mktemp). Private from here on, where it may be
 * changed. */
static int take_empty(int folder, const char *file)
{
	int fd = openat(folder, file, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd >= 0 && fchmod(fd, 0600) && errno != EPERM) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd < 0 ? -errno : claim(fd);
}

/* Every entry of the folder, by getdents64() into a buffer of ours: opendir() allocates, and this
 * runs while sampling goes on. */
static int each_file(int folder, void (*look)(void *context, int folder, const char *file),
		     void *context)
{
	_Alignas(struct dirent64) char buffer[4096];
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	while ((n = getdents64(fd, buffer, sizeof buffer)) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *entry = (const struct dirent64 *)(buffer + at);

			look(context, folder, entry->d_name);
			at += entry->d_reclen;
		}
	}
	n = n < 0 ? -errno : 0;
	close(fd);
	return (int)n;
}

struct newest {
	const struct name *name;
	time_t when;
	unsigned next; /* suffix behind those of this moment that are there */
};

static void look_for_newest(void *context, int folder, const char *file)
{
	struct newest *newest = context;
	unsigned next = name_next(newest->name, newest->when, file);

	(void)folder;
	if (next > newest->next)
		newest->next = next;
}

/* Behind the newest of the same moment, whatever was deleted before it: the order of names stays
 * that of time. */
static int create_dated(int folder, const struct name *name, time_t now, char *file)
{
	struct newest newest = { .name = name, .when = now };
	int fd = each_file(folder, look_for_newest, &newest);

	if (!fd)
		fd = -EEXIST;
	for (unsigned suffix = newest.next; fd == -EEXIST && suffix <= NAME_MOST_SUFFIX; suffix++) {
		if (!name_make(name, now, suffix, file))
			return -ENAMETOOLONG;
		fd = create(folder, file);
	}
	return fd;
}

int folder_create(int folder, const struct name *name, time_t now, char file[NAME_MAX + 1])
{
	int err;

	if (!name->fixed)
		return create_dated(folder, name, now, file);
	if (!name_make(name, now, 0, file))
		return -ENAMETOOLONG;
	switch (folder_standing(folder, file)) {
	case STANDS_EMPTY:
		return take_empty(folder, file);
	case STANDS_RECORDING:
		err = move_aside(folder, name, file);
		return err ? err : create(folder, file);
	default:
		return create(folder, file);
	}
}

struct listing {
	const struct name *name;
	ino_t except;
	uint64_t bytes;
	char oldest[NAME_MAX + 1];
	struct timespec written; /* of the oldest */
};

static bool before(const struct stat *st, const char *file, const struct listing *listing)
{
	const struct timespec *a = &st->st_mtim, *b = &listing->written;

	if (a->tv_sec != b->tv_sec)
		return a->tv_sec < b->tv_sec;
	if (a->tv_nsec != b->tv_nsec)
		return a->tv_nsec < b->tv_nsec;
	return strcmp(file, listing->oldest) < 0;
}

static void look_at(void *context, int folder, const char *file)
{
	struct listing *listing = context;
	struct stat st;

	if (!name_is_ours(listing->name, file) || fstatat(folder, file, &st, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISREG(st.st_mode) || st.st_ino == listing->except)
		return;
	listing->bytes += (uint64_t)st.st_size;
	if (!listing->oldest[0] || before(&st, file, listing)) {
		listing->written = st.st_mtim;
		strcpy(listing->oldest, file);
	}
}

static int list(int folder, const struct name *name, ino_t except, struct listing *listing)
{
	*listing = (struct listing) { .name = name, .except = except };
	return each_file(folder, look_at, listing);
}

uint64_t folder_bytes(int folder, const struct name *name, ino_t except)
{
	struct listing listing;

	return list(folder, name, except, &listing) ? 0 : listing.bytes;
}

uint64_t folder_trim(int folder, const struct name *name, ino_t except, uint64_t most)
{
	struct listing listing;

	while (list(folder, name, except, &listing) == 0 && listing.bytes > most)
		if (unlinkat(folder, listing.oldest, 0))
			break;
	return listing.bytes;
}
