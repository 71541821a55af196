/* The file sink: names, rotation, the cap, full disks. The disk is real but for its errors, which a
 * pwrite() of the test's gives: so many bytes fit, then errno. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sink_host.h"

static struct {
	uint64_t fits; /* bytes that the disk takes still */
	int error;     /* once they are gone */
	unsigned syncs;
	int sync_error;
} disk;

static ssize_t disk_pwrite(int fd, const void *bytes, size_t length, off_t offset)
{
	size_t n = length < disk.fits ? length : (size_t)disk.fits;
	ssize_t done;

	if (!n) {
		errno = disk.error;
		return -1;
	}
	/* A short write, as pwrite(2) allows at any time. */
	done = pwrite(fd, bytes, n > 1 ? (n + 1) / 2 : n, offset);
	if (done > 0)
		disk.fits -= (uint64_t)done;
	return done;
}

static int disk_fdatasync(int fd)
{
	disk.syncs++;
	errno = disk.sync_error;
	return disk.sync_error ? -1 : fdatasync(fd);
}

#define pwrite    disk_pwrite
#define fdatasync disk_fdatasync
#include "sinks/file/name.c"
#include "sinks/file/folder.c"
#include "sinks/file/file.c"
#undef pwrite
#undef fdatasync

const char suite[] = "file sink";

/* A mark as docs/format.md has it begins with this: a skippable LZ4 frame. */
#define BEGINS "\x50\x2a\x4d\x18"

static struct conf set;
static struct state held;
static char folder[] = "/tmp/sonde-file-XXXXXX";
static char path[256];

static struct sonde_instance made(const char *file)
{
	struct sonde_instance self = told_instance(&set, sizeof set, &held, sizeof held);

	disk.fits = UINT64_MAX;
	disk.error = ENOSPC;
	disk.sync_error = 0;
	disk.syncs = 0;
	strcpy(folder, "/tmp/sonde-file-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/%s", folder, file);
	set.path = path;
	set.group = "";
	set.sync = SYNC_NEVER;
	return self;
}

static const char *in_folder(const char *file)
{
	static char text[512];

	snprintf(text, sizeof text, "%s/%s", folder, file);
	return text;
}

static void put_file(const char *file, const char *text, time_t written)
{
	struct timespec times[2] = { { .tv_sec = written }, { .tv_sec = written } };
	int fd = open(in_folder(file), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	futimens(fd, times);
	close(fd);
}

/* Names in the folder, in order, a blank behind each. */
static const char *listed(void)
{
	static char text[4096];
	struct dirent **entries;
	int n = scandir(folder, &entries, NULL, alphasort);

	text[0] = '\0';
	for (int i = 0; i < n; i++) {
		if (entries[i]->d_name[0] != '.') {
			strcat(text, entries[i]->d_name);
			strcat(text, " ");
		}
		free(entries[i]);
	}
	free(entries);
	return text;
}

static unsigned files(void)
{
	unsigned count = 0;

	for (const char *p = listed(); *p; p++)
		count += *p == ' ';
	return count;
}

static void gone(struct sonde_instance *self)
{
	struct dirent **entries;
	int n;

	stop(self);
	n = scandir(folder, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		unlink(in_folder(entries[i]->d_name));
		free(entries[i]);
	}
	free(entries);
	rmdir(folder);
}

static int put(struct sonde_instance *self, const char *text, uint32_t flags)
{
	return bytes(self, text, strlen(text), flags);
}

/* The host's side of sonde_restart(): what comes next is FIRST. */
static int put_next(struct sonde_instance *self, const char *text)
{
	unsigned asked = told.restarts;

	told.restarts = 0;
	return put(self, text, SONDE_LAST | (asked ? SONDE_FIRST : 0));
}

/* mktime(3) of 2025-11-30 09:30:15 local time, whatever the zone. */
static time_t moment(void)
{
	struct tm tm = { .tm_year = 125,
			 .tm_mon = 10,
			 .tm_mday = 30,
			 .tm_hour = 9,
			 .tm_min = 30,
			 .tm_sec = 15,
			 .tm_isdst = -1 };

	return mktime(&tm);
}

static void names(void)
{
	static const struct {
		const char *path, *folder, *file, *second, *aside;
	} cases[] = {
		{ "/v/%h-%Y%m%d-%H%M%S.sonde", "/v", "a%1_b-20251130-093015.sonde",
		  "a%1_b-20251130-093015-2.sonde", NULL },
		{ "x%%-%Y", ".", "x%-2025", "x%-2025-2", NULL },
		{ "/x.sonde", "/", "x.sonde", NULL, "x-20251130-093015.sonde" },
		{ "d.d/x", "d.d", "x", NULL, "x-20251130-093015" },
		{ ".sonde", ".", ".sonde", NULL, ".sonde-20251130-093015" },
		{ "a.%Y", ".", "a.2025", "a.2025-2", NULL },
	};
	char file[NAME_MAX + 1], why[256];
	struct name name;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		CU_ASSERT_EQUAL_FATAL(name_parse(&name, cases[i].path, "a%1/b", why, sizeof why),
				      0);
		CU_ASSERT_STRING_EQUAL(name.folder, cases[i].folder);
		CU_ASSERT(name_make(&name, moment(), 0, file));
		CU_ASSERT_STRING_EQUAL(file, cases[i].file);
		CU_ASSERT(name_is_ours(&name, file));
		CU_ASSERT_EQUAL(name.fixed, cases[i].aside != NULL);
		if (cases[i].second) {
			CU_ASSERT(name_make(&name, moment(), 2, file));
			CU_ASSERT_STRING_EQUAL(file, cases[i].second);
		} else {
			CU_ASSERT(name_aside(&name, moment(), 0, file));
			CU_ASSERT_STRING_EQUAL(file, cases[i].aside);
		}
		CU_ASSERT(name_is_ours(&name, file));
	}
}

