/* Configuration text into sections and keys: INI by inih (ini.h), behind a reader that counts physical lines and refuses
 * what inih would cut or join. */
#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sonde/escape.h>

#include "host/config.h"
#include "host/include.h"
#include "host/must.h"

enum {
	NAME_MOST = 49,      /* bytes of a section's or a key's name that inih keeps */
	FILE_MOST = 1 << 20, /* bytes of a file */
	ERRORS_MOST = 100,
	COLON = 1, /* stands for ':' in a key, where inih would split */
};

/* A key behind each section line makes inih tell of the section. It and COLON can't be in the text: control characters
 * are refused there. */
#define SECTION_KEY "\2"

static const char *const section_types[] = { "host", "analyzer", "sink", "source" };

/* One file while inih reads it. */
struct text {
	struct config *config;
	const char *file;
	const char *at, *end;
	unsigned line;     /* the physical line that inih works on */
	bool section_line; /* SECTION_KEY is due */
	bool began;        /* a section line was seen */
	bool open; /* keys belong to the newest section; otherwise nowhere: its line was wrong */
};

/* Where a mistake stands among the others: files as they were read, what is in none behind them; in a file by lines, what is of
 * the whole file behind those. */
static uint64_t place_of(const struct config *config, const char *file, unsigned line)
{
	size_t i = 0;

	while (i < config->nfiles && strcmp(config->files[i], file) != 0)
		i++;
	return (uint64_t)i << 32 | (line ? line : UINT32_MAX);
}

static void insert_error(struct config *config, uint64_t place, const char *text)
{
	size_t at = config->nerrors;

	config->errors = must_grow(config->errors, config->nerrors, sizeof *config->errors);
	config->places = must_grow(config->places, config->nerrors, sizeof *config->places);
	for (; at && config->places[at - 1] > place; at--) {
		config->errors[at] = config->errors[at - 1];
		config->places[at] = config->places[at - 1];
	}
	config->errors[at] = must_copy(text);
	config->places[at] = place;
	config->nerrors++;
}

void config_error(struct config *config, const char *file, unsigned line, const char *format, ...)
{
	bool last = config->nerrors == ERRORS_MOST - 1;
	char sentence[1024], message[2048], safe[4096];
	va_list args;

	if (config->nerrors == ERRORS_MOST)
		return;
	va_start(args, format);
	vsnprintf(sentence, sizeof sentence, format, args);
	va_end(args);
	if (last)
		snprintf(message, sizeof message, "%s: too many mistakes; mend these first", file);
	else if (line)
		snprintf(message, sizeof message, "%s:%u: %s", file, line, sentence);
	else
		snprintf(message, sizeof message, "%s%s%s", file, *file ? ": " : "", sentence);
	/* It quotes what stands in a file. */
	sonde_escape(message, strlen(message), safe, sizeof safe);
	/* A worker looks at what the host has looked at too. */
	for (size_t i = 0; i < config->nerrors; i++)
		if (strcmp(config->errors[i], safe) == 0)
			return;
	insert_error(config, last ? UINT64_MAX : place_of(config, file, line), safe);
}

void config_fault(struct config *config, const struct config_section *section, const char *name,
		  const char *format, ...)
{
	const struct config_key *key = config_key(section, name);
	char sentence[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof sentence, format, args);
	va_end(args);
	config_error(config, key ? key->file : section->file, key ? key->line : section->line,
		     "[%s]: %s", section->name, sentence);
}

/* Splits "type:plugin label" as it stands in section->name. NULL, or what is wrong with it. */
static const char *split_name(struct config_section *section)
{
	const char *name = section->name, *colon = strchr(name, ':');
	const char *plugin = colon ? colon + 1 : name;
	const char *blank = strchr(plugin, ' ');
	bool agent = strncmp(name, "agent", 5) == 0 && strchr(": ", name[5]);

	section->type = must(agent   ? strdup("agent")
			     : colon ? strndup(name, (size_t)(colon - name))
				     : strdup(""));
	section->plugin = must(agent   ? strdup("")
			       : blank ? strndup(plugin, (size_t)(blank - plugin))
				       : strdup(plugin));
	section->label = must_copy(blank ? blank + 1 : "");
	if (agent)
		return name[5] ? "it is just [agent]" : NULL;
	if (!*section->plugin)
		return "it names no plugin: [sink:file], [analyzer:cpu], [psi]";
	if (strchr(section->label, ' '))
		return "a label is one word";
	return NULL;
}

