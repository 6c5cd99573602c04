/* The Parquet files that names stand for.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_PARQUET_FILES_H
#define LANEBLOOM_CLI_PARQUET_FILES_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include <lanebloom_parquet.h>

struct paths {
  char **all;
  size_t n;
};

/* Lists the files of these names, sorted, each once: a file, the Parquet files in a folder and all
 * folders below it, or a pattern as of glob(7). If a name stands for none, or a folder cannot be
 * read, prints a message and exits.
 *
 * In folders, a file is read if its name ends in .parquet, if it begins or ends as Parquet does, or
 * if nobody can tell: opening it says what is wrong. Names that begin with a dot or an underscore
 * are skipped, except folders of partitions (_column=value). *nskipped: how many files among them
 * begin or end as Parquet does, or cannot be read, and are neither `_metadata' nor in a folder of
 * such a name. A warning has named the first. */
struct paths parquet_list(char *const *names, size_t nnames, size_t *nskipped);

/* Is it a Parquet file, or a folder with one in it or below it? */
bool is_parquet(const char *name);

void paths_free(struct paths *paths);

/* --bounds; input: lanebloom_parquet_bounds. */
extern const struct argp bounds_argp;

/* What most problems of the library fit into. */
enum { PARQUET_PROBLEM_NBYTES = 512 };

#endif
