/* A problem is one line of text that tells a user why a call failed: what was expected, what was
 * found, and where. All libraries write such lines with these functions.
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

#include "../system/system.h"
#include "characters.h"

/* The memory for the line. The caller of the library passed it. */
struct problem {
  char *text;
  size_t size; /* in bytes; 0 if no line is to be written */
};

/* Stands for a caller that wants no line. */
static const struct problem no_problem = {0};

static inline void problem_clear(const struct problem *problem)
{
  if (problem->size > 0)
    problem->text[0] = 0;
}

/* Empties the line, so that it stays empty unless the call fails. Every public function that may
 * write a line calls this first. */
static inline struct problem problem_begin(char *text, size_t size)
{
  const struct problem problem = {text, text ? size : 0};
  problem_clear(&problem);
  return problem;
}

/* Checks whether a character ends the line, or changes the direction of the text around it. */
static inline bool problem_turns(uint32_t code)
{
  return code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

/* Returns the number of bytes of the printable UTF-8 character at `text`, or 0 if there is no such
 * character. */
static inline size_t problem_character(const char *text)
{
  uint32_t code;
  const size_t n = read_character(text, SIZE_MAX, &code); /* reads no byte after the last one, 0 */
  const bool is_control = code < ' ' || (code >= 0x7f && code < 0xa0);
  return is_control || problem_turns(code) ? 0 : n;
}

/* Writes the line, cut to the size of its memory. A line may quote names from files and may be
 * shown on a terminal, so bytes that are not printable UTF-8 are written as \ooo. A backslash is
 * written as it is, because a line may quote another line, in which bytes have been replaced
 * already. */
static inline void problem_write(const struct problem *problem, const char *line)
{
  size_t nbytes = 0;
  for (size_t n, nwritten; *line; line += n, nbytes += nwritten) {
    n = problem_character(line);
    nwritten = n > 0 ? n : sizeof "\\ooo" - 1;
    if (nwritten >= problem->size - nbytes)
      break;
    if (n > 0)
      memcpy(problem->text + nbytes, line, n);
    else
      snprintf(problem->text + nbytes, problem->size - nbytes, "\\%03o", (uint8_t)*line);
    n += n == 0;
  }
  problem->text[nbytes] = 0;
}

/* Formats the line, writes it, and returns the status. */
__attribute__((format(printf, 3, 4))) static inline lanebloom_status
problem_set(const struct problem *problem, lanebloom_status status, const char *format, ...)
{
  char line[1024];
  va_list values;
  if (problem->size == 0)
    return status;
  va_start(values, format);
  vsnprintf(line, sizeof line, format, values);
  va_end(values);
  problem_write(problem, line);
  return status;
}

/* Writes the text of the status and returns the status. */
static inline lanebloom_status problem_status(const struct problem *problem,
                                              lanebloom_status status)
{
  return problem_set(problem, status, "%s", lanebloom_status_text(status));
}

/* Writes that the caller passed NULL in the place of bytes. */
static inline lanebloom_status problem_no_bytes(const struct problem *problem, size_t nbytes)
{
  return problem_set(problem, LANEBLOOM_ERR_ARGUMENT, "expected %zu bytes, found NULL", nbytes);
}

/* The size of a buffer for readable text of a number of bytes, such as "96.6 GB". */
enum { SIZE_TEXT_NBYTES = 16 };

static inline const char *size_text(char text[SIZE_TEXT_NBYTES], double nbytes)
{
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  size_t unit = 0;
  for (; nbytes >= 999.5 && unit < sizeof units / sizeof *units - 1; unit++)
    nbytes /= 1000;
  snprintf(text, SIZE_TEXT_NBYTES, "%.3g %s", nbytes, units[unit]);
  return text;
}

/* Writes that memory ran out. `purpose` says what the memory was for, such as "hold the filter". */
static inline lanebloom_status problem_memory_to(const struct problem *problem, uint64_t nbytes,
                                                 const char *purpose)
{
  char size[SIZE_TEXT_NBYTES];
  return problem_set(
      problem, LANEBLOOM_ERR_MEMORY,
      "out of memory: expected %s more to %s; end other programs, or raise the limit "
      "of this one (ulimit -v)",
      size_text(size, (double)nbytes), purpose);
}

/* Writes that memory ran out, without a purpose. A size below 1 MB is left out, because it explains
 * nothing. */
static inline lanebloom_status problem_memory(const struct problem *problem, uint64_t nbytes)
{
  if (nbytes >= 1000000)
    return problem_memory_to(problem, nbytes, "go on");
  return problem_set(problem, LANEBLOOM_ERR_MEMORY,
                     "out of memory: end other programs, or raise the limit of this one (ulimit "
                     "-v)");
}

/* Writes the text of errno. errno stays unchanged. */
static inline lanebloom_status problem_io(const struct problem *problem)
{
  const int error = errno;
  char text[128];
  problem_set(problem, LANEBLOOM_ERR_IO, "%s", lanebloom_system_error(error, text, sizeof text));
  errno = error;
  return LANEBLOOM_ERR_IO;
}

/* Asserts that a call succeeded. The arguments of the call were checked before, so only a bug in
 * this library can make the call fail. */
static inline void cannot_fail(lanebloom_status status)
{
  assert(!status);
  (void)status;
}

#endif