static void section_free(struct config_section *section)
{
	for (size_t i = 0; i < section->nkeys; i++) {
		free(section->keys[i].name);
		free(section->keys[i].value);
	}
	free(section->keys);
	free(section->name);
	free(section->type);
	free(section->plugin);
	free(section->label);
}

/* The kind of a section is one of the four, and none stands in the plugin's place. */
static bool good_type(struct text *text, const struct config_section *section)
{
	size_t count = sizeof section_types / sizeof section_types[0];
	const char *near;

	if (strcmp(section->type, "agent") == 0)
		return true;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(section->type, section_types[i]) == 0)
			return true;
		if (!*section->type && strcmp(section->plugin, section_types[i]) == 0) {
			config_error(text->config, text->file, text->line,
				     "[%s] names no plugin: [%s:NAME]", section->plugin,
				     section->plugin);
			return false;
		}
	}
	if (!*section->type)
		return true;
	near = nearest(section->type, section_types, count);
	config_error(text->config, text->file, text->line, "[%s]: there is no kind `%s`; %s%s%s",
		     section->name, section->type,
		     near ? "did you mean `" : "it is sink, analyzer, source or host",
		     near ? near : "", near ? "`?" : "");
	return false;
}

/* What is wrong with a section's line goes to the errors. */
static bool good_section(struct text *text, struct config_section *section)
{
	const char *fault = split_name(section);
	const struct config_section *before = config_section(text->config, section->name);

	if (fault) {
		config_error(text->config, text->file, text->line, "[%s]: %s", section->name,
			     fault);
		return false;
	}
	if (before) {
		config_error(text->config, text->file, text->line, "[%s] stands at %s:%u already%s",
			     section->name, before->file, before->line,
			     *section->plugin && !*section->label
				     ? "; a second one needs a label: [PLUGIN LABEL]"
				     : "");
		return false;
	}
	return good_type(text, section);
}

static void append_section(struct config *config, const struct config_section *section)
{
	config->sections = must_grow(config->sections, config->nsections, sizeof *section);
	config->sections[config->nsections++] = *section;
}

/* Of the newest section. */
static struct config_key *append_key(struct config *config, struct config_key key)
{
	struct config_section *section = &config->sections[config->nsections - 1];

	section->keys = must_grow(section->keys, section->nkeys, sizeof key);
	section->keys[section->nkeys] = key;
	return &section->keys[section->nkeys++];
}

static void add_section(struct text *text, const char *name)
{
	struct config_section section = { .name = must_copy(name),
					  .file = text->file,
					  .line = text->line };

	text->open = good_section(text, &section);
	if (text->open)
		append_section(text->config, &section);
	else
		section_free(&section);
}

static void add_key(struct text *text, const char *name, const char *value)
{
	char why[512], *expanded = expand(value, why, sizeof why);
	struct config_key *key;

	if (!expanded) {
		config_error(text->config, text->file, text->line, "%s: %s", name, why);
		return;
	}
	key = append_key(text->config,
			 (struct config_key) { must_copy(name), expanded, text->file, text->line });
	for (char *p = key->name; *p; p++)
		if (*p == COLON)
			*p = ':';
}

/* inih's callback. */
static int handle(void *context, const char *section, const char *name, const char *value)
{
	struct text *text = context;

	if (strcmp(name, SECTION_KEY) == 0)
		add_section(text, section);
	else if (text->open)
		add_key(text, name, value);
	return 1;
}

