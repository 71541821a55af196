/* Configuration text: what inih would cut, join or hide is refused with its physical line; the rest comes out whole.
 * Expected values are those that a person reads in the text; cases of ../shared/cases.md by number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/config.h"
#include "test.h"

const char suite[] = "config";

static struct config read_text(const char *text)
{
	struct config config = { 0 };

	config_read_text(&config, "a.ini", text);
	return config;
}

static const char *value(const struct config *config, const char *section, const char *name)
{
	const struct config_section *s = config_section(config, section);
	const struct config_key *key = s ? config_key(s, name) : NULL;

	return key ? key->value : "(none)";
}

/* Exactly one mistake, and it begins like this. */
static void one_error(const char *text, const char *begins)
{
	struct config config = read_text(text);

	CU_ASSERT_EQUAL(config.nerrors, 1);
	if (config.nerrors == 1) {
		CU_ASSERT_NSTRING_EQUAL(config.errors[0], begins, strlen(begins));
		if (strncmp(config.errors[0], begins, strlen(begins)) != 0)
			printf("  got: %s\n", config.errors[0]);
	}
	config_free(&config);
}

static void test_sections(void)
{
	struct config config = read_text("[agent]\nhost = web1\n[psi]\n[ sink:udp \t lab ]\n"
					 "address = [::1]:4711\n[host:group net]\n");
	const struct config_section *udp = config_section(&config, "sink:udp lab");

	CU_ASSERT_EQUAL(config.nerrors, 0);
	CU_ASSERT_EQUAL(config.nsections, 4);
	CU_ASSERT_STRING_EQUAL(value(&config, "agent", "host"), "web1");
	CU_ASSERT_PTR_NOT_NULL(config_section(&config, "psi")); /* has no key */
	CU_ASSERT_PTR_NOT_NULL_FATAL(udp);
	CU_ASSERT_STRING_EQUAL(udp->type, "sink");
	CU_ASSERT_STRING_EQUAL(udp->plugin, "udp");
	CU_ASSERT_STRING_EQUAL(udp->label, "lab");
	CU_ASSERT_EQUAL(udp->line, 4);
	CU_ASSERT_STRING_EQUAL(value(&config, "sink:udp lab", "address"), "[::1]:4711");
	CU_ASSERT_STRING_EQUAL(config_section(&config, "host:group net")->label, "net");
	config_free(&config);
}

static void test_colons_survive(void)
{
	struct config config = read_text("[x]\nurl = http://a:1/b:c\nevent:u = a=b:c\n");

	CU_ASSERT_EQUAL(config.nerrors, 0);
	CU_ASSERT_STRING_EQUAL(value(&config, "x", "url"), "http://a:1/b:c");
	CU_ASSERT_STRING_EQUAL(value(&config, "x", "event:u"), "a=b:c");
	config_free(&config);
	one_error("[x]\na:b\n", "a.ini:2: this line has no `=`");
}

/* Case 172: a byte order mark hides the first section. */
static void test_byte_order_mark_and_crlf(void)
{
	struct config config = read_text("\xef\xbb\xbf[output]\r\na = 1\r\n\r\n# c\r\nb = 2 \r\n");

	CU_ASSERT_EQUAL(config.nerrors, 0);
	CU_ASSERT_STRING_EQUAL(value(&config, "output", "a"), "1");
	CU_ASSERT_STRING_EQUAL(value(&config, "output", "b"), "2");
	CU_ASSERT_EQUAL(config_section(&config, "output")->keys[1].line, 5);
	config_free(&config);
}

static char *long_line(const char *head, size_t length)
{
	char *text = malloc(length + strlen(head) + 32);
	size_t n = (size_t)sprintf(text, "[x]\n%s", head);

	while (n < 4 + length)
		text[n++] = 'v';
	strcpy(text + n, "\nafter = 1\n");
	return text;
}

/* Case 168: the rest of a long line became a line of its own. 199 is what design.md measured of Debian's libinih. */
static void test_long_lines(void)
{
	char *fits = long_line("key = ", 199), *over = long_line("key = ", 200);
	char *evil = long_line("key = v evil = 1 ", 300);
	struct config config = read_text(fits);

	CU_ASSERT_EQUAL(config.nerrors, 0);
	CU_ASSERT_EQUAL(strlen(value(&config, "x", "key")), 199 - strlen("key = "));
	CU_ASSERT_STRING_EQUAL(value(&config, "x", "after"), "1");
	config_free(&config);
	one_error(over, "a.ini:2: this line has 200 bytes; 199 are possible");
	config = read_text(evil);
	CU_ASSERT_EQUAL(config.nerrors, 1);
	CU_ASSERT_EQUAL(config_section(&config, "x")->nkeys, 1);
	CU_ASSERT_STRING_EQUAL(value(&config, "x", "after"), "1");
	config_free(&config);
	free(fits);
	free(over);
	free(evil);
}

