/* The loader makes a table in memory (struct lanebloom_table) from a file's bytes. It reads footer,
 * metaindex, properties, compression dictionary, filter and key range, in this order, because each
 * step needs results of earlier steps.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_LOADER_H
#define LANEBLOOM_TABLES_LOADER_H

#include "metaindex.h"
#include "properties.h"
#include "table.h"

enum { SUFFIX_NBYTES = 8 }; /* the suffix of an internal key: sequence number and type */

struct loader {
  struct block_reader reader;
  const struct problem *problem;
  const char *path; /* NULL: the table is in memory, not in a file */
  lanebloom_writer writer;
  struct metaindex metaindex;
  struct properties properties; /* defaults if the table has none */
};

/* Loads a table. path: the path of the table's file, used only to find a MANIFEST beside the file.
 * If `path` is NULL, no MANIFEST is read. Errors: the errors of lanebloom_table_open(). */
lanebloom_status lanebloom_table_load(const struct input *input, const char *path,
                                      lanebloom_writer writer, const struct problem *problem,
                                      lanebloom_table **table);

/* May data blocks store keys in columns that this library does not know? Then it is not known
 * either what the filter holds. */
static inline bool has_unknown_columns(const struct loader *loader, const lanebloom_table *table)
{
  return lanebloom_block_layout(&loader->reader.footer, BLOCK_DATA) != NO_COLUMNS &&
         !lanebloom_properties_have_default_schema(&loader->properties, table->comparator);
}

/* Loads the filter (in filter_loader.c). Errors: CORRUPT, LIMIT, MEMORY, IO. */
lanebloom_status lanebloom_loader_load_filter(struct loader *loader, lanebloom_table *table);

/* Loads the index, and the first and the last key (in range_loader.c). If keys are not in bytewise
 * order, the table gets no key range, and all its filters are queried for each key. Errors:
 * CORRUPT, LIMIT, MEMORY, IO. */
lanebloom_status lanebloom_loader_load_range(struct loader *loader, lanebloom_table *table);

#endif
