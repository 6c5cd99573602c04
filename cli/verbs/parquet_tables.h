/* Describes Parquet files for the verb `tables'.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_PARQUET_TABLES_H
#define LANEBLOOM_CLI_PARQUET_TABLES_H

#include <stdbool.h>
#include <stddef.h>

#include <lanebloom_parquet.h>

/* Says what `tables' prints about Parquet files. */
struct parquet_listing {
  lanebloom_parquet_bounds bounds;
  bool summary; /* print one line for each column, instead of one for each row group of the
                 * column */
  bool json, header;
};

/* Prints a description of the columns of these files. Returns the exit status. */
int parquet_tables(char *const *names, size_t nnames, const struct parquet_listing *listing);

#endif
