/* Tables made into schemas: what is refused and how it is said, slots, identity. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/schema.h"
#include "test.h"

const char suite[] = "schema";

#define COLUMN(name_, type_, semantics_, unit_, mul, div, ...)                                     \
	(struct sonde_column)                                                                      \
	{                                                                                          \
		.name = name_, .type = type_, .semantics = semantics_, .unit = unit_,              \
		.scale_mul = mul, .scale_div = div, .reserved = 0, __VA_ARGS__                     \
	}

static int make(const char *name, const struct sonde_column *columns, uint32_t count,
		struct sonde_schema **schema, char why[200])
{
	const struct sonde_table table = { .name = name,
					   .columns = { columns, count, sizeof *columns } };

	*schema = NULL;
	why[0] = '\0';
	return schema_make(&table, schema, why, 200);
}

/* Each has one thing wrong, and the sentence names it. */
static void test_refused(void)
{
	static const char long_name[] =
		"a123456789012345678901234567890123456789012345678901234567890123";
	const struct {
		struct sonde_column column;
		const char *says;
	} cases[] = {
		{ COLUMN("Upper", SONDE_U64, SONDE_GAUGE, SONDE_BASE_BYTES, 1, 1), "name" },
		{ COLUMN("1st", SONDE_U64, SONDE_GAUGE, SONDE_BASE_BYTES, 1, 1), "name" },
		{ COLUMN("", SONDE_U64, SONDE_GAUGE, SONDE_BASE_BYTES, 1, 1), "name" },
		{ COLUMN(long_name, SONDE_U64, SONDE_GAUGE, SONDE_BASE_BYTES, 1, 1), "name" },
		{ COLUMN("c", 0, SONDE_GAUGE, SONDE_BASE_BYTES, 1, 1), "type" },
		{ COLUMN("c", 6, SONDE_GAUGE, SONDE_BASE_BYTES, 1, 1), "type" },
		{ COLUMN("c", SONDE_U64, 0, SONDE_BASE_BYTES, 1, 1), "semantics" },
		{ COLUMN("c", SONDE_U64, SONDE_GAUGE, 0, 1, 1), "unit" },
		{ COLUMN("c", SONDE_U64, SONDE_GAUGE, 12, 1, 1), "unit" },
		{ COLUMN("c", SONDE_U64, SONDE_GAUGE, SONDE_BASE_BYTES, 1, 0), "divides by 0" },
		{ COLUMN("c", SONDE_U64, SONDE_GAUGE, SONDE_BASE_BYTES, 0, 1), "USER_HZ" },
		{ COLUMN("c", SONDE_U64, SONDE_GAUGE, SONDE_BASE_COUNT, 1, 1), "counts" },
		{ COLUMN("c", SONDE_U64, SONDE_GAUGE, SONDE_BASE_COUNT, 1, 1, .counted = ""),
		  "counts" },
		{ COLUMN("c", SONDE_STR, SONDE_GAUGE, SONDE_BASE_BYTES, 1, 1),
		  "string has no unit" },
		{ COLUMN("c", SONDE_U64, SONDE_GAUGE, SONDE_BASE_BYTES, 1, 1, .slots = 4),
		  "histogram" },
		{ COLUMN("c", SONDE_HIST, SONDE_GAUGE, SONDE_BASE_BYTES, 1, 1), "histogram" },
		{ COLUMN("c", SONDE_HIST, SONDE_GAUGE, SONDE_BASE_BYTES, 1, 1, .slots = 65),
		  "histogram" },
		{ COLUMN("c", SONDE_U64, SONDE_GAUGE, SONDE_BASE_BYTES, 1, 1, .wrap = 16), "wrap" },
		{ COLUMN("c", SONDE_I64, SONDE_COUNTER, SONDE_BASE_BYTES, 1, 1), "counter" },
		{ COLUMN("c", SONDE_F64, SONDE_KEY, SONDE_BASE_BYTES, 1, 1), "key" },
		{ COLUMN("c", SONDE_U64, SONDE_GAUGE, SONDE_BASE_BYTES, 1, 1, .sensitivity = 5),
		  "sensitivity" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct sonde_schema *schema;
		char why[200];

		CU_ASSERT_EQUAL(make("t", &cases[i].column, 1, &schema, why), -EINVAL);
		CU_ASSERT_PTR_NULL(schema);
		CU_ASSERT_PTR_NOT_NULL(strstr(why, "table t, column 0"));
		if (!strstr(why, cases[i].says)) {
			printf("\"%s\" does not say \"%s\"\n", why, cases[i].says);
			CU_FAIL("the sentence");
		}
	}
}

static void test_tables_refused(void)
{
	const struct sonde_column twice[] = {
		COLUMN("a", SONDE_U64, SONDE_GAUGE, SONDE_BASE_BYTES, 1, 1),
		COLUMN("a", SONDE_U64, SONDE_GAUGE, SONDE_BASE_BYTES, 1, 1)
	};
	const struct sonde_column late_key[] = {
		COLUMN("a", SONDE_U64, SONDE_GAUGE, SONDE_BASE_BYTES, 1, 1),
		COLUMN("k", SONDE_U64, SONDE_KEY, SONDE_BASE_BYTES, 1, 1)
	};
	static struct sonde_column many[257];
	static char names[257][16];
	struct sonde_schema *schema;
	char why[200];

	CU_ASSERT_EQUAL(make("T", twice, 1, &schema, why), -EINVAL);
	CU_ASSERT_EQUAL(make(NULL, twice, 1, &schema, why), -EINVAL);
	CU_ASSERT_EQUAL(make("t", twice, 0, &schema, why), -EINVAL);
	CU_ASSERT_EQUAL(make("t", twice, 2, &schema, why), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "two columns named a"));
	CU_ASSERT_EQUAL(make("t", late_key, 2, &schema, why), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "keys come before"));
	for (int i = 0; i < 257; i++) {
		snprintf(names[i], sizeof names[i], "h%d", i);
		many[i] = COLUMN(names[i], SONDE_HIST, SONDE_GAUGE, SONDE_BASE_BYTES, 1, 1,
				 .slots = 64);
	}
	CU_ASSERT_EQUAL(make("t", many, 257, &schema, why), -EINVAL); /* 16,448 slots */
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "16384 slots"));
	CU_ASSERT_EQUAL(make("t", many, 256, &schema, why), 0);
	CU_ASSERT_EQUAL(schema->nslots, 16384);
	CU_ASSERT_EQUAL(schema->nhave, 256);
	schema_free(schema);
}