/* Case 171: values of a repeated key joined with LF. Here both are kept; options.c decides by the key's type. */
static void test_nothing_is_joined(void)
{
	struct config config = read_text("[x]\nip=1.2.3.4\nip=\n");

	CU_ASSERT_EQUAL(config_section(&config, "x")->nkeys, 2);
	CU_ASSERT_STRING_EQUAL(config_section(&config, "x")->keys[0].value, "1.2.3.4");
	CU_ASSERT_STRING_EQUAL(config_section(&config, "x")->keys[1].value, "");
	config_free(&config);
	one_error("[x]\na = 1\n  b = 2\n", "a.ini:3: an indented line");
	one_error("[x]\na = 1\n\tgoes on\n", "a.ini:3: an indented line");
}

static void test_nothing_is_cut(void)
{
	struct config config = read_text("[x]\na = 1;2\n ; a comment\n#;\nb=;\n");

	CU_ASSERT_EQUAL(config.nerrors, 0);
	CU_ASSERT_STRING_EQUAL(value(&config, "x", "a"), "1;2");
	CU_ASSERT_STRING_EQUAL(value(&config, "x", "b"), ";");
	config_free(&config);
	one_error("[x]\na = 1 ; one\n", "a.ini:2: ` ;` would cut");
	one_error("[x] ; y\n", "a.ini:1: ` ;` would cut");
	one_error("[x] y\n", "a.ini:1: a section line");
	one_error("[x\n", "a.ini:1: the ] is missing");
	one_error("[x]]\n", "a.ini:1: a section line");
	one_error("[sink:file aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]\n",
		  "a.ini:1: the section's name is longer than 49 bytes");
	one_error("[x]\naaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee = 1\n",
		  "a.ini:2: the key is longer than 49 bytes");
	one_error("[x]\na = 1\001\n", "a.ini:2: there is a control character");
	one_error("[x]\n = 1\n", "a.ini:2:");
	one_error("[x]\n= 1\n", "a.ini:2: there is no key");
	one_error("a = 1\n[x]\n", "a.ini:1: this key stands before the first [section]");
}

static void test_repeated_section(void)
{
	struct config config = read_text("[psi]\na = 1\n[cpu]\n[psi]\nb = 2\n");

	CU_ASSERT_EQUAL(config.nerrors, 1);
	CU_ASSERT_STRING_EQUAL(config.errors[0],
			       "a.ini:4: [psi] stands at a.ini:1 already; a second "
			       "one needs a label: [PLUGIN LABEL]");
	CU_ASSERT_EQUAL(config_section(&config, "psi")->nkeys, 1); /* b went nowhere */
	config_free(&config);
}

static void test_section_names(void)
{
	one_error("[snik:file]\n",
		  "a.ini:1: [snik:file]: there is no kind `snik`; did you mean `sink`?");
	one_error("[quux:file]\n", "a.ini:1: [quux:file]: there is no kind `quux`; it is sink");
	one_error("[sink]\n", "a.ini:1: [sink] names no plugin: [sink:NAME]");
	one_error("[sink:]\n", "a.ini:1: [sink:]: it names no plugin");
	one_error("[]\n", "a.ini:1: []: it names no plugin");
	one_error("[agent x]\n", "a.ini:1: [agent x]: it is just [agent]");
	one_error("[agent:x]\n", "a.ini:1: [agent:x]: it is just [agent]");
	one_error("[psi a b]\n", "a.ini:1: [psi a b]: a label is one word");
}

static void test_all_mistakes_in_one_pass(void)
{
	struct config config = read_text("x\n[psi]\ny\n[psi]\nz = ${NOT_SET_ANYWHERE}\n[cpu]\nz = "
					 "${NOT_SET_ANYWHERE}\n");

	CU_ASSERT_EQUAL(config.nerrors, 4);
	CU_ASSERT_NSTRING_EQUAL(config.errors[0], "a.ini:1: ", 9);
	CU_ASSERT_NSTRING_EQUAL(config.errors[1], "a.ini:3: ", 9);
	CU_ASSERT_NSTRING_EQUAL(config.errors[2], "a.ini:4: ", 9);
	CU_ASSERT_NSTRING_EQUAL(config.errors[3], "a.ini:7: z: the variable NOT_SET_ANYWHERE", 41);
	config_free(&config);
}

static void test_errors_are_bounded(void)
{
	char *text = malloc(3 * 5000 + 1);
	struct config config;

	for (int i = 0; i < 5000; i++)
		memcpy(text + 3 * i, "zz\n", 3);
	text[3 * 5000] = '\0';
	config = read_text(text);
	CU_ASSERT_EQUAL(config.nerrors, 100);
	CU_ASSERT_STRING_EQUAL(config.errors[99], "a.ini: too many mistakes; mend these first");
	config_free(&config);
	free(text);
}

