/* How `tables' describes Parquet files.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_PARQUET_TABLES_H
#define LANEBLOOM_CLI_PARQUET_TABLES_H

#include <stdbool.h>
#include <stddef.h>

#include <lanebloom_parquet.h>

/* Says what `tables' prints about Parquet files. */
struct parquet_listing {
  lanebloom_parquet_bounds bounds;
  bool summary; /* one line for each column, not for each of its row groups */
  bool json, header;
};

/* For `tables': describes the columns of these files. Returns the exit status. */
int parquet_tables(char *const *names, size_t nnames, const struct parquet_listing *listing);

#endif
