/* An input is the bytes of a file, on disk or in memory. Files are read and not mapped, so that a
 * file that becomes shorter causes an error, and not a signal.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_INPUT_H
#define LANEBLOOM_INPUT_H

#include "common/problem.h"

struct input {
  int file;             /* a descriptor; -1 if the bytes are in memory */
  const uint8_t *bytes; /* borrowed; NULL if they are in a file */
  uint64_t nbytes;
};

/* Opens a file; lanebloom_input_close() closes it. On an error there is nothing to close. Errors:
 * FORMAT if the file is not a regular file, or is a pointer of Git LFS to its content; IO. */
lanebloom_status lanebloom_input_open(const char *path, struct input *input,
                                      const struct problem *problem);
void lanebloom_input_close(struct input *input); /* leaves errno unchanged */

/* Checks whether the file is larger now than when it was opened. If so, *nbytes is its size now. */
bool lanebloom_input_has_grown(const struct input *input, uint64_t *nbytes);

/* Checks whether the file was changed within the last minute. If it was, another process may still
 * be writing it. */
bool lanebloom_input_is_recent(const struct input *input);

/* Reads nbytes bytes from the offset on. All of them must be within input->nbytes. Errors: IO;
 * CORRUPT if the file became shorter. */
lanebloom_status lanebloom_input_read(const struct input *input, uint64_t offset, void *to,
                                      size_t nbytes, const struct problem *problem);

#endif
