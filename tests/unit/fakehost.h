/* A host for the tests of collectors: texts that a test puts under a path, then files of a tree; rows in the host's real
 * arena, read back as text; rows as JSON lines, to compare with a fixture's expected.jsonl. */
#ifndef FAKEHOST_H
#define FAKEHOST_H

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sonde/plugin.h>

#include "core/frame.h"
#include "core/schema.h"

#include "test.h"

extern const struct sonde_plugin sonde_plugin;

enum { FAKE_FILES = 512, FAKE_TABLES = 8, FAKE_BLOCKS = 16, FAKE_TEXT = 16 << 20 };

struct sonde_file {
	char path[256];
	struct sonde_file *next;
	size_t at; /* of read_lines */
};

static struct fake {
	struct sonde_instance self;
	struct sonde_frame frame;
	struct sonde_schema *schemas[FAKE_TABLES];
	char root[4096]; /* of the tree; "": only what was put */
	struct {
		char path[256];
		const char *text; /* NULL: the file is not there, in the tree neither */
		size_t length;
		int err; /* of read(2) */
	} put[FAKE_FILES];
	uint32_t nput;
	void **blocks[FAKE_BLOCKS];
	uint64_t sizes[FAKE_BLOCKS], wanted[FAKE_BLOCKS];
	uint32_t nblocks;
	bool started;
	struct sonde_file *files; /* opened and not closed */
	int nlisted;              /* folders */
	/* In the place of a plugin's own system calls; NULL: they are made. */
	int64_t (*obtain)(const char *name,
			  int64_t (*call)(void *context, void *buffer, uint64_t size),
			  void *context, void *buffer, uint64_t size);
	char notes[4096], gaps[4096], unavailable[512];
	char text[FAKE_TEXT], names[1 << 16];
} fake;

static inline int fake_find(const char *path)
{
	for (uint32_t i = 0; i < fake.nput; i++)
		if (strcmp(fake.put[i].path, path) == 0)
			return (int)i;
	return -1;
}

static inline void put_bytes(const char *path, const char *text, size_t length, int err)
{
	int i = fake_find(path);

	if (i < 0) {
		if (fake.nput == FAKE_FILES)
			abort();
		i = (int)fake.nput++;
	}
	if ((size_t)snprintf(fake.put[i].path, sizeof fake.put[i].path, "%s", path) >=
	    sizeof fake.put[i].path)
		abort();
	fake.put[i].text = text;
	fake.put[i].length = length;
	fake.put[i].err = err;
}

/* The file has this text; NULL: there is no such file. The text is not copied. */
static inline void put(const char *path, const char *text)
{
	put_bytes(path, text, text ? strlen(text) : 0, 0);
}

static inline void put_error(const char *path, int err)
{
	put_bytes(path, "", 0, err);
}

