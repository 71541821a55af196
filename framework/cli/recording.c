/* Where a verb's recording comes from: a file, a folder of rotated files read one behind the other, stdin, or a file that
 * still grows. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/recording.h"
#include "host/join.h"

struct recording {
	char **files;
	size_t nfiles, next;
	bool folder;
	int fd;
	const struct reader_state *state; /* of its reader, where the verb tells of damage */
	bool follow;                      /* the end of the last file is not the end */
};

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool add_file(struct recording *recording, const char *folder, const char *name)
{
	char **files = realloc(recording->files, (recording->nfiles + 1) * sizeof *files);
	char *path;

	if (!files)
		return false;
	recording->files = files;
	if (asprintf(&path, "%s%s%s", folder, *folder ? "/" : "", name) < 0)
		return false;
	files[recording->nfiles++] = path;
	return true;
}

/* Dated names sort by time. */
static bool add_folder(struct recording *recording, const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	bool ok = true;

	if (!dir)
		return false;
	while (ok && (entry = readdir(dir))) {
		size_t n = strlen(entry->d_name);

		if (n > 6 && strcmp(entry->d_name + n - 6, ".sonde") == 0)
			ok = add_file(recording, folder, entry->d_name);
	}
	closedir(dir);
	if (recording->nfiles)
		qsort(recording->files, recording->nfiles, sizeof *recording->files, by_name);
	return ok;
}

static bool find_files(struct recording *recording, const char *path)
{
	struct stat st;
	bool ok;

	if (strcmp(path, "-") == 0) {
		recording->fd = STDIN_FILENO;
		return true;
	}
	if (stat(path, &st)) {
		cli_error(EXIT_FAILED, "%s: %s", path, strerror(errno));
		return false;
	}
	recording->folder = S_ISDIR(st.st_mode);
	ok = recording->folder ? add_folder(recording, path) : add_file(recording, "", path);
	if (!ok)
		cli_error(EXIT_FAILED, "%s: %s", path, strerror(errno));
	else if (!recording->nfiles)
		cli_error(EXIT_FAILED, "%s: no file in this folder ends in .sonde", path);
	return ok && recording->nfiles;
}

/* A FIFO would be waited for, and a file that nothing was written to yet is none that is damaged. */
static bool has_bytes(const char *path)
{
	struct stat st;

	return stat(path, &st) || (S_ISREG(st.st_mode) && st.st_size);
}

/* The next file; one that can't be opened is told. */
static bool open_next(struct recording *recording)
{
	recording->fd = -1;
	while (recording->next < recording->nfiles && recording->fd < 0) {
		const char *path = recording->files[recording->next++];

		if (recording->folder && !has_bytes(path))
			continue;
		recording->fd = open(path, O_RDONLY | O_CLOEXEC);
		if (recording->fd < 0)
			cli_error(EXIT_FAILED, "%s: %s", path, strerror(errno));
	}
	return recording->fd >= 0;
}

/* What is being read, for messages. */
static const char *name_of(const struct recording *recording)
{
	return recording->nfiles ? recording->files[recording->next - 1] : "-";
}

struct recording *recording_open(const char *path)
{
	struct recording *recording = calloc(1, sizeof *recording);

	if (!recording)
		return NULL;
	recording->fd = -1;
	if (find_files(recording, path) && (recording->fd >= 0 || open_next(recording)))
		return recording;
	if (recording->next && recording->folder)
		cli_error(EXIT_FAILED, "%s: nothing in this folder can be read", path);
	recording_close(recording);
	return NULL;
}

static int64_t read_on(void *context, void *buffer, size_t size)
{
	static const struct timespec pause = { 0, 100 * 1000000 };
	struct recording *recording = context;

	for (;;) {
		ssize_t n = read(recording->fd, buffer, size);

		if (n > 0)
			return n;
		if (n < 0)
			return errno == EINTR ? 0 : -errno;
		if (!recording->follow || recording->next < recording->nfiles ||
		    recording->state->ended || recording->fd == STDIN_FILENO)
			return 0;
		if (nanosleep(&pause, NULL))
			return 0; /* a signal: what is there was all */
	}
}