/* What inih would misread in a line, in words; NULL: nothing. */
static const char *line_fault(const char *line, size_t length, size_t most)
{
	const char *equals = memchr(line, '=', length);
	size_t name = equals ? (size_t)(equals - line) : 0;

	for (size_t i = 0; i < length; i++)
		if (((unsigned char)line[i] < ' ' && line[i] != '\t') || line[i] == 0x7f)
			return "there is a control character in this line";
	if (length > most)
		return NULL; /* said with numbers */
	if (line[0] == ' ' || line[0] == '\t')
		return "an indented line would go on with the one before; begin it in the first "
		       "column";
	for (size_t i = 1; i < length; i++)
		if (line[i] == ';' && (line[i - 1] == ' ' || line[i - 1] == '\t'))
			return "` ;` would cut this line; put the comment on a line of its own";
	if (line[0] == '[' && !memchr(line, ']', length))
		return "the ] is missing behind the section's name: [NAME]";
	if (line[0] == '[')
		return line[length - 1] == ']' && !memchr(line + 1, ']', length - 2) &&
				       !memchr(line + 1, '[', length - 1)
			       ? NULL
			       : "a section line is [NAME] and nothing behind it";
	while (name && (line[name - 1] == ' ' || line[name - 1] == '\t'))
		name--;
	if (!equals)
		return "this line has no `=`; write key = value, [section], or # comment";
	if (!name)
		return "there is no key before the `=`";
	if (name > NAME_MOST)
		return "the key is longer than 49 bytes";
	return NULL;
}

/* "[ sink:udp   lab ]" into "[sink:udp lab]". False where the name is too long. */
static bool fold_section(const char *line, size_t length, char *buffer)
{
	size_t n = 0;

	buffer[n++] = '[';
	for (size_t i = 1; i < length - 1; i++) {
		bool blank = line[i] == ' ' || line[i] == '\t';

		if (!blank)
			buffer[n++] = line[i];
		else if (n > 1 && buffer[n - 1] != ' ')
			buffer[n++] = ' ';
	}
	if (buffer[n - 1] == ' ')
		n--;
	buffer[n++] = ']';
	buffer[n] = '\0';
	return n - 2 <= NAME_MOST;
}

/* A line that is neither blank nor a comment into inih's buffer; empty where it is refused. */
static void take_line(struct text *text, const char *line, size_t length, char *buffer, size_t most)
{
	const char *fault = line_fault(line, length, most);

	buffer[0] = '\0';
	if (line[0] == '[') {
		text->began = true;
		text->open = false;
	}
	if (fault) {
		config_error(text->config, text->file, text->line, "%s", fault);
	} else if (length > most) {
		config_error(text->config, text->file, text->line,
			     "this line has %zu bytes; %zu are possible, and lists may repeat "
			     "their key, one item a line",
			     length, most);
	} else if (line[0] == '[') {
		text->section_line = fold_section(line, length, buffer);
		if (text->section_line)
			return;
		config_error(text->config, text->file, text->line,
			     "the section's name is longer than %d bytes", NAME_MOST);
		buffer[0] = '\0';
	} else if (!text->began) {
		config_error(text->config, text->file, text->line,
			     "this key stands before the first [section]");
	} else {
		memcpy(buffer, line, length);
		buffer[length] = '\0';
		for (char *p = buffer; *p != '='; p++)
			if (*p == ':')
				*p = COLON;
	}
}

/* inih's fgets(3): one physical line a call. */
static char *next_line(char *buffer, int size, void *context)
{
	struct text *text = context;
	const char *line = text->at, *lf, *p;
	size_t length;

	if (text->section_line) {
		text->section_line = false;
		return strcpy(buffer, SECTION_KEY "=");
	}
	if (line == text->end)
		return NULL;
	lf = memchr(line, '\n', (size_t)(text->end - line));
	length = (size_t)((lf ? lf : text->end) - line);
	text->at = lf ? lf + 1 : text->end;
	text->line++;
	while (length && strchr(" \t\r", line[length - 1]) && line[length - 1])
		length--;
	for (p = line; p < line + length && (*p == ' ' || *p == '\t'); p++)
		;
	buffer[0] = '\0';
	if (p < line + length && *p != '#' && *p != ';')
		take_line(text, line, length, buffer, (size_t)size - 1);
	return buffer;
}

