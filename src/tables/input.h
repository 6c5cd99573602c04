/* The source of a table's bytes: a file or memory. Of a file only what is needed is read. It is not
 * mapped: a file that is cut meanwhile is an error, not a signal.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_INPUT_H
#define LANEBLOOM_TABLES_INPUT_H

#include "../problem.h"

struct input {
  int file;             /* -1: memory */
  const uint8_t *bytes; /* borrowed; NULL: a file */
  uint64_t nbytes;
};

/* Opens a regular file. Errors: FORMAT for anything else, IO. */
lanebloom_status lanebloom_input_open(const char *path, struct input *input,
                                      const struct problem *problem);
void lanebloom_input_close(struct input *input);

/* Is the file larger now than when it was opened? nbytes: its size. */
bool lanebloom_input_has_grown(const struct input *input, uint64_t *nbytes);

/* Was the file changed within the last minute? Then it may still be written. */
bool lanebloom_input_is_recent(const struct input *input);

/* Reads nbytes from the offset on, within the input. Errors: IO; CORRUPT: the file became
 * shorter. */
lanebloom_status lanebloom_input_read(const struct input *input, uint64_t offset, void *to,
                                      size_t nbytes, const struct problem *problem);

#endif
