/* Answers from Parquet files: a record passes if its key may be in a column of one of the files.
 * All keys are kept in memory while the files are screened, several files at a time.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_PARQUET_H
#define LANEBLOOM_CLI_PARQUET_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/progress.h"
#include "../files/parquet_files.h"
#include "../input/records.h"
#include "../input/stored_keys.h"
#include "answer.h"

struct parquet_query {
  char **names; /* files, folders and patterns */
  size_t nnames;
  const char *column;
  bool hudi; /* was --hudi given? */
  bool prune, row_groups, require_filters;
  lanebloom_parquet_bounds bounds;

  /* Set by parquet_begin(): */
  lanebloom_parquet_files *files;

  /* Set by parquet_screen(): */
  size_t nfailed; /* the number of files that caused a message; every key may be in them */
  size_t nrow_groups, nwithout_filter, nleft;
  size_t nwithout_both;      /* the number of row groups that have neither a filter nor usable
                              * bounds */
  const char *first_without; /* the first file with a row group that has no filter; NULL: there is
                              * none */
  uint64_t nkeys;
  uint8_t *found; /* bit i is set if key i may be in a file; the size is a multiple of 8 bytes */

  /* private */
  struct parquet_model {
    const char *path;
    lanebloom_parquet *file;
    size_t column;
    lanebloom_parquet_column_info type;
  } model;
  uint64_t next; /* the index of the next key that screen() looks up in `found' */
};

/* The column of which Hudi writes a filter into the footers of files. */
extern const char hudi_column[];

/* The options --parquet, --column, --hudi, --prune, --row-groups, --require-filters and --bounds.
 * Their input is a struct parquet_query. */
extern const struct argp parquet_argp;

/* Lists the files, and opens one to find the type of the column. On failure prints a message and
 * exits. */
void parquet_begin(struct parquet_query *query);

/* Sets the key form in `syntax' to the type of the column. If the options contradict the type,
 * prints a message and exits. */
void parquet_take_type(const struct parquet_query *query, struct record_syntax *syntax);

/* The result of screening one file. */
struct parquet_file {
  char problem[PARQUET_PROBLEM_NBYTES]; /* the message about the file; "": none */
  bool is_open;                         /* false: the file could not be opened, so nothing is known
                                         * about its row groups */
  size_t nrow_groups, nwithout_filter, nwithout_both;
  uint64_t *counts;  /* for each row group, the number of keys that may be in it */
  uint64_t *indices; /* the indices of these keys, row group after row group; NULL: not wanted, or
                      * there are none */
  size_t nindices, indices_capacity;
  uint8_t *found; /* bit i is set if key i may be in the file; NULL: no key may be in it */
};

struct parquet_screening {
  const struct stored_keys *keys;
  size_t nworkers;
  enum progress progress;
  bool wants_indices;

  /* Receives the result of each file, one file at a time, in the order of the files' names. */
  void (*deliver)(void *context, const char *path, const struct parquet_file *file);
  void *context;
};

/* Screens all files for all keys. Prints a message for each file that cannot be read. */
void parquet_screen(struct parquet_query *query, const struct parquet_screening *screening);

/* Returns the answer. Call this after parquet_screen(). Only one thread may query the answer. It
 * must pass the stored keys again, in batches and in the order in which they were read. */
struct answer parquet_answer(struct parquet_query *query);

#endif