/* ${parameter:-word} as POSIX.1-2017, Shell Command Language, 2.6.2 has it. */
static void test_variables(void)
{
	struct config config;

	setenv("SONDE_TEST_A", "one", 1);
	setenv("SONDE_TEST_EMPTY", "", 1);
	unsetenv("SONDE_TEST_NONE");
	config =
		read_text("[x]\na = <${SONDE_TEST_A}>${SONDE_TEST_A}\nb = ${SONDE_TEST_NONE:-two}\n"
			  "c = ${SONDE_TEST_EMPTY:-three}\nd = [${SONDE_TEST_EMPTY}]\n"
			  "e = ${SONDE_TEST_NONE:-}\nf = $5 ${SONDE_TEST_A:-x}\n");
	CU_ASSERT_EQUAL(config.nerrors, 0);
	CU_ASSERT_STRING_EQUAL(value(&config, "x", "a"), "<one>one");
	CU_ASSERT_STRING_EQUAL(value(&config, "x", "b"), "two");
	CU_ASSERT_STRING_EQUAL(value(&config, "x", "c"), "three");
	CU_ASSERT_STRING_EQUAL(value(&config, "x", "d"), "[]");
	CU_ASSERT_STRING_EQUAL(value(&config, "x", "e"), "");
	CU_ASSERT_STRING_EQUAL(value(&config, "x", "f"), "$5 one");
	config_free(&config);
	one_error("[x]\na = ${SONDE_TEST_NONE}\n",
		  "a.ini:2: a: the variable SONDE_TEST_NONE is not set");
	one_error("[x]\na = ${SONDE_TEST_A\n", "a.ini:2: a: ${SONDE_TEST_A: write ${NAME}");
	one_error("[x]\na = ${}\n", "a.ini:2: a: ${}: write ${NAME}");
	one_error("[x]\na = ${1}\n", "a.ini:2: a: ${1}: write ${NAME}");
	one_error("[x]\na = ${A-b}\n", "a.ini:2: a: ${A-b}: write ${NAME}");
	one_error("[x]\na = ${A_:-${B}}\n", "a.ini:2: a: ${A_:-: a default can't hold");
	setenv("SONDE_TEST_LF", "a\nb", 1);
	one_error("[x]\na = ${SONDE_TEST_LF}\n", "a.ini:2: a: the variable SONDE_TEST_LF holds");
}

/* A terminal's escape codes in the 8-bit form and an override of direction (U+009B, U+202E) do not reach it. */
static void test_messages_are_safe(void)
{
	struct config config = read_text("[x]\n[x\xc2\x9b"
					 "31m:y]\n[\xe2\x80\xae:z]\n");

	CU_ASSERT_EQUAL(config.nerrors, 2);
	for (size_t i = 0; i < config.nerrors; i++) {
		CU_ASSERT_PTR_NULL(strstr(config.errors[i], "\xc2\x9b"));
		CU_ASSERT_PTR_NULL(strstr(config.errors[i], "\xe2\x80\xae"));
		CU_ASSERT_PTR_NOT_NULL(strstr(config.errors[i], "there is no kind"));
	}
	config_free(&config);
}

static char folder[] = "/tmp/sonde_config_XXXXXX";

static char *in_folder(const char *name, const char *text)
{
	static char path[256];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	if (text) {
		file = fopen(path, "w");
		CU_ASSERT_PTR_NOT_NULL_FATAL(file);
		fputs(text, file);
		fclose(file);
	}
	return path;
}

static void test_includes(void)
{
	const char *names[] = { "main.ini", "b.inc", "a.inc", "self.ini", "missing.ini" };
	struct config config = { 0 };

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	in_folder("a.inc", "[psi]\nx = a\n");
	in_folder("b.inc", "\nz\n[cpu]\n[psi]\nx = b\n");
	CU_ASSERT_EQUAL(
		config_read(&config, in_folder("main.ini", "[agent]\ninclude = *.inc\n"
							   "include = none*.inc\n[disk]\n")),
		2);
	CU_ASSERT_EQUAL(config.nfiles, 3);
	CU_ASSERT_STRING_EQUAL(value(&config, "psi", "x"), "a");
	CU_ASSERT_PTR_NOT_NULL(config_section(&config, "cpu"));
	CU_ASSERT_PTR_NOT_NULL(strstr(config.errors[0], "/b.inc:2: this line has no `=`"));
	CU_ASSERT_PTR_NOT_NULL(strstr(config.errors[1], "/b.inc:4: [psi] stands at "));
	config_free(&config);

	config_read(&config, in_folder("self.ini", "[agent]\ninclude = self.i*\n"));
	CU_ASSERT_EQUAL(config.nerrors, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(config.errors[0], "self.ini:2: include: "));
	CU_ASSERT_PTR_NOT_NULL(strstr(config.errors[0], "is read already"));
	config_free(&config);

	config_read(&config, in_folder("missing.ini", "[agent]\ninclude = gone.ini\n"));
	CU_ASSERT_EQUAL(config.nerrors, 1);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(config.errors[0], "missing.ini:2: include: there is no file "));
	config_free(&config);

	CU_ASSERT_EQUAL(config_read(&config, folder), 1); /* a folder */
	CU_ASSERT_PTR_NOT_NULL(strstr(config.errors[0], "can't be read: Is a directory"));
	CU_ASSERT_EQUAL(config_read(&config, in_folder("nowhere.ini", NULL)), 2);
	CU_ASSERT_PTR_NOT_NULL(strstr(config.errors[1], "No such file or directory"));
	config_free(&config);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		unlink(in_folder(names[i], NULL));
	rmdir(folder);
}

