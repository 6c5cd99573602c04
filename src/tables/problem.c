/* Why a table is refused.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "problem.h"

lanebloom_status lanebloom_problem(const struct problem *problem, lanebloom_status status,
                                   const char *format, ...)
{
  va_list values;
  va_start(values, format);
  if (problem->size > 0)
    vsnprintf(problem->text, problem->size, format, values);
  va_end(values);
  return status;
}

void lanebloom_problem_clear(const struct problem *problem)
{
  if (problem->size > 0)
    problem->text[0] = 0;
}

lanebloom_status lanebloom_problem_memory(const struct problem *problem, uint64_t nbytes)
{
  return lanebloom_problem(problem, LANEBLOOM_ERR_MEMORY, "out of memory: %" PRIu64 " bytes wanted",
                           nbytes);
}

lanebloom_status lanebloom_problem_io(const struct problem *problem)
{
  const int error = errno;
  char text[128];
  lanebloom_problem(problem, LANEBLOOM_ERR_IO, "%s", strerror_r(error, text, sizeof text));
  errno = error;
  return LANEBLOOM_ERR_IO;
}
