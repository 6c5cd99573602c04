/* Runs tests one after another in one process, because Windows has no fork(), and prints TAP. A
 * crash ends all tests.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "criterion/criterion.h"

static struct plain_test *tests;
static jmp_buf end_of_test;
enum { PASSED, FAILED, SKIPPED };

void plain_register(struct plain_test *test)
{
  test->next = tests;
  tests = test;
}

void plain_fail(const char *file, int line, const char *condition, const char *text, ...)
{
  va_list values;
  va_start(values, text);
  printf("# %s:%d: %s:", file, line, condition);
  vprintf(text, values);
  printf("\n");
  va_end(values);
  longjmp(end_of_test, FAILED);
}

void plain_skip(const char *reason)
{
  printf("# %s\n", reason);
  longjmp(end_of_test, SKIPPED);
}

static bool run(const struct plain_test *test, void *param)
{
  const int result = setjmp(end_of_test);
  if (result == PASSED) {
    if (param)
      test->run_with(param);
    else
      test->run();
  }
  printf("%sok - %s::%s%s\n", result == FAILED ? "not " : "", test->suite, test->name,
         result == SKIPPED ? " # skip" : "");
  fflush(stdout);
  return result != FAILED;
}

int main(void)
{
  size_t nfailed = 0, n = 0;
  for (const struct plain_test *test = tests; test; test = test->next) {
    struct criterion_test_params params =
        test->params ? test->params() : (struct criterion_test_params){.length = 1};
    for (size_t i = 0; i < params.length; i++, n++)
      nfailed += !run(test, test->params ? (char *)params.params + i * params.size : NULL);
  }
  printf("1..%zu\n", n);
  return nfailed > 0;
}
