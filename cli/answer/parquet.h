/* Parquet files as an answer: a record passes if its key may be in the column of one of them. The
 * keys are in memory, and the files pass by, several at a time.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_PARQUET_H
#define LANEBLOOM_CLI_PARQUET_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/progress.h"
#include "../files/parquet_files.h"
#include "../input/kept.h"
#include "../input/records.h"
#include "answer.h"

struct parquet_query {
  char **names; /* of files or folders, or patterns */
  size_t nnames;
  const char *column;
  bool prune, row_groups, require_filters;
  lanebloom_parquet_bounds bounds;

  /* Of parquet_begin(): */
  lanebloom_parquet_files *files;

  /* Of parquet_screen(): */
  size_t nfailed; /* files that had a message, and may have every key */
  size_t nrow_groups, nwithout_filter, nleft;
  size_t nwithout_both;      /* with neither a filter nor usable bounds */
  const char *first_without; /* the first file that has a row group without a filter; NULL: none */
  uint64_t nkeys;
  uint8_t *found; /* bit i: key i may be in a file; in whole words of 8 bytes */

  /* private */
  struct parquet_model {
    const char *path;
    lanebloom_parquet *file;
    size_t column;
    lanebloom_parquet_column_info type;
  } model;
  uint64_t next; /* the next key that is looked up in `found' */
};

/* --parquet, --column, --prune, --row-groups, --require-filters, --bounds. Input: struct
 * parquet_query. */
extern const struct argp parquet_argp;

/* Lists the files, and opens one to find the type of the column. On failure prints a message and
 * exits. */
void parquet_begin(struct parquet_query *query);

/* Sets the key form in `syntax' to the type of the column. If the options contradict it, prints a
 * message and exits. */
void parquet_take_type(const struct parquet_query *query, struct record_syntax *syntax);

/* The result for one file. */
struct parquet_file {
  char problem[PARQUET_PROBLEM_NBYTES]; /* "": none */
  bool is_open;                         /* false: nothing is known about its row groups */
  size_t nrow_groups, nwithout_filter, nwithout_both;
  uint64_t *counts;  /* for each row group: the number of keys that may be in it */
  uint64_t *indices; /* of these keys, ordered by row group; NULL: not wanted, or none */
  size_t nindices, indices_capacity;
  uint8_t *found; /* keys that may be in the file; NULL: none */
};

struct parquet_screening {
  const struct kept *keys;
  size_t nworkers;
  enum progress progress;
  bool wants_indices;

  /* Gets the result of each file, one at a time, in the order of their names. */
  void (*deliver)(void *context, const char *path, const struct parquet_file *file);
  void *context;
};

/* Screens all files for all keys. Prints a message for each that cannot be read. */
void parquet_screen(struct parquet_query *query, const struct parquet_screening *screening);

/* The answer for the batches of the same keys, in the order in which they were read: to be asked by
 * one thread, after parquet_screen(). */
struct answer parquet_answer(struct parquet_query *query);

#endif