static void names_refused(void)
{
	static const char *const bad[] = { "", "/", "dir/", "/%Y/x.sonde", "x-%q.sonde", "x%" };
	char why[256];
	struct name name;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		why[0] = '\0';
		CU_ASSERT_EQUAL(name_parse(&name, bad[i], "h", why, sizeof why), -EINVAL);
		CU_ASSERT(strlen(why) > 10);
	}
}

/* The cap deletes by name alone: what another program, or another sink, calls its files is not
 * ours. */
static void names_of_others(void)
{
	static const char *const others[] = {
		"web1-20251130-093015.sonde.gz",     "web10-20251130-093015.sonde",
		"web1-2025113-093015.sonde",         "web1-20251130-093015-.sonde",
		"web1-20251130-093015-x.sonde",      "web1-20251130.sonde",
		"web1-20251130-093015-123456.sonde",
	};
	char why[256];
	struct name name;

	CU_ASSERT_EQUAL_FATAL(name_parse(&name, "%h-%Y%m%d-%H%M%S.sonde", "web1", why, sizeof why),
			      0);
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		CU_ASSERT_FALSE(name_is_ours(&name, others[i]));
	CU_ASSERT_EQUAL_FATAL(name_parse(&name, "web1.sonde", "", why, sizeof why), 0);
	CU_ASSERT_TRUE(name_is_ours(&name, "web1-20251130-093015-7.sonde"));
	CU_ASSERT_FALSE(name_is_ours(&name, "web1-7.sonde"));
	CU_ASSERT_FALSE(name_is_ours(&name, "web1-db.sonde"));
}

/* Mode 0600, and the bytes as they came, however short the writes. */
static void writes(void)
{
	struct sonde_instance self = made("a.sonde");
	struct stat st;

	umask(0);
	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	CU_ASSERT_STRING_EQUAL(listed(), "");
	CU_ASSERT_EQUAL(put(&self, BEGINS "one", SONDE_FIRST), 0);
	CU_ASSERT_EQUAL(put(&self, "two", SONDE_LAST), 0);
	CU_ASSERT_EQUAL(flush(&self), 0);
	CU_ASSERT_STRING_EQUAL(text_of(path), BEGINS "onetwo");
	CU_ASSERT_EQUAL(stat(path, &st), 0);
	CU_ASSERT_EQUAL(st.st_mode & 0777, 0600);
	CU_ASSERT_EQUAL(told.restarts, 0);
	gone(&self);
}

/* A recording under the fixed name is moved aside, to the time of its last write; one that is there
 * already stays as well. */
static void never_over(void)
{
	struct sonde_instance self = made("a.sonde");

	put_file("a.sonde", BEGINS "old", moment());
	put_file("a-20251130-093015.sonde", BEGINS "older", moment());
	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	CU_ASSERT_EQUAL(put(&self, BEGINS "new", SONDE_FIRST), 0);
	CU_ASSERT_STRING_EQUAL(text_of(path), BEGINS "new");
	CU_ASSERT_STRING_EQUAL(text_of(in_folder("a-20251130-093015.sonde")), BEGINS "older");
	CU_ASSERT_STRING_EQUAL(text_of(in_folder("a-20251130-093015-1.sonde")), BEGINS "old");
	CU_ASSERT_EQUAL(files(), 3);
	gone(&self);
}

