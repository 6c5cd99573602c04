/* Whose statistics can be relied on. Writers write wrong ones; DuckDB, Spark and pyarrow leave out
 * what they know to be wrong, and so must whoever says that a key is absent.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PARQUET_WRITER_H
#define LANEBLOOM_PARQUET_WRITER_H

#include <lanebloom_parquet.h>

#include "type.h"

/* What a file's statistics may say for certain. */
struct trust {
  bool counts;       /* how many values there are, and how many of them are null */
  unsigned orders;   /* 1 << enum value_order: bounds of values in this order */
  const char *doubt; /* why others may not; NULL: all may. Static */
};

/* created_by: as the file names its writer; NULL: it does not. */
struct trust lanebloom_trust_in(const char *created_by, lanebloom_parquet_bounds bounds);

#endif