/* Hashes computed by docs/format.md with another program. */
static void test_identity(void)
{
	const struct sonde_column disk[] = {
		{ "name", SONDE_STR, SONDE_KEY, SONDE_NONE, .help = "help and origin don't count" },
		{ "reads", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("reads"), .origin = "field 4" },
		{ "level", SONDE_F64, SONDE_GAUGE, SONDE_BASE_CELSIUS, 1, 1, .sensitivity = 0 },
	};
	const struct sonde_column hist[] = {
		{ "k", SONDE_U64, SONDE_KEY, SONDE_NONE, .sensitivity = 0 },
		{ "h", SONDE_HIST, SONDE_COUNTER, SONDE_COUNT("waits"), .wrap = 64, .slots = 4 },
		{ "s", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .wrap = 32 },
	};
	struct sonde_table table = { "t", SONDE_ARRAY(hist), .flags = SONDE_EVENTS };
	struct sonde_schema *schema;
	char why[200];

	CU_ASSERT_EQUAL(make("disk", disk, 3, &schema, why), 0);
	CU_ASSERT_EQUAL(schema->hash, 0x79e90ce1376f0bef);
	CU_ASSERT_EQUAL(schema->nkeys, 1);
	CU_ASSERT_EQUAL(schema_column(schema, "level"), 2);
	CU_ASSERT_EQUAL(schema_column(schema, "leve"), -1);
	schema_free(schema);
	CU_ASSERT_EQUAL(schema_make(&table, &schema, why, sizeof why), 0);
	CU_ASSERT_EQUAL(schema->hash, 0xdd235ac4c054972e);
	CU_ASSERT_EQUAL(schema->slot[2], 5); /* behind the histogram's four */
	CU_ASSERT_EQUAL(schema->nslots, 6);
	schema_free(schema);
}

