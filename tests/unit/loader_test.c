/* The loader: descriptors older, newer and wrong (<sonde/plugin.h>), and files that only look like plugins (elf(5)). This
 * program has the note of a plugin in itself, so its own file serves as one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/descriptor.h"
#include "live/elffile.h"
#include "host/folders.h"
#include "test.h"

const char suite[] = "loader";

struct conf {
	uint64_t age;
	uint32_t mode;
};

static const struct sonde_option good_options[] = {
	{ "age", SONDE_OPT_DURATION, offsetof(struct conf, age), "1s", NULL, 0, 0, "an age" },
	{ "mode", SONDE_OPT_CHOICE, offsetof(struct conf, mode), "a", "a|b", 0, 0, "a mode" },
};
static const struct sonde_column good_columns[] = {
	{ "cpu", SONDE_U64, SONDE_KEY, SONDE_NONE, .help = "number" },
	{ "bytes", SONDE_U64, SONDE_COUNTER, SONDE_BYTES, .origin = "field 2" },
};
static const struct sonde_table good_tables[] = { { "loaded", SONDE_COLUMNS(good_columns),
						    .origin = "/proc/x" } };

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	(void)self;
	(void)frame;
	return 0;
}

SONDE_COLLECTOR(loaded, "a plugin inside a test", sample, .options = SONDE_OPTIONS(good_options),
		.tables = SONDE_TABLES(good_tables), .conf_size = sizeof(struct conf));

static char why[1024];

static int taken(const struct sonde_plugin *d)
{
	struct plugin plugin = { 0 };
	int err = descriptor_take(&plugin, d, why, sizeof why);

	descriptor_free(&plugin);
	return err;
}

/* It is refused, and the sentence has these words. */
static void refused(const struct sonde_plugin *d, const char *words)
{
	why[0] = '\0';
	CU_ASSERT_NOT_EQUAL(taken(d), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, words));
	if (!strstr(why, words))
		printf("  got: %s\n", why);
}

static void test_good(void)
{
	struct plugin plugin = { 0 };

	CU_ASSERT_EQUAL_FATAL(descriptor_take(&plugin, &sonde_plugin, why, sizeof why), 0);
	CU_ASSERT_EQUAL(plugin.noptions, 2);
	CU_ASSERT_STRING_EQUAL(plugin.options[1].key, "mode");
	CU_ASSERT_EQUAL(plugin.ntables, 1);
	CU_ASSERT_EQUAL(plugin.schemas[0]->nslots, 2);
	CU_ASSERT_PTR_EQUAL(plugin.ops.collector.sample, sample);
	descriptor_free(&plugin);
}

static void test_frozen_bytes(void)
{
	struct sonde_plugin d = sonde_plugin;

	d.magic = 0x736e6465; /* of the other byte order */
	refused(&d, "its magic is 736e6465, not 65646e73");
	d = sonde_plugin;
	d.abi_major = 2;
	refused(&d, "built for ABI 2.0 and this sonde has 1.2");
	d = sonde_plugin;
	d.size = 40;
	refused(&d, "its descriptor has 40 bytes");
	d = sonde_plugin;
	d.host_need = sizeof(struct sonde_host) + 8;
	refused(&d, "update sonde");
}

static void test_plain_fields(void)
{
	struct sonde_plugin d = sonde_plugin;

	d.kind = 9;
	refused(&d, "its kind is 9");
	d = sonde_plugin;
	d.name = "Loaded";
	refused(&d, "its name is not");
	d = sonde_plugin;
	d.summary = NULL;
	refused(&d, "no version or no summary");
	d = sonde_plugin;
	d.ops = NULL;
	refused(&d, "its functions are malformed");
	d = sonde_plugin;
	d.ops_size = 4;
	refused(&d, "its functions are malformed (4 bytes)");
}

