/* Where a table's bytes come from: a file, of which only what is needed is read, or memory. A file
 * is not mapped: one that is cut while it is read is an error, not a signal.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_INPUT_H
#define LANEBLOOM_TABLES_INPUT_H

#include "../problem.h"

struct input {
  int file;             /* -1: memory */
  const uint8_t *bytes; /* borrowed; NULL: a file */
  uint64_t nbytes;
};

/* A regular file. Errors: FORMAT for anything else, IO. */
lanebloom_status lanebloom_input_open(const char *path, struct input *input,
                                      const struct problem *problem);
void lanebloom_input_close(struct input *input);

/* Is the file larger by now than it was? nbytes: its size. A file that is being written grows. */
bool lanebloom_input_has_grown(const struct input *input, uint64_t *nbytes);

/* nbytes from the offset on, which lie within the input. Errors: IO; CORRUPT where the file became
 * shorter. */
lanebloom_status lanebloom_input_read(const struct input *input, uint64_t offset, void *to,
                                      size_t nbytes, const struct problem *problem);

#endif
