/* The documents of [sink:report], as the verbs that report ask for them: --md[=FILE], --json[=FILE], --html[=FILE]. */
#ifndef CLI_DOCUMENTS_H
#define CLI_DOCUMENTS_H

#include "cli/cli.h"

enum document {
	DOCUMENT_TEXT,
	DOCUMENT_BRIEF,
	DOCUMENT_MARKDOWN,
	DOCUMENT_JSON,
	DOCUMENT_HTML,
	DOCUMENTS
};

struct documents {
	const char *path
		[DOCUMENTS]; /* "-" is stdout; NULL: not asked for. None at all: text on stdout */
};

/* Of getopt_long(3); the verb's own are below. */
enum { OPT_DOCUMENT = 4096 };
#define DOCUMENT_OPTIONS                                                                           \
	{ "md", optional_argument, NULL, OPT_DOCUMENT + DOCUMENT_MARKDOWN },                       \
		{ "json", optional_argument, NULL, OPT_DOCUMENT + DOCUMENT_JSON },                 \
	{                                                                                          \
		"html", optional_argument, NULL, OPT_DOCUMENT + DOCUMENT_HTML                      \
	}

/* Whether the option was one of them. */
bool documents_take(struct documents *documents, int option, const char *argument);

/* An exit status, said where it is not EXIT_DONE; how many are files. */
int documents_check(const struct documents *documents, unsigned *in_files);

/* [sink:report] with its keys. */
void documents_compose(const struct documents *documents, struct config *config);

#endif
