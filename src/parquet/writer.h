/* Decides which writers' statistics can be relied on. Some writers write wrong statistics. DuckDB,
 * Spark and pyarrow ignore the statistics that they know to be wrong. A program that reports keys
 * as absent must ignore such statistics, too: with a wrong bound, it would report a key as absent
 * that the file has.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PARQUET_WRITER_H
#define LANEBLOOM_PARQUET_WRITER_H

#include <lanebloom_parquet.h>

#include "type.h"

/* The statistics of a file that can be relied on. */
struct trust {
  bool counts;       /* the number of values and the number of nulls */
  unsigned orders;   /* the bit 1 << ORDER stands for bounds of values in that order */
  const char *doubt; /* static text: why other statistics cannot; NULL if all can */
};

/* Decides by the writer of a file which of its statistics can be relied on. created_by: the name
 * and version of the writer as the file has them, or NULL if the file does not name its writer.
 * bounds: the choice of the caller. If it is not KNOWN, the writer does not matter. */
struct trust lanebloom_trust_in(const char *created_by, lanebloom_parquet_bounds bounds);

#endif