/* What a reader noticed, where it is worth a line on stderr: the report has the rest. */
static void complain(const struct recording *recording)
{
	const struct reader_state *state = recording->state;
	const char *path = name_of(recording);

	if (state->damaged)
		cli_error(EXIT_DONE, "%s: %s at byte %llu: %s", path, state->damage,
			  (unsigned long long)state->damage_at,
			  state->lost && state->damaged == 1 ? "nothing behind it could be read"
							     : "what was whole behind it was read");
	if (state->torn)
		cli_error(EXIT_DONE, "%s: its last %llu bytes are not whole, as after a crash",
			  path, (unsigned long long)state->torn);
	/* A name in a damaged block may hold the bytes of a recording, so only who put the files together can tell. */
	if (state->unread_at)
		cli_error(EXIT_DONE,
			  "%s: what looks like another recording begins in that, and was not read; "
			  "if it was put there: tail -c +%llu FILE | sonde %s -",
			  path, (unsigned long long)state->unread_at + 1, cli_verb);
}

/* At the end of a file, or where it can't be read: the next one, as a recording of its own. */
static int next_file(void *context, int end)
{
	struct recording *recording = context;

	if (recording->state && !end)
		complain(recording);
	if (!recording->folder)
		return end;
	if (recording->state && end)
		cli_error(EXIT_DONE, "%s: %s: passed over", name_of(recording),
			  end == -EBADMSG ? "not a recording of sonde" : strerror(-end));
	close(recording->fd);
	return open_next(recording);
}

void recording_close(struct recording *recording)
{
	if (!recording)
		return;
	if (recording->fd > STDIN_FILENO)
		close(recording->fd);
	for (size_t i = 0; i < recording->nfiles; i++)
		free(recording->files[i]);
	free(recording->files);
	free(recording);
}

/* As lseek(2). */
static int64_t seek(void *context, int64_t offset, int whence)
{
	const struct recording *recording = context;
	off_t at = lseek(recording->fd, offset, whence);

	return at >= 0 ? at : -errno;
}

struct reader *recording_reader(struct recording *recording, const struct reading *reading)
{
	static const struct reading all;
	const struct reading *of = reading ? reading : &all;
	const struct reader_options options = {
		.read = read_on,
		.seek = seek,
		.next = next_file,
		.context = recording,
		.since = of->since,
		.until = of->until,
		.standing = of->standing,
	};
	struct reader *reader = reader_new(&options);

	if (!reader)
		cli_error(EXIT_FAILED, "%s", strerror(ENOMEM));
	return reader;
}

static int run(struct recording *recording, const char *path, struct config *config,
	       const struct reading *reading)
{
	struct pipeline_options options = { .reparse = reading->reparse,
					    .judge_every = reading->judge_every,
					    .join = reading->join,
					    .outlet = reading->outlet };
	struct pipeline *pipeline = NULL;
	struct reader *reader = recording_reader(recording, reading);
	int status = EXIT_FAILED;
	int err;

	if (!reader)
		return status;
	recording->state = reader_state(reader);
	recording->follow = reading->follow;
	err = pipeline_open(config, &options, &pipeline);
	if (!err)
		err = pipeline_replay(pipeline, reader);
	if (config->nerrors)
		cli_config_errors(config);
	else if (err && reading->join && *join_why(reading->join))
		cli_error(status, "%s: %s", path, join_why(reading->join));
	else if (err == -EBADMSG)
		cli_error(status, "%s: not a recording of sonde", path);
	else if (err && err != -EPIPE)
		cli_error(status, "%s: %s", path, strerror(-err));
	else if (!reader_state(reader)->instants)
		cli_error(status, "%s: nothing in it can be read", path);
	else
		status = EXIT_DONE;
	pipeline_close(pipeline);
	reader_free(reader);
	return status;
}

int recording_run_fd(int fd, struct config *config, const struct reading *reading)
{
	struct recording recording = { .fd = fd };

	if (lseek(fd, 0, SEEK_SET) < 0)
		return cli_error(EXIT_FAILED, "%s", strerror(errno));
	return run(&recording, "the recording", config, reading);
}

int recording_run(const char *path, struct config *config, const struct reading *reading)
{
	struct recording *recording = recording_open(path);
	int status = EXIT_FAILED;

	if (recording)
		status = run(recording, path, config, reading);
	recording_close(recording);
	return status;
}
