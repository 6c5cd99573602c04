/* The schema: a tree whose leaves are the columns. The footer has it as a list, each group before
 * its members.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PARQUET_SCHEMA_H
#define LANEBLOOM_PARQUET_SCHEMA_H

#include "../problem.h"
#include "type.h"

struct column {
  const char *path; /* names joined by dots, in the schema's `paths` */
  size_t path_nbytes;
  struct column_type type;
  bool has_order; /* values of its type stand in the order that the format defines */
};

struct schema {
  struct column *columns;
  size_t ncolumns;
  char *paths; /* of all columns, one after the other, each with a 0 byte behind it */
  size_t paths_nbytes;
};

/* The most bytes that paths may have, once and written out for each row group, of so many bytes of
 * metadata. Members of a group repeat its name, and chunks may leave their paths out. */
static inline size_t schema_max_paths(size_t nbytes)
{
  enum { GROWTH = 64, MIN_NBYTES = 1 << 16 };
  return nbytes * GROWTH + MIN_NBYTES;
}

/* Reads the list of its elements. If `thrift` is damaged then, so is the footer. Errors: CORRUPT;
 * LIMIT: it is nested too deeply, or its paths are far longer than its names; MEMORY. On an error
 * there is nothing to free. */
lanebloom_status lanebloom_schema_read(struct thrift *thrift, struct thrift_field field,
                                       struct schema *schema, const struct problem *problem);

void lanebloom_schema_free(struct schema *schema);

#endif
