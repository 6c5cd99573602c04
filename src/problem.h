/* Problems: one line for people that explains why a call failed: what was expected, what was found,
 * and where. All libraries write their lines with these functions.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PROBLEM_H
#define LANEBLOOM_PROBLEM_H

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <lanebloom.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Room for the line, as the caller passed it. */
struct problem {
  char *text;
  size_t size; /* bytes; 0: no line is written */
};

/* For calls that need no line. */
static const struct problem no_problem = {0};

static inline void problem_clear(const struct problem *problem)
{
  if (problem->size > 0)
    problem->text[0] = 0;
}

/* Every public call begins with this: the line stays empty unless the call fails. */
static inline struct problem problem_begin(char *text, size_t size)
{
  const struct problem problem = {text, text ? size : 0};
  problem_clear(&problem);
  return problem;
}

/* Writes the line, cut to its room, and returns the status. */
__attribute__((format(printf, 3, 4))) static inline lanebloom_status
problem_set(const struct problem *problem, lanebloom_status status, const char *format, ...)
{
  va_list values;
  va_start(values, format);
  if (problem->size > 0)
    vsnprintf(problem->text, problem->size, format, values);
  va_end(values);
  return status;
}

/* The same with the text of the status. */
static inline lanebloom_status problem_status(const struct problem *problem,
                                              lanebloom_status status)
{
  return problem_set(problem, status, "%s", lanebloom_status_text(status));
}

static inline lanebloom_status problem_memory(const struct problem *problem, uint64_t nbytes)
{
  return problem_set(problem, LANEBLOOM_ERR_MEMORY, "out of memory: %" PRIu64 " bytes were needed",
                     nbytes);
}

/* Writes the text of errno and leaves errno as it is. */
static inline lanebloom_status problem_io(const struct problem *problem)
{
  const int error = errno;
  char text[128];
  problem_set(problem, LANEBLOOM_ERR_IO, "%s", strerror_r(error, text, sizeof text));
  errno = error;
  return LANEBLOOM_ERR_IO;
}

/* Asserts that a call succeeded. Its arguments were checked: only a bug in this library can make it
 * fail. */
static inline void cannot_fail(lanebloom_status status)
{
  assert(!status);
  (void)status;
}

#endif
