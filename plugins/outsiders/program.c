/* Command lines of runtimes: options, then what is run, then its own arguments. */
#include <stdbool.h>
#include <string.h>

#include "program.h"

static const char *const runtimes[] = { "java", "node", "python", "dotnet", "ruby", "perl", "php" };

/* Options whose value is an argument of its own. */
static const char *const with_value[] = { "-cp",           "-classpath", "--class-path",
					  "--module-path", "-p",         "--add-opens",
					  "--add-modules", "-W",         "-X" };

static size_t word_length(const char *at, const char *end)
{
	const char *nul = (const char *)memchr(at, '\0', (size_t)(end - at));

	return (size_t)((nul ? nul : end) - at);
}

static bool is_any(const char *word, size_t length, const char *const *of, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(of[i]) == length && memcmp(of[i], word, length) == 0)
			return true;
	return false;
}

/* Behind the last slash; of a class, which has dots and no ending, behind the last dot. */
static size_t without_folder(const char *word, size_t length, const char **name)
{
	const char *slash = (const char *)memrchr(word, '/', length);
	const char *dot;

	*name = slash ? slash + 1 : word;
	length -= (size_t)(*name - word);
	dot = slash ? NULL : (const char *)memrchr(*name, '.', length);
	if (dot && memchr(*name, '.', (size_t)(dot - *name))) {
		length -= (size_t)(dot + 1 - *name);
		*name = dot + 1;
	}
	return length;
}

/* python3.11 is a runtime, javac none. */
static bool is_runtime(const char *word, size_t length)
{
	const char *name;

	length = without_folder(word, length, &name);
	if (memchr(word, '/', length) == NULL && name != word)
		name = word;
	while (length && strchr("0123456789.", name[length - 1]))
		length--;
	return is_any(name, length, runtimes, sizeof runtimes / sizeof runtimes[0]);
}

size_t program_of(const char *text, size_t length, const char **program)
{
	const char *at = text, *end = text + length;
	size_t n = word_length(at, end);
	bool value = false;

	if (!n || !is_runtime(at, n))
		return 0;
	for (at += n + 1; at < end; at += n + 1) {
		n = word_length(at, end);
		if (!value && *at != '-')
			return n ? without_folder(at, n, program) : 0;
		/* Code on the command line is none that has a name. */
		if (n == 2 && at[0] == '-' && (at[1] == 'c' || at[1] == 'e'))
			return 0;
		value = !value &&
			is_any(at, n, with_value, sizeof with_value / sizeof with_value[0]);
	}
	return 0;
}
