/* The filter before a sink: what it lets through, and when; privacy; no allocation once it has warmed up. */
#include <stdio.h>

#include "filtered.h"
#include "host/siphash.h"

const char suite[] = "filter";

/* ---- allocations, counted where no sanitizer does so itself ---- */

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

static unsigned long allocations;

#ifndef SANITIZED
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

void *malloc(size_t size)
{
	allocations++;
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	allocations++;
	return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
	allocations++;
	return __libc_realloc(block, size);
}
#endif

/* ---- what passes ---- */

static struct sonde_list list(const char *const *items, uint32_t count)
{
	return (struct sonde_list) { items, count, 0 };
}

static void test_nothing_to_do(void)
{
	struct filter *filter = make(&(struct filter_options) { 0 });
	struct instant in = { 0 };
	const struct instant *out;

	CU_ASSERT_EQUAL(filter_instant(filter, &in, &out), 0);
	CU_ASSERT_PTR_EQUAL(out, &in);
	filter_free(filter);
}

static void one_of_each(void)
{
	struct sonde_row row;

	begin();
	cpu(1, 2, 3, 4, 5);
	CU_ASSERT_EQUAL_FATAL(records_row(&records, RECORD_NOTE, &row), 0);
	CU_ASSERT_EQUAL_FATAL(records_row(&records, RECORD_GAP, &row), 0);
	CU_ASSERT_EQUAL_FATAL(records_row(&records, RECORD_FINDING, &row), 0);
}

static void passes(const struct filter_options *options, const char *tables)
{
	struct filter *filter = make(options);
	const struct instant *out;
	char got[256] = "";

	one_of_each();
	out = pass(filter, SECOND, 0);
	for (uint32_t i = 0; out && i < out->nviews; i++) {
		strcat(got, out->views[i].schema->name);
		strcat(got, " ");
	}
	CU_ASSERT_STRING_EQUAL(got, tables);
	filter_free(filter);
}

static void test_tables_and_kinds(void)
{
	static const char *const findings[] = { "findings, gaps" }, *const data[] = { "data" },
				 *const cpu_only[] = { "c*" }, *const not_cpu[] = { "!cpu" },
				 *const other[] = { "disk" };

	passes(&(struct filter_options) { .kinds = list(findings, 1) }, "gap finding ");
	passes(&(struct filter_options) { .kinds = list(data, 1) }, "cpu ");
	passes(&(struct filter_options) { .tables = list(cpu_only, 1) }, "cpu note gap finding ");
	passes(&(struct filter_options) { .tables = list(not_cpu, 1) }, "note gap finding ");
	passes(&(struct filter_options) { .tables = list(other, 1), .kinds = list(data, 1) }, "");
}

static void test_columns(void)
{
	static const char *const some[] = { "cpu.i*", "load" }, *const without[] = { "!cpu.steal" },
				 *const others[] = { "disk.reads" };
	struct filter *filter = make(&(struct filter_options) { .columns = list(some, 2) });
	const struct sonde_view *view;

	begin();
	cpu(9, 2, 3, none, 5);
	view = view_of(pass(filter, SECOND, 0), "cpu");
	CU_ASSERT_PTR_NOT_NULL_FATAL(view);
	CU_ASSERT_EQUAL(view->schema->ncolumns, 5); /* the key, idle, iowait, io_ticks, load */
	CU_ASSERT_STRING_EQUAL(view->schema->columns[0].name, "cpu");
	CU_ASSERT_STRING_EQUAL(view->schema->columns[2].name, "iowait");
	CU_ASSERT_EQUAL(sonde_view_slots(view, 0)[0], 9);
	CU_ASSERT_EQUAL(sonde_view_slots(view, 0)[1], 3);
	CU_ASSERT_FALSE(sonde_view_has(view, 0, 2));
	filter_free(filter);

	filter = make(&(struct filter_options) { .columns = list(without, 1) });
	view = view_of(pass(filter, SECOND, 0), "cpu");
	CU_ASSERT_EQUAL(view->schema->ncolumns, NCOLUMNS - 1);
	filter_free(filter);
	passes(&(struct filter_options) { .columns = list(others, 1) }, "note gap finding ");
}

