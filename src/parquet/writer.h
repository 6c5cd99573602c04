/* Decides which writers' statistics can be relied on. Some writers write wrong ones. DuckDB, Spark
 * and pyarrow ignore those that they know to be wrong, and so must a program that reports keys as
 * absent.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PARQUET_WRITER_H
#define LANEBLOOM_PARQUET_WRITER_H

#include <lanebloom_parquet.h>

#include "type.h"

/* The statistics of a file that can be relied on. */
struct trust {
  bool counts;       /* the number of values, and the number of nulls */
  unsigned orders;   /* 1 << enum value_order: bounds of values in this order */
  const char *doubt; /* why others cannot; NULL: all can. Static */
};

/* Decides by the writer. created_by: its name in the file; NULL: the file does not name it. */
struct trust lanebloom_trust_in(const char *created_by, lanebloom_parquet_bounds bounds);

#endif
