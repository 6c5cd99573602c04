/* Runs tests one after another, each in its own process, as Criterion does, and prints TAP.
 * SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "criterion/criterion.h"

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
  exit(1);
}

enum { SKIPPED = 77 };

void plain_skip(const char *reason)
{
  printf("# %s\n", reason);
  exit(SKIPPED);
}

static bool run(const struct plain_test *test, void *param)
{
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    if (param)
      test->run_with(param);
    else
      test->run();
    exit(0); /* unlike _exit, this lets sanitizers report */
  }
  int status = -1;
  const bool exited = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);
  const bool skipped = exited && WEXITSTATUS(status) == SKIPPED;
  const bool passed = skipped || (exited && WEXITSTATUS(status) == 0);
  printf("%sok - %s::%s%s\n", passed ? "" : "not ", test->suite, test->name,
         skipped ? " # skip" : "");
  return passed;
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