/* Every 10 s out of one a second, and out of one in 9.5 s: a tick a little early counts, the pace is kept. */
static void test_every(void)
{
	struct filter *filter = make(&(struct filter_options) { .every = 10 * (uint64_t)SECOND });
	unsigned passed = 0;

	for (uint64_t i = 0; i < 60; i++) {
		uint64_t jitter = i % 3 * 1000000;
		const struct instant *out;

		begin();
		cpu(0, i, i, i, i);
		out = pass(filter, 5 * (uint64_t)SECOND + i * SECOND - jitter, 0);
		if (!out)
			continue;
		passed++;
		CU_ASSERT_EQUAL(i % 10, 0);
		CU_ASSERT_EQUAL(sonde_view_slots(view_of(out, "cpu"), 0)[USER], i); /* the newest */
	}
	CU_ASSERT_EQUAL(passed, 6);
	one_of_each();
	CU_ASSERT_PTR_NOT_NULL(
		view_of(pass(filter, 66 * (uint64_t)SECOND, 0), "note")); /* at once */
	filter_free(filter);
}

static void test_words(void)
{
	static const char *const bad_kind[] = { "findigs" }, *const bad_privacy[] = { "args" },
				 *const bad_action[] = { "path=hide" }, *const bang[] = { "!" };
	struct filter *filter = NULL;
	char why[256];

	CU_ASSERT_EQUAL(filter_new(&(struct filter_options) { .kinds = list(bad_kind, 1) }, &filter,
				   why, sizeof why),
			-EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "did you mean `findings`?"));
	CU_ASSERT_EQUAL(filter_new(&(struct filter_options) { .privacy = list(bad_privacy, 1) },
				   &filter, why, sizeof why),
			-EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "\"args\" is none of name, path, argument, address"));
	CU_ASSERT_EQUAL(filter_new(&(struct filter_options) { .privacy = list(bad_action, 1) },
				   &filter, why, sizeof why),
			-EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "\"hide\" is neither redact nor drop"));
	CU_ASSERT_EQUAL(filter_new(&(struct filter_options) { .tables = list(bang, 1) }, &filter,
				   why, sizeof why),
			-EINVAL);
}

/* The same with the line on which it stands, before anything runs. */
static void test_words_have_lines(void)
{
	struct config config = { 0 };

	config_read_text(&config, "a.ini",
			 "[sink:x]\ntables = cpu\nkinds = data\nkinds = nots\nother = nots\n");
	filter_check(&config, &config.sections[0]);
	CU_ASSERT_EQUAL_FATAL(config.nerrors, 1);
	CU_ASSERT_STRING_EQUAL(
		config.errors[0],
		"a.ini:4: kinds: \"nots\" is none of data, notes, gaps, findings, metrics, "
		"marks; did you mean `notes`?");
	config_free(&config);
}

static void test_unmatched(void)
{
	static const char *const tables[] = { "cpu, dsik" };
	struct filter *filter = make(&(struct filter_options) { .tables = list(tables, 1) });

	begin();
	cpu(0, 1, 1, 1, 1);
	pass(filter, SECOND, 0);
	CU_ASSERT_STRING_EQUAL(filter_unmatched(filter), "dsik");
	filter_free(filter);
}

/* ---- privacy ---- */

enum { DEVICE, CMDLINE, COMM, BYTES };

static void get_text(const struct sonde_view *view, uint32_t row, uint32_t slot, char *text)
{
	uint32_t length = 0;
	const char *bytes = "";

	if (sonde_view_has(view, row, slot))
		bytes = sonde_view_bytes(view, sonde_view_slots(view, row)[slot], &length);
	memcpy(text, bytes, length);
	text[length] = '\0';
}

