/* What `screen' is to do, and how far it is.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_SCREEN_H
#define LANEBLOOM_CLI_SCREEN_H

#include "cli.h"

struct screen {
  struct record_syntax syntax;
  struct filter_source source;
  lanebloom_writer writer;
  const char *path;
  char **databases;
  size_t ndatabases; /* 0: a filter is asked */
  char **inputs;
  size_t ninputs;
  bool invert, count, quiet, number, which;
  struct job job;

  const lanebloom_filter *filter; /* NULL: tables are asked */
  struct database database;
  struct chunk_result *results; /* by each worker */
  uint64_t nselected;           /* delivered; of a quiet search, whether any is */
  char **labels;                /* "NAME\t" of each table, if they are printed; else NULL */
  uint64_t *nhits;              /* of each table, if they are counted; else NULL */
};

/* ---- results.c: the work on a chunk, and what is printed of it ---- */

/* For all workers, or the end. */
void results_create(struct screen *screen);
void results_destroy(struct screen *screen);

/* For struct job; context: the struct screen. */
void screen_chunk(void *context, size_t worker, struct cutter *cutter, struct chunk *chunk);
void deliver_chunk(void *context, size_t worker, struct chunk *chunk, uint64_t first);

#endif
