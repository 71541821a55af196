/* The file service: whole files whatever their size and kind, lists in order, budgets, roots. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/files.h"
#include "test.h"

const char suite[] = "file";

static char folder[] = "/tmp/sonde-file-test-XXXXXX";

static void put(const char *name, const char *text, size_t length)
{
	char path[256];
	int fd;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	CU_ASSERT_FATAL(fd >= 0 && write(fd, text, length) == (ssize_t)length);
	close(fd);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

static void remove_folder(void)
{
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_folder(void)
{
	static bool made;

	if (made)
		return;
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	made = true;
	atexit(remove_folder);
}

/* read(2) until it says 0: what the file service is compared with. */
static size_t read_plainly(const char *path, char *buffer, size_t size)
{
	int fd = open(path, O_RDONLY);
	size_t length = 0;
	ssize_t n;

	CU_ASSERT_FATAL(fd >= 0);
	while ((n = read(fd, buffer + length, size - length)) > 0)
		length += (size_t)n;
	close(fd);
	return length;
}

/* A file that grows between reads, past every buffer, and shrinks again. */
static void growth(void)
{
	static char text[300000];
	struct files files;
	struct sonde_file *file;
	char path[256];
	const char *read;

	make_folder();
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (char)('a' + i % 26);
	put("grows", text, 10);
	snprintf(path, sizeof path, "%s/grows", folder);
	CU_ASSERT_FATAL(files_open(&files, "") == 0);
	file = file_open(&files, SONDE_KEEP, path);
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	for (size_t size = 1; size < sizeof text; size = size * 3 + 1) {
		put("grows", text, size);
		CU_ASSERT_EQUAL(file_read(file, &read), (int64_t)size);
		CU_ASSERT_EQUAL(memcmp(read, text, size), 0);
		CU_ASSERT_EQUAL(read[size], 0);
	}
	put("grows", text, 0);
	CU_ASSERT_EQUAL(file_read(file, &read), 0);
	CU_ASSERT_STRING_EQUAL(read, "");
	file_close(file);
	files_close(&files);
}

/* /proc/kallsyms comes in pages, each short of a page (seq_file.rst): megabytes must be whole, kept or not. */
static void pages_of_procfs(void)
{
	static const char *const paths[] = { "/proc/kallsyms", "/proc/self/smaps",
					     "/proc/interrupts", "/proc/vmstat", "/proc/cpuinfo" };
	static char plain[64 << 20];
	struct files files;
	const char *text;

	CU_ASSERT_FATAL(files_open(&files, "") == 0);
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		for (uint32_t mode = SONDE_KEEP; mode <= SONDE_FRESH; mode++) {
			struct sonde_file *file = file_open(&files, mode, paths[i]);
			size_t length;

			if (!file)
				continue; /* this kernel has no such file */
			for (int again = 0; again < 3; again++) {
				int64_t read = file_read(file, &text);
				size_t lines = 0, plain_lines = 0;

				length = read_plainly(paths[i], plain, sizeof plain);
				CU_ASSERT_FATAL(read > 0);
				for (int64_t at = 0; at < read; at++)
					lines += text[at] == '\n';
				for (size_t at = 0; at < length; at++)
					plain_lines += plain[at] == '\n';
				/* Memory maps change while they are read. */
				CU_ASSERT(lines + 40 >= plain_lines && plain_lines + 40 >= lines);
			}
			file_close(file);
		}
	}
	files_close(&files);
}

static void errors(void)
{
	struct files files;
	const char *names;
	struct sonde_file *file;
	const char *text;

	make_folder();
	CU_ASSERT_FATAL(files_open(&files, "") == 0);
	CU_ASSERT_PTR_NULL(file_open(&files, SONDE_KEEP, "/nonexistent"));
	CU_ASSERT_EQUAL(errno, ENOENT);
	CU_ASSERT_PTR_NULL(file_open(&files, SONDE_KEEP, "relative"));
	CU_ASSERT_EQUAL(errno, EINVAL);
	CU_ASSERT_EQUAL(file_list(&files, "/nonexistent", &names), -ENOENT);
	CU_ASSERT_EQUAL(file_list(&files, "/proc/stat", &names), -ENOTDIR);
	file = file_open(&files, SONDE_KEEP, folder);
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_EQUAL(file_read(file, &text), -EISDIR);
	files_close(&files);
	CU_ASSERT_EQUAL(files_open(&files, "/nonexistent"), -ENOENT);
}

