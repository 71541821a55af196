/* Lists of the file service (getdents64(2)): numbers by value, then names. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/files.h"
#include "live/paths.h"

enum { ENTRIES_FIRST = 4096, ENTRIES_MOST = 64 << 20 };

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
			size_t size = files->entries_size ? files->entries_size * 2 : ENTRIES_FIRST;
			char *entries = NULL;

			if (size > ENTRIES_MOST)
				return -EFBIG;
			entries = realloc(files->entries, size);
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
static size_t gather(struct files *files, size_t length, bool folders)
{
	size_t count = 0;

	for (int numbers = 1; numbers >= 0; numbers--) {
		for (size_t at = 0; at < length;) {
			const struct entry *entry = (const void *)(files->entries + at);
			struct file_name name = { .name = entry->name };

			at += entry->length;
			name.is_number = parse_number(entry->name, &name.number);
			if (folders && entry->type != DT_DIR && entry->type != DT_UNKNOWN)
				continue;
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
	int fd = path[0] == '/' ? path_open(files->root_fd, path, O_DIRECTORY)
				: (errno = EINVAL, -1);
	bool folders = path[0] && path[strlen(path) - 1] == '/';
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
	count = gather(files, (size_t)length, folders);
	sort_names(files->sorted, count);
	at = files->names;
	for (size_t i = 0; i < count; i++)
		at = stpcpy(at, files->sorted[i].name) + 1;
	*names = files->names;
	return (int64_t)count;
}
