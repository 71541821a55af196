/* What a build that only reads does not have: files of a kernel, workers, sources, raw bytes to parse anew. Sinks and analyzers ask
 * for none of it; who does is told that it is not there. */
#include <errno.h>

#include "core/clock.h"
#include "host/isolated.h"
#include "host/receiver.h"
#include "host/reparse.h"
#include "host/self.h"

int files_open(struct files *files, const char *root)
{
	*files = (struct files) { .root_fd = -1 };
	return *root ? -ENOTSUP : 0;
}

void files_close(struct files *files)
{
	(void)files;
}

uint32_t files_kept(void)
{
	return 0;
}

struct sonde_file *file_open(struct files *files, uint32_t mode, const char *path)
{
	(void)files, (void)mode, (void)path;
	errno = ENOTSUP;
	return NULL;
}

int64_t file_read(struct sonde_file *file, const char **text)
{
	(void)file, (void)text;
	return -ENOTSUP;
}

int64_t file_read_lines(struct sonde_file *file, uint64_t limit, const char **text)
{
	(void)limit;
	return file_read(file, text);
}

void file_close(struct sonde_file *file)
{
	(void)file;
}

int64_t file_list(struct files *files, const char *path, const char **names)
{
	(void)files, (void)path, (void)names;
	return -ENOTSUP;
}

/* Without adjtimex(2) nothing tells how well the wall clock is kept. */
void clock_anchor(struct sonde_anchor *anchor)
{
	clock_read(anchor);
}

const struct plugin *self_plugin(void)
{
	return NULL;
}

bool isolated_wanted(const struct config_section *section)
{
	(void)section;
	return false;
}

struct plugin *isolated_plugin(const struct surroundings *around,
			       const struct config_section *section)
{
	(void)around, (void)section;
	return NULL;
}

int isolated_new(const struct surroundings *around, struct instance *instance)
{
	(void)around, (void)instance;
	return -ENOTSUP;
}

void isolated_free(struct isolated *isolated)
{
	(void)isolated;
}

int isolated_check(struct instance *instance)
{
	(void)instance;
	return -ENOTSUP;
}

int isolated_start(struct instance *instance)
{
	(void)instance;
	return -ENOTSUP;
}

int isolated_sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	(void)self, (void)frame;
	return -ENOTSUP;
}

void isolated_stop(struct instance *instance)
{
	(void)instance;
}

int receiver_take(struct instance *instance, uint32_t carriage, uint64_t peer, const void *bytes,
		  uint64_t length)
{
	(void)instance, (void)carriage, (void)peer, (void)bytes, (void)length;
	return -ENOTSUP;
}

struct reparse *reparse_new(struct pipeline *pipeline)
{
	(void)pipeline;
	return NULL;
}

int reparse_next(struct reparse *reparse, struct reader *reader, const struct instant **instant)
{
	(void)reparse, (void)reader, (void)instant;
	return -ENOTSUP;
}

void reparse_free(struct reparse *reparse)
{
	(void)reparse;
}
