/* file: recordings in a folder, one after the other (docs/format.md; open(2), fsync(2), rename(2)).
 * Never over another file; a full disk leaves a readable file and is waited out. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sonde/plugin.h>

#include "folder.h"

enum sync { SYNC_NEVER, SYNC_FLUSH, SYNC_SEGMENT, SYNC_ROTATE };

struct conf {
	const char *path, *group;
	uint64_t rotate_size, rotate_age, disk_cap;
	uint32_t sync;
};

struct state {
	struct name name;
	int folder;              /* of the name; descriptor + 1, so that zeroed is none */
	int file;                /* likewise */
	bool pipe;               /* a FIFO or a device: it can neither be cut nor rotated */
	bool restarting;         /* what comes next is a stream of its own, as asked for */
	int said;                /* errno of the trouble that the log has been told of; 0: none */
	gid_t group;             /* of new files, where conf->group */
	ino_t inode;             /* of the file */
	uint64_t length;         /* of whole writes: where the next one goes */
	uint64_t opened;         /* CLOCK_BOOTTIME, ns */
	uint64_t others;         /* bytes of our other files, for the disk cap */
	char path[NAME_MAX + 1]; /* of the file, in the folder */
};

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The next bytes shall begin a file. */
static void ask_restart(struct sonde_instance *self)
{
	struct state *state = self->state;

	if (state->restarting)
		return;
	state->restarting = true;
	sonde_restart(self);
}

/* Once for each kind of trouble, until it is over. `then`: what becomes of it, "" or behind "; ". */
static int trouble(struct sonde_instance *self, int err, const char *what, const char *then)
{
	struct state *state = self->state;

	if (state->said != err)
		sonde_log(self, SONDE_WARNING, "%s/%s: %s: %s%s", state->name.folder, state->path,
			  what, strerror(err), then);
	state->said = err;
	return -err;
}

static void trouble_over(struct sonde_instance *self)
{
	struct state *state = self->state;

	if (state->said)
		sonde_log(self, SONDE_NOTICE, "%s/%s: writing again", state->name.folder,
			  state->path);
	state->said = 0;
}

/* What cannot be kept is said; a file whose bytes the disk may have lost is not gone on with
 * (fsync(2): the error comes once). */
static int sync_file(struct sonde_instance *self)
{
	struct state *state = self->state;

	if (!state->file || state->pipe || fdatasync(state->file - 1) == 0)
		return 0;
	ask_restart(self);
	return trouble(self, errno, "fsync",
		       "; its last seconds may be lost; going on in another file");
}

static void close_file(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;

	if (!state->file)
		return;
	if (conf->sync != SYNC_NEVER)
		sync_file(self);
	if (close(state->file - 1) && errno != EINTR)
		trouble(self, errno, "close", "; its last seconds may be lost");
	state->file = 0;
}

/* Private, but for the group that the configuration names. */
static int give_to_group(const struct state *state, const struct conf *conf, int fd)
{
	if (!*conf->group)
		return 0;
	return fchown(fd, (uid_t)-1, state->group) || fchmod(fd, 0640) ? -errno : 0;
}

static int open_regular(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	int fd = folder_create(state->folder - 1, &state->name, time(NULL), state->path);
	struct stat st;
	int err;

	if (fd < 0)
		return fd;
	err = give_to_group(state, conf, fd);
	if (!err && fstat(fd, &st))
		err = -errno;
	if (!err && conf->sync != SYNC_NEVER && fsync(state->folder - 1))
		err = -errno;
	if (err) {
		/* Nothing is in it yet; the next attempt makes another. */
		unlinkat(state->folder - 1, state->path, 0);
		close(fd);
		return err;
	}
	state->inode = st.st_ino;
	if (conf->disk_cap)
		state->others = folder_bytes(state->folder - 1, &state->name, st.st_ino);
	return fd;
}

