/* Command lines (/proc/PID/cmdline, proc_pid_cmdline(5)): arguments, each with a NUL behind it, or a title that the process
 * wrote over them. What looks like a secret is masked here, before it reaches a row. */
#include <strings.h>

#include "process.h"

struct line_writer {
	char *line;
	size_t used, size;
	bool mask_next; /* the word before announced a secret */
};

static void line_put(struct line_writer *out, const char *bytes, size_t length)
{
	size_t room = out->size - out->used;

	if (length > room)
		length = room;
	memcpy(out->line + out->used, bytes, length);
	out->used += length;
}

/* In any case of letters. */
static bool contains(const char *word, size_t length, const char *part)
{
	size_t n = strlen(part);

	for (size_t i = 0; i + n <= length; i++)
		if (strncasecmp(word + i, part, n) == 0)
			return true;
	return false;
}

/* Better one name too many: what is masked is only not seen. */
static bool is_secret_name(const char *name, size_t length)
{
	static const char *const parts[] = { "pass",       "pwd",  "secret", "token",
					     "credential", "auth", "bearer", "cookie" };

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		if (contains(name, length, parts[i]))
			return true;
	return length >= 3 && strncasecmp(name + length - 3, "key", 3) == 0;
}

enum { TOKEN_LEAST = 20 };

/* What no person typed: long, of letters in both cases and digits; or with the beginning of a kind that is known. */
static bool is_token(const char *word, size_t length)
{
	static const char *const known[] = { "eyJ",  "AKIA",        "ASIA",   "AIza", "ghp_",
					     "gho_", "ghs_",        "glpat-", "xox",  "sk-",
					     "sk_",  "github_pat_", "hvs.",   "npm_" };
	bool upper = false, lower = false, digit = false;

	if (length < 16)
		return false;
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strncmp(word, known[i], strlen(known[i])) == 0)
			return true;
	if (length < TOKEN_LEAST || *word == '-')
		return false;
	for (size_t i = 0; i < length; i++) {
		char c = word[i];

		if (c >= 'A' && c <= 'Z')
			upper = true;
		else if (c >= 'a' && c <= 'z')
			lower = true;
		else if (c >= '0' && c <= '9')
			digit = true;
		else if (!memchr("+=_-", c, 4))
			return false;
	}
	return upper && lower && digit;
}

static void put_value(struct line_writer *out, const char *value, size_t length)
{
	if (is_token(value, length))
		line_put(out, "*", 1);
	else
		line_put(out, value, length);
}

/* "name:password@" behind "://", if the word has them: where it begins and how long it is. */
static size_t find_credentials(const char *word, size_t length, const char **at)
{
	const char *scheme = (const char *)memmem(word, length, "://", 3);
	size_t n = scheme ? length - (size_t)(scheme + 3 - word) : 0;

	if (!scheme)
		return 0;
	*at = scheme + 3;
	for (size_t i = 0; i < n; i++)
		if ((*at)[i] == '/' || (*at)[i] == '?' || (*at)[i] == '#')
			n = i;
	while (n && (*at)[n - 1] != '@')
		n--;
	return n ? n - 1 : 0;
}

/* "name=value", one or several with & ; or , between them; colons part names from values too. */
static void put_pairs(struct line_writer *out, const char *word, size_t length)
{
	size_t begin = 0;

	for (size_t i = 0; i < length; i++) {
		size_t value = i + 1, end = value;

		if (memchr("&;,?", word[i], 4)) {
			put_value(out, word + begin, i - begin);
			begin = i;
		}
		if (word[i] != '=' && word[i] != ':')
			continue;
		if (!is_secret_name(word + begin, i - begin))
			continue;
		while (end < length && !memchr("&;,", word[end], 3))
			end++;
		line_put(out, word + begin, value - begin);
		if (end > value)
			line_put(out, "*", 1);
		else
			out->mask_next = true; /* "Authorization:" */
		begin = end;
		i = end - 1;
	}
	if (begin < length) {
		const char *equals = (const char *)memchr(word + begin, '=', length - begin);
		size_t name = equals ? (size_t)(equals + 1 - word) - begin : 0;

		line_put(out, word + begin, name);
		put_value(out, word + begin + name, length - begin - name);
	}
}

/* `curl -u name:password` */
static bool is_user_option(const char *word, size_t length)
{
	return (length == 2 && word[0] == '-' && (word[1] == 'u' || word[1] == 'U')) ||
	       (length == 6 && memcmp(word, "--user", 6) == 0);
}

static void put_word(struct line_writer *out, const char *word, size_t length)
{
	const char *secret;
	size_t n;
	bool masked = out->mask_next && *word != '-';

	out->mask_next = false;
	if (masked) {
		out->mask_next =
			contains(word, length, "bearer") || contains(word, length, "basic");
		line_put(out, "*", 1);
	} else if ((n = find_credentials(word, length, &secret))) {
		line_put(out, word, (size_t)(secret - word));
		line_put(out, "*", 1);
		put_pairs(out, secret + n, length - (size_t)(secret + n - word));
	} else if (length > 2 && word[0] == '-' && (word[1] == 'p' || word[1] == 'P')) {
		line_put(out, word, 2); /* mysql -psecret */
		line_put(out, "*", 1);
	} else {
		out->mask_next = is_user_option(word, length) ||
				 ((*word == '-' || contains(word, length, "bearer")) &&
				  !memchr(word, '=', length) && is_secret_name(word, length));
		put_pairs(out, word, length);
	}
}

/* What hides the rest of an argument with whatever blanks it has: "--password=..." and "Authorization: ...". The length of
 * what is not hidden; 0: nothing of the kind. */
static size_t announces(const char *argument, size_t length)
{
	for (size_t i = 0; i < length && argument[i] != ' '; i++)
		if ((argument[i] == '=' && *argument == '-') ||
		    (argument[i] == ':' && i + 1 < length && argument[i + 1] == ' '))
			return is_secret_name(argument, i) ? i + 1 : 0;
	return 0;
}

/* One argument may be a whole command (sh -c) or a title ("postgres: alice db [local]"): its words are looked at apart. */
static void put_redacted(struct line_writer *out, const char *argument, size_t length, bool first)
{
	size_t shown = first ? 0 : announces(argument, length);

	if (shown || (out->mask_next && length && *argument != '-')) {
		line_put(out, argument, shown);
		line_put(out, "*", 1);
		out->mask_next = false;
		return;
	}
	while (length) {
		const char *blank = (const char *)memchr(argument, ' ', length);
		size_t word = blank ? (size_t)(blank - argument) : length;

		if (first)
			line_put(out, argument, word);
		else if (word)
			put_word(out, argument, word);
		first = false;
		if (blank)
			line_put(out, " ", 1);
		argument += word + (blank != NULL);
		length -= word + (blank != NULL);
	}
}

size_t process_cmdline(enum process_cmdline form, const char *text, size_t length, char *line,
		       size_t size)
{
	struct line_writer out = { .line = line, .size = size };
	const char *end = text + length;

	if (form == CMDLINE_NAME)
		return 0;
	while (end > text && end[-1] == '\0')
		end--;
	for (const char *at = text; at < end;) {
		const char *nul = (const char *)memchr(at, '\0', (size_t)(end - at));
		size_t n = (size_t)((nul ? nul : end) - at);

		if (at > text)
			line_put(&out, " ", 1);
		if (form == CMDLINE_FULL)
			line_put(&out, at, n);
		else
			put_redacted(&out, at, n, at == text);
		at += n + 1;
	}
	return out.used;
}
