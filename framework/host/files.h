/* The file service: the only door to /proc and /sys (proc(5), openat2(2)). One for each instance, used by one thread. */
#ifndef HOST_FILES_H
#define HOST_FILES_H

#include <sonde/host.h>

struct files {
	const char *root; /* "" or a prefix without a slash at its end */
	int root_fd;      /* -1 without a root */
	char *text;       /* what was read last */
	size_t size;
	char *names; /* what was listed last */
	size_t names_size;
	char *entries; /* raw directory entries, several calls' worth */
	size_t entries_size;
	struct file_name *sorted;
	size_t sorted_size;
	struct sonde_file *free;
	struct file_chunk *chunks; /* memory of all its files */
	uint32_t nfiles, nfree;
	uint32_t kept; /* descriptors of files of processes and cgroups */
	bool shares;   /* has had any: the budget is divided */
};

/* 0, or a negative errno where the root can't be opened. */
int files_open(struct files *files, const char *root);

/* Closes every file that is open yet. */
void files_close(struct files *files);

/* The services of <sonde/host.h>, by the same rules. file_open() returns NULL and sets errno. A file or a list of 64 MiB
 * and more is -EFBIG. */
struct sonde_file *file_open(struct files *files, uint32_t mode, const char *path);
int64_t file_read(struct sonde_file *file, const char **text);
int64_t file_read_lines(struct sonde_file *file, uint64_t limit, const char **text);
void file_close(struct sonde_file *file);
int64_t file_list(struct files *files, const char *path, const char **names);

const char *file_path(const struct sonde_file *file);
struct files *file_owner(const struct sonde_file *file);

/* How many descriptors of files of processes and cgroups may be kept open by all instances together. System files are few and always
 * kept. Raises the soft limit RLIMIT_NOFILE as far as it may, and stays below it. */
void files_budget(uint64_t keep);

/* The share of one instance: the budget is divided among those that have kept any. */
uint32_t files_kept(void);

#endif
