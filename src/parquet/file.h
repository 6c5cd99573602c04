/* An open Parquet file never changes, so any number of threads may use it at once. These source
 * files work on Parquet files; the table shows their inputs and outputs:
 *
 *   thrift.h, type.h, schema.h, statistics.h, chunk.c    bytes -> their meaning
 *   footer.h                                             file  -> footer
 *   filter.h                                             file, chunk -> the bits of its filter
 *   hudi.c                                               file, keys -> results for the whole file
 *   keys.h                                               keys  -> keys as a column stores them
 *   screen.c                                             file, keys -> results
 *   folder.c                                             names -> files of folders, unopened
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PARQUET_FILE_H
#define LANEBLOOM_PARQUET_FILE_H

#include <lanebloom_parquet.h>

#include "footer.h"

struct lanebloom_parquet {
  struct input input;
  struct footer footer;
};

#endif
