/* A sink is an output for records: standard output, or a file. A file receives all records or
 * remains unchanged, because a new file replaces it at the end. If the command exits earlier, the
 * new file is discarded. Only one thread at a time may use a sink. On an error these functions
 * print a message, except for EPIPE, and exit with EXIT_TROUBLE.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_SINKS_H
#define LANEBLOOM_CLI_SINKS_H

#include <stdbool.h>
#include <stddef.h>

#include "../../src/system/replace.h"
#include "../../src/system/system.h"
#include "../system/files.h"

struct sink {
  const char *path; /* NULL: standard output, written by output() */
  bool is_open;
  /* the regular file that is written; zeros: the output is no regular file */
  struct system_info target;

  /* private */
  const char *name; /* the name in messages */
  struct replacement file;
  char *buffer;
  size_t nbuffered;
  struct sink *next; /* the sink that was opened after this one */
};

/* Opens the sink. The path "-" is standard output that is handled like a file; NULL is standard
 * output that is written by output(). An open sink must not be moved in memory. */
void sink_open(struct sink *sink, const char *path);

void sink_write(struct sink *sink, const void *data, size_t nbytes);
void sink_write_whole(struct sink *sink, const void *data, size_t nbytes); /* flushes the sink
                                                                            * first, and does not
                                                                            * copy the data */
void sink_flush(struct sink *sink);

/* Writes the rest of all data, then moves all new files to their paths, in the order in which they
 * were opened. The file of the summary is opened and moved last. So if the command is killed, no
 * summary describes a file that does not exist. */
void sinks_commit(void);

/* Discards all new files, so the old files remain unchanged. */
void sinks_discard(void);

/* Is the sink a terminal? */
bool sink_is_terminal(const struct sink *sink);

/* Do both sinks write to the same file or descriptor? Both must be open. */
bool sink_equals(const struct sink *a, const struct sink *b);

/* Was the sink opened with a path, and does `path' lead to the same file? */
bool sink_is(const struct sink *sink, const char *path);

#endif
