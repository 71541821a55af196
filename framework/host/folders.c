/* Plugin files on the plugin path: KIND-NAME.so in one of its folders. */
#include <dirent.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/folders.h"
#include "host/loader.h"
#include "host/must.h"
#include "host/refuse.h"

static const char *const kinds[] = {
	[SONDE_KIND_COLLECTOR] = "collector",
	[SONDE_KIND_SINK] = "sink",
	[SONDE_KIND_ANALYZER] = "analyzer",
	[SONDE_KIND_SOURCE] = "source",
};

enum { KINDS = sizeof kinds / sizeof kinds[0], NAME_MOST = 31 };

const char *kind_name(uint32_t kind)
{
	return kind < KINDS && kinds[kind] ? kinds[kind] : "unknown kind";
}

bool folders_good_name(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return n && !name[n] && n <= NAME_MOST && name[0] >= 'a';
}

uint32_t folders_split(const char *base, char *name, size_t size)
{
	size_t length = strlen(base);
	const char *dash = strchr(base, '-'), *end = base + (length > 3 ? length - 3 : 0);
	char inner[NAME_MOST + 1];

	if (!dash || end <= dash + 1 || strcmp(end, ".so") != 0 ||
	    (size_t)(end - dash - 1) > NAME_MOST)
		return 0;
	snprintf(inner, sizeof inner, "%.*s", (int)(end - dash - 1), dash + 1);
	if (!folders_good_name(inner))
		return 0;
	for (uint32_t kind = 1; kind < KINDS; kind++) {
		if (strlen(kinds[kind]) == (size_t)(dash - base) &&
		    strncmp(kinds[kind], base, (size_t)(dash - base)) == 0) {
			snprintf(name, size, "%s", inner);
			return kind;
		}
	}
	return 0;
}

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

/* The next folder of a path, which it walks; false at its end. Empty ones are passed over. */
static bool next_folder(const char **path, char *folder, size_t size)
{
	while (**path) {
		size_t n = strcspn(*path, ":");
		const char *start = *path;

		*path += n + (start[n] == ':');
		if (n && n < size) {
			snprintf(folder, size, "%.*s", (int)n, start);
			return true;
		}
	}
	return false;
}

char *folders_find(const char *path, uint32_t kind, const char *name)
{
	char folder[4096], *file;

	while (next_folder(&path, folder, sizeof folder)) {
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
	char folder[4096], name[NAME_MOST + 1], **names = NULL;
	size_t all = 0, kept = 0;
	struct dirent *entry;

	while (next_folder(&path, folder, sizeof folder)) {
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
