/* Maps the file of a filter into memory, so the filter uses the pages of the file and needs no
 * memory of its own.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_MAPPED_H
#define LANEBLOOM_CLI_MAPPED_H

#include <stddef.h>
#include <stdint.h>

#include <lanebloom.h>

struct mapped {
  lanebloom_filter *filter;

  /* private */
  uint8_t *bytes; /* the mapping; NULL: the file was loaded into memory */
  size_t nbytes;
  char *message;       /* printed if another process shortens the file */
  struct mapped *next; /* the next in the list of mapped filters */
};

/* Maps a container and verifies its checksum. A file that cannot be mapped, such as a pipe, is
 * loaded into memory. The path "-" is standard input. On an error, `problem` receives one line of
 * text. While the file is mapped, the struct must not move. If another process shortens the file,
 * the command prints a message and exits when it reads a missing page. */
lanebloom_status map_filter(struct mapped *mapped, const char *path, char *problem,
                            size_t problem_size);

/* Does the file still contain the bytes that map_filter() verified? Returns LANEBLOOM_OK if it
 * does, and LANEBLOOM_ERR_MEMORY if memory runs out. Any other status means that the file has
 * changed. */
lanebloom_status verify_again(const struct mapped *mapped);

void unmap_filter(struct mapped *mapped);

#endif
