/* Tables made by hand for tests of analyzers, and rows of numbers for them. */
#ifndef MADE_H
#define MADE_H

#include "judged.h"

#define MADE(name_, type_, semantics_, unit_, mul_, what_)                                         \
	{                                                                                          \
		.name = name_, .type = type_, .semantics = semantics_, .unit = unit_,              \
		.scale_mul = mul_, .scale_div = 1, .counted = what_                                \
	}
#define KEY(name_)         MADE(name_, SONDE_U64, SONDE_KEY, SONDE_BASE_NONE, 1, NULL)
#define KEY_TEXT(name_)    MADE(name_, SONDE_STR, SONDE_KEY, SONDE_BASE_NONE, 1, NULL)
#define TEXT(name_)        MADE(name_, SONDE_STR, SONDE_STATE, SONDE_BASE_NONE, 1, NULL)
#define STATE(name_)       MADE(name_, SONDE_U64, SONDE_STATE, SONDE_BASE_NONE, 1, NULL)
#define EVENTS(name_)      MADE(name_, SONDE_U64, SONDE_COUNTER, SONDE_BASE_COUNT, 1, "events")
#define NANOSECONDS(name_) MADE(name_, SONDE_U64, SONDE_COUNTER, SONDE_BASE_NS, 1, NULL)
#define BYTES(name_)       MADE(name_, SONDE_U64, SONDE_GAUGE, SONDE_BASE_BYTES, 1, NULL)
#define KIBIBYTES(name_)   MADE(name_, SONDE_U64, SONDE_GAUGE, SONDE_BASE_BYTES, 1024, NULL)
#define GAUGE_COUNT(name_) MADE(name_, SONDE_U64, SONDE_GAUGE, SONDE_BASE_COUNT, 1, "pages")

/* A value of a row: a number, or a text where there is one, or none. */
struct cell {
	uint64_t number;
	const char *text;
	bool absent;
};

/* The row of a table that is on the stage from now on. */
static inline void made_row(struct stage *stage, uint32_t table, const struct cell *cells,
			    uint32_t count)
{
	struct sonde_row row = stage_row(stage, table);

	stage->omit[table] = false;
	for (uint32_t i = 0; i < count; i++) {
		if (cells[i].text)
			sonde_set_str(&row, i, cells[i].text);
		else if (!cells[i].absent)
			sonde_set_u64(&row, i, cells[i].number);
	}
}

#define NUMBER(value)                                                                              \
	{                                                                                          \
		.number = (uint64_t)(value)                                                        \
	}
#define WORD(value)                                                                                \
	{                                                                                          \
		.text = value                                                                      \
	}
#define NOTHING                                                                                    \
	{                                                                                          \
		.absent = true                                                                     \
	}
#define ROW(table, ...)                                                                            \
	made_row(&stage, table, (const struct cell[]) { __VA_ARGS__ },                             \
		 sizeof((const struct cell[]) { __VA_ARGS__ }) / sizeof(struct cell))

/* The tables on the stage, none of which is in an instant until it has a row. */
static inline void made_stage(struct stage *stage, const struct sonde_table *tables, uint32_t count)
{
	stage_open(stage);
	for (uint32_t i = 0; i < count; i++) {
		stage_table(stage, &tables[i]);
		stage->omit[i] = true;
	}
}

static inline bool judged_in(const char *list, const char *id)
{
	char word[64];

	snprintf(word, sizeof word, " %s ", id);
	return strstr(list, word) != NULL;
}

#define NEAR(actual, expected) CU_ASSERT_DOUBLE_EQUAL(actual, expected, 1e-4)
#define AT(second)             ((1000 + (uint64_t)(second)) * SECOND)

#endif
