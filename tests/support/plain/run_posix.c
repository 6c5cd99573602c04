/* Each test has its own process, as with Criterion. SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner.h"

void plain_end(enum plain_result result)
{
  exit((int)result); /* unlike _exit, this lets sanitizers report */
}

enum plain_result plain_run(const struct plain_test *test, void *param)
{
  pid_t child = fork();
  if (child == 0) {
    if (param)
      test->run_with(param);
    else
      test->run();
    plain_end(PASSED);
  }
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
    return FAILED;
  const int result = WEXITSTATUS(status);
  return result == PASSED || result == SKIPPED ? (enum plain_result)result : FAILED;
}