/* The includes of the [agent] section that this file brought. */
static void read_includes(struct config *config, const char *file)
{
	for (size_t i = 0; i < config->nsections; i++) {
		if (strcmp(config->sections[i].type, "agent") != 0 ||
		    config->sections[i].file != file)
			continue;
		for (size_t k = 0; k < config->sections[i].nkeys; k++)
			if (strcmp(config->sections[i].keys[k].name, "include") == 0)
				include_read(config, &config->sections[i].keys[k]);
		return;
	}
}

static size_t read_bytes(struct config *config, const char *name, const char *bytes, size_t length)
{
	struct text text = { .config = config, .at = bytes, .end = bytes + length };

	config->files = must_grow(config->files, config->nfiles, sizeof *config->files);
	text.file = config->files[config->nfiles++] = must_copy(name);
	if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
		text.at += 3;
	if (ini_parse_stream(next_line, &text, handle, &text))
		config_error(config, text.file, text.line, "the INI library refuses this line");
	read_includes(config, text.file);
	return config->nerrors;
}

size_t config_read_text(struct config *config, const char *name, const char *text)
{
	return read_bytes(config, name, text, strlen(text));
}

/* Of the file behind `fd`, -1 where `err` says why there is none. */
static void read_all(struct config *config, const char *path, int fd, int err)
{
	char *bytes = must(malloc(FILE_MOST + 1));
	size_t length = 0;
	ssize_t n = -1;

	if (fd >= 0)
		while (length <= FILE_MOST &&
		       ((n = read(fd, bytes + length, FILE_MOST + 1 - length)) > 0 ||
			(n < 0 && errno == EINTR)))
			length += n > 0 ? (size_t)n : 0;
	if (n < 0)
		config_error(config, path, 0, "can't be read: %s", strerror(err ? err : errno));
	else if (length > FILE_MOST)
		config_error(config, path, 0, "is larger than %d bytes", FILE_MOST);
	else
		read_bytes(config, path, bytes, length);
	if (fd >= 0)
		close(fd);
	free(bytes);
}

size_t config_read(struct config *config, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	read_all(config, path, fd, fd < 0 ? errno : 0);
	return config->nerrors;
}

size_t config_read_file(struct config *config, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int err = fd < 0 ? errno : 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) {
		read_all(config, path, fd, err);
		return config->nerrors;
	}
	close(fd);
	config_error(config, path, 0, "is no regular file, and only such are read here");
	return config->nerrors;
}

const struct config_section *config_section(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->nsections; i++)
		if (strcmp(config->sections[i].name, name) == 0)
			return &config->sections[i];
	return NULL;
}

const struct config_key *config_key(const struct config_section *section, const char *name)
{
	for (size_t i = 0; i < section->nkeys; i++)
		if (strcmp(section->keys[i].name, name) == 0)
			return &section->keys[i];
	return NULL;
}

void config_remove(struct config *config, const char *name)
{
	for (size_t i = 0; i < config->nsections; i++) {
		struct config_section *section = &config->sections[i];

		if (strcmp(section->name, name) != 0)
			continue;
		section_free(section);
		memmove(section, section + 1, (--config->nsections - i) * sizeof *section);
		return;
	}
}

void config_add(struct config *config, const char *name)
{
	struct config_section section = { .name = must_copy(name), .file = "" };

	config_remove(config, name);
	split_name(&section);
	append_section(config, &section);
}

void config_set(struct config *config, const char *key, const char *value)
{
	append_key(config, (struct config_key) { must_copy(key), must_copy(value), "", 0 });
}

void config_free(struct config *config)
{
	for (size_t i = 0; i < config->nsections; i++)
		section_free(&config->sections[i]);
	for (size_t i = 0; i < config->nfiles; i++)
		free(config->files[i]);
	for (size_t i = 0; i < config->nerrors; i++)
		free(config->errors[i]);
	free(config->sections);
	free(config->files);
	free(config->errors);
	free(config->places);
	*config = (struct config) { 0 };
}