/* Numbers by value before names; runs of digits in names by value too. */
static void lists(void)
{
	static const char *const made[] = {
		"cpu10", "9", "cpu9", "100", "cpufreq", "10", "b", "a"
	};
	static const char *const sorted[] = {
		"9", "10", "100", "a", "b", "cpu9", "cpu10", "cpufreq"
	};
	struct files files;
	const char *names;
	char path[256];

	make_folder();
	snprintf(path, sizeof path, "%s/list", folder);
	CU_ASSERT_FATAL(mkdir(path, 0700) == 0);
	for (size_t i = 0; i < 8; i++) {
		snprintf(path, sizeof path, "list/%s", made[i]);
		put(path, "", 0);
	}
	CU_ASSERT_FATAL(files_open(&files, folder) == 0);
	CU_ASSERT_EQUAL_FATAL(file_list(&files, "/list", &names), 8);
	for (size_t i = 0; i < 8; i++) {
		CU_ASSERT_STRING_EQUAL(names, sorted[i]);
		names += strlen(names) + 1;
	}
	/* With a slash behind it, folders alone. */
	CU_ASSERT_EQUAL(file_list(&files, "/list/", &names), 0);
	snprintf(path, sizeof path, "%s/list/inner", folder);
	CU_ASSERT_FATAL(mkdir(path, 0700) == 0);
	CU_ASSERT_EQUAL(file_list(&files, "/list/", &names), 1);
	CU_ASSERT_STRING_EQUAL(names, "inner");
	CU_ASSERT_EQUAL(file_list(&files, "/list", &names), 9);
	files_close(&files);
}

/* A thousand entries take several calls of getdents64(2). */
static void long_lists(void)
{
	struct files files;
	const char *names;
	char path[256];

	make_folder();
	snprintf(path, sizeof path, "%s/long", folder);
	CU_ASSERT_FATAL(mkdir(path, 0700) == 0);
	for (int i = 0; i < 1000; i++) {
		snprintf(path, sizeof path, "long/%d", (i * 7919) % 1000);
		put(path, "", 0);
	}
	CU_ASSERT_FATAL(files_open(&files, folder) == 0);
	CU_ASSERT_EQUAL_FATAL(file_list(&files, "/long", &names), 1000);
	for (int i = 0; i < 1000; i++) {
		CU_ASSERT_EQUAL(atoi(names), i);
		names += strlen(names) + 1;
	}
	files_close(&files);
}

static int count_fds(void)
{
	struct files files;
	const char *names;
	int64_t count;

	CU_ASSERT_FATAL(files_open(&files, "") == 0);
	count = file_list(&files, "/proc/self/fd", &names);
	files_close(&files);
	return (int)count;
}

/* Past the budget a process's or cgroup's file is opened at each read, and reads the same; system files do not count. */
static void budget(void)
{
	struct sonde_file *kept[8], *system;
	char path[64];
	struct files files;
	const char *text;
	int before;

	CU_ASSERT_FATAL(files_open(&files, "") == 0);
	before = count_fds();
	files_budget(3);
	CU_ASSERT_EQUAL(files_kept(), 3);
	snprintf(path, sizeof path, "/proc/%d/stat", (int)getpid());
	for (int i = 0; i < 8; i++)
		kept[i] = file_open(&files, SONDE_KEEP, path);
	system = file_open(&files, SONDE_KEEP, "/proc/loadavg");
	/* The others wait for their first read, which needs no second open(2) then. */
	CU_ASSERT_EQUAL(count_fds(), before + 8 + 1);
	for (int i = 0; i < 8; i++) {
		CU_ASSERT_FATAL(file_read(kept[i], &text) > 0);
		CU_ASSERT_EQUAL(atoi(text), (int)getpid());
	}
	CU_ASSERT_EQUAL(count_fds(), before + 3 + 1);
	/* A place that becomes free is taken by the next that is read. */
	file_close(kept[0]);
	CU_ASSERT_EQUAL(count_fds(), before + 2 + 1);
	CU_ASSERT(file_read(kept[7], &text) > 0);
	CU_ASSERT_EQUAL(count_fds(), before + 3 + 1);
	CU_ASSERT(file_read(system, &text) > 0);
	/* So do a cgroup's, wherever these are mounted. */
	make_folder();
	put("cpu.stat", "usage_usec 7\n", 13);
	snprintf(path, sizeof path, "%s/cpu.stat", folder);
	kept[0] = file_open(&files, SONDE_KEEP, path);
	CU_ASSERT_EQUAL(file_read(kept[0], &text), 13);
	CU_ASSERT_EQUAL(file_read(kept[0], &text), 13);
	CU_ASSERT_EQUAL(count_fds(), before + 3 + 1);
	files_close(&files);
	CU_ASSERT_EQUAL(count_fds(), before);
	files_budget(1024);
}