static void test_functions(void)
{
	static const struct sonde_collector_ops no_sample = { 0 };
	struct sonde_sink_ops sink = { .intake = SONDE_TAKES_VIEWS, .assertion = SONDE_HANDED };
	struct sonde_plugin d = sonde_plugin;

	d.ops = &no_sample;
	refused(&d, "no sample()");
	d.kind = SONDE_KIND_SINK;
	d.ops = &sink;
	d.ops_size = sizeof sink;
	refused(&d, "it takes views and has no view()");
	sink.intake = SONDE_TAKES_STREAM;
	refused(&d, "it takes bytes and has no bytes()");
	sink.intake = 0;
	refused(&d, "what it takes");
	sink.intake = SONDE_TAKES_STREAM;
	sink.assertion = 0;
	refused(&d, "what `delivered` asserts");
}

static void refused_option(struct sonde_option option, const char *words)
{
	const struct sonde_option two[] = { good_options[0], option };
	struct sonde_plugin d = sonde_plugin;

	d.options = (struct sonde_array)SONDE_OPTIONS(two);
	refused(&d, words);
}

static void test_options(void)
{
	struct sonde_option o = good_options[1];

	o.key = "Mode";
	refused_option(o, "option 1 (Mode): its key");
	o = good_options[1];
	o.key = "age";
	refused_option(o, "two of its options are called age");
	o = good_options[1];
	o.type = 77;
	refused_option(o, "no type that this sonde knows");
	o = good_options[1];
	o.offset = sizeof(struct conf);
	refused_option(o, "outside conf");
	o.offset = UINT32_MAX;
	refused_option(o, "outside conf");
	o.offset = 2;
	refused_option(o, "its offset is not that of a field");
	o = good_options[1];
	o.choices = NULL;
	refused_option(o, "no choices");
	o = good_options[1];
	o.initial = "c";
	refused_option(o, "the default of its option mode is wrong: \"c\" is none of a|b");
	o = good_options[1];
	o.min = 1;
	refused_option(o, "range ends before it begins");
}

static void refused_table(const struct sonde_table *tables, uint32_t count, const char *words)
{
	struct sonde_plugin d = sonde_plugin;

	d.tables = (struct sonde_array) { tables, count, sizeof *tables };
	refused(&d, words);
}

static void test_tables(void)
{
	struct sonde_column columns[2] = { good_columns[0], good_columns[1] };
	struct sonde_table table = { "loaded", SONDE_COLUMNS(columns), .rows = 1 };
	const struct sonde_table twice[] = { good_tables[0], good_tables[0] };

	columns[1].unit = 0;
	refused_table(&table, 1, "table loaded, column 1 (bytes): it has no unit");
	columns[1] = good_columns[1];
	columns[1].semantics = 0;
	refused_table(&table, 1, "it has no semantics");
	columns[1] = good_columns[1];
	table.name = "note";
	refused_table(&table, 1, "table note: the name is the host's own");
	refused_table(twice, 2, "two of its tables are called loaded");
	refused_table(NULL, 1, "its array of tables is malformed");
	refused_table(&table, 100000, "its array of tables is malformed");
}

/* An older plugin's options end before `help`; a newer one's go on behind it. */
static void test_strides(void)
{
	enum { OLD = offsetof(struct sonde_option, help), NEW = sizeof(struct sonde_option) + 16 };
	_Alignas(16) char old[2 * OLD], new[2 * NEW];
	struct sonde_plugin d = sonde_plugin;
	struct plugin plugin = { 0 };

	memset(new, 0x5a, sizeof new);
	for (int i = 0; i < 2; i++) {
		memcpy(old + i * OLD, &good_options[i], OLD);
		memcpy(new + i *NEW, &good_options[i], sizeof(struct sonde_option));
	}
	d.options = (struct sonde_array) { old, 2, OLD };
	CU_ASSERT_EQUAL_FATAL(descriptor_take(&plugin, &d, why, sizeof why), 0);
	CU_ASSERT_STRING_EQUAL(plugin.options[1].key, "mode");
	CU_ASSERT_PTR_NULL(plugin.options[1].help);
	descriptor_free(&plugin);

	plugin = (struct plugin) { 0 };
	d.options = (struct sonde_array) { new, 2, NEW };
	CU_ASSERT_EQUAL_FATAL(descriptor_take(&plugin, &d, why, sizeof why), 0);
	CU_ASSERT_STRING_EQUAL(plugin.options[1].key, "mode");
	CU_ASSERT_STRING_EQUAL(plugin.options[1].help, "a mode");
	descriptor_free(&plugin);
}