/* Not waiting for a reader: ENXIO is tried again. */
static int open_pipe(const struct state *state)
{
	int fd = openat(state->folder - 1, state->path,
			O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return -errno;
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return fd;
}

static int open_file(struct sonde_instance *self)
{
	struct state *state = self->state;
	int fd = state->pipe ? open_pipe(state) : open_regular(self);

	if (fd < 0) {
		trouble(self, -fd, "cannot be opened", "");
		return state->pipe ? -EAGAIN : -ENOSPC;
	}
	state->file = fd + 1;
	state->restarting = false;
	state->length = 0;
	state->opened = now();
	sonde_log(self, SONDE_DEBUG, "writing %s/%s", state->name.folder, state->path);
	return 0;
}

/* Makes room for `more` bytes under the cap. What cannot be deleted is the file itself: then it
 * shall be rotated. */
static void keep_cap(struct sonde_instance *self, uint64_t more)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	uint64_t own = state->length + more;

	if (!conf->disk_cap || state->pipe || own + state->others <= conf->disk_cap)
		return;
	state->others = folder_trim(state->folder - 1, &state->name, state->inode,
				    own < conf->disk_cap ? conf->disk_cap - own : 0);
}

static int write_whole(const struct state *state, const char *bytes, uint64_t length)
{
	uint64_t done = 0;

	while (done < length) {
		ssize_t n = state->pipe ? write(state->file - 1, bytes + done, length - done)
					: pwrite(state->file - 1, bytes + done, length - done,
						 (off_t)(state->length + done));

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return -EIO;
		if (n > 0)
			done += (uint64_t)n;
	}
	return 0;
}

/* The file is cut to its last whole write, so that it can be read; where room may come, an agent
 * offers the same bytes again. */
static int write_failed(struct sonde_instance *self, int err)
{
	struct state *state = self->state;

	if (state->pipe) {
		trouble(self, err, "write", "; opening it again");
		close_file(self);
		ask_restart(self);
		return -err;
	}
	if (ftruncate(state->file - 1, (off_t)state->length))
		sonde_log(self, SONDE_DEBUG, "%s: ftruncate: %s", state->path, strerror(errno));
	if (err == ENOSPC || err == EDQUOT || err == EIO) {
		trouble(self, err, "write", "; the file stays readable");
		return -ENOSPC;
	}
	ask_restart(self);
	return trouble(self, err, "write", "; going on in another file");
}

static bool rotation_due(const struct state *state, const struct conf *conf)
{
	/* Under a cap alone, the file is one of four: three quarters of what the cap allows are
	 * kept. */
	uint64_t size = conf->rotate_size ? conf->rotate_size : conf->disk_cap / 4;

	if (state->pipe)
		return false;
	return (size && state->length >= size) ||
	       (conf->rotate_age && now() - state->opened >= conf->rotate_age);
}

static int bytes(struct sonde_instance *self, const void *data, uint64_t length, uint32_t flags)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	int err;

	/* The first bytes of a file that is still empty are those that did not fit before. */
	if (flags & SONDE_FIRST && (!state->file || state->length)) {
		close_file(self);
		err = open_file(self);
		if (err)
			return err;
	}
	if (!state->file) {
		ask_restart(self);
		return -EIO;
	}
	keep_cap(self, length);
	err = write_whole(state, data, length);
	if (err)
		return write_failed(self, -err);
	state->length += length;
	trouble_over(self);
	if (rotation_due(state, conf))
		ask_restart(self);
	return flags & SONDE_LAST && conf->sync == SYNC_SEGMENT ? sync_file(self) : 0;
}

static int flush(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;

	return conf->sync == SYNC_FLUSH ? sync_file(self) : 0;
}

/* Always: whoever renames the file and sends SIGHUP has it to himself from the next segment on. */
static int reopen(struct sonde_instance *self)
{
	ask_restart(self);
	return 0;
}

static uint32_t choose_assertion(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;

	return conf->sync == SYNC_FLUSH ? SONDE_DURABLE : SONDE_HANDED;
}

static int refuse(struct sonde_instance *self, int err, const char *why)
{
	const struct conf *conf = self->conf;

	sonde_log(self, SONDE_ERROR, "path = %s: %s", conf->path, why);
	return -err;
}

static int find_group(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	struct group group, *found = NULL;
	char buffer[4096];
	char *end;

	if (!*conf->group)
		return 0;
	getgrnam_r(conf->group, &group, buffer, sizeof buffer, &found);
	state->group = found ? found->gr_gid : (gid_t)strtoul(conf->group, &end, 10);
	if (found || !*end)
		return 0;
	sonde_log(self, SONDE_ERROR, "group = %s: there is no such group", conf->group);
	return -EINVAL;
}

