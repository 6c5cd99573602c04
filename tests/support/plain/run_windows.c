/* All tests run in one process, because Windows has no fork(), so a crash ends all tests.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>

#include "runner.h"

static jmp_buf end_of_test;

void plain_end(enum plain_result result)
{
  longjmp(end_of_test, result);
}

enum plain_result plain_run(const struct plain_test *test, void *param)
{
  const int result = setjmp(end_of_test);
  if (result != 0)
    return (enum plain_result)result;
  if (param)
    test->run_with(param);
  else
    test->run();
  return PASSED;
}