/* Under a dated name the file there is left alone, and a suffix added. */
static void dated_never_over(void)
{
	struct sonde_instance self = made("a-%Y.sonde");
	char first[NAME_MAX + 1], second[NAME_MAX + 1];

	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	name_make(&held.name, time(NULL), 0, first);
	name_make(&held.name, time(NULL), 1, second);
	put_file(first, "not ours", moment());
	CU_ASSERT_EQUAL(put(&self, BEGINS, SONDE_FIRST), 0);
	CU_ASSERT_STRING_EQUAL(text_of(in_folder(first)), "not ours");
	CU_ASSERT_STRING_EQUAL(text_of(in_folder(second)), BEGINS);
	gone(&self);
}

/* A suffix is behind all that are there, though the first has been deleted: names stay in the order
 * of time. */
static void suffixes_grow(void)
{
	struct sonde_instance self = made("a-%Y.sonde");
	char file[NAME_MAX + 1];

	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	name_make(&held.name, time(NULL), 1, file);
	put_file(file, BEGINS, moment());
	name_make(&held.name, time(NULL), 12, file);
	put_file(file, BEGINS, moment());
	CU_ASSERT_EQUAL(put(&self, BEGINS, SONDE_FIRST), 0);
	name_make(&held.name, time(NULL), 13, file);
	CU_ASSERT_STRING_EQUAL(held.path, file);
	gone(&self);
}

static int started_at(const char *file, const char *text)
{
	struct sonde_instance self = made(file);
	int err;

	if (text)
		put_file(file, text, moment());
	err = start(&self);
	if (!err)
		err = put(&self, BEGINS, SONDE_FIRST);
	if (err)
		CU_ASSERT_STRING_EQUAL(text_of(path), text ? text : "");
	gone(&self);
	return err;
}

/* What is not a recording is neither written nor moved; an empty file (mktemp) is filled. */
static void others_are_safe(void)
{
	struct sonde_instance self;

	CU_ASSERT_EQUAL(started_at("a.sonde", "#!/bin/sh\n"), -EEXIST);
	CU_ASSERT_PTR_NOT_NULL(strstr(told.log, "not a recording"));
	CU_ASSERT_EQUAL(started_at("a.sonde", "ab"), -EEXIST);
	CU_ASSERT_EQUAL(started_at("a.sonde", ""), 0);
	CU_ASSERT_EQUAL(started_at("a.sonde", NULL), 0);
	CU_ASSERT_EQUAL(started_at("no/a.sonde", NULL), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(told.log, "its folder is not there"));

	self = made("a.sonde");
	CU_ASSERT_EQUAL(symlink("/etc/passwd", path), 0);
	CU_ASSERT_EQUAL(start(&self), -EEXIST);
	gone(&self);
	self = made("a.sonde");
	CU_ASSERT_EQUAL(mkdir(path, 0700), 0);
	CU_ASSERT_EQUAL(start(&self), -EEXIST);
	rmdir(path);
	gone(&self);
}

/* Asked for once; the segment is brought to its end in the old file, and the next stream begins the
 * new one. */
static void rotation_by_size(void)
{
	struct sonde_instance self = made("a-%Y.sonde");

	set.rotate_size = 10;
	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	CU_ASSERT_EQUAL(put(&self, BEGINS "12345", SONDE_FIRST | SONDE_LAST), 0);
	CU_ASSERT_EQUAL(told.restarts, 0);
	CU_ASSERT_EQUAL(put(&self, "67890", 0), 0);
	CU_ASSERT_EQUAL(told.restarts, 1);
	CU_ASSERT_EQUAL(put(&self, "x", SONDE_LAST), 0);
	CU_ASSERT_EQUAL(told.restarts, 1);
	CU_ASSERT_EQUAL(put(&self, "i", SONDE_LAST), 0); /* an index, still of the old file */
	CU_ASSERT_EQUAL(told.restarts, 1);
	CU_ASSERT_EQUAL(files(), 1);
	CU_ASSERT_EQUAL(put(&self, BEGINS "b", SONDE_FIRST), 0);
	CU_ASSERT_EQUAL(files(), 2);
	CU_ASSERT_STRING_EQUAL(text_of(in_folder(held.path)), BEGINS "b");
	gone(&self);
}