static int open_folder(struct sonde_instance *self)
{
	struct state *state = self->state;
	int fd = open(state->name.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		state->folder = fd + 1;
		return 0;
	}
	return refuse(self, errno,
		      errno == ENOENT ? "its folder is not there: make it first" : strerror(errno));
}

static int look_at_path(struct sonde_instance *self)
{
	struct state *state = self->state;
	enum standing standing = STANDS_NOTHING;

	if (!name_make(&state->name, time(NULL), 0, state->path))
		return refuse(self, EINVAL, "its name is longer than 255 bytes");
	if (state->name.fixed)
		standing = folder_standing(state->folder - 1, state->path);
	state->pipe = standing == STANDS_PIPE;
	if (standing == STANDS_OTHER)
		return refuse(self, EEXIST,
			      "something that is not a recording is there; choose another name");
	if (standing == STANDS_SECRET)
		return refuse(self, EACCES,
			      "a file is there that you may not read; choose another name");
	if ((state->pipe || standing == STANDS_EMPTY) &&
	    faccessat(state->folder - 1, state->path, W_OK, AT_EACCESS))
		return refuse(self, errno,
			      "you may not write to what is there; choose another name");
	if (!state->pipe && faccessat(state->folder - 1, ".", W_OK | X_OK, AT_EACCESS))
		return refuse(self, errno, "no file can be made in its folder");
	return 0;
}

static int start(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	char why[256];
	int err = name_parse(&state->name, conf->path, self->header->host, why, sizeof why);

	if (err)
		return refuse(self, -err, why);
	if (conf->disk_cap && conf->rotate_size > conf->disk_cap) {
		sonde_log(self, SONDE_ERROR,
			  "rotate_size is larger than disk_cap: no file would stay");
		return -EINVAL;
	}
	err = find_group(self);
	if (!err)
		err = open_folder(self);
	return err ? err : look_at_path(self);
}

static void stop(struct sonde_instance *self)
{
	struct state *state = self->state;

	close_file(self);
	if (state->folder)
		close(state->folder - 1);
	state->folder = 0;
}

/* A start only looks: files are made when there is something to write. */
static int check(struct sonde_instance *self)
{
	int err = start(self);

	stop(self);
	return err;
}

/* clang-format off */
static const struct sonde_option options[] = {
	{ "path", SONDE_OPT_STRING, offsetof(struct conf, path), "sonde-%h-%Y%m%d-%H%M%S.sonde",
	  .help = "the file; %Y %m %d %H %M %S are local time, %h is the host, %% a percent sign" },
	{ "rotate_size", SONDE_OPT_SIZE, offsetof(struct conf, rotate_size), "0",
	  .help = "go on in another file at this size; 0: never" },
	{ "rotate_age", SONDE_OPT_DURATION, offsetof(struct conf, rotate_age), "0s",
	  .help = "go on in another file after this time; 0s: never" },
	{ "disk_cap", SONDE_OPT_SIZE, offsetof(struct conf, disk_cap), "0",
	  .help = "this sink's files together; the oldest are deleted; 0: no bound" },
	{ "fsync", SONDE_OPT_CHOICE, offsetof(struct conf, sync), "rotate",
	  .choices = "never|flush|segment|rotate",
	  .help = "when fsync(2) is called; with flush, delivered means durable" },
	{ "group", SONDE_OPT_STRING, offsetof(struct conf, group), "",
	  .help = "this group may read the files (mode 0640); without it 0600" },
};
/* clang-format on */

static const struct sonde_sink_ops ops = {
	.intake = SONDE_TAKES_STREAM,
	.assertion = SONDE_HANDED,
	.bytes = bytes,
	.flush = flush,
	.reopen = reopen,
	.choose_assertion = choose_assertion,
};

SONDE_SINK(file, "recordings in a folder, rotated by size and age", ops,
	   .options = SONDE_OPTIONS(options), .conf_size = sizeof(struct conf),
	   .state_size = sizeof(struct state), .check = check, .start = start, .stop = stop);
