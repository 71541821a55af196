/* What this machine is: its CPU by name, its core PMUs, and the group files for them, the user's own first. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event.h"
#include "groupfile.h"
#include "libpfm.h"

enum { FILE_MOST = 64 << 10, PATH_SIZE = 4096 };

/* ---- Group files */

struct search {
	const char *cpu, *pmu, *group_path;
	char *buffer;
	size_t size, used;
	bool exact; /* files that name this CPU, else those for any */
	char *bad;  /* of the resolver */
};

/* Into `text`, which has FILE_MOST bytes. Its length, or -1 and why not. */
static ssize_t read_file(const char *path, char *text, char why[WORDS_SIZE])
{
	/* Who opens a FIFO otherwise waits for its writer. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	size_t length = 0;
	ssize_t n = -1;

	if (fd < 0 || fstat(fd, &st)) {
		snprintf(why, WORDS_SIZE, "%s", strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		snprintf(why, WORDS_SIZE, "it is no file");
	} else {
		while (length < FILE_MOST && (n = read(fd, text + length, FILE_MOST - length)) > 0)
			length += (size_t)n;
		if (n < 0)
			snprintf(why, WORDS_SIZE, "%s", strerror(errno));
		else if (n > 0)
			snprintf(why, WORDS_SIZE, "it has %d KiB or more", FILE_MOST >> 10);
	}
	if (fd >= 0)
		close(fd);
	return n ? -1 : (ssize_t)length;
}

static void leave_out(struct search *search, const char *path, uint32_t line, const char *why)
{
	char number[16] = "";

	if (line)
		snprintf(number, sizeof number, ":%u", line);
	if (!search->bad[0])
		snprintf(search->bad, WORDS_SIZE, "%.128s%s: %.84s; the file is left out", path,
			 number, why);
}

/* Behind what was found, if it is for this CPU and there is room. What is wrong with it is told whatever CPU it is for: a line that
 * can't be read may have been its `match`. */
static void take_file(struct search *search, const char *path)
{
	char *text = search->buffer + search->used, why[WORDS_SIZE];
	ssize_t length;
	uint32_t wrong;
	bool exact;

	if (search->size - search->used <= FILE_MOST)
		return;
	length = read_file(path, text, why);
	wrong = length > 0 ? groupfile_check(text, (size_t)length, why) : 0;
	if (length < 0 || wrong) {
		leave_out(search, path, wrong, why);
		return;
	}
	if (!groupfile_match(text, (size_t)length, search->cpu, search->pmu, &exact) ||
	    exact != search->exact)
		return;
	text[length] = '\n';
	search->used += (size_t)length + 1;
}

static int is_group_file(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 7 && strcmp(entry->d_name + length - 7, ".groups") == 0;
}

static void take_folder(struct search *search, const char *folder)
{
	struct dirent **entries;
	char path[PATH_SIZE];
	int n = scandir(folder, &entries, is_group_file, alphasort);

	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
		take_file(search, path);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

/* The user's, the machine's, and those that came with this shared object. */
static void take_folders(struct search *search)
{
	/* From build/plugins, build/asan/plugins and PREFIX/lib/sonde/plugins. */
	static const char *const beside[] = { "../../plugins/perf_event/groups",
					      "../../../plugins/perf_event/groups",
					      "../../../share/sonde/groups" };
	const char *home = secure_getenv("HOME"), *xdg = secure_getenv("XDG_CONFIG_HOME");
	char folder[PATH_SIZE];
	Dl_info self;

	if (search->group_path[0])
		take_folder(search, search->group_path);
	if (xdg || home) {
		snprintf(folder, sizeof folder, "%s%s/sonde/groups", xdg ? xdg : home,
			 xdg ? "" : "/.config");
		take_folder(search, folder);
	}
	take_folder(search, "/etc/sonde/groups");
	if (!dladdr(beside, &self) || !self.dli_fname || !strrchr(self.dli_fname, '/'))
		return;
	for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
		snprintf(folder, sizeof folder, "%.*s/%s",
			 (int)(strrchr(self.dli_fname, '/') - self.dli_fname), self.dli_fname,
			 beside[i]);
		take_folder(search, folder);
	}
}

static int64_t search_files(void *context, void *buffer, uint64_t size)
{
	struct search *search = context;

	search->buffer = buffer;
	search->size = size;
	search->exact = true;
	take_folders(search);
	search->exact = false;
	take_folders(search);
	return (int64_t)search->used;
}

static int load_groups(struct resolver *r, const char *group_path, uint32_t core)
{
	struct search search = { .cpu = r->cpu,
				 .pmu = r->ncores ? r->cores[core]->name : "",
				 .group_path = group_path,
				 .bad = r->bad };
	char name[2 * NAME_SIZE + 16];
	int64_t length;
	char *text = malloc(GROUP_TEXT_SIZE);

	if (!text)
		return -ENOMEM;
	snprintf(name, sizeof name, "groups %s %s", r->cpu, search.pmu);
	length = sonde_obtain(r->self, name, search_files, &search, text, GROUP_TEXT_SIZE);
	if (r->bad[0])
		sonde_note(r->self, "%s", r->bad);
	r->text[core] = text;
	r->length[core] = length > 0 ? (size_t)length : 0;
	return 0;
}

/* ---- CPU */

/* The text behind "KEY : " of the first such line. */
static bool cpuinfo(const char *text, size_t length, const char *key, char *value, size_t size)
{
	struct cursor line = cursor(text, length);
	size_t n;

	while (next_line(&line)) {
		if (!take(&line, key))
			continue;
		skip_blanks(&line);
		if (!take(&line, ":"))
			continue;
		skip_blanks(&line);
		n = (size_t)(line.end - line.at);
		n = n < size ? n : size - 1;
		memcpy(value, line.at, n);
		value[n] = '\0';
		return true;
	}
	return false;
}

/* VENDOR-FAMILY-MODEL of x86 (the model in hex digits), arm64-IMPLEMENTER-PART of arm64; "" elsewhere: files for any CPU. */
static void name_cpu(struct resolver *r)
{
	struct sonde_file *file = sonde_open(r->self, SONDE_FRESH, "/proc/cpuinfo");
	char vendor[32], family[16], model[16];
	const char *text;
	int64_t length = file ? sonde_read(r->self, file, &text) : -ENOENT;

	if (length > 0 && cpuinfo(text, (size_t)length, "vendor_id", vendor, sizeof vendor) &&
	    cpuinfo(text, (size_t)length, "cpu family", family, sizeof family) &&
	    cpuinfo(text, (size_t)length, "model", model, sizeof model))
		snprintf(r->cpu, sizeof r->cpu, "%s-%s-%lX", vendor, family,
			 strtoul(model, NULL, 10));
	else if (length > 0 &&
		 cpuinfo(text, (size_t)length, "CPU implementer", vendor, sizeof vendor) &&
		 cpuinfo(text, (size_t)length, "CPU part", model, sizeof model))
		snprintf(r->cpu, sizeof r->cpu, "arm64-%lx-%lx", strtoul(vendor, NULL, 16),
			 strtoul(model, NULL, 16));
	sonde_close(r->self, file);
}

/* ---- PMUs */

static int find_cores(struct resolver *r)
{
	const char *names;
	int64_t left = sonde_list(r->self, PMU_FOLDER, &names);

	if (left < 0)
		return (int)left;
	for (; left > 0 && r->npmus < PMUS_MOST; left--, names += strlen(names) + 1) {
		struct pmu *pmu = &r->pmus[r->npmus];

		if (pmu_load(r->self, names, pmu) || !pmu->core)
			continue;
		r->cores[r->ncores++] = pmu;
		r->npmus++;
	}
	return 0;
}

int resolver_begin(struct resolver *r, struct sonde_instance *self, const char *group_path)
{
	int err;

	r->self = self;
	err = find_cores(r);
	name_cpu(r);
	while (!err && r->ntexts < (r->ncores ? r->ncores : 1)) {
		err = load_groups(r, group_path, r->ntexts);
		r->ntexts += !err;
	}
	return err;
}

void resolver_end(struct resolver *r)
{
	for (uint32_t i = 0; i < r->ntexts; i++)
		free(r->text[i]);
	libpfm_end(r->libpfm);
}
