/* The source of a file's bytes: a file or memory. Files are read, not mapped: if a file becomes
 * shorter, the result is an error and not a signal.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_INPUT_H
#define LANEBLOOM_INPUT_H

#include "common/problem.h"

struct input {
  int file;             /* -1: the bytes are in memory */
  const uint8_t *bytes; /* borrowed; NULL: they are in a file */
  uint64_t nbytes;
};

/* Opens a file; lanebloom_input_close() closes it. Errors: FORMAT: it is not a regular file; IO. On
 * an error there is nothing to close. */
lanebloom_status lanebloom_input_open(const char *path, struct input *input,
                                      const struct problem *problem);
void lanebloom_input_close(struct input *input); /* keeps errno */

/* Checks whether the file is larger now than when it was opened. nbytes: its size now. */
bool lanebloom_input_has_grown(const struct input *input, uint64_t *nbytes);

/* Checks whether the file was changed within the last minute. If it was, it may still be
 * written. */
bool lanebloom_input_is_recent(const struct input *input);

/* Reads nbytes from the offset on. All of them must be within the input. Errors: IO; CORRUPT: the
 * file became shorter. */
lanebloom_status lanebloom_input_read(const struct input *input, uint64_t offset, void *to,
                                      size_t nbytes, const struct problem *problem);

#endif
