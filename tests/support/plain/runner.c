/* Runs tests one after another, as Criterion does, and prints TAP.
 * SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>

#include "runner.h"

static struct plain_test *tests;

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
  plain_end(FAILED);
}

void plain_skip(const char *reason)
{
  printf("# %s\n", reason);
  plain_end(SKIPPED);
}

static bool passes(const struct plain_test *test, void *param)
{
  const enum plain_result result = plain_run(test, param);
  printf("%sok - %s::%s%s\n", result == FAILED ? "not " : "", test->suite, test->name,
         result == SKIPPED ? " # skip" : "");
  fflush(stdout); /* a crash must not lose it, and a child must not print it again */
  return result != FAILED;
}

int main(void)
{
  size_t nfailed = 0, n = 0;
  for (const struct plain_test *test = tests; test; test = test->next) {
    struct criterion_test_params params =
        test->params ? test->params() : (struct criterion_test_params){.length = 1};
    for (size_t i = 0; i < params.length; i++, n++)
      nfailed += !passes(test, test->params ? (char *)params.params + i * params.size : NULL);
  }
  printf("1..%zu\n", n);
  return nfailed > 0;
}
