/* Adds up the columns of Parquet files over all row groups, and prints the totals.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_PARQUET_TOTALS_H
#define LANEBLOOM_CLI_PARQUET_TOTALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lanebloom_parquet.h>

#include "parquet_row.h"
#include "parquet_tables.h"

/* Counts messages of one kind, and keeps the first one. */
struct faults {
  char *path, *text;
  size_t n;
};

enum { MOST_NWORDS = 16 }; /* bounds_word() has fewer different words */

/* The sums over all row groups that have a column of this name and type. */
struct total {
  char *column, *type;
  size_t nfiles, nrow_groups, nfilters;
  uint64_t nrows, nnulls, filter_nbytes, nkeys; /* LANEBLOOM_UNKNOWN if the number is unknown for
                                                 * any row group */
  double rates;
  const char *words[MOST_NWORDS]; /* the different words of bounds_word() */
  size_t nwords;
  struct faults damaged, of_another_kind; /* messages about filters */
};

struct totals {
  struct total **all;
  size_t n;
  void *known; /* the same totals, as a tree of tsearch(3) */
};

/* Returns the total of the columns of this name and type, and counts one more file that has such a
 * column. */
struct total *find_total(struct totals *totals, const lanebloom_parquet_column_info *type);

/* Adds a row to the total. */
void add_row(struct total *total, const struct row *row);

/* Counts a message about the filter of a row. */
void add_fault(struct faults *faults, const struct row *row, const char *problem);

/* Prints the totals of all columns and the messages about filters. Returns false if a filter is
 * damaged. */
bool finish_totals(struct totals *totals, const struct parquet_listing *listing);

#endif
