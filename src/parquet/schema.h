/* The schema: a tree whose leaves are the columns. The footer has it as a list, each group before
 * its members.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PARQUET_SCHEMA_H
#define LANEBLOOM_PARQUET_SCHEMA_H

#include "../common/problem.h"
#include "type.h"

struct column {
  const char *path; /* names joined by dots, in the schema's `paths` */
  size_t path_nbytes;
  struct column_type type;
  bool has_order; /* its values are in the order that the format defines for its type */
};

struct schema {
  struct column *columns;
  size_t ncolumns;
  char *paths; /* of all columns, one after the other, each followed by a 0 byte */
  size_t paths_nbytes;
};

/* The most bytes that paths may have in nbytes of metadata, both once and repeated for each row
 * group. Members of a group repeat its name, and chunks may leave out their paths. */
static inline size_t schema_max_paths(size_t nbytes)
{
  enum { GROWTH = 64, MIN_NBYTES = 1 << 16 };
  return nbytes * GROWTH + MIN_NBYTES;
}

/* Reads the list of the schema's elements. If `thrift` is marked as damaged afterwards, the footer
 * is damaged. Errors: CORRUPT; LIMIT: it is nested too deeply, or its paths are far longer than its
 * names; MEMORY. On an error there is nothing to free. */
lanebloom_status lanebloom_schema_read(struct thrift *thrift, struct thrift_field field,
                                       struct schema *schema, const struct problem *problem);

void lanebloom_schema_free(struct schema *schema);

#endif
