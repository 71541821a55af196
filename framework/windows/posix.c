/* Files, text, memory and time as POSIX has them (include/posix.h), by what Windows has. */
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

#include <windows.h>

#include <ntsecapi.h>

/* ---- files ---- */

/* No line ends are changed, of no file. */
__attribute__((constructor)) static void set_binary(void)
{
	_fmode = _O_BINARY;
	for (int fd = 0; fd <= 2; fd++)
		_setmode(fd, _O_BINARY);
}

int fcntl(int fd, int command, ...)
{
	(void)command;
	return _get_osfhandle(fd) == -1 ? -1 : 0;
}

int faccessat(int folder, const char *path, int mode, int flags)
{
	(void)folder, (void)flags;
	return access(path, mode & ~X_OK);
}

ssize_t pread(int fd, void *buffer, size_t size, off_t offset)
{
	off_t before = lseek(fd, 0, SEEK_CUR);
	ssize_t n = -1;

	if (before < 0 || lseek(fd, offset, SEEK_SET) < 0)
		return -1;
	n = read(fd, buffer, (unsigned)size);
	lseek(fd, before, SEEK_SET);
	return n;
}

char *realpath(const char *path, char *resolved)
{
	char *full = _fullpath(resolved, path, resolved ? MAX_PATH : 0);

	for (char *at = full; at && *at; at++)
		if (*at == '\\')
			*at = '/';
	return full;
}

int glob(const char *pattern, int flags, int (*failed)(const char *, int), glob_t *found)
{
	(void)flags, (void)failed;
	*found = (glob_t) { 0 };
	if (strpbrk(pattern, "*?[")) {
		errno = ENOSYS;
		return GLOB_ABORTED;
	}
	if (access(pattern, F_OK))
		return GLOB_NOMATCH;
	found->gl_pathv = malloc(sizeof *found->gl_pathv);
	if (!found->gl_pathv)
		return GLOB_ABORTED;
	found->gl_pathv[0] = strdup(pattern);
	found->gl_pathc = found->gl_pathv[0] != NULL;
	return 0;
}

void globfree(glob_t *found)
{
	if (found->gl_pathc)
		free(found->gl_pathv[0]);
	free(found->gl_pathv);
}

int dladdr(const void *address, Dl_info *info)
{
	static char name[MAX_PATH];

	(void)address;
	if (!GetModuleFileNameA(NULL, name, sizeof name))
		return 0;
	for (char *at = name; *at; at++)
		if (*at == '\\')
			*at = '/';
	info->dli_fname = name;
	return 1;
}

/* ---- text and memory ---- */

char *strsep(char **text, const char *separators)
{
	char *word = *text;

	if (!word)
		return NULL;
	*text += strcspn(word, separators);
	if (**text)
		*(*text)++ = '\0';
	else
		*text = NULL;
	return word;
}

char *strndup(const char *text, size_t most)
{
	size_t length = strnlen(text, most);
	char *copy = malloc(length + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

void *memmem(const void *in, size_t length, const void *what, size_t size)
{
	const char *at = in, *last = at + length - size;

	for (; size <= length && at <= last; at++)
		if (memcmp(at, what, size) == 0)
			return (void *)at;
	return NULL;
}

/* A bracket's end, whether `c` is in it; NULL: there is none, and "[" is itself. */
static const char *bracket(const char *pattern, char c, bool *in)
{
	bool negated = *pattern == '!' || *pattern == '^';
	const char *at = pattern + negated, *first = at;

	*in = false;
	for (; *at && (*at != ']' || at == first); at++) {
		if (at[1] == '-' && at[2] && at[2] != ']') {
			*in |= c >= at[0] && c <= at[2];
			at += 2;
		} else {
			*in |= c == *at;
		}
	}
	*in ^= negated;
	return *at ? at + 1 : NULL;
}

int fnmatch(const char *pattern, const char *text, int flags)
{
	const char *star = NULL, *from = NULL, *next;
	bool in;

	(void)flags;
	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
			continue;
		}
		next = *pattern == '[' ? bracket(pattern + 1, *text, &in) : NULL;
		if (next && in) {
			pattern = next;
			text++;
		} else if (!next &&
			   (*pattern == '?' ||
			    (*pattern == '\\' ? pattern[1] : *pattern) == *text) &&
			   *pattern) {
			pattern += *pattern == '\\' ? 2 : 1;
			text++;
		} else if (star) {
			pattern = star;
			text = ++from;
		} else {
			return FNM_NOMATCH;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern ? FNM_NOMATCH : 0;
}

int getentropy(void *bytes, size_t length)
{
	unsigned char *to = bytes;

	/* RtlGenRandom */
	if (RtlGenRandom(to, (ULONG)length))
		return 0;
	errno = EIO;
	return -1;
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
	void *memory = VirtualAlloc(address, length, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);

	(void)protection, (void)flags, (void)fd, (void)offset;
	if (!memory)
		errno = ENOMEM;
	return memory ? memory : MAP_FAILED;
}

int munmap(void *address, size_t length)
{
	(void)length;
	return VirtualFree(address, 0, MEM_RELEASE) ? 0 : -1;
}

/* ---- order ---- */

/* Both halves, and then one behind the other as they compare; of what ties the first half's comes first. */
static void merge_sort(char *base, char *room, size_t count, size_t size,
		       int (*compare)(const void *, const void *, void *), void *context)
{
	size_t half = count / 2;
	char *left = base, *right = base + half * size;
	char *middle = right, *end = base + count * size, *to = room;

	if (count < 2)
		return;
	merge_sort(base, room, half, size, compare, context);
	merge_sort(right, room, count - half, size, compare, context);
	while (left < middle || right < end) {
		bool first = right == end || (left < middle && compare(left, right, context) <= 0);

		memcpy(to, first ? left : right, size);
		to += size;
		*(first ? &left : &right) += size;
	}
	memcpy(base, room, count * size);
}

void qsort_r(void *base, size_t count, size_t size,
	     int (*compare)(const void *, const void *, void *), void *context)
{
	char *room = count ? malloc(count * size) : NULL;

	if (count && !room)
		abort();
	if (room)
		merge_sort(base, room, count, size, compare, context);
	free(room);
}

struct plain {
	int (*compare)(const void *, const void *);
};

static int compare_plain(const void *a, const void *b, void *context)
{
	return ((const struct plain *)context)->compare(a, b);
}

void posix_qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	struct plain plain = { compare };

	qsort_r(base, count, size, compare_plain, &plain);
}

/* ---- time ---- */

/* At most so many digits. */
static const char *digits(const char *text, int most, int *value)
{
	const char *at = text;

	for (*value = 0; isdigit((unsigned char)*at) && at - text < most; at++)
		*value = *value * 10 + *at - '0';
	return at > text ? at : NULL;
}

char *strptime(const char *text, const char *format, struct tm *tm)
{
	for (; *format && text; format++) {
		int value = 0;

		if (*format != '%') {
			text = *text == *format ? text + 1 : NULL;
			continue;
		}
		format++;
		text = digits(text, *format == 'Y' ? 4 : 2, &value);
		switch (*format) {
		case 'Y':
			tm->tm_year = value - 1900;
			break;
		case 'm':
			tm->tm_mon = value - 1;
			break;
		case 'd':
			tm->tm_mday = value;
			break;
		case 'H':
			tm->tm_hour = value;
			break;
		case 'M':
			tm->tm_min = value;
			break;
		case 'S':
			tm->tm_sec = value;
			break;
		default:
			return NULL;
		}
	}
	return (char *)text;
}
