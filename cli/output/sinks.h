/* Sinks: the outputs of records. A sink is standard output, or a file that receives all records or
 * remains unchanged. A sink belongs to one thread at a time. On an error these functions print a
 * message, except for EPIPE, and exit with EXIT_TROUBLE. A file that is not complete when the
 * command exits is discarded.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_SINKS_H
#define LANEBLOOM_CLI_SINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "../../src/common/replace.h"

struct sink {
  const char *path; /* NULL: standard output, written by output() */
  bool is_open;
  struct stat target; /* the regular file that is written; else 0 */

  /* private */
  const char *name; /* in messages */
  struct replacement file;
  char *buffer;
  size_t nbuffered;
  struct sink *next; /* the sink that was opened next */
};

/* Opens the file. "-" is standard output, handled like any file; NULL is standard output written by
 * output(). An open sink must not be moved in memory. */
void sink_open(struct sink *sink, const char *path);

void sink_write(struct sink *sink, const void *data, size_t nbytes);
void sink_write_whole(struct sink *sink, const void *data, size_t nbytes); /* flushes first */
void sink_flush(struct sink *sink);

/* After all bytes are written, moves all files to their paths, in the order in which they were
 * opened. The summary comes last: if the command is killed, the summary never describes a missing
 * file. */
void sinks_commit(void);

/* Discards all new files; the old ones remain unchanged. */
void sinks_discard(void);

/* Is the output shown on a terminal? */
bool sink_is_terminal(const struct sink *sink);

/* Do both write to the same file or descriptor? Both must be open. */
bool sink_equals(const struct sink *a, const struct sink *b);

/* Was the sink opened by a path, and does this path lead to the same file? */
bool sink_is(const struct sink *sink, const char *path);

#endif
