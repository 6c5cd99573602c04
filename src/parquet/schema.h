/* Reads the schema of a file: a tree of named groups, whose leaves are the columns. The footer has
 * the tree as a list, in which each group comes before its members.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PARQUET_SCHEMA_H
#define LANEBLOOM_PARQUET_SCHEMA_H

#include "../common/problem.h"
#include "type.h"

struct column {
  const char *path; /* names joined by dots, in the schema's `paths` */
  size_t path_nbytes;
  struct column_type type;
  bool has_order; /* bounds follow the order that the format defines for the type */
};

struct schema {
  struct column *columns;
  size_t ncolumns;
  char *paths; /* the paths of all columns, each followed by a zero byte */
  size_t paths_nbytes;
};

/* Returns the limit for the total size of the paths of all columns, if the metadata have nbytes
 * bytes. The paths must stay within the limit even if they are repeated for each row group. Without
 * the limit, a small footer could cause much work, because each member of a group has the group's
 * name in its path, and chunks may omit their paths. */
static inline size_t schema_max_paths(size_t nbytes)
{
  enum { GROWTH = 64, MIN_NBYTES = 1 << 16 };
  return nbytes * GROWTH + MIN_NBYTES;
}

/* Reads the list of the schema's elements. If the list is damaged, marks `thrift` as damaged and
 * returns OK; lanebloom_schema_free() must then still be called. Errors: MEMORY; LIMIT if the
 * schema is nested too deeply, or if its paths are too long for the size of the footer. On an error
 * there is nothing to free. */
lanebloom_status lanebloom_schema_read(struct thrift *thrift, struct thrift_field field,
                                       struct schema *schema, const struct problem *problem);

void lanebloom_schema_free(struct schema *schema);

#endif
