/* Sinks: where records go. Standard output, or a file that gets all of them or stays as it was. A
 * sink belongs to one thread at a time. On an error these functions print a message, except for
 * EPIPE, and exit with EXIT_TROUBLE; a file that is not complete when the command exits is
 * discarded.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_SINKS_H
#define LANEBLOOM_CLI_SINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "../src/replace.h"

struct sink {
  const char *path; /* NULL: standard output, by output() */
  bool is_open;
  struct stat target; /* the regular file that is written; else 0 */

  /* private */
  const char *name; /* in messages */
  struct replacement file;
  char *buffer;
  size_t nbuffered;
  struct sink *next; /* that is open */
};

/* Opens the file; "-" is standard output, like any file. NULL: as above. While it is open the sink
 * must not move. */
void sink_open(struct sink *sink, const char *path);

void sink_write(struct sink *sink, const void *data, size_t nbytes);
void sink_write_whole(struct sink *sink, const void *data, size_t nbytes); /* flushes first */
void sink_flush(struct sink *sink);

/* Puts all files in their places, after all bytes are written, in the order in which they were
 * opened. The summary is the last: after a kill it tells of nothing that is not there. */
void sinks_commit(void);

/* Leaves all files as they were. */
void sinks_discard(void);

/* Does a terminal show what is written? */
bool sink_is_terminal(const struct sink *sink);

/* Do both lead to one file, or one descriptor? Both are open. */
bool sink_equals(const struct sink *a, const struct sink *b);

/* Was it opened by a path, and is it the file at this one? */
bool sink_is(const struct sink *sink, const char *path);

#endif
