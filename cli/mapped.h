/* Filters that are mapped: their memory is the file's pages.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_MAPPED_H
#define LANEBLOOM_CLI_MAPPED_H

#include <stddef.h>

#include <lanebloom.h>

struct mapped {
  lanebloom_filter *filter;

  /* private */
  void *bytes; /* of the file; NULL: it was loaded */
  size_t nbytes;
  char *message;       /* if the file becomes shorter */
  struct mapped *next; /* that is mapped now */
};

/* Maps a container and verifies its checksum; loads what cannot be mapped, such as a pipe. Path "-"
 * is standard input. Of an error `problem` gets one line. While it is mapped it must not move. If
 * the file becomes shorter, the command ends with a message. */
lanebloom_status map_filter(struct mapped *mapped, const char *path, char *problem,
                            size_t problem_size);

/* Does the file still have the bytes that map_filter() verified? Returns OK, MEMORY, or another
 * status: it has not. */
lanebloom_status verify_again(const struct mapped *mapped);

void unmap_filter(struct mapped *mapped);

#endif
