/* Plugin files on the plugin path: KIND-NAME.so in one of its folders. */
#include <dirent.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/folders.h"
#include "host/loader.h"
#include "host/must.h"
#include "host/refuse.h"

const char folders_nowhere[] =
	"/proc is not mounted, by which sonde finds its own files: mount -t proc proc /proc";

/* Adds "folder:" to the path where the folder exists. */
static char *add_folder(char *path, const char *folder)
{
	char *joined;

	if (!folder || !*folder)
		return path;
	if (asprintf(&joined, "%s%s%s", path, *path ? ":" : "", folder) < 0)
		joined = NULL;
	free(path);
	return must(joined);
}

char *plugin_path(const char *configured)
{
	char self[4096], folder[sizeof self + 32];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	char *path = must_copy(""), *slash;

	path = add_folder(path, secure_getenv("SONDE_PLUGIN_PATH"));
	path = add_folder(path, configured);
	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return path;
	*slash = '\0';
	snprintf(folder, sizeof folder, "%s/plugins", self);
	if (!access(folder, F_OK))
		return add_folder(path, folder);
	snprintf(folder, sizeof folder, "%s/../lib/sonde/plugins", self);
	return add_folder(path, folder);
}

char *folders_find(const char *path, uint32_t kind, const char *name)
{
	char folder[4096], *file;

	while (folders_next(&path, folder, sizeof folder)) {
		if (asprintf(&file, "%s/%s-%s.so", folder, kind_name(kind), name) < 0)
			file = NULL;
		must(file);
		if (!access(file, F_OK))
			return file;
		free(file);
	}
	return NULL;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char **folders_list(const char *path, size_t *count)
{
	char folder[4096], name[FOLDERS_NAME_MOST + 1], **names = NULL;
	size_t all = 0, kept = 0;
	struct dirent *entry;

	while (folders_next(&path, folder, sizeof folder)) {
		DIR *dir = opendir(folder);

		while (dir && (entry = readdir(dir))) {
			if (!folders_split(entry->d_name, name, sizeof name))
				continue;
			names = must_grow(names, all, sizeof *names);
			names[all++] = must_copy(entry->d_name);
		}
		if (dir)
			closedir(dir);
	}
	if (all)
		qsort(names, all, sizeof *names, by_name);
	for (size_t i = 0; i < all; i++) {
		if (kept && strcmp(names[kept - 1], names[i]) == 0)
			free(names[i]);
		else
			names[kept++] = names[i];
	}
	*count = kept;
	return names;
}

void folders_free(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

int folders_trust(const char *file, char *why, size_t size)
{
	char *real, *slash;
	struct stat st;
	int err = 0;

	if (!getauxval(AT_SECURE))
		return 0;
	real = realpath(file, NULL);
	if (!real) {
		err = -errno;
		refuse(why, size, "it can't be resolved: %s", strerror(errno));
	}
	while (!err && real) {
		if (stat(*real ? real : "/", &st) || st.st_uid || (st.st_mode & 022)) {
			refuse(why, size,
			       "sonde has file capabilities and takes plugins only from root's "
			       "folders; %s is not root's alone (chown root, chmod go-w)",
			       *real ? real : "/");
			err = -EACCES;
		}
		if (!*real)
			break;
		slash = strrchr(real, '/');
		*slash = '\0';
	}
	free(real);
	return err;
}
