/* Runs the suite that the program was linked with; exit status 1 where anything failed or nothing ran. */
#include "test.h"

int main(void)
{
	CU_SuiteInfo suites[] = { { .pName = suite, .pTests = tests }, CU_SUITE_INFO_NULL };

	if (CU_initialize_registry() || CU_register_suites(suites))
		return 1;
	CU_basic_set_mode(CU_BRM_NORMAL);
	CU_basic_run_tests();
	return CU_get_number_of_failures() || !CU_get_number_of_tests_run();
}
