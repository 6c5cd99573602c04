/* Why a table is refused, for people: one line that says what was expected, what was found, and
 * where.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_PROBLEM_H
#define LANEBLOOM_TABLES_PROBLEM_H

#include <lanebloom.h>

struct problem {
  char *text;
  size_t size; /* 0: none wanted */
};

/* Writes the line and returns the status. */
__attribute__((format(printf, 3, 4))) lanebloom_status
lanebloom_problem(const struct problem *problem, lanebloom_status status, const char *format, ...);
void lanebloom_problem_clear(const struct problem *problem); /* there is none after all */
lanebloom_status lanebloom_problem_memory(const struct problem *problem, uint64_t nbytes);
lanebloom_status lanebloom_problem_io(const struct problem *problem); /* errno, which stays */

#endif