/* Two that keep processes' files have half of the budget each; what one had more than that it may keep. */
static void shares(void)
{
	struct sonde_file *kept[2][8];
	struct files files[2];
	char path[64];
	const char *text;
	int before = count_fds();

	files_budget(6);
	snprintf(path, sizeof path, "/proc/%d/stat", (int)getpid());
	for (int k = 0; k < 2; k++) {
		CU_ASSERT_FATAL(files_open(&files[k], "") == 0);
		for (int i = 0; i < 8; i++) {
			kept[k][i] = file_open(&files[k], SONDE_KEEP, path);
			CU_ASSERT_FATAL(file_read(kept[k][i], &text) > 0);
		}
	}
	CU_ASSERT_EQUAL(files_kept(), 3);
	CU_ASSERT_EQUAL(count_fds(), before + 6);
	for (int i = 0; i < 8; i++)
		file_close(kept[0][i]);
	for (int k = 1; k >= 0; k--) {
		for (int i = 0; k == 0 && i < 8; i++)
			kept[k][i] = file_open(&files[k], SONDE_KEEP, path);
		for (int i = 0; i < 8; i++)
			CU_ASSERT_FATAL(file_read(kept[k][i], &text) > 0);
	}
	CU_ASSERT_EQUAL(files[0].kept, 3);
	CU_ASSERT_EQUAL(files[1].kept, 3);
	CU_ASSERT_EQUAL(count_fds(), before + 6);
	files_close(&files[1]);
	CU_ASSERT_EQUAL(files_kept(), 6);
	files_close(&files[0]);
	CU_ASSERT_EQUAL(count_fds(), before);
	files_budget(1024);
}

/* A fresh file is opened for each read; for the first one it is open already. */
static void fresh(void)
{
	struct sonde_file *file;
	struct files files;
	const char *text;
	char path[256], new_path[256];

	make_folder();
	put("fresh", "old", 3);
	put("new", "new", 3);
	snprintf(path, sizeof path, "%s/fresh", folder);
	snprintf(new_path, sizeof new_path, "%s/new", folder);
	CU_ASSERT_FATAL(files_open(&files, "") == 0);
	file = file_open(&files, SONDE_FRESH, path);
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_FATAL(rename(new_path, path) == 0);
	CU_ASSERT_EQUAL(file_read(file, &text), 3);
	CU_ASSERT_STRING_EQUAL(text, "old");
	CU_ASSERT_EQUAL(file_read(file, &text), 3);
	CU_ASSERT_STRING_EQUAL(text, "new");
	CU_ASSERT_FATAL(unlink(path) == 0);
	CU_ASSERT_EQUAL(file_read(file, &text), -ENOENT);
	files_close(&files);
}

/* Memory is not given to a file of any size; what comes after it is read as ever. */
static void too_large(void)
{
	struct sonde_file *file;
	struct files files;
	const char *text;
	char path[256];

	make_folder();
	put("large", "", 0);
	snprintf(path, sizeof path, "%s/large", folder);
	CU_ASSERT_FATAL(files_open(&files, "") == 0);
	file = file_open(&files, SONDE_KEEP, path);
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_FATAL(truncate(path, 63 << 20) == 0);
	CU_ASSERT_EQUAL(file_read(file, &text), 63 << 20);
	CU_ASSERT_FATAL(truncate(path, 64 << 20) == 0);
	CU_ASSERT_EQUAL(file_read(file, &text), -EFBIG);
	put("large", "small", 5);
	CU_ASSERT_EQUAL(file_read(file, &text), 5);
	CU_ASSERT_STRING_EQUAL(text, "small");
	files_close(&files);
}

