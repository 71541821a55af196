/* What of POSIX.1-2008 and of glibc the readers use and mingw-w64 lacks; included before every file of a Windows build. The
 * functions are in posix.c, each as its manual page says as far as readers need it. */
#ifndef WINDOWS_POSIX_H
#define WINDOWS_POSIX_H

#include <fcntl.h>
#include <io.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* ---- files ---- */

#define O_CLOEXEC  _O_NOINHERIT
#define O_NONBLOCK 0
#define O_NOCTTY   0
#define AT_FDCWD   (-100)
#define AT_EACCESS 0
#define F_GETFD    1

int fcntl(int fd, int command, ...);
int faccessat(int folder, const char *path, int mode, int flags);
ssize_t pread(int fd, void *buffer, size_t size, off_t offset);
char *realpath(const char *path, char *resolved);
#define lstat stat
/* <io.h> has one. */
#define tell sonde_tell

/* ---- text and memory ---- */

char *strsep(char **text, const char *separators);
char *strndup(const char *text, size_t most);
void *memmem(const void *in, size_t length, const void *what, size_t size);
char *strptime(const char *text, const char *format, struct tm *tm);
int getentropy(void *bytes, size_t length);
#define secure_getenv getenv

/* Stable, as glibc's are: what ties is the same on every system. */
void qsort_r(void *base, size_t count, size_t size,
	     int (*compare)(const void *, const void *, void *), void *context);
void posix_qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *));
#define qsort posix_qsort

/* Of rings, which readers do not fill. */
#define aligned_alloc(alignment, size) ((void)(alignment), malloc(size))
#define _SC_PAGESIZE                   30
#define sysconf(name)                  4096L

/* ---- time ---- */

#define timegm         _mkgmtime
#define CLOCK_BOOTTIME CLOCK_MONOTONIC

/* ---- processes ---- */

#define SIGPIPE     13
#define SIGXFSZ     25
#define SIG_SETMASK 2

typedef _sigset_t sigset_t;
struct sigaction {
	void (*sa_handler)(int);
	sigset_t sa_mask;
	int sa_flags;
};
int sigaction(int number, const struct sigaction *action, struct sigaction *before);
#define sigfillset(set) ((void)(set))
#undef pthread_sigmask
#define pthread_sigmask(how, set, before) ((void)(set), (void)(before))

/* Waits for the program, and ends with its status. */
int posix_execv(const char *path, char *const *arguments);
#define execv posix_execv

#endif