static void rotation_by_age(void)
{
	struct sonde_instance self = made("a.sonde");

	set.rotate_age = 3600 * UINT64_C(1000000000);
	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	CU_ASSERT_EQUAL(put(&self, BEGINS, SONDE_FIRST | SONDE_LAST), 0);
	CU_ASSERT_EQUAL(told.restarts, 0);
	held.opened -= set.rotate_age;
	CU_ASSERT_EQUAL(put(&self, "x", SONDE_LAST), 0);
	CU_ASSERT_EQUAL(told.restarts, 1);
	CU_ASSERT_EQUAL(put(&self, BEGINS "b", SONDE_FIRST), 0);
	CU_ASSERT_STRING_EQUAL(text_of(path), BEGINS "b");
	CU_ASSERT_EQUAL(files(), 2);
	gone(&self);
}

/* Together never more than the cap, oldest first, others' files untouched. */
static void cap(void)
{
	struct sonde_instance self = made("a-%Y%m%d-%H%M%S.sonde");

	set.disk_cap = 100;
	set.rotate_size = 30;
	put_file("a-20251130-093015.sonde", BEGINS "0123456789", moment());
	put_file("a-20251130-093016.sonde", BEGINS "0123456789", moment() - 100); /* the oldest */
	put_file("a-20251130-093015.txt", "0123456789", moment() - 1000);
	put_file("b-20251130-093015.sonde", "0123456789", moment() - 1000);
	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	CU_ASSERT_EQUAL(put(&self, BEGINS "01234567890123456789012345", SONDE_FIRST), 0); /* 58 */
	CU_ASSERT_EQUAL(put(&self, BEGINS "01234567890123456789012345678901", SONDE_LAST),
			0); /* 94 */
	CU_ASSERT_EQUAL(files(), 5);
	CU_ASSERT_EQUAL(put_next(&self, BEGINS "x"), 0); /* 99 */
	CU_ASSERT_EQUAL(files(), 6);
	CU_ASSERT_EQUAL(put(&self, "yy", 0), 0); /* 101: the oldest goes */
	CU_ASSERT_EQUAL(files(), 5);
	CU_ASSERT_NOT_EQUAL(access(in_folder("a-20251130-093016.sonde"), F_OK), 0);
	CU_ASSERT_EQUAL(access(in_folder("a-20251130-093015.sonde"), F_OK), 0);
	for (int i = 0; i < 50; i++) {
		uint64_t total;

		CU_ASSERT_EQUAL(put_next(&self, BEGINS "0123456"), 0);
		total = held.length + folder_bytes(held.folder - 1, &held.name, held.inode);
		CU_ASSERT(total <= 100);
	}
	CU_ASSERT_STRING_EQUAL(text_of(in_folder("a-20251130-093015.txt")), "0123456789");
	CU_ASSERT_STRING_EQUAL(text_of(in_folder("b-20251130-093015.sonde")), "0123456789");
	gone(&self);
}

static void cap_without_room(void)
{
	struct sonde_instance self = made("a.sonde");

	set.disk_cap = 10;
	set.rotate_size = 11;
	CU_ASSERT_EQUAL(start(&self), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(told.log, "rotate_size is larger than disk_cap"));
	gone(&self);
}

/* ENOSPC and EIO: cut back to the last whole write, said once, the same bytes asked for again; then
 * said that it is over. */
static void disk_full(void)
{
	static const int errors[] = { ENOSPC, EIO, EDQUOT };

	for (int i = 0; i < 3; i++) {
		struct sonde_instance self = made("a.sonde");

		disk.error = errors[i];
		CU_ASSERT_EQUAL_FATAL(start(&self), 0);
		CU_ASSERT_EQUAL(put(&self, BEGINS "whole", SONDE_FIRST), 0);
		disk.fits = 3;
		for (int n = 0; n < 5; n++) {
			CU_ASSERT_EQUAL(put(&self, "0123456789", SONDE_LAST), -ENOSPC);
			CU_ASSERT_STRING_EQUAL(text_of(path), BEGINS "whole");
			disk.fits = 3;
		}
		CU_ASSERT_EQUAL(told.messages, 1);
		CU_ASSERT_PTR_NOT_NULL(strstr(told.log, strerror(errors[i])));
		CU_ASSERT_PTR_NOT_NULL(strstr(told.log, "the file stays readable"));
		disk.fits = UINT64_MAX;
		CU_ASSERT_EQUAL(put(&self, "0123456789", SONDE_LAST), 0);
		CU_ASSERT_EQUAL(told.messages, 2);
		CU_ASSERT_PTR_NOT_NULL(strstr(told.log, "writing again"));
		CU_ASSERT_STRING_EQUAL(text_of(path), BEGINS "whole0123456789");
		CU_ASSERT_EQUAL(told.restarts, 0);
		gone(&self);
	}
}