/* Links inside a root stay inside, and PID 1 of the tree stands for the asker. */
static void roots(void)
{
	struct sonde_file *file;
	char path[256];
	struct files files;
	const char *text;

	make_folder();
	snprintf(path, sizeof path, "%s/proc", folder);
	CU_ASSERT_FATAL(mkdir(path, 0700) == 0);
	snprintf(path, sizeof path, "%s/proc/1", folder);
	CU_ASSERT_FATAL(mkdir(path, 0700) == 0);
	put("proc/1/mounts", "of init", 7);
	put("secret", "inside", 6);
	snprintf(path, sizeof path, "%s/proc/link", folder);
	CU_ASSERT_FATAL(symlink("../../../../secret", path) == 0);
	CU_ASSERT_FATAL(files_open(&files, folder) == 0);
	file = file_open(&files, SONDE_FRESH, "/proc/link");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_EQUAL(file_read(file, &text), 6);
	CU_ASSERT_STRING_EQUAL(text, "inside");
	file = file_open(&files, SONDE_KEEP, "/proc/mounts");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT(file_read(file, &text) > 0);
	CU_ASSERT_STRING_EQUAL(text, "of init");
	CU_ASSERT_PTR_NULL(file_open(&files, SONDE_KEEP, "/etc/passwd"));
	files_close(&files);
}

/* A long file in parts: each ends with a line, and all of them are the file; then it begins anew. */
static void parts(void)
{
	static char text[300000], whole[sizeof text];
	struct files files;
	struct sonde_file *file;
	char path[256];
	const char *part;
	int64_t n;

	make_folder();
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = i % 97 == 96 ? '\n' : (char)('a' + i % 26);
	put("parts", text, sizeof text); /* the last line has no end */
	CU_ASSERT_EQUAL(files_open(&files, ""), 0);
	snprintf(path, sizeof path, "%s/parts", folder);
	file = file_open(&files, SONDE_FRESH, path);
	for (int times = 0; times < 2; times++) {
		size_t length = 0;

		while ((n = file_read_lines(file, 10000, &part)) > 0) {
			CU_ASSERT_FATAL(length + (size_t)n <= sizeof whole);
			memcpy(whole + length, part, (size_t)n);
			length += (size_t)n;
			CU_ASSERT(part[n - 1] == '\n' || length == sizeof text);
			CU_ASSERT(length < sizeof text || n < 200000);
		}
		CU_ASSERT_EQUAL(n, 0);
		CU_ASSERT_EQUAL(length, sizeof text);
		CU_ASSERT_EQUAL(memcmp(whole, text, sizeof text), 0);
	}
	/* One that is closed halfway leaves no descriptor behind. */
	CU_ASSERT(file_read_lines(file, 10000, &part) > 0);
	file_close(file);
	put("parts", text, 96 * 3); /* without any line at all: as long as it fits */
	file = file_open(&files, SONDE_FRESH, path);
	CU_ASSERT_EQUAL(file_read_lines(file, 1, &part), 96 * 3);
	file_close(file);
	files_close(&files);
}

/* procfs, beside plain reads: records whole, none twice. */
static void parts_of_procfs(void)
{
	static char plain[1 << 20], whole[1 << 20];
	struct files files;
	struct sonde_file *file;
	size_t length = 0, said;
	const char *part;
	int64_t n;

	CU_ASSERT_EQUAL(files_open(&files, ""), 0);
	file = file_open(&files, SONDE_FRESH, "/proc/filesystems");
	said = read_plainly("/proc/filesystems", plain, sizeof plain);
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	while ((n = file_read_lines(file, 1, &part)) > 0) {
		memcpy(whole + length, part, (size_t)n);
		length += (size_t)n;
		CU_ASSERT_EQUAL(part[n - 1], '\n');
	}
	CU_ASSERT_EQUAL(n, 0);
	CU_ASSERT_EQUAL(length, said);
	CU_ASSERT_EQUAL(memcmp(whole, plain, length), 0);
	file_close(file);
	files_close(&files);
}

CU_TestInfo tests[] = {
	{ "a file in parts", parts },
	{ "procfs in parts", parts_of_procfs },
	{ "a file that grows and shrinks", growth },
	{ "procfs gives pages", pages_of_procfs },
	{ "errors are kept", errors },
	{ "lists are sorted", lists },
	{ "long lists", long_lists },
	{ "descriptors of processes have a budget", budget },
	{ "the budget is shared", shares },
	{ "fresh files", fresh },
	{ "too large", too_large },
	{ "roots", roots },
	CU_TEST_INFO_NULL,
};
