/* lanebloom screen --parquet: finds keys that may be in Parquet files.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_PARQUET_H
#define LANEBLOOM_CLI_PARQUET_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parquet_files.h"
#include "records.h"

struct screen;
struct inputs;

/* The options of the query, and its results. */
struct parquet_query {
  char **names; /* of files or folders, or patterns */
  size_t nnames;
  const char *column;
  bool prune, row_groups, require_filters;
  lanebloom_parquet_bounds bounds;

  /* Results */
  size_t nfiles, nfailed; /* nfailed: files with an error message; they may contain every key */
  size_t nskipped;        /* as in lanebloom_parquet_files */
  size_t nrow_groups, nwithout_filter, nleft;
  size_t nwithout_both;      /* with neither a filter nor usable bounds */
  const char *first_without; /* the first file that has a row group without a filter; NULL: none */
  uint64_t nkeys;

  /* private */
  const uint8_t *found; /* bit i: key i may be in a file */
  uint64_t next;        /* the next key that parquet_take_found() looks up in `found` */
};

/* --parquet, --column, --prune, --row-groups, --require-filters, --bounds. Input: struct
 * parquet_query. */
extern const struct argp parquet_argp;

/* Reports a usage error for options that Parquet files do not support. Call it if there are
 * names. */
void parquet_check_options(const struct screen *screen, const struct argp_state *state);

/* Reads all inputs into memory, screens all files and prints the result. */
void parquet_screen(struct screen *screen, struct inputs *inputs);

/* Sets bit i of the bitmap if record i's key may be in a file, and returns how many bits are set.
 * Pass the batches in the order in which they were read. bitmap: as in
 * lanebloom_filter_screen(). */
size_t parquet_take_found(struct parquet_query *query, const struct batch *batch, uint8_t *bitmap);

/* Says what `tables' prints about Parquet files. */
struct parquet_listing {
  lanebloom_parquet_bounds bounds;
  bool summary; /* one line for each column, not for each of its row groups */
  bool json, header;
};

/* For `tables': describes the columns of these files. Returns the exit status. */
int parquet_tables(char *const *names, size_t nnames, const struct parquet_listing *listing);

#endif