/* The first bytes of a file, offered again, go into the same file. */
static void full_at_first(void)
{
	struct sonde_instance self = made("a-%Y.sonde");

	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	disk.fits = 2;
	for (int i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(put(&self, BEGINS "x", SONDE_FIRST), -ENOSPC);
	CU_ASSERT_EQUAL(files(), 1);
	disk.fits = UINT64_MAX;
	CU_ASSERT_EQUAL(put(&self, BEGINS "x", SONDE_FIRST), 0);
	CU_ASSERT_EQUAL(files(), 1);
	CU_ASSERT_STRING_EQUAL(text_of(in_folder(held.path)), BEGINS "x");
	gone(&self);
}

/* setrlimit(2), EFBIG: no room will come; another file is begun. */
static void file_too_big(void)
{
	struct sonde_instance self = made("a-%Y.sonde");

	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	CU_ASSERT_EQUAL(put(&self, BEGINS, SONDE_FIRST), 0);
	disk.fits = 1;
	disk.error = EFBIG;
	CU_ASSERT_EQUAL(put(&self, "0123", 0), -EFBIG);
	CU_ASSERT_EQUAL(told.restarts, 1);
	disk.fits = UINT64_MAX;
	CU_ASSERT_EQUAL(put(&self, BEGINS "next", SONDE_FIRST), 0);
	CU_ASSERT_EQUAL(files(), 2);
	gone(&self);
}

/* fsync(2): after an error the kernel may have dropped the pages, so the file is not gone on
 * with. */
static void sync_fails(void)
{
	struct sonde_instance self = made("a-%Y.sonde");

	set.sync = SYNC_FLUSH;
	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	CU_ASSERT_EQUAL(choose_assertion(&self), SONDE_DURABLE);
	CU_ASSERT_EQUAL(put(&self, BEGINS, SONDE_FIRST), 0);
	CU_ASSERT_EQUAL(flush(&self), 0);
	CU_ASSERT_EQUAL(disk.syncs, 1);
	disk.sync_error = EIO;
	CU_ASSERT_EQUAL(flush(&self), -EIO);
	CU_ASSERT_EQUAL(flush(&self), -EIO);
	CU_ASSERT_EQUAL(told.restarts, 1);
	CU_ASSERT_EQUAL(told.messages, 1);
	disk.sync_error = 0;
	CU_ASSERT_EQUAL(put(&self, BEGINS "next", SONDE_FIRST), 0);
	CU_ASSERT_EQUAL(files(), 2);
	CU_ASSERT_EQUAL(flush(&self), 0);
	gone(&self);
}

/* How often each policy syncs: three flushes, two segments, one rotation. */
static void sync_policies(void)
{
	static const unsigned syncs[] = {
		[SYNC_NEVER] = 0, [SYNC_FLUSH] = 3 + 2, [SYNC_SEGMENT] = 2 + 2, [SYNC_ROTATE] = 2
	};

	for (uint32_t sync = SYNC_NEVER; sync <= SYNC_ROTATE; sync++) {
		struct sonde_instance self = made("a-%Y.sonde");

		set.sync = sync;
		CU_ASSERT_EQUAL_FATAL(start(&self), 0);
		CU_ASSERT_EQUAL(choose_assertion(&self),
				sync == SYNC_FLUSH ? SONDE_DURABLE : SONDE_HANDED);
		CU_ASSERT_EQUAL(put(&self, BEGINS, SONDE_FIRST), 0);
		flush(&self);
		CU_ASSERT_EQUAL(put(&self, "x", SONDE_LAST), 0);
		flush(&self);
		CU_ASSERT_EQUAL(reopen(&self), 0);
		CU_ASSERT_EQUAL(put(&self, BEGINS, SONDE_FIRST | SONDE_LAST), 0);
		flush(&self);
		stop(&self);
		CU_ASSERT_EQUAL(disk.syncs, syncs[sync]);
		gone(&self);
	}
}

/* logrotate: renamed, then SIGHUP; whoever does not rename gets a new file as well, and the old one
 * moved aside. */
static void reopening(void)
{
	struct sonde_instance self = made("a.sonde");

	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	CU_ASSERT_EQUAL(put(&self, BEGINS "1", SONDE_FIRST), 0);
	CU_ASSERT_EQUAL(rename(path, strcpy((char[512]) { 0 }, in_folder("a.1"))), 0);
	CU_ASSERT_EQUAL(reopen(&self), 0);
	CU_ASSERT_EQUAL(told.restarts, 1);
	CU_ASSERT_EQUAL(put(&self, "end", SONDE_LAST), 0);
	CU_ASSERT_EQUAL(put(&self, BEGINS "2", SONDE_FIRST), 0);
	CU_ASSERT_STRING_EQUAL(text_of(in_folder("a.1")), BEGINS "1end");
	CU_ASSERT_STRING_EQUAL(text_of(path), BEGINS "2");
	CU_ASSERT_EQUAL(reopen(&self), 0);
	CU_ASSERT_EQUAL(told.restarts, 2);
	CU_ASSERT_EQUAL(put(&self, BEGINS "3", SONDE_FIRST), 0);
	CU_ASSERT_STRING_EQUAL(text_of(path), BEGINS "3");
	CU_ASSERT_EQUAL(files(), 3);
	gone(&self);
}

/* Group root is 0 everywhere; 0640 then. An unknown group is refused by name. */
static void group(void)
{
	struct sonde_instance self = made("a.sonde");
	char own[32];
	struct stat st;

	snprintf(own, sizeof own, "%u", (unsigned)getegid());
	set.group = own;
	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	CU_ASSERT_EQUAL(put(&self, BEGINS, SONDE_FIRST), 0);
	CU_ASSERT_EQUAL(stat(path, &st), 0);
	CU_ASSERT_EQUAL(st.st_mode & 0777, 0640);
	CU_ASSERT_EQUAL(st.st_gid, getegid());
	gone(&self);
	self = made("a.sonde");
	set.group = "no such group";
	CU_ASSERT_EQUAL(start(&self), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(told.log, "group = no such group"));
	gone(&self);
}

/* fifo(7): without a reader ENXIO, tried again; with one the bytes come through; without one again
 * another stream is begun. */
static void fifo(void)
{
	struct sonde_instance self = made("fifo");
	char got[16];
	int reader;

	signal(SIGPIPE, SIG_IGN);
	CU_ASSERT_EQUAL_FATAL(mkfifo(path, 0600), 0);
	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	CU_ASSERT_EQUAL(put(&self, BEGINS, SONDE_FIRST), -EAGAIN);
	CU_ASSERT_EQUAL(put(&self, BEGINS, SONDE_FIRST), -EAGAIN);
	CU_ASSERT_EQUAL(told.messages, 1);
	reader = open(path, O_RDONLY | O_NONBLOCK);
	CU_ASSERT_FATAL(reader >= 0);
	CU_ASSERT_EQUAL(put(&self, BEGINS, SONDE_FIRST), 0);
	CU_ASSERT_EQUAL(put(&self, "x", SONDE_LAST), 0);
	CU_ASSERT_EQUAL(read(reader, got, sizeof got), 5);
	close(reader);
	CU_ASSERT_EQUAL(put(&self, "y", 0), -EPIPE);
	CU_ASSERT_EQUAL(told.restarts, 1);
	CU_ASSERT_EQUAL(put(&self, "z", 0), -EIO); /* the rest of a stream that has no beginning */
	CU_ASSERT_EQUAL(told.restarts, 1);
	CU_ASSERT_EQUAL(put(&self, BEGINS, SONDE_FIRST), -EAGAIN);
	CU_ASSERT_EQUAL(files(), 1);
	gone(&self);
}

CU_TestInfo tests[] = {
	{ "names", names },
	{ "names refused", names_refused },
	{ "names of others", names_of_others },
	{ "writes", writes },
	{ "never over a recording", never_over },
	{ "never over a dated file", dated_never_over },
	{ "suffixes grow", suffixes_grow },
	{ "others' files are safe", others_are_safe },
	{ "rotation by size", rotation_by_size },
	{ "rotation by age", rotation_by_age },
	{ "cap", cap },
	{ "cap without room", cap_without_room },
	{ "disk full", disk_full },
	{ "full at first", full_at_first },
	{ "file too big", file_too_big },
	{ "sync fails", sync_fails },
	{ "sync policies", sync_policies },
	{ "reopening", reopening },
	{ "group", group },
	{ "fifo", fifo },
	CU_TEST_INFO_NULL,
};
