/* What the verbs that sample share: running a live pipeline, and files that are installed beside the program. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "host/must.h"

int cli_run(struct config *config, const struct pipeline_options *options, const char *subject)
{
	struct pipeline *pipeline = NULL;
	int status = EXIT_DONE;
	/* Also where reading found mistakes: all of them are told in one pass. */
	int err = pipeline_open(config, options, &pipeline);

	if (!err)
		err = pipeline_run(pipeline);
	if (config->nerrors)
		status = cli_config_errors(config);
	else if (err)
		status = cli_error(EXIT_FAILED, "%s: %s", subject,
				   err == -ENOBUFS ? "not every sample is in it" : strerror(-err));
	pipeline_close(pipeline);
	config_free(config);
	return status;
}

bool cli_program(char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 1);

	path[n > 0 ? n : 0] = '\0';
	return n > 0;
}

bool cli_profile_path(const char *name, char *path, size_t size)
{
	/* From the program's own folder: build/ and build/asan/ of a tree, PREFIX/bin of what is installed. */
	static const char *const folders[] = { "../conf", "../../conf", "../share/sonde" };
	char exe[PATH_MAX] = "";

	cli_program(exe, sizeof exe);
	if (strrchr(exe, '/'))
		*strrchr(exe, '/') = 0;
	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
		snprintf(path, size, "%s/%s/profiles/%s.ini", exe, folders[i], name);
		if (access(path, R_OK) == 0)
			return true;
	}
	return false;
}

void cli_recording(struct config *config, const char *path)
{
	char *name = must(malloc(2 * strlen(path) + 1)), *to = name;

	if (strcmp(path, "-") == 0) {
		config_add(config, "sink:stdout");
		config_set(config, "format", "sonde");
	} else {
		for (; *path; path++) {
			if (*path == '%') /* not a date's */
				*to++ = *path;
			*to++ = *path;
		}
		*to = 0;
		config_add(config, "sink:file");
		config_set(config, "path", name);
	}
	free(name);
}