static void test_privacy(void)
{
	static const struct sonde_column private_columns[] = {
		[DEVICE] = { "path", SONDE_STR, SONDE_KEY, SONDE_NONE, .sensitivity = SONDE_PATH },
		[CMDLINE] = { "cmdline", SONDE_STR, SONDE_INFO, SONDE_NONE,
			      .sensitivity = SONDE_ARGUMENT },
		[COMM] = { "comm", SONDE_STR, SONDE_INFO, SONDE_NONE, .sensitivity = SONDE_NAME },
		[BYTES] = { "bytes", SONDE_U64, SONDE_COUNTER, SONDE_BYTES, .help = "" },
	};
	static const struct sonde_table table = { "mapped", SONDE_COLUMNS(private_columns),
						  .rows = 4 };
	static const char *const words[] = { "path=drop, argument=drop", "name" };
	struct filter *filter = make(&(struct filter_options) { .privacy = list(words, 2) });
	struct sonde_schema *private_schema;
	struct sonde_frame arena = { 0 };
	struct sonde_view view = { 0 };
	struct instant in = { .header = &header, .views = &view, .nviews = 1 };
	const struct instant *out;
	char text[4][64], why[256];

	CU_ASSERT_EQUAL_FATAL(schema_make(&table, &private_schema, why, sizeof why), 0);
	CU_ASSERT_EQUAL_FATAL(frame_add_table(&arena, private_schema, 4, 4), 0);
	for (int i = 0; i < 2; i++) {
		struct sonde_row row;

		CU_ASSERT_TRUE_FATAL(frame_row(&arena, 0, &row));
		sonde_set_str(&row, DEVICE, i ? "/home/b" : "/home/a");
		sonde_set_str(&row, CMDLINE, "mysql -psecret");
		sonde_set_str(&row, COMM, "mysql");
		sonde_set_u64(&row, BYTES, 42);
	}
	frame_views(&arena, &view);
	view.header = &header;
	view.instance = "mapped";
	CU_ASSERT_EQUAL(filter_instant(filter, &in, &out), 0);
	CU_ASSERT_EQUAL_FATAL(out->nviews, 1);
	get_text(out->views, 0, DEVICE, text[0]);
	get_text(out->views, 1, DEVICE, text[1]);
	get_text(out->views, 0, COMM, text[2]);
	get_text(out->views, 1, COMM, text[3]);
	/* A key is redacted, never dropped: the rows stay two. The same text gives the same. */
	CU_ASSERT_EQUAL(text[0][0], '~');
	CU_ASSERT_EQUAL(strlen(text[0]), 17);
	CU_ASSERT_STRING_NOT_EQUAL(text[0], text[1]);
	CU_ASSERT_EQUAL(text[2][0], '~');
	CU_ASSERT_STRING_EQUAL(text[2], text[3]);
	CU_ASSERT_FALSE(sonde_view_has(out->views, 0, CMDLINE));
	CU_ASSERT_EQUAL(sonde_view_slots(out->views, 1)[BYTES], 42);
	CU_ASSERT_EQUAL(out->views[0].schema->hash, private_schema->hash); /* still that table */
	filter_free(filter);
	frame_free(&arena);
	schema_free(private_schema);
}

/* CPUs that come and go, after each number of them was seen. */
static void test_no_allocation_after_warm_up(void)
{
	static const char *const some[] = { "!cpu.steal" };
	struct filter *filter =
		make(&(struct filter_options) { .columns = list(some, 1), .values = FILTER_RATE });
	unsigned long before = 0;

	for (uint64_t i = 0; i < 1000; i++) {
		begin();
		for (uint64_t id = i % 3; id < 8; id++)
			cpu(id, i, 2 * i, i / 2, 0);
		if (i == 10)
			before = allocations;
		pass(filter, (1 + i) * SECOND, 0);
	}
#ifndef SANITIZED
	CU_ASSERT_TRUE(before > 0);
#endif
	CU_ASSERT_EQUAL(allocations - before, 0);
	filter_free(filter);
}

/* Appendix A of the SipHash paper. */
static void test_siphash(void)
{
	const uint64_t key[2] = { 0x0706050403020100u, 0x0f0e0d0c0b0a0908u };
	unsigned char input[15];

	for (unsigned i = 0; i < sizeof input; i++)
		input[i] = (unsigned char)i;
	CU_ASSERT_EQUAL(siphash(key, input, sizeof input), 0xa129ca6149be45e5u);
}

CU_TestInfo tests[] = {
	{ "set up", test_set_up },
	{ "nothing to do", test_nothing_to_do },
	{ "tables and kinds", test_tables_and_kinds },
	{ "columns", test_columns },
	{ "every", test_every },
	{ "words", test_words },
	{ "words have lines", test_words_have_lines },
	{ "patterns without a match", test_unmatched },
	{ "privacy", test_privacy },
	{ "no allocation after warm-up", test_no_allocation_after_warm_up },
	{ "siphash", test_siphash },
	{ "tear down", test_tear_down },
	CU_TEST_INFO_NULL,
};
