/* The stage of a test of one analyzer, whose .c files it has included before: their `struct conf`, `options` and `ops`, START its start()
 * where it has one; and the test's own `tables`, TABLES of them. */
#ifndef JUDGING_H
#define JUDGING_H

#include "made.h"
#include "test.h"

static const struct sonde_host host = { .size = sizeof host, .analysis = &analysis_services };
static struct conf conf;
static struct sonde_instance instance = { .host = &host, .conf = &conf, .name = "analyzer" };
static struct stage stage;
static struct judged judged;

/* The analyzer with its defaults, and no rows yet. */
static inline void open_stage(void)
{
	char why[128];

	made_stage(&stage, tables, TABLES);
	memset(&conf, 0, sizeof conf);
	judged_conf(options, sizeof options / sizeof options[0], &conf);
#ifdef START
	CU_ASSERT_EQUAL_FATAL(START(&instance), 0);
#endif
	CU_ASSERT_EQUAL_FATAL(analysis_add(stage.analysis, &instance, &ops, why, sizeof why), 0);
}

static inline void judge_and_close(void)
{
	judge_stage(&stage, &judged);
	stage_close(&stage);
}

#endif