/* A plugin of an older or a newer header: its columns are shorter or longer than this host's. */
static void test_strides(void)
{
	struct {
		struct sonde_column column;
		uint64_t newer[3];
	} longer[2] = { { COLUMN("a", SONDE_U64, SONDE_GAUGE, SONDE_BASE_BYTES, 1, 1),
			  { 1, 2, 3 } },
			{ COLUMN("b", SONDE_U64, SONDE_GAUGE, SONDE_BASE_BYTES, 1, 1, .wrap = 32),
			  { 4, 5, 6 } } };
	unsigned char shorter[2][offsetof(struct sonde_column, wrap)];
	struct sonde_table table = { "t", { longer, 2, sizeof longer[0] }, .rows = 1 };
	struct sonde_schema *one, *two;
	char why[200];

	CU_ASSERT_EQUAL(schema_make(&table, &one, why, sizeof why), 0);
	CU_ASSERT_STRING_EQUAL(one->columns[1].name, "b");
	CU_ASSERT_EQUAL(one->columns[1].wrap, 32);
	memcpy(shorter[0], &longer[0].column, sizeof shorter[0]);
	memcpy(shorter[1], &longer[1].column, sizeof shorter[1]);
	table.columns = (struct sonde_array) { shorter, 2, sizeof shorter[0] };
	CU_ASSERT_EQUAL(schema_make(&table, &two, why, sizeof why), 0);
	CU_ASSERT_STRING_EQUAL(two->columns[1].name, "b");
	CU_ASSERT_EQUAL(two->columns[1].wrap, 0);
	table.columns.stride--;
	schema_free(two);
	CU_ASSERT_EQUAL(schema_make(&table, &two, why, sizeof why), -EINVAL);
	schema_free(one);
}

/* getconf CLK_TCK is 100: a tick is 10 ms. */
static void test_scales(void)
{
	const struct sonde_column ticks = { "t", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .wrap = 0 };
	const struct sonde_column percent = { "p", SONDE_U64, SONDE_GAUGE, SONDE_PERCENT_CENTI,
					      .wrap = 0 };
	const struct sonde_column kib = { "k", SONDE_U64, SONDE_GAUGE, SONDE_KIB, .wrap = 0 };

	CU_ASSERT_EQUAL(column_scale(&ticks, 100), 1e7);
	CU_ASSERT_EQUAL(column_scale(&ticks, 0), 0);
	CU_ASSERT_DOUBLE_EQUAL(column_scale(&percent, 100) * 1234, 0.1234, 1e-12);
	CU_ASSERT_EQUAL(column_scale(&kib, 0), 1024);
	CU_ASSERT_STRING_EQUAL(unit_name(SONDE_BASE_CELSIUS), "celsius");
	CU_ASSERT_PTR_NULL(unit_name(0));
	CU_ASSERT_PTR_NULL(unit_name(99));
	CU_ASSERT_STRING_EQUAL(type_name(SONDE_HIST), "histogram");
	CU_ASSERT_STRING_EQUAL(semantics_name(SONDE_STATE), "state");
}

CU_TestInfo tests[] = {
	{ "columns that are refused", test_refused },
	{ "tables that are refused", test_tables_refused },
	{ "identity", test_identity },
	{ "older and newer columns", test_strides },
	{ "scales and names", test_scales },
	CU_TEST_INFO_NULL,
};
