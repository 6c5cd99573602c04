/* The source of a file's bytes: a file or memory. Files are read, not mapped: a file that becomes
 * shorter then causes an error and not a signal.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_INPUT_H
#define LANEBLOOM_INPUT_H

#include "problem.h"

struct input {
  int file;             /* -1: memory */
  const uint8_t *bytes; /* borrowed; NULL: a file */
  uint64_t nbytes;
};

/* Opens a file; lanebloom_input_close() closes it. Errors: FORMAT: not a regular file; IO. On an
 * error there is nothing to close. */
lanebloom_status lanebloom_input_open(const char *path, struct input *input,
                                      const struct problem *problem);
void lanebloom_input_close(struct input *input); /* keeps errno */

/* Is the file larger now than when it was opened? nbytes: its size now. */
bool lanebloom_input_has_grown(const struct input *input, uint64_t *nbytes);

/* Was the file changed within the last minute? Then it may still be written. */
bool lanebloom_input_is_recent(const struct input *input);

/* Reads nbytes from the offset on. Both must be within the input. Errors: IO; CORRUPT: the file
 * became shorter. */
lanebloom_status lanebloom_input_read(const struct input *input, uint64_t offset, void *to,
                                      size_t nbytes, const struct problem *problem);

#endif
