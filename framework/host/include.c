/* `include =` of [agent] by glob(3), and ${VAR} in values by secure_getenv(3). */
#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <sys/stat.h>

#include "host/include.h"
#include "host/must.h"

/* Whether this file is one of those read before, by whatever name. */
static bool was_read(const struct config *config, const char *path)
{
	struct stat file, other;

	if (stat(path, &file))
		return false;
	for (size_t i = 0; i < config->nfiles; i++)
		if (!stat(config->files[i], &other) && file.st_dev == other.st_dev &&
		    file.st_ino == other.st_ino)
			return true;
	return false;
}

static char *beside(const char *file, const char *path)
{
	const char *slash = strrchr(file, '/');
	char *joined;

	if (path[0] == '/' || !slash)
		return must_copy(path);
	if (asprintf(&joined, "%.*s/%s", (int)(slash - file), file, path) < 0)
		joined = NULL;
	return must(joined);
}

void include_read(struct config *config, const struct config_key *key)
{
	struct config_key at = *key; /* reading moves the array that `key` is in */
	char *value = must_copy(key->value), *pattern = beside(key->file, value);
	glob_t found = { 0 };
	int err = glob(pattern, GLOB_ERR, NULL, &found);

	if (err == GLOB_NOMATCH && !strpbrk(value, "*?["))
		config_error(config, at.file, at.line, "include: there is no file %s", pattern);
	else if (err == GLOB_ABORTED)
		config_error(config, at.file, at.line, "include: %s can't be listed: %s", pattern,
			     strerror(errno));
	for (size_t i = 0; !err && i < found.gl_pathc; i++) {
		if (was_read(config, found.gl_pathv[i]))
			config_error(config, at.file, at.line,
				     "include: %s is read already; keep what is to be included in "
				     "a folder of its own, and name it once",
				     found.gl_pathv[i]);
		else
			config_read_file(config, found.gl_pathv[i]);
	}
	globfree(&found);
	free(pattern);
	free(value);
}

struct output {
	char *bytes;
	size_t length;
};

static void append(struct output *output, const char *bytes, size_t length)
{
	output->bytes = must(realloc(output->bytes, output->length + length + 1));
	memcpy(output->bytes + output->length, bytes, length);
	output->length += length;
	output->bytes[output->length] = '\0';
}

static size_t name_length(const char *name)
{
	size_t n = 0;

	if (isdigit((unsigned char)name[0]))
		return 0;
	while (isalnum((unsigned char)name[n]) || name[n] == '_')
		n++;
	return n;
}

/* The variable behind "${", up to its brace. Returns where the text goes on, or NULL and `why`. */
static const char *expand_one(struct output *output, const char *at, char *why, size_t size)
{
	size_t n = name_length(at);
	const char *rest = at + n, *close = strchr(rest, '}');
	bool fallback = strncmp(rest, ":-", 2) == 0;
	char name[256];
	const char *value;

	if (!n || n >= sizeof name || !close || (!fallback && rest != close)) {
		snprintf(why, size, "${%.*s: write ${NAME} or ${NAME:-default}", 40, at);
		return NULL;
	}
	snprintf(name, sizeof name, "%.*s", (int)n, at);
	if (fallback && memmem(rest, (size_t)(close - rest), "${", 2)) {
		snprintf(why, size, "${%s:-: a default can't hold another variable", name);
		return NULL;
	}
	value = secure_getenv(name);
	if (fallback && (!value || !*value)) {
		append(output, rest + 2, (size_t)(close - rest - 2));
		return close + 1;
	}
	if (!value) {
		snprintf(why, size, "the variable %s is not set; set it, or write ${%s:-default}",
			 name, name);
		return NULL;
	}
	for (const char *p = value; *p; p++) {
		if (iscntrl((unsigned char)*p)) {
			snprintf(why, size, "the variable %s holds a control character", name);
			return NULL;
		}
	}
	append(output, value, strlen(value));
	return close + 1;
}

char *expand(const char *value, char *why, size_t size)
{
	struct output output = { 0 };

	append(&output, "", 0);
	while (*value) {
		const char *dollar = strstr(value, "${");

		if (!dollar)
			dollar = value + strlen(value);
		append(&output, value, (size_t)(dollar - value));
		if (!*dollar)
			break;
		if (dollar > value && dollar[-1] == '$') { /* "$${" stands for "${" */
			append(&output, "{", 1);
			value = dollar + 2;
			continue;
		}
		value = expand_one(&output, dollar + 2, why, size);
		if (!value) {
			free(output.bytes);
			return NULL;
		}
	}
	return output.bytes;
}
