/* Documents of a report: options of the command line into keys of [sink:report]. */
#include <string.h>

#include "cli/documents.h"

static const char *const keys[DOCUMENTS] = {
	[DOCUMENT_TEXT] = "text", [DOCUMENT_BRIEF] = "brief", [DOCUMENT_MARKDOWN] = "markdown",
	[DOCUMENT_JSON] = "json", [DOCUMENT_HTML] = "html",
};

bool documents_take(struct documents *documents, int option, const char *argument)
{
	if (option < OPT_DOCUMENT || option >= OPT_DOCUMENT + DOCUMENTS)
		return false;
	documents->path[option - OPT_DOCUMENT] = argument ? argument : "-";
	return true;
}

int documents_check(const struct documents *documents, unsigned *in_files)
{
	unsigned on_stdout = 0;

	for (int i = 0; i < DOCUMENTS; i++) {
		const char *path = documents->path[i];

		if (path && !*path)
			return cli_misuse("the name of the file to write is empty");
		on_stdout += path && strcmp(path, "-") == 0;
		*in_files += path && strcmp(path, "-") != 0;
	}
	if (on_stdout > 1)
		return cli_misuse("two documents for stdout: give one a file, --json=FILE");
	return EXIT_DONE;
}

void documents_compose(const struct documents *documents, struct config *config)
{
	config_add(config, "sink:report");
	for (int i = 0; i < DOCUMENTS; i++)
		if (documents->path[i])
			config_set(config, keys[i], documents->path[i]);
}
