/* The loader: makes a table of a file's bytes. It reads the footer, the metaindex, what that names,
 * the filter and the key range, in this order; each step takes what the steps before found.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_LOADER_H
#define LANEBLOOM_TABLES_LOADER_H

#include "metaindex.h"
#include "properties.h"
#include "table.h"

enum { SUFFIX_NBYTES = 8 }; /* of a stored key: sequence number and type, which a user key lacks */

struct loader {
  struct block_reader reader;
  const struct problem *problem;
  const char *path; /* NULL: memory */
  lanebloom_writer writer;
  struct metaindex metaindex;
  struct properties properties; /* defaults where the table has none */
};

/* path: of a file, for the MANIFEST in its folder; NULL: none is looked for. */
lanebloom_status lanebloom_table_load(const struct input *input, const char *path,
                                      lanebloom_writer writer, const struct problem *problem,
                                      lanebloom_table **table);

/* filter_loader.c: loads the filter. Errors: CORRUPT, LIMIT, MEMORY, IO. */
lanebloom_status lanebloom_loader_load_filter(struct loader *loader, lanebloom_table *table);

/* range_loader.c: loads the index, and the first and last key; decides what can be relied upon. */
lanebloom_status lanebloom_loader_load_range(struct loader *loader, lanebloom_table *table);

#endif
