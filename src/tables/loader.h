/* The loader makes a table from a file's bytes. It reads footer, metaindex, properties, compression
 * dictionary, filter and key range, in this order; each step needs the ones before.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_LOADER_H
#define LANEBLOOM_TABLES_LOADER_H

#include "metaindex.h"
#include "properties.h"
#include "table.h"

enum { SUFFIX_NBYTES = 8 }; /* of an internal key: sequence number and type */

struct loader {
  struct block_reader reader;
  const struct problem *problem;
  const char *path; /* NULL: memory */
  lanebloom_writer writer;
  struct metaindex metaindex;
  struct properties properties; /* defaults if the table has none */
};

/* Loads a table. path: of a file, to find the MANIFEST in its folder; NULL: no MANIFEST is read.
 * Errors: those of lanebloom_table_open(). */
lanebloom_status lanebloom_table_load(const struct input *input, const char *path,
                                      lanebloom_writer writer, const struct problem *problem,
                                      lanebloom_table **table);

/* filter_loader.c: loads the filter. Errors: CORRUPT, LIMIT, MEMORY, IO. */
lanebloom_status lanebloom_loader_load_filter(struct loader *loader, lanebloom_table *table);

/* range_loader.c: loads the index, and the first and last key. If keys are not in bytewise order,
 * the table has no range, and all filters are queried. Errors: CORRUPT, LIMIT, MEMORY, IO. */
lanebloom_status lanebloom_loader_load_range(struct loader *loader, lanebloom_table *table);

#endif