static inline int64_t fake_load(const char *path, const char **text)
{
	char full[8192];
	ssize_t n, used = 0;
	int fd, i = fake_find(path);

	*text = fake.text;
	if (i >= 0 && fake.put[i].err)
		return -fake.put[i].err;
	if (i >= 0 && !fake.put[i].text)
		return -ENOENT;
	if (i >= 0) {
		/* At the end of the buffer, so that a sanitiser sees a read beyond it. */
		char *at = malloc(fake.put[i].length + 1);

		memcpy(at, fake.put[i].text, fake.put[i].length);
		at[fake.put[i].length] = '\0';
		*text = at;
		return (int64_t)fake.put[i].length;
	}
	/* As the host does: what the tree's own PID 1 sees. */
	if (strncmp(path, "/proc/net/", 10) == 0)
		snprintf(full, sizeof full, "%s/proc/1%s", fake.root, path + 5);
	else if (strncmp(path, "/proc/self/", 11) == 0)
		snprintf(full, sizeof full, "%s/proc/1%s", fake.root, path + 10);
	else
		snprintf(full, sizeof full, "%s%s", fake.root, path);
	fd = fake.root[0] ? open(full, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return fake.root[0] ? -errno : -ENOENT;
	while (used < FAKE_TEXT && (n = read(fd, fake.text + used, (size_t)(FAKE_TEXT - used))) > 0)
		used += n;
	n = used < FAKE_TEXT && n < 0 ? -errno : used;
	close(fd);
	return n;
}

static char *fake_loaded; /* of the last read, freed at the next: a text is valid no longer */

static int64_t fake_read(struct sonde_file *file, const char **text)
{
	int64_t length;

	free(fake_loaded);
	length = fake_load(file->path, text);
	fake_loaded = length >= 0 && *text != fake.text ? (char *)*text : NULL;
	return length;
}

/* Lines until `limit` bytes are reached; 0 at the end. */
static int64_t fake_read_lines(struct sonde_file *file, uint64_t limit, const char **text)
{
	int64_t length = fake_read(file, text);
	size_t from = file->at, to = from;

	if (length < 0)
		return length;
	while (to < (size_t)length && to - from < limit) {
		const char *lf = memchr(*text + to, '\n', (size_t)length - to);

		to = lf ? (size_t)(lf + 1 - *text) : (size_t)length;
	}
	*text += from;
	file->at = to > from ? to : 0;
	return (int64_t)(to - from);
}

static struct sonde_file *fake_open(struct sonde_instance *self, uint32_t mode, const char *path)
{
	struct sonde_file *file = calloc(1, sizeof *file);
	const char *text;
	int64_t length;

	(void)self, (void)mode;
	snprintf(file->path, sizeof file->path, "%s", path);
	length = fake_load(path, &text);
	if (length >= 0 && text != fake.text)
		free((char *)text);
	if (length >= 0 || length == -EOPNOTSUPP) {
		file->next = fake.files;
		fake.files = file;
		return file;
	}
	free(file);
	errno = (int)-length;
	return NULL;
}

static void fake_close(struct sonde_file *file)
{
	struct sonde_file **at = &fake.files;

	while (*at != file)
		at = &(*at)->next;
	*at = file->next;
	free(file);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool fake_is_folder(DIR *dir, const char *name)
{
	struct stat is;

	return fstatat(dirfd(dir), name, &is, 0) == 0 && S_ISDIR(is.st_mode);
}

/* A folder's names: those of the tree, and the first part of what was put below it. With a slash at the end only folders. */
static int64_t fake_list(struct sonde_instance *self, const char *path, const char **names)
{
	static char *list[4096];
	size_t n = 0, used = 0, length = strlen(path);
	bool folders = path[length - 1] == '/';
	char full[8192];
	struct dirent *entry;
	DIR *dir;

	(void)self;
	fake.nlisted++;
	length -= folders;
	snprintf(full, sizeof full, "%s%.*s", fake.root, (int)length, path);
	dir = fake.root[0] ? opendir(full) : NULL;
	while (dir && (entry = readdir(dir)) && n < 4096)
		if (entry->d_name[0] != '.' && (!folders || fake_is_folder(dir, entry->d_name)))
			list[n++] = strdup(entry->d_name);
	if (dir)
		closedir(dir);
	for (uint32_t i = 0; i < fake.nput; i++) {
		const char *below = fake.put[i].path + length + 1;

		if (fake.put[i].text && strncmp(fake.put[i].path, path, length) == 0 &&
		    below[-1] == '/' && (!folders || strchr(below, '/')))
			list[n++] = strndup(below, strcspn(below, "/"));
	}
	qsort(list, n, sizeof list[0], by_name);
	*names = fake.names;
	int64_t count = 0;
	const char *last = "";
	for (size_t i = 0; i < n; i++) {
		if (strcmp(list[i], last) != 0) {
			last = strcpy(fake.names + used, list[i]);
			used += strlen(list[i]) + 1;
			count++;
		}
		free(list[i]);
	}
	return dir || count ? count : -ENOENT;
}

static void fake_log(struct sonde_instance *self, uint32_t level, const char *message)
{
	(void)self, (void)level, (void)message;
}

static void fake_note(struct sonde_instance *self, const char *message)
{
	size_t used = strlen(fake.notes);

	(void)self;
	snprintf(fake.notes + used, sizeof fake.notes - used, "%s\n", message);
}

static void fake_gap(struct sonde_instance *self, const char *message)
{
	size_t used = strlen(fake.gaps);

	(void)self;
	snprintf(fake.gaps + used, sizeof fake.gaps - used, "%s\n", message);
}

static int fake_unavailable(struct sonde_instance *self, const char *reason)
{
	(void)self;
	snprintf(fake.unavailable, sizeof fake.unavailable, "%s", reason);
	return -ENODEV;
}

static int fake_add_table(struct sonde_instance *self, const struct sonde_table *table)
{
	uint32_t n = fake.frame.ntables;
	char why[256] = "too many tables";

	(void)self;
	if (n == FAKE_TABLES || schema_make(table, &fake.schemas[n], why, sizeof why)) {
		fprintf(stderr, "%s\n", why);
		return -EINVAL;
	}
	if (frame_add_table(&fake.frame, fake.schemas[n], table->rows, table->max_rows))
		return -EINVAL;
	return (int)n;
}

static void fake_grow_now(uint32_t i)
{
	char *bytes;

	if (fake.wanted[i] <= fake.sizes[i] && *fake.blocks[i])
		return;
	bytes = calloc(1, fake.wanted[i] ? fake.wanted[i] : 1);
	if (fake.sizes[i])
		memcpy(bytes, *fake.blocks[i], fake.sizes[i]);
	free(*fake.blocks[i]);
	*fake.blocks[i] = bytes;
	fake.sizes[i] = fake.wanted[i];
}

/* In start() at once, else before the next sample. */
static int fake_grow(struct sonde_instance *self, void **block, uint64_t size)
{
	uint32_t i = 0;

	(void)self;
	while (i < fake.nblocks && fake.blocks[i] != block)
		i++;
	if (i == FAKE_BLOCKS)
		abort();
	fake.nblocks += i == fake.nblocks;
	fake.blocks[i] = block;
	fake.wanted[i] = size > fake.wanted[i] ? size : fake.wanted[i];
	if (!fake.started)
		fake_grow_now(i);
	return 0;
}

static void fake_partial(struct sonde_frame *frame)
{
	frame->partial = true;
}

static int64_t fake_obtain(struct sonde_instance *self, const char *name,
			   int64_t (*call)(void *context, void *buffer, uint64_t size),
			   void *context, void *buffer, uint64_t size)
{
	(void)self;
	return fake.obtain ? fake.obtain(name, call, context, buffer, size)
			   : call(context, buffer, size);
}

static const struct sonde_host fake_services = {
	.size = sizeof fake_services,
	.log = fake_log,
	.note = fake_note,
	.unavailable = fake_unavailable,
	.add_table = fake_add_table,
	.grow = fake_grow,
	.open = fake_open,
	.read = fake_read,
	.close = fake_close,
	.list = fake_list,
	.row = frame_row,
	.partial = fake_partial,
	.obtain = fake_obtain,
	.read_lines = fake_read_lines,
	.gap = fake_gap,
};

/* Of a captured tree USER_HZ is not known. */
static const struct sonde_stream_header fake_header = { .user_hz = 100, .page_size = 4096 };
static const struct sonde_stream_header fake_captured = { .page_size = 4096 };

/* Forgets everything: the next test begins. */
static inline void fake_end(void)
{
	while (fake.files)
		fake_close(fake.files);
	for (uint32_t i = 0; i < fake.nblocks; i++)
		free(*fake.blocks[i]);
	for (uint32_t i = 0; i < fake.frame.ntables; i++)
		schema_free(fake.schemas[i]);
	frame_free(&fake.frame);
	free(fake_loaded);
	free(fake.self.state);
	fake_loaded = NULL;
	memset(&fake, 0, offsetof(struct fake, text));
}

/* Starts the plugin on what was put and on the tree ("": none), with the configuration at fake.self.conf. 0, or what start()
 * says. */
static inline int fake_start(const char *root)
{
	snprintf(fake.root, sizeof fake.root, "%s", root);
	fake.self.host = &fake_services;
	fake.self.name = sonde_plugin.name;
	fake.self.root = fake.root;
	fake.self.header = *root ? &fake_captured : &fake_header;
	if (!fake.self.label)
		fake.self.label = "";
	fake.self.state = calloc(1, sonde_plugin.state_size ? sonde_plugin.state_size : 1);
	for (uint32_t i = 0; i < sonde_plugin.tables.count; i++)
		if (fake_add_table(&fake.self,
				   (const void *)((const char *)sonde_plugin.tables.items +
						  (size_t)i * sonde_plugin.tables.stride)) < 0)
			return -EINVAL;
	int err = sonde_plugin.start(&fake.self);
	fake.started = true;
	return err;
}

static inline int fake_sample(void)
{
	for (uint32_t i = 0; i < fake.nblocks; i++)
		fake_grow_now(i);
	frame_begin(&fake.frame);
	int err = ((const struct sonde_collector_ops *)sonde_plugin.ops)
			  ->sample(&fake.self, &fake.frame);
	frame_end(&fake.frame);
	return err;
}

static inline struct frame_table *fake_table(const char *name)
{
	for (uint32_t i = 0; i < fake.frame.ntables; i++)
		if (strcmp(fake.schemas[i]->name, name) == 0)
			return &fake.frame.tables[i];
	return NULL;
}

static inline uint32_t fake_rows(const char *table)
{
	struct frame_table *t = fake_table(table);

	return t ? t->nrows : 0;
}

/* A value as text; "-" where it is absent. */
static inline void fake_value(const struct sonde_schema *schema, const uint64_t *have,
			      uint32_t column, char *text, size_t size)
{
	uint32_t slot = schema->slot[column];
	uint64_t value = (have + schema->nhave)[slot];

	if (!(have[slot >> 6] >> (slot & 63) & 1))
		snprintf(text, size, "-");
	else if (schema->columns[column].type == SONDE_STR)
		snprintf(text, size, "%.*s", (int)(uint32_t)value,
			 fake.frame.strings.bytes + (value >> 32));
	else if (schema->columns[column].type == SONDE_F64)
		snprintf(text, size, "%g", sonde_slot_f64(value));
	else if (schema->columns[column].type == SONDE_I64)
		snprintf(text, size, "%lld", (long long)value);
	else
		snprintf(text, size, "%llu", (unsigned long long)value);
}

/* The value in the row whose keys, with blanks between them, are `key`; "-" absent, "no row", "no column". */
static inline const char *got(const char *table, const char *key, const char *column)
{
	static char value[4096];
	struct frame_table *t = fake_table(table);
	int index = t ? schema_column(t->schema, column) : -1;

	if (index < 0)
		return "no column";
	for (uint32_t r = 0; r < t->nrows; r++) {
		const uint64_t *have = t->words + (size_t)r * t->stride;
		char keys[1024] = "", part[512];

		for (uint32_t k = 0; k < t->schema->nkeys; k++) {
			fake_value(t->schema, have, k, part, sizeof part);
			snprintf(keys + strlen(keys), sizeof keys - strlen(keys), "%s%s",
				 k ? " " : "", part);
		}
		if (strcmp(keys, key) != 0)
			continue;
		fake_value(t->schema, have, (uint32_t)index, value, sizeof value);
		return value;
	}
	return "no row";
}

#define IS(table, key, column, expected) CU_ASSERT_STRING_EQUAL(got(table, key, column), expected)

static inline void json_member(FILE *out, const struct sonde_schema *schema, const uint64_t *have,
			       uint32_t column, bool *first)
{
	char text[4096];

	fake_value(schema, have, column, text, sizeof text);
	if (strcmp(text, "-") == 0)
		return;
	fprintf(out, "%s\"%s\":", *first ? "" : ",", schema->columns[column].name);
	fprintf(out, schema->columns[column].type == SONDE_STR ? "\"%s\"" : "%s", text);
	*first = false;
}

/* One line a row: {"table":...,"keys":{...},"values":{...}}, absent values left out. */
static inline void fake_json(FILE *out)
{
	for (uint32_t t = 0; t < fake.frame.ntables; t++) {
		const struct frame_table *table = &fake.frame.tables[t];
		const struct sonde_schema *schema = table->schema;

		for (uint32_t r = 0; r < table->nrows; r++) {
			const uint64_t *have = table->words + (size_t)r * table->stride;
			bool first = true;

			fprintf(out, "{\"table\":\"%s\",\"keys\":{", schema->name);
			for (uint32_t c = 0; c < schema->ncolumns; c++) {
				if (c == schema->nkeys) {
					fprintf(out, "},\"values\":{");
					first = true;
				}
				json_member(out, schema, have, c, &first);
			}
			fprintf(out, "}}\n");
		}
	}
}

/* Samples the fixture plugins/NAME/fixtures/CASE and compares its rows with expected.jsonl beside it. */
static inline void fixture(const char *name)
{
	char root[256], path[300], *rows = NULL, expected[1 << 16];
	size_t length, read;
	FILE *out = open_memstream(&rows, &length), *in;

	snprintf(root, sizeof root, "plugins/%s/fixtures/%s", sonde_plugin.name, name);
	snprintf(path, sizeof path, "%s/expected.jsonl", root);
	CU_ASSERT_EQUAL_FATAL(fake_start(root), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	fake_json(out);
	fclose(out);
	in = fopen(path, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(in);
	read = fread(expected, 1, sizeof expected - 1, in);
	fclose(in);
	expected[read] = '\0';
	CU_ASSERT_STRING_EQUAL(rows, expected);
	if (strcmp(rows, expected) != 0)
		fprintf(stderr, "%s: rows differ from expected.jsonl:\n%s", root, rows);
	free(rows);
	fake_end();
}

/* The folder of captured machines beside the checkout, unpacked trees of which a test reads; false where it is absent. */
static inline bool shared_tree(const char *tarball, const char *inside, char *path, size_t size)
{
	const char *shared = getenv("SONDE_SHARED");
	char command[1024], folder[256];

	snprintf(folder, sizeof folder, "/tmp/sonde-tree-%ld", (long)getpid());
	snprintf(command, sizeof command,
		 "rm -rf %s && mkdir -p %s && tar -xJf '%s/%s' -C %s 2>/dev/null", folder, folder,
		 shared ? shared : "../shared", tarball, folder);
	snprintf(path, size, "%s/%s", folder, inside);
	if (system(command) == 0)
		return true;
	printf("skipped: ../shared/%s is not there\n", tarball);
	return false;
}

static inline void shared_end(void)
{
	char command[64];

	snprintf(command, sizeof command, "rm -rf /tmp/sonde-tree-%ld", (long)getpid());
	if (system(command) != 0)
		abort();
}

#endif
