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

struct recording {
	char **files;
	size_t nfiles, next;
	int fd;
	const struct reader_state *follow; /* NULL: the end of the file is the end */
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
	ok = S_ISDIR(st.st_mode) ? add_folder(recording, path) : add_file(recording, "", path);
	if (!ok)
		cli_error(EXIT_FAILED, "%s: %s", path, strerror(errno));
	else if (!recording->nfiles)
		cli_error(EXIT_FAILED, "%s: no file in this folder ends in .sonde", path);
	return ok && recording->nfiles;
}

static bool open_next(struct recording *recording)
{
	const char *path = recording->files[recording->next++];

	recording->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (recording->fd < 0)
		cli_error(EXIT_FAILED, "%s: %s", path, strerror(errno));
	return recording->fd >= 0;
}

struct recording *recording_open(const char *path)
{
	struct recording *recording = calloc(1, sizeof *recording);

	if (!recording)
		return NULL;
	recording->fd = -1;
	if (!find_files(recording, path) || (recording->fd < 0 && !open_next(recording))) {
		recording_close(recording);
		return NULL;
	}
	return recording;
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
		if (recording->next < recording->nfiles) {
			close(recording->fd);
			if (!open_next(recording))
				return -EIO;
		} else if (recording->follow && !recording->follow->ended &&
			   recording->fd != STDIN_FILENO) {
			if (nanosleep(&pause, NULL))
				return 0; /* a signal: what is there was all */
		} else {
			return 0;
		}
	}
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

/* As lseek(2); rotated files and pipes have no one offset. */
static int64_t seek(void *context, int64_t offset, int whence)
{
	const struct recording *recording = context;
	off_t at = recording->nfiles == 1 ? lseek(recording->fd, offset, whence) : -1;

	return at >= 0 ? at : recording->nfiles == 1 ? -errno : -ESPIPE;
}

struct reader *recording_reader(struct recording *recording, uint64_t since, uint64_t until)
{
	const struct reader_options options = {
		.read = read_on, .seek = seek, .context = recording, .since = since, .until = until
	};
	struct reader *reader = reader_new(&options);

	if (!reader)
		cli_error(EXIT_FAILED, "%s", strerror(ENOMEM));
	return reader;
}

/* What a reader noticed, where it is worth a line on stderr: the report has the rest. */
static int complain(const char *path, const struct reading *reading,
		    const struct reader_state *state)
{
	if (!state->instants && !state->damaged && (reading->since || reading->until))
		return cli_error(EXIT_FAILED, "%s: no instant lies in this stretch of time", path);
	if (!state->instants)
		return cli_error(EXIT_FAILED, "%s: %s", path,
				 state->damaged ? state->damage : "nothing in it can be read");
	if (state->damaged)
		cli_error(EXIT_DONE, "%s: %s at byte %llu: what was whole behind it was read", path,
			  state->damage, (unsigned long long)state->damage_at);
	if (state->torn)
		cli_error(EXIT_DONE, "%s: its last %llu bytes are not whole, as after a crash",
			  path, (unsigned long long)state->torn);
	return EXIT_DONE;
}

static int run(struct recording *recording, const char *path, struct config *config,
	       const struct reading *reading)
{
	struct pipeline_options options = { .reparse = reading->reparse };
	struct pipeline *pipeline = NULL;
	struct reader *reader = recording_reader(recording, reading->since, reading->until);
	int status = EXIT_FAILED;
	int err;

	if (!reader)
		return status;
	if (reading->follow)
		recording->follow = reader_state(reader);
	err = pipeline_open(config, &options, &pipeline);
	if (!err)
		err = reading->reparse ? pipeline_reparse(pipeline, reader)
				       : pipeline_replay(pipeline, reader);
	if (config->nerrors)
		cli_config_errors(config);
	else if (err == -EBADMSG)
		cli_error(status, "%s: not a recording of sonde", path);
	else if (err && err != -EPIPE)
		cli_error(status, "%s: %s", path, strerror(-err));
	else
		status = complain(path, reading, reader_state(reader));
	pipeline_close(pipeline);
	reader_free(reader);
	return status;
}

int recording_run(const char *path, const char *text, const struct reading *reading)
{
	struct recording *recording = recording_open(path);
	struct config config = { 0 };
	int status = EXIT_FAILED;

	if (recording && config_read_text(&config, cli_verb, text))
		cli_config_errors(&config);
	else if (recording)
		status = run(recording, path, &config, reading);
	recording_close(recording);
	config_free(&config);
	return status;
}