/* A descriptor that ends where the first ABI 1 ended, with rubbish behind it. */
static void test_short_descriptor(void)
{
	struct {
		struct sonde_plugin d;
		char rubbish[64];
	} newer;
	struct plugin plugin = { 0 };

	memset(&newer, 0x5a, sizeof newer);
	newer.d = sonde_plugin;
	newer.d.reserved = 0x5a5a5a5a;
	newer.d.size = offsetof(struct sonde_plugin, reserved);
	CU_ASSERT_EQUAL_FATAL(descriptor_take(&plugin, &newer.d, why, sizeof why), 0);
	CU_ASSERT_EQUAL(plugin.descriptor.reserved, 0);
	descriptor_free(&plugin);
	plugin = (struct plugin) { 0 };
	newer.d.size = sizeof newer;
	CU_ASSERT_EQUAL_FATAL(descriptor_take(&plugin, &newer.d, why, sizeof why), 0);
	descriptor_free(&plugin);
}

static char *own_file(size_t *length)
{
	FILE *file = fopen("/proc/self/exe", "r");
	char *bytes = NULL;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	*length = 0;
	for (size_t n = 1; n; *length += n) {
		char *grown = realloc(bytes, *length + 65536);

		CU_ASSERT_PTR_NOT_NULL_FATAL(grown);
		bytes = grown;
		n = fread(bytes + *length, 1, 65536, file);
	}
	fclose(file);
	return bytes;
}

static void put(const char *path, const void *bytes, size_t length)
{
	FILE *file = fopen(path, "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_EQUAL(fwrite(bytes, 1, length, file), length);
	fclose(file);
}

static void test_own_note(void)
{
	struct elf_facts facts;

	CU_ASSERT_EQUAL_FATAL(elf_read("/proc/self/exe", &facts, why, sizeof why), 0);
	CU_ASSERT_STRING_EQUAL(facts.note.name, "loaded");
	CU_ASSERT_STRING_EQUAL(facts.note.summary, "a plugin inside a test");
	CU_ASSERT_EQUAL(facts.note.kind, SONDE_KIND_COLLECTOR);
	CU_ASSERT_EQUAL(facts.note.magic, SONDE_MAGIC);
}

static void not_elf(const char *path, const char *words)
{
	struct elf_facts facts;

	CU_ASSERT_NOT_EQUAL(elf_read(path, &facts, why, sizeof why), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, words));
}

static void test_other_files(void)
{
	not_elf("/nonexistent.so", "No such file");
	not_elf("/dev/null", "not a regular file");
	not_elf("/", "not a regular file");
	not_elf("/etc/passwd", "not an ELF file");
	not_elf("/lib64/ld-linux-x86-64.so.2", "no sonde note");
}

/* Every byte of the headers and of the note made wrong, and the file cut: never a crash, never a name that was not there. */
static void test_damaged_files(void)
{
	char path[] = "/tmp/sonde_loader_XXXXXX";
	int fd = mkstemp(path);
	size_t length;
	char *bytes = own_file(&length), *note = NULL;
	struct elf_facts facts;
	unsigned refusals = 0;

	CU_ASSERT_NOT_EQUAL_FATAL(fd, -1);
	for (size_t i = 0; i + 64 < length && !note; i += 4)
		if (memcmp(bytes + i, "\6\0\0\0", 4) == 0 &&
		    memcmp(bytes + i + 12, "sonde", 6) == 0)
			note = bytes + i;
	CU_ASSERT_PTR_NOT_NULL_FATAL(note);
	put(path, bytes, length);
	for (size_t i = 0; i < 64 + 16 * 56 + 32; i++) {
		size_t at = i < 64 + 16 * 56 ? i : (size_t)(note - bytes) + i - 64 - 16 * 56;
		const char values[] = { 0, (char)0xff, (char)(bytes[at] ^ 0x80) };

		for (size_t v = 0; v < sizeof values; v++) {
			CU_ASSERT_EQUAL(pwrite(fd, &values[v], 1, (off_t)at), 1);
			refusals += elf_read(path, &facts, why, sizeof why) != 0;
			CU_ASSERT_TRUE(memchr(facts.note.name, '\0', sizeof facts.note.name) !=
				       NULL);
		}
		CU_ASSERT_EQUAL(pwrite(fd, bytes + at, 1, (off_t)at), 1);
	}
	CU_ASSERT_TRUE(refusals > 100);
	for (size_t cut = 0; cut < 2000; cut += 7) {
		CU_ASSERT_EQUAL(ftruncate(fd, (off_t)cut), 0);
		CU_ASSERT_NOT_EQUAL(elf_read(path, &facts, why, sizeof why), 0);
	}
	close(fd);
	unlink(path);
	free(bytes);
}

