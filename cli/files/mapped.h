/* Mapped filters: the pages of the file are their memory.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_MAPPED_H
#define LANEBLOOM_CLI_MAPPED_H

#include <stddef.h>

#include <lanebloom.h>

struct mapped {
  lanebloom_filter *filter;

  /* private */
  void *bytes; /* the mapping; NULL: the file was loaded */
  size_t nbytes;
  char *message;       /* printed if the file becomes shorter */
  struct mapped *next; /* the next mapped filter */
};

/* Maps a container and verifies its checksum. A file that cannot be mapped, such as a pipe, is
 * loaded. Path "-" is standard input. On an error `problem` receives one line. The struct must not
 * move while the file is mapped. If the file becomes shorter, the command exits with a message. */
lanebloom_status map_filter(struct mapped *mapped, const char *path, char *problem,
                            size_t problem_size);

/* Does the file still have the bytes that map_filter() verified? Returns OK if it has, MEMORY if
 * memory ran out, and any other status if it has not. */
lanebloom_status verify_again(const struct mapped *mapped);

void unmap_filter(struct mapped *mapped);

#endif