/* Distances by hand: swap of neighbours 1, one letter 1. */
/* What a verb puts together is in no line: any text is a value, and a section takes the place of the file's. */
static void test_put_together(void)
{
	static const char any[] = " ${HOME} ; # = \"\n[sink:file]\n\x01 ";
	struct config config = read_text("[agent]\nhost = a\n[sink:file two]\npath = b\n");
	const struct config_section *section;

	config_add(&config, "sink:file two");
	config_set(&config, "path", any);
	config_set(&config, "path", "");
	CU_ASSERT_EQUAL(config.nerrors, 0);
	CU_ASSERT_EQUAL(config.nsections, 2);
	CU_ASSERT_STRING_EQUAL(value(&config, "agent", "host"), "a");
	CU_ASSERT_STRING_EQUAL(value(&config, "sink:file two", "path"), any);
	section = config_section(&config, "sink:file two");
	CU_ASSERT_EQUAL(section->nkeys, 2);
	CU_ASSERT_STRING_EQUAL(section->type, "sink");
	CU_ASSERT_STRING_EQUAL(section->plugin, "file");
	CU_ASSERT_STRING_EQUAL(section->label, "two");
	config_free(&config);
}

/* A mistake of a key is in its line, one of a key that is not there in its section's; of what is in no file, in none. */
static void test_places(void)
{
	struct config config = read_text("[psi]\n\ninterval = 1s\n");

	config_fault(&config, config_section(&config, "psi"), "interval", "too %s", "short");
	config_fault(&config, config_section(&config, "psi"), "lane", "missing");
	config_add(&config, "cpu");
	config_set(&config, "lane", "x");
	config_fault(&config, config_section(&config, "cpu"), "lane", "wrong");
	config_fault(&config, config_section(&config, "cpu"), "lane", "wrong");
	CU_ASSERT_EQUAL(config.nerrors, 3);
	CU_ASSERT_STRING_EQUAL(config.errors[0], "a.ini:1: [psi]: missing");
	CU_ASSERT_STRING_EQUAL(config.errors[1], "a.ini:3: [psi]: too short");
	CU_ASSERT_STRING_EQUAL(config.errors[2], "[cpu]: wrong");
	config_free(&config);
}

static void test_nearest(void)
{
	static const char *const names[] = { "cpu", "interval", "meminfo", "vmstat", "sink" };

	CU_ASSERT_STRING_EQUAL(nearest("intervall", names, 5), "interval");
	CU_ASSERT_STRING_EQUAL(nearest("intreval", names, 5), "interval");
	CU_ASSERT_STRING_EQUAL(nearest("snik", names, 5), "sink");
	CU_ASSERT_STRING_EQUAL(nearest("cpus", names, 5), "cpu");
	CU_ASSERT_STRING_EQUAL(nearest("CPU", names, 5), "cpu");
	CU_ASSERT_PTR_NULL(nearest("quux", names, 5));
	CU_ASSERT_PTR_NULL(nearest("", names, 5));
	CU_ASSERT_PTR_NULL(nearest("cpu", names, 0));
}

CU_TestInfo tests[] = {
	{ "sections with types, labels, without keys", test_sections },
	{ "colons in keys and values", test_colons_survive },
	{ "byte order mark and CRLF", test_byte_order_mark_and_crlf },
	{ "long lines", test_long_lines },
	{ "nothing is joined", test_nothing_is_joined },
	{ "nothing is cut", test_nothing_is_cut },
	{ "a repeated section", test_repeated_section },
	{ "names of sections", test_section_names },
	{ "all mistakes in one pass", test_all_mistakes_in_one_pass },
	{ "errors are bounded", test_errors_are_bounded },
	{ "messages are safe", test_messages_are_safe },
	{ "variables", test_variables },
	{ "includes", test_includes },
	{ "put together by a verb", test_put_together },
	{ "places of mistakes", test_places },
	{ "nearest", test_nearest },
	CU_TEST_INFO_NULL,
};
