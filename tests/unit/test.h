/* A unit test is one file, NAME_test.c, built into one program: it defines `suite` and `tests`, main.c runs them. */
#ifndef TEST_H
#define TEST_H

#include <CUnit/Basic.h>

extern const char suite[];
extern CU_TestInfo tests[]; /* ends with CU_TEST_INFO_NULL */

#endif