static void test_file_names(void)
{
	char name[64];

	CU_ASSERT_EQUAL(folders_split("collector-psi.so", name, sizeof name), SONDE_KIND_COLLECTOR);
	CU_ASSERT_STRING_EQUAL(name, "psi");
	CU_ASSERT_EQUAL(folders_split("sink-a_b.so", name, sizeof name), SONDE_KIND_SINK);
	CU_ASSERT_EQUAL(folders_split("collector-.so", name, sizeof name), 0);
	CU_ASSERT_EQUAL(folders_split("collector-psi", name, sizeof name), 0);
	CU_ASSERT_EQUAL(folders_split("collect-psi.so", name, sizeof name), 0);
	CU_ASSERT_EQUAL(folders_split("libfoo-2.so", name, sizeof name), 0);
	CU_ASSERT_EQUAL(folders_split("collector-../x.so", name, sizeof name), 0);
	CU_ASSERT_EQUAL(folders_split("", name, sizeof name), 0);
	CU_ASSERT_EQUAL(folders_split("-.so", name, sizeof name), 0);
}

static void test_not_found(void)
{
	char folder[] = "/tmp/sonde_plugins_XXXXXX", psi[128], udp[128];
	const struct plugin *plugin;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	snprintf(psi, sizeof psi, "%s/collector-psi.so", folder);
	snprintf(udp, sizeof udp, "%s/sink-udp.so", folder);
	put(psi, "not ELF", 7);
	put(udp, "not ELF", 7);
	CU_ASSERT_EQUAL(plugin_load(folder, SONDE_KIND_COLLECTOR, "pis", &plugin, why, sizeof why),
			-ENOENT);
	CU_ASSERT_STRING_EQUAL(why, "there is no collector `pis`; did you mean `psi`?");
	CU_ASSERT_EQUAL(plugin_load(folder, SONDE_KIND_COLLECTOR, "udp", &plugin, why, sizeof why),
			-ENOENT);
	CU_ASSERT_STRING_EQUAL(why, "there is no collector `udp`, but a sink: [sink:udp]");
	CU_ASSERT_EQUAL(plugin_load(folder, SONDE_KIND_SINK, "psi", &plugin, why, sizeof why),
			-ENOENT);
	CU_ASSERT_STRING_EQUAL(why, "there is no sink `psi`, but a collector: [psi]");
	CU_ASSERT_EQUAL(plugin_load(folder, SONDE_KIND_SINK, "../psi", &plugin, why, sizeof why),
			-ENOENT);
	CU_ASSERT_NOT_EQUAL(
		plugin_load(folder, SONDE_KIND_COLLECTOR, "psi", &plugin, why, sizeof why), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "collector-psi.so: it is not an ELF file"));
	unlink(psi);
	unlink(udp);
	rmdir(folder);
}

CU_TestInfo tests[] = {
	{ "a good descriptor", test_good },
	{ "the frozen bytes", test_frozen_bytes },
	{ "plain fields", test_plain_fields },
	{ "functions of its kind", test_functions },
	{ "options", test_options },
	{ "tables", test_tables },
	{ "items of an older and a newer header", test_strides },
	{ "a descriptor of an older and a newer header", test_short_descriptor },
	{ "the note of this file", test_own_note },
	{ "files of other kinds", test_other_files },
	{ "damaged files", test_damaged_files },
	{ "names of files", test_file_names },
	{ "what is not found", test_not_found },
	CU_TEST_INFO_NULL,
};
